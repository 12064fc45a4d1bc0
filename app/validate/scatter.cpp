#include "app/validate/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Simulated against reference figures as a picture.
namespace umf::app {

namespace {

constexpr double kPanel = 260, kMargin = 56, kGap = 24;
constexpr std::size_t kMostPoints = 600;

/// The decades that hold every figure of a group.
struct Axis {
  double low = 0, high = 1; ///< powers of ten
  double at(double value) const { return (std::log10(value) - low) / (high - low) * kPanel; }
};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text)
    safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

class Panel {
public:
  Panel(const SuiteResult& result, const GroupResult& group, double left)
      : result_(result), group_(group), left_(left) {
    double least = 0, most = 0;
    for (const Row& row : result.rows) {
      if (row.group != group.group) continue;
      for (const double value : {row.reference, row.simulated}) {
        if (!(value > 0)) continue;
        least = least == 0 ? value : std::min(least, value);
        most = std::max(most, value);
      }
    }
    if (least == 0) least = most = 1;
    axis_ = {std::floor(std::log10(least)), std::floor(std::log10(most)) + 1};
  }

  std::string draw() const {
    std::string svg = fmt::format(
        "<text x=\"{:.1f}\" y=\"18\" font-weight=\"bold\">{}</text>\n"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"none\" "
        "stroke=\"#888\"/>\n",
        left_, escaped(group_.group + ", " + unit()), left_, kMargin / 2, kPanel, kPanel);
    for (double decade = axis_.low; decade <= axis_.high; ++decade)
      svg += tick(decade);
    svg += line(1, "#444", "");
    if (group_.gate != nullptr)
      for (const double factor : {1 + group_.gate->limit, 1 - group_.gate->limit})
        svg += line(factor, "#c60", " stroke-dasharray=\"4 3\"");
    const auto shown = shown_rows(result_, kMostPoints);
    for (const std::size_t i : shown)
      if (result_.rows[i].group == group_.group) svg += point(i);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">reference</text>\n",
                       left_ + kPanel / 2, kPanel + kMargin + 4);
    return svg;
  }

private:
  double x(double value) const { return left_ + axis_.at(value); }
  double y(double value) const { return kMargin / 2 + kPanel - axis_.at(value); }
  std::string unit() const { return result_.rows[group_.worst].unit; }

  std::string tick(double decade) const {
    const double value = std::pow(10, decade);
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n"
                       "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n",
                       x(value), kPanel + kMargin / 2 + 14, value, left_ - 4, y(value) + 4, value);
  }

  /// simulated = factor × reference, within the panel.
  std::string line(double factor, const char* colour, const char* dashes) const {
    const double low = std::pow(10, axis_.low), high = std::pow(10, axis_.high);
    const double from = std::max(low, low / factor), to = std::min(high, high / factor);
    if (!(factor > 0) || from >= to) return {};
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
                       "stroke=\"{}\"{}/>\n",
                       x(from), y(from * factor), x(to), y(to * factor), colour, dashes);
  }

  std::string point(std::size_t i) const {
    const Row& row = result_.rows[i];
    if (!(row.simulated > 0)) return {};
    const char* colour = above_peak(row) ? "#a0a" : result_.fitted[i] ? "#2a2" : "#06c";
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" fill=\"{}\"/>\n",
                       x(row.reference), y(row.simulated), colour);
  }

  const SuiteResult& result_;
  const GroupResult& group_;
  double left_;
  Axis axis_;
};

} // namespace

std::string scatter_svg(const SuiteResult& result) {
  const double panels = static_cast<double>(result.groups.size());
  const double width = panels * (kPanel + kMargin + kGap), height = kPanel + 2 * kMargin;
  std::string svg =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
                  "font-family=\"sans-serif\" font-size=\"11\">\n"
                  "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
                  width, height);
  double left = kMargin;
  for (const GroupResult& group : result.groups) {
    svg += Panel(result, group, left).draw();
    left += kPanel + kMargin + kGap;
  }
  svg += fmt::format("<text x=\"{}\" y=\"{:.0f}\">simulated against reference: blue unfitted rows, "
                     "green fitted, purple above the part's peak; dashed the gate</text>\n</svg>\n",
                     8, height - 8);
  return svg;
}

} // namespace umf::app
