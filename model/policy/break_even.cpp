#include "model/policy/break_even.h"

#include <algorithm>
#include <cmath>

namespace umf::policy {

namespace {

Femtoseconds time_of(Bytes bytes, BytesPerSecond rate) {
  return {std::llround(static_cast<double>(bytes.count) / rate.value * 1e15)};
}

/// The least n with cost + n · with < n · without.
std::optional<std::uint64_t> reads_to_repay(Femtoseconds cost, Femtoseconds with,
                                            Femtoseconds without) {
  if (with >= without) return std::nullopt;
  return static_cast<std::uint64_t>(cost.count / (without - with).count) + 1;
}

} // namespace

Femtoseconds BreakEven::read_remote(Bytes bytes) const {
  return time_of(bytes, remote.read) + remote.latency;
}

Femtoseconds BreakEven::read_local(Bytes bytes) const {
  return time_of(bytes, local.read) + local.latency;
}

Femtoseconds BreakEven::move_in(Bytes bytes) const {
  const std::uint64_t part = batch ? batch->count : bytes.count;
  const std::uint64_t batches = part == 0 ? 0 : (bytes.count + part - 1) / part;
  return service * static_cast<std::int64_t>(batches) + remote.move_latency +
         time_of(bytes, std::min(remote.read, local.write)) +
         time_of(std::min(burst, bytes), local.write);
}

Femtoseconds BreakEven::move_out(Bytes bytes) const {
  return local.move_latency + time_of(bytes, std::min(local.read, remote.write)) +
         time_of(std::min(burst, bytes), local.read);
}

std::optional<std::uint64_t> BreakEven::copy_from(Bytes bytes) const {
  return reads_to_repay(move_in(bytes), read_local(bytes), read_remote(bytes));
}

std::optional<std::uint64_t> BreakEven::migrate_from(Bytes bytes) const {
  return reads_to_repay(move_out(bytes) + move_in(bytes), read_local(bytes), read_remote(bytes));
}

} // namespace umf::policy
