#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace umf::traces::kineto {

/// What an event is for this reader; old and new spellings of "cat" fall together.
enum class Category : std::uint8_t { other, kernel, copy, memset, op, runtime, sync, annotation };

/// A host thread, or the device and stream of old files that name them nowhere else.
struct Thread {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;
  auto operator<=>(const Thread&) const = default;
};

/// Faults found in an event that was still of use; bits of Event::faults.
enum Fault : std::uint32_t {
  repaired_utf8 = 1u << 0,
  repaired_control = 1u << 1,
  bad_escape = 1u << 2,
  bad_time = 1u << 3,
  bad_duration = 1u << 4,
  negative_duration = 1u << 5,
  bad_number = 1u << 6
};

/// The fields of one event this reader uses. Views live until the next parse.
struct Event {
  Category category = Category::other;
  std::string name;
  Thread thread{};
  std::optional<std::int64_t> start_ns; ///< as written, without the base time
  std::optional<std::int64_t> duration_ns;
  std::optional<std::int64_t> correlation;
  std::optional<std::int64_t> external_id;
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> awaited_stream;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> registers;
  std::optional<std::int64_t> shared_memory;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  bool has_grid = false;
  std::string_view dims; ///< JSON arrays as written; empty when absent
  std::string_view types;
  std::string_view strides;
  std::string_view concrete;
  std::string_view collective; ///< of a collective's kernel: which one, type and elements
  std::string_view dtype;
  std::optional<std::int64_t> in_elements;
  std::optional<std::int64_t> out_elements;
  std::string_view launched; ///< the kernel a call launches, as written (AMD)
  std::uint32_t faults = 0;
};

/// True when the first keys already say that the event is of a kind this reader skips
/// (Python frames, flow arrows, instants, process names): it need not be parsed.
bool is_skippable(std::string_view text);

/// Parses the text of one event.
class EventParser {
public:
  EventParser();
  ~EventParser();

  /// False when the text is no JSON object even after repair of its bytes. `text` must be
  /// readable 64 bytes past its end.
  bool parse(std::string_view text, Event& event);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace umf::traces::kineto
