#pragma once

#include "traces/address/forms.h"
#include "traces/address/lines.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace umf::traces::address {

/// One request to memory.
struct AddressRequest {
  std::uint64_t address = 0; ///< in bytes
  /// Its arrival cycle (timed()), or the instructions between the request before and this one
  /// (gaps()); 0 where the form says neither.
  std::uint64_t cycle_or_gap = 0;
  bool write = false;
};

/// Reads an address trace of any form (README.md), compressed or not, in bounded memory.
/// Every fault of the file is a UserError with line and column; what precedes it was given.
class Reader {
public:
  /// Reads on to the first request, which says the form.
  /// Throws UserError where there is none, or it has no linear address.
  explicit Reader(const std::filesystem::path& path);
  explicit Reader(io::Input input);

  /// The next request, or false at the end of the file.
  bool next(AddressRequest&);

  Form form() const { return form_; }
  bool timed() const { return form_ == Form::dramsim3; }
  bool gaps() const { return form_ == Form::instructions; }
  /// Of the line last read, from 1.
  std::uint64_t line() const { return lines_.number(); }
  const std::string& name() const { return lines_.name(); }

private:
  void find_form();
  AddressRequest parse();
  AddressRequest timed_request();
  AddressRequest instruction();
  std::uint64_t hexadecimal(std::size_t word) const;
  std::uint64_t decimal(std::size_t word, const char* what) const;
  void no_more_than(std::size_t words) const;
  [[noreturn]] void fail(std::size_t word, const std::string& message) const;

  Lines lines_;
  Form form_ = Form::dramsim3;
  std::string_view text_;
  Words words_;                         ///< of text_, the line at hand
  std::uint64_t latest_ = 0;            ///< cycle
  std::optional<AddressRequest> store_; ///< of an instruction whose load was given
};

} // namespace umf::traces::address
