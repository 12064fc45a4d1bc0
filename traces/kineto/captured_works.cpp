#include "traces/kineto/captured_works.h"

#include "traces/kineto/archive.h"

#include <algorithm>
#include <utility>

namespace umf::traces::kineto {

namespace {

constexpr std::size_t kMostAlike = std::size_t{1} << 20; ///< told apart by their order

} // namespace

std::string CapturedWorks::key_of(std::string_view name, const Extent& grid, const Extent& block) {
  Packer packer;
  packer(name, grid, block);
  return std::string(packer.bytes());
}

void CapturedWorks::add(std::string_view name, const Extent& grid, const Extent& block,
                        std::string_view op, const Work& work) {
  Captured captured{std::string("~").append(op), work};
  if (work.rule != stream::Rule::unknown) captured.work.rule = stream::Rule::captured;
  add_alike(key_of(name, grid, block), captured);
  add_alike(key_of(name, {}, {}), captured);
}

void CapturedWorks::add_alike(std::string key, const Captured& captured) {
  auto& alike = alike_[std::move(key)];
  if (alike.order.size() == kMostAlike) return;
  const auto same =
      std::find_if(alike.distinct.begin(), alike.distinct.end(), [&](const Captured& known) {
        return known.op == captured.op && known.work == captured.work;
      });
  alike.order.push_back(static_cast<std::uint32_t>(same - alike.distinct.begin()));
  if (same == alike.distinct.end()) alike.distinct.push_back(captured);
}

const CapturedWorks::Captured* CapturedWorks::next(std::string_view name, const Extent& grid,
                                                   const Extent& block) {
  const bool sized = grid != Extent{};
  const auto found = alike_.find(key_of(name, grid, sized ? block : Extent{}));
  if (found == alike_.end()) return nullptr;
  auto& alike = found->second;
  const auto* captured = &alike.distinct[alike.order[alike.at]];
  alike.at = (alike.at + 1) % alike.order.size();
  return captured;
}

} // namespace umf::traces::kineto
