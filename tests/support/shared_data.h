#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace umf::test {

/// Where third-party files lie: $UMFSIM_SHARED, else ../shared beside the checkout.
std::filesystem::path shared_root();

/// Path of a third-party file below shared_root(), or nothing when the folder is
/// absent: the test case then returns at once, and the process ends with 77,
/// which ctest shows as skipped. A file missing from a folder that is present is a failure.
std::optional<std::filesystem::path> shared_file(const std::string& relative);

/// Whether shared_file has given nothing.
bool lacked_a_file();

/// A file of this repository, named from its root.
std::filesystem::path source_file(const std::string& relative);

} // namespace umf::test
