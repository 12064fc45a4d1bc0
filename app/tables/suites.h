#pragma once

#include "app/tables/table.h"

#include <span>
#include <string>
#include <vector>

namespace umf::app {

/// What a table is made from; a suite takes of it what it needs.
struct TableOptions {
  std::string scenario;           ///< file
  std::vector<std::string> sets;  ///< POINTER=VALUE over it
  std::vector<std::string> tiers; ///< only these; none: all
  std::vector<std::string> bytes = {"64KiB", "256KiB", "1MiB", "4MiB", "16MiB", "64MiB"};
};

/// One kind of table. `make` builds a machine, which a process can do once (run_apart).
struct Suite {
  std::string name;
  std::string help;                   ///< what it asks, in a few words
  Table (*make)(const TableOptions&); ///< throws UserError
};

/// Every suite, in the order that help shows them.
std::span<const Suite> suites();
std::vector<std::string> suite_names();
/// Null when there is none of this name.
const Suite* find_suite(const std::string& name);

} // namespace umf::app
