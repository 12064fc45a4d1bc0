#include "hw/link/wire_cost.h"

#include <cmath>

namespace umf::hw::link {

WireCost WireShape::cost(double bytes) const {
  const double whole = std::floor(bytes / ask), rest = bytes - whole * ask;
  const double requests = std::ceil(bytes / ask), writes = std::ceil(bytes / packet);
  const double completions = whole * std::ceil(ask / packet) + std::ceil(rest / packet);
  const double filled = std::ceil(bytes / unit) * unit * data;
  return {.read_tx = (requests * request + completions * control) / bytes,
          .read_rx = (filled + completions * completion + requests * control) / bytes,
          .write_tx = (filled + writes * write) / bytes,
          .write_rx = writes * response / bytes,
          .write_control = writes * control / bytes};
}

double WireShape::held(double bytes) const {
  return std::ceil(bytes / ask) * ask / bytes;
}

WireShape wire_shape(const LinkOptions& link, const RequesterOptions& requester) {
  WireShape shape;
  shape.ask = requester.max_read_request;
  shape.packet = requester.max_payload;
  if (link.framing == Framing::packets) {
    shape.unit = 4;
    shape.request = link.overhead[index(Kind::request)];
    shape.completion = link.overhead[index(Kind::completion)];
    shape.write = link.overhead[index(Kind::posted)];
    shape.control = link.control_bytes * (1.0 / link.ack_every + 1.0 / link.update_every);
  } else {
    shape.unit = 64;
    shape.data = link.framing == Framing::flits68 ? 68.0 / 64 : 256.0 / 240;
    shape.request = shape.write = 16 * shape.data;
    shape.completion = shape.response = shape.request / 2;
  }
  return shape;
}

BytesPerSecond sustained_rate(const LinkOptions& link) {
  const double skips =
      link.skip_interval.count == 0 ? 0 : link.skip_time.seconds() / link.skip_interval.seconds();
  return {link.rate.rate().value * (1 - skips)};
}

} // namespace umf::hw::link
