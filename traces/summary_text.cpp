#include "traces/summary.h"

#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace umf::traces {

namespace {

struct Unit {
  double size;
  const char* name;
};

template <std::size_t count>
std::string scaled(double value, const Unit (&units)[count], const char* smallest) {
  for (const Unit& unit : units)
    if (std::abs(value) >= unit.size) return fmt::format("{:.4g} {}", value / unit.size, unit.name);
  return fmt::format("{:.0f} {}", value, smallest);
}

std::string moved(Bytes bytes) {
  constexpr Unit kUnits[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  return scaled(static_cast<double>(bytes.count), kUnits, "B");
}

std::string capacity(Bytes bytes) {
  constexpr Unit kUnits[] = {{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}};
  return scaled(static_cast<double>(bytes.count), kUnits, "B");
}

std::string lasting(double ns) {
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  return scaled(ns, kUnits, "ns");
}

std::string lasting(std::int64_t ns) {
  return lasting(static_cast<double>(ns));
}

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string("-");
}

/// Text from a trace on one line, whatever is in it.
std::string shown(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

class Page {
public:
  void line(std::string_view label, const std::string& value) {
    fmt::format_to(std::back_inserter(text_), "{:<18}{}\n", label, value);
  }
  void row(std::string_view label, std::uint64_t count, std::string_view value) {
    fmt::format_to(std::back_inserter(text_), "  {:<16}{:>12}  {:>12}\n", label, count, value);
  }
  void heading(std::string_view title, std::string_view first, std::string_view second) {
    fmt::format_to(std::back_inserter(text_), "\n{:<18}{:>12}  {:>12}\n", title, first, second);
  }
  void plain(const std::string& line) { text_ += line + '\n'; }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
};

void add_origin(Page& page, const stream::Header& header) {
  page.line("format", shown(header.format));
  page.line("source", shown(header.source));
  if (!header.provenance.empty()) page.line("provenance", shown(header.provenance));
  for (const auto& device : header.devices) {
    std::string what = shown(device.name.empty() ? "unnamed" : device.name);
    if (!device.architecture.empty()) what += ", " + shown(device.architecture);
    if (device.sms != 0) what += fmt::format(", {} SMs", device.sms);
    if (device.memory.count != 0) what += ", " + capacity(device.memory);
    page.line(fmt::format("device {}", device.id), what);
  }
}

std::string moves(const Summary::Moves& moves) {
  std::string text =
      fmt::format("{}, {} in {}", moves.count, moved(moves.bytes), lasting(moves.total_ns));
  if (moves.unsized != 0) text += fmt::format(" ({} of unknown size)", moves.unsized);
  return text;
}

void add_counts(Page& page, const Summary& summary) {
  page.line("kernels", fmt::format("{} of {} names on {} streams", summary.kernels,
                                   summary.unique_kernel_names, summary.streams));
  const auto of_kernels = [&](std::uint64_t part) {
    return fmt::format("{} ({})", part,
                       share(static_cast<double>(part), static_cast<double>(summary.kernels)));
  };
  page.line("  operator known", of_kernels(summary.joined_kernels));
  page.line("  grid recorded", of_kernels(summary.grid_present));
  page.line("  bytes unknown", of_kernels(summary.unknown_kernels));
  page.line("copies", moves(summary.copies));
  page.line("memsets", moves(summary.memsets));
  page.line("syncs", fmt::format("{}", summary.syncs));
  page.line("requests", fmt::format("{}", summary.requests));
}

void add_times(Page& page, const Summary& summary) {
  page.line("span", lasting(summary.span_ns));
  page.line("kernel time",
            fmt::format("{} over {} measured kernels", lasting(summary.measured_kernel_ns),
                        summary.measured_kernels));
  page.line("busy", fmt::format("{} ({} of the span)", lasting(summary.busy_ns),
                                share(static_cast<double>(summary.busy_ns),
                                      static_cast<double>(summary.span_ns))));
  if (const auto& durations = summary.durations)
    page.line("a kernel takes",
              fmt::format("{} to {}, median {}", lasting(durations->shortest_ns),
                          lasting(durations->longest_ns), lasting(durations->median_ns)));
  if (summary.zero_durations != 0)
    page.line("zero length", fmt::format("{} kernels", summary.zero_durations));
  if (summary.negative_durations != 0)
    page.line("end before start", fmt::format("{} kernels", summary.negative_durations));
  if (summary.same_stream_overlaps != 0)
    page.line("overlaps",
              fmt::format("{} kernels start before their stream's last one ends, "
                          "by up to {}",
                          summary.same_stream_overlaps, lasting(summary.max_overlap_ns)));
}

void add_tables(Page& page, const Summary& summary) {
  page.heading("bytes by rule", "kernels", "moved");
  for (std::size_t i = 0; i < Summary::kRules; ++i) {
    const auto& inferred = summary.inferred[i];
    if (inferred.kernels != 0 || inferred.bytes.count != 0)
      page.row(name_of(static_cast<stream::Rule>(i)), inferred.kernels, moved(inferred.bytes));
  }
  page.heading("tensors by role", "count", "size");
  for (std::size_t i = 0; i < Summary::kRoles; ++i) {
    const auto& tensors = summary.tensors[i];
    if (tensors.count != 0)
      page.row(name_of(static_cast<stream::Role>(i)), tensors.count, capacity(tensors.bytes));
  }
}

} // namespace

std::string to_text(const Summary& summary) {
  Page page;
  add_origin(page, summary.header);
  add_counts(page, summary);
  add_times(page, summary);
  add_tables(page, summary);
  if (!summary.oddities.empty()) page.plain("\noddities");
  for (const auto& oddity : summary.oddities)
    page.plain(fmt::format("  {} x {}: {} (first: {})", oddity.count, shown(oddity.code),
                           shown(oddity.sentence), shown(oddity.first_place)));
  return page.take();
}

} // namespace umf::traces
