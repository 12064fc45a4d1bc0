#include "app/report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::app {

namespace {

constexpr double kCell = 6, kLeft = 20, kTop = 28, kFoot = 34;

} // namespace

std::uint64_t HeatMap::column() const {
  return std::min(step_ * columns() / std::max<std::uint64_t>(steps_, 1), kColumns - 1);
}

void HeatMap::add(const stream::Record& record) {
  if (const auto* tensor = std::get_if<stream::Tensor>(&record)) {
    if (tensor->layer != layer_) return;
    // Keys, latents or entries of the first sequence: "kv.LAYER.PART.0".
    if (tensor->role == stream::Role::kv_key && tensor->name.ends_with(".0") &&
        tensor->name.find(".bounds.") == std::string::npos)
      keys_[tensor->id] = tensor->bytes.count;
    if (tensor->role == stream::Role::expert) experts_at_.emplace(tensor->id, experts_at_.size());
  } else if (const auto* kernel = std::get_if<stream::Kernel>(&record)) {
    add(*kernel);
  } else if (std::holds_alternative<stream::Mark>(record)) {
    if (began_) ++step_;
    began_ = true;
  }
}

void HeatMap::add(const stream::Kernel& kernel) {
  for (const stream::Access& access : kernel.accesses) {
    if (access.write) continue;
    if (const auto key = keys_.find(access.tensor); key != keys_.end()) {
      add_keys(access, key->second);
    } else if (const auto at = experts_at_.find(access.tensor); at != experts_at_.end()) {
      const std::uint64_t rows = std::min<std::uint64_t>(kRows, experts_);
      used_.heat[at->second * rows / experts_ * kColumns + column()] += 1;
      used_.any = true;
    }
  }
}

/// Bytes of each row's stretch of the tensor.
void HeatMap::add_keys(const stream::Access& access, std::uint64_t bytes) {
  pages_.any = true;
  const double rows = static_cast<double>(kRows), all = static_cast<double>(bytes);
  const auto stretch = [&](std::uint64_t from, std::uint64_t length) {
    const double begin = static_cast<double>(from) / all * rows;
    const double end = static_cast<double>(from + length) / all * rows;
    for (auto row = static_cast<std::uint64_t>(begin);
         row < kRows && static_cast<double>(row) < end; ++row) {
      const double low = std::max(begin, static_cast<double>(row));
      const double high = std::min(end, static_cast<double>(row + 1));
      pages_.heat[row * kColumns + column()] += high - low;
    }
  };
  if (access.indices.empty()) return stretch(access.offset, access.length.count);
  for (const std::uint64_t block : access.indices)
    stretch(access.offset + block * access.block_bytes.count, access.block_bytes.count);
}

std::string HeatMap::panel(const Cells& cells, double top, const std::string& title,
                           const std::string& below) const {
  const double width = kCell * static_cast<double>(columns()), height = kCell * kRows;
  std::string svg =
      fmt::format("<text x=\"{}\" y=\"{:.0f}\" font-weight=\"bold\">{}</text>\n"
                  "<rect x=\"{}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"none\" "
                  "stroke=\"#888\"/>\n<text x=\"{}\" y=\"{:.0f}\">{}</text>\n",
                  kLeft, top + kTop - 8, title, kLeft, top + kTop, width, height, kLeft,
                  top + kTop + height + 16, below);
  const double most = *std::max_element(cells.heat.begin(), cells.heat.end());
  for (std::uint64_t row = 0; row < kRows; ++row)
    for (std::uint64_t column = 0; column < columns(); ++column) {
      const double heat = cells.heat[row * kColumns + column];
      if (heat == 0) continue;
      const int grey = static_cast<int>(235 * (1 - heat / most));
      svg += fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{}\" height=\"{}\" "
                         "fill=\"rgb({},{},{})\"/>\n",
                         kLeft + kCell * static_cast<double>(column),
                         top + kTop + kCell * static_cast<double>(row), kCell, kCell, grey, grey,
                         std::min(grey + 40, 255));
    }
  return svg;
}

std::string HeatMap::svg() const {
  const double each = kTop + kCell * kRows + kFoot;
  std::string panels;
  double top = 0;
  const std::string steps = fmt::format("{} steps from left to right", steps_);
  if (pages_.any) {
    panels += panel(pages_, top, fmt::format("KV cache of sequence 0, layer {}", layer_),
                    steps + "; oldest tokens on top; the darkest cell is read most");
    top += each;
  }
  if (used_.any) {
    panels += panel(used_, top, fmt::format("{} experts of layer {}", experts_, layer_),
                    steps + "; the darkest cell is read most");
    top += each;
  }
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
                     "font-family=\"sans-serif\" font-size=\"11\">\n"
                     "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
                     kLeft * 2 + kCell * kColumns, std::max(top, 40.0), panels);
}

} // namespace umf::app
