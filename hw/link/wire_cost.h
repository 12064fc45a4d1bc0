#pragma once

#include "hw/link/options.h"

/// What transfers cost on a wire in the mean, without playing packets: for burst resolution.
namespace umf::hw::link {

/// Wire bytes that one payload byte costs on each direction of a link. tx leads away from whoever
/// asks.
struct WireCost {
  double read_tx = 0, read_rx = 0;
  double write_tx = 0, write_rx = 0;
  /// Of rx too, by a write: ACKs and credits, which go ahead of whatever else waits there.
  double write_control = 0;
};

/// How a link cuts transfers into packets and what each has beside its data, in bytes on the wire.
/// Transfers are aligned; requests, packets and their ACKs and credits are those of `network.h`.
struct WireShape {
  static constexpr double kLong = 1 << 20; ///< bytes of a transfer whose ends do not matter

  double ask = 64;    ///< most bytes that one read asks for
  double packet = 64; ///< most data of a packet
  double unit = 1;    ///< data are filled up to multiples of this
  double data = 1;    ///< of a byte of data: more where flits frame it
  double request = 0, completion = 0, write = 0, response = 0;
  double control = 0; ///< on the other direction, for each packet

  WireCost cost(double bytes = kLong) const;
  /// Tags that a read of so many bytes holds, as bytes of full requests to a byte.
  double held(double bytes) const;
};

/// `flits`: slots of CXL.mem, two headers of read data or answers of writes sharing one, as
/// flits.cpp packs them.
WireShape wire_shape(const LinkOptions& link, const RequesterOptions& requester);

/// Rate of one direction without the time of skip ordered sets.
BytesPerSecond sustained_rate(const LinkOptions& link);

} // namespace umf::hw::link
