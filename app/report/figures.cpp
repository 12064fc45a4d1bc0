#include "app/report/figures.h"

#include "app/report/energy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace umf::app {

void append_whole(std::string& text, std::uint64_t value) {
  std::array<char, 20> digits; // of 2^64
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

namespace {

/// A point and `digits` digits, trailing zeros dropped; nothing when all are.
void append_fraction(std::string& text, std::uint64_t fraction, std::size_t digits) {
  if (fraction == 0) return;
  const std::size_t point = text.size();
  append_whole(text, fraction);
  text.insert(point, digits - (text.size() - point), '0');
  text.insert(point, 1, '.');
  text.erase(text.find_last_not_of('0') + 1);
}

} // namespace

void append_ns(std::string& text, Femtoseconds time) {
  constexpr std::uint64_t per_ns = 1'000'000;
  const auto count = static_cast<std::uint64_t>(time.count);
  append_whole(text, count / per_ns);
  append_fraction(text, count % per_ns, 6);
}

std::string decimal_ns(Femtoseconds time) {
  std::string text;
  append_ns(text, time);
  return text;
}

std::string decimal_joules(Femtojoules energy) {
  constexpr std::uint64_t per_joule = 1'000'000'000'000'000;
  std::string text;
  append_whole(text, static_cast<std::uint64_t>(energy.count / per_joule));
  append_fraction(text, static_cast<std::uint64_t>(energy.count % per_joule), 15);
  return text;
}

std::string csv_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_field(const std::string& text) {
  return text.find_first_of(",\"\r\n") == std::string::npos ? text : csv_quoted(text);
}

double as_ns(Femtoseconds time) {
  return static_cast<double>(time.count) / 1e6;
}

std::string bound_by(const hw::OperationRow& row) {
  if (row.unknown) return "unknown";
  auto largest = hw::Cause::compute;
  for (std::size_t c = 0; c < hw::kCauses; ++c) {
    const auto cause = static_cast<hw::Cause>(c);
    if (row.result.causes.of(cause) > row.result.causes.of(largest)) largest = cause;
  }
  return std::string(hw::name_of(largest));
}

hw::CauseLedger causes_of(const ReplayRun& run) {
  if (run.platform->gpus() == 1) return run.platform->gpu(0).causes();
  hw::CauseShares shares{};
  for (std::uint32_t g = 0; g < run.platform->gpus(); ++g)
    for (std::size_t c = 0; c < hw::kCauses; ++c)
      shares[c] +=
          static_cast<double>(run.platform->gpu(g).causes().of(static_cast<hw::Cause>(c)).count);
  hw::CauseLedger mean;
  mean.add(run.makespan, shares);
  return mean;
}

namespace {

Deviation summarise(std::vector<double>& errors) {
  Deviation deviation;
  deviation.kernels = errors.size();
  if (errors.empty()) return deviation;
  std::sort(errors.begin(), errors.end());
  const auto rank = [&](double share) { // nearest rank
    const auto n = static_cast<std::size_t>(std::ceil(share * static_cast<double>(errors.size())));
    return errors[std::max<std::size_t>(n, 1) - 1];
  };
  deviation.median = rank(0.5);
  deviation.p90 = rank(0.9);
  return deviation;
}

} // namespace

Accuracy accuracy_of(const ReplayRun& run) {
  Accuracy accuracy;
  std::vector<double> all;
  std::map<std::string, std::vector<double>> by_bound;
  for (const auto& row : run.rows) {
    if (row.kind != hw::Operation::Kind::kernel) continue;
    if (row.unknown) {
      ++accuracy.unknown;
    } else if (row.measured_ns <= 0) {
      ++accuracy.unmeasured;
    } else {
      const double simulated = as_ns(row.result.end - row.result.start);
      const auto measured = static_cast<double>(row.measured_ns);
      const double error = std::abs(simulated - measured) / measured;
      all.push_back(error);
      by_bound[bound_by(row)].push_back(error);
    }
  }
  accuracy.all = summarise(all);
  for (auto& [bound, errors] : by_bound)
    accuracy.by_bound[bound] = summarise(errors);
  return accuracy;
}

std::vector<TenantFigures> figures_of_tenants(const ReplayRun& run) {
  std::vector<TenantFigures> all(run.tenants.size());
  for (const auto& row : run.rows) {
    TenantFigures& own = all[row.tenant];
    own.read += row.result.read.count;
    own.written += row.result.written.count;
    own.dram += row.result.dram.count;
    own.end = std::max(own.end, row.result.end);
    if (row.kind == hw::Operation::Kind::kernel) own.kernels += row.result.end - row.result.start;
  }
  return all;
}

std::vector<StepTimes> step_times_of_tenants(const ReplayRun& run) {
  std::vector<std::vector<Femtoseconds>> took(run.tenants.size());
  for (const StepEnergy& step : steps_of(run)) {
    const auto& marks = run.tenants[step.tenant].steps;
    const bool marked = marks.empty() || step.name != kBeforeSteps;
    if (marked && step.operations > 0) took[step.tenant].push_back(step.end - step.start);
  }
  std::vector<StepTimes> all;
  for (auto& times : took) {
    StepTimes& own = all.emplace_back();
    if (times.empty()) continue;
    std::sort(times.begin(), times.end());
    const auto rank = [&](std::size_t percent) { // nearest rank
      return times[std::max<std::size_t>((times.size() * percent + 99) / 100, 1) - 1];
    };
    own = {times.size(), rank(50), rank(99), times.back()};
  }
  return all;
}

Femtoseconds simulated_span(const ReplayRun& run) {
  Femtoseconds first = run.makespan, last{};
  for (const auto& row : run.rows) {
    if (row.kind != hw::Operation::Kind::kernel) continue;
    first = std::min(first, row.result.start);
    last = std::max(last, row.result.end);
  }
  return last > first ? last - first : Femtoseconds{};
}

std::string names_of_traces(const ReplayRun& run) {
  std::string names;
  for (const auto& tenant : run.tenants)
    names += (names.empty() ? "" : " + ") + tenant.trace.filename().string();
  return names;
}

std::string mode_name(const ReplayRun& run) {
  return LeafCodec<hw::ReplayMode>::print(run.platform->scenario().replay.mode);
}

double utilisation(const ReplayRun& run, hw::ResourceId resource) {
  const auto& network = run.platform->clock().network();
  const double possible = network.offered(resource, run.makespan);
  return possible > 0 ? network.carried(resource) / possible : 0.0;
}

Busy media_busy(const ReplayRun& run, const hw::MediaTarget& tier) {
  Busy busy;
  const auto media = tier.media();
  for (const auto resource : media) {
    const double share = utilisation(run, resource);
    busy.mean += share / static_cast<double>(media.size());
    busy.most = std::max(busy.most, share);
  }
  return busy;
}

} // namespace umf::app
