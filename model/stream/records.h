#pragma once

#include "model/base/units.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The kernel stream: what a GPU was asked to do, in order of issue. Every trace
/// reader and generator produces these records; replay consumes nothing else.
/// Times are nanoseconds since Header::epoch_unix_ns.
namespace umf::stream {

using TensorId = std::uint32_t;
using KernelId = std::uint64_t;

enum class Role : std::uint8_t {
  unknown,
  weight,
  kv_key,
  kv_value,
  activation,
  expert,
  lora,
  workspace
};

enum class DType : std::uint8_t {
  unknown,
  f64,
  f32,
  tf32,
  f16,
  bf16,
  f8,
  i64,
  i32,
  i16,
  i8,
  u8,
  boolean,
  i4,
  i3,
  i2,
  c64,
  c128
};

enum class Phase : std::uint8_t { other, prefill, decode, training };

/// How the kernel reached the device; it decides what a launch costs.
enum class Launch : std::uint8_t { eager, graph, programmatic };

enum class Pattern : std::uint8_t { sequential, strided, gather };

enum class CopyKind : std::uint8_t {
  unknown,
  host_to_device,
  device_to_host,
  device_to_device,
  peer_to_peer,
  host_to_host,
  memset
};

/// How a byte count came to be known. `recorded`: the source states it.
enum class Rule : std::uint8_t {
  recorded,    ///< stated by the trace (copies, memsets, counters, addresses)
  gemm,        ///< operand shapes of a matrix multiply
  elementwise, ///< operand shapes of an elementwise operator
  matched,     ///< copied from a matched kernel of equal name, grid and block
  generated,   ///< computed from a model's shape by a generator
  unknown,     ///< nothing is known; no bytes are charged
  attention,   ///< shapes of queries, keys and values
  norm,        ///< shapes of a normalisation
  softmax,     ///< shapes of a softmax
  embedding,   ///< rows looked up in, or written to, a table
  reduction,   ///< shapes of a sum, extremum, scan or sort
  collective,  ///< message sizes of a collective, as this device's memory sees them
  convolution, ///< shapes of a convolution
  pooling,     ///< shapes of a pooling
  captured     ///< copied from a kernel of equal name, grid and block of another trace
};

/// The last of the rules. Files hold the numbers: new rules come after it.
inline constexpr Rule kLastRule = Rule::captured;

/// A device queue: kernels of one stream run in order.
struct StreamId {
  std::int32_t device = 0;
  std::int64_t stream = 0;
  auto operator<=>(const StreamId&) const = default;
};

/// One GPU as the source describes it; 0 or empty where it does not.
struct Device {
  std::int32_t id = 0;
  std::string name;
  Bytes memory{};
  std::uint32_t sms = 0;
  std::string architecture; ///< e.g. "sm9.0", "gfx942"
  std::uint32_t max_threads_per_sm = 0;
  std::uint32_t registers_per_sm = 0;
  Bytes shared_memory_per_sm{};
  Hertz clock{};
  auto operator<=>(const Device&) const = default;
};

struct Header {
  std::string format;     ///< of the original: "kineto", "nsys", "umft", ...
  std::string source;     ///< file name of the original, or the generator's command
  std::string provenance; ///< repository, path and licence of the original, free text
  std::int64_t epoch_unix_ns = 0;
  std::vector<Device> devices;
};

struct Tensor {
  TensorId id = 0;
  std::string name;
  Role role = Role::unknown;
  DType dtype = DType::unknown;
  std::vector<std::int64_t> shape; ///< elements per dimension, outermost first
  Bytes bytes{};                   ///< storage it occupies
  std::int32_t layer = -1;         ///< -1: none
};

/// One tensor touched by a kernel. Bytes moved = the listed range (or all
/// `indices` blocks), times fraction.
struct Access {
  TensorId tensor = 0;
  bool write = false;
  Rule rule = Rule::unknown;
  Pattern pattern = Pattern::sequential;
  std::uint64_t offset = 0;           ///< bytes from the tensor's start
  Bytes length{};                     ///< bytes of the range
  double fraction = 1.0;              ///< share of the range really touched, (0, 1]
  std::vector<std::uint64_t> indices; ///< gather: block numbers of `block_bytes` each; else empty
  Bytes block_bytes{};
  std::vector<std::uint64_t> addresses; ///< raw device addresses (SASS traces); else empty
};

struct Kernel {
  KernelId id = 0;
  std::string name;
  std::string op; ///< framework operator it was joined to ("aten::addmm"); empty if none
  StreamId stream{};
  std::optional<std::int64_t> issue_ns; ///< host launch call, when recorded
  std::optional<std::int64_t> start_ns; ///< on the device, as measured
  std::optional<std::int64_t> end_ns;
  std::array<std::uint32_t, 3> grid{};  ///< blocks; all 0 when not recorded
  std::array<std::uint32_t, 3> block{}; ///< threads
  std::uint32_t registers_per_thread = 0;
  Bytes shared_memory{}; ///< per block
  Launch launch = Launch::eager;
  Phase phase = Phase::other;
  std::int32_t layer = -1;
  double flops = 0;
  DType flops_dtype = DType::unknown;
  Rule rule = Rule::unknown; ///< how accesses and flops were found; unknown: none were
  std::vector<Access> accesses;
};

struct Copy {
  std::uint64_t id = 0; ///< shares the numbering of kernels
  CopyKind kind = CopyKind::unknown;
  StreamId stream{};
  std::optional<std::int32_t> peer_device;
  std::optional<std::int64_t> issue_ns;
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
  std::optional<Bytes> bytes; ///< absent when the source does not say
  std::optional<TensorId> source;
  std::optional<TensorId> destination;
};

/// `waiting` may not go on before everything issued so far on `awaited` is done.
/// host_waits: it is the host that waits (stream or device synchronise).
struct Sync {
  StreamId waiting{};
  std::optional<StreamId> awaited; ///< absent: every stream of the device
  bool host_waits = false;
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
};

struct Alloc {
  TensorId tensor = 0;
};

/// The whole tensor dies, or only bytes of it.
struct Free {
  TensorId tensor = 0;
  std::uint64_t offset = 0;         ///< bytes from the tensor's start
  std::optional<Bytes> length = {}; ///< absent: all of it
};

struct Request {
  std::uint64_t id = 0;
  std::int64_t arrival_ns = 0;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::vector<std::uint64_t> prefix_blocks;
  std::string service_class;
};

struct Mark {
  std::int64_t time_ns = 0;
  std::string name;
};

/// Something odd in the source that did not stop the reader: counted, first place kept.
struct Oddity {
  std::string code;     ///< stable, lower-case-with-dashes
  std::string sentence; ///< for people
  std::uint64_t count = 0;
  std::string first_place;
};

using Record = std::variant<Tensor, Kernel, Copy, Sync, Alloc, Free, Request, Mark, Oddity>;

std::string_view name_of(Role);
std::string_view name_of(DType);
std::string_view name_of(Phase);
std::string_view name_of(Launch);
std::string_view name_of(Pattern);
std::string_view name_of(CopyKind);
std::string_view name_of(Rule);

/// The value called `name`, or nothing.
template <class Enum>
std::optional<Enum> value_of(std::string_view name);

/// Bits of one element; 0 for unknown.
std::uint32_t bits_of(DType);

/// Storage of `elements` elements, rounded up to whole bytes.
Bytes storage_of(DType, std::uint64_t elements);

/// Bytes an access moves between the SMs and the L2 (range or blocks × fraction, rounded up).
Bytes moved_bytes(const Access&);

/// A stream being read. header() is valid from the start, next() until it returns false.
/// Oddities come as records at the end. Throws UserError with the place of a fault.
class Source {
public:
  virtual ~Source() = default;
  virtual const Header& header() const = 0;
  virtual bool next(Record&) = 0;
};

/// A stream being written. finish() completes the file; without it nothing appears.
class Sink {
public:
  virtual ~Sink() = default;
  virtual void write(const Record&) = 0;
  virtual void finish() = 0;
};

} // namespace umf::stream
