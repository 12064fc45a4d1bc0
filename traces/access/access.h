#pragma once

#include "model/base/keys.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Statistics of what inference touches where its data decide: pages of a context that attention
/// reads, experts that a token takes. No weights are run: these are processes with stated
/// parameters, deterministic in seed and names.
namespace umf::traces::access {

/// One layer's decode attention of one sequence.
struct PageAsk {
  std::uint64_t sequence = 0;
  std::uint32_t layer = 0;
  std::uint32_t head = 0;   ///< KV head; 0 where all heads of a layer choose alike
  std::uint64_t tokens = 0; ///< of the context; grows by one each step
  bool operator==(const PageAsk&) const = default;
};

/// Which pages of its context a query reads.
class PageChooser {
public:
  virtual ~PageChooser() = default;
  /// Tokens of a page.
  virtual std::uint64_t page_tokens() const = 0;
  /// Whether each KV head chooses for itself.
  virtual bool by_head() const { return false; }
  /// Whether keys' minima and maxima of every page are kept and read to choose (Quest).
  virtual bool has_bounds() const { return false; }
  /// Fills `pages` with whole pages, ascending, or returns false for all of them. The page that is
  /// not whole yet is always read.
  virtual bool choose(const PageAsk& ask, std::vector<std::uint64_t>& pages) = 0;
};

/// Which routed experts tokens take.
class ExpertChooser {
public:
  virtual ~ExpertChooser() = default;
  /// Fills `experts` with the next token's, all different.
  virtual void choose(std::uint64_t sequence, std::uint32_t layer,
                      std::vector<std::uint32_t>& experts) = 0;
};

/// What routing is made for.
struct Experts {
  std::uint32_t experts = 0, top_k = 0, layers = 0;
};

/// A kind of chooser: its keys, and how to make one from a section of a scenario.
struct PageKind {
  const ComponentInfo* info;
  std::unique_ptr<PageChooser> (*make)(const JsonValue& object, KeyContext& context,
                                       std::uint64_t seed);
};
struct ExpertKind {
  const ComponentInfo* info;
  std::unique_ptr<ExpertChooser> (*make)(const JsonValue& object, KeyContext& context,
                                         const Experts& experts, std::uint64_t seed);
};

/// Sections "access" and "routing", whose member "name" picks the kind.
std::span<const Section> access_sections();
std::vector<std::string> access_names();
std::vector<std::string> routing_names();

/// By name, `sets` ("access.budget=1024", "routing.alpha=1.2") over the defaults. Throw UserError.
std::unique_ptr<PageChooser> make_pages(std::string_view name, std::span<const std::string> sets,
                                        std::uint64_t seed);
std::unique_ptr<ExpertChooser> make_experts(std::string_view name,
                                            std::span<const std::string> sets,
                                            const Experts& experts, std::uint64_t seed);

} // namespace umf::traces::access
