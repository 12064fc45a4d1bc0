#pragma once

#include "model/scheduler/tap.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The command log: all that the brains of a run were told and what they answered, in one order,
/// so that log_replay.h can put the same questions again. README.md has the format.
namespace umf::scheduler {

/// What the brains were made of.
struct LogHeader {
  struct Tier {
    std::string name;
    policy::TierClass kind = policy::TierClass::hbm;
    std::uint64_t frames = 0;
    bool operator==(const Tier&) const = default;
  };
  /// A tier as one GPU sees it.
  struct Reach {
    bool reached = false; ///< else it has no frames for this GPU
    BytesPerSecond rate{};
    bool operator==(const Reach&) const = default;
  };
  struct Gpu {
    std::string policy; ///< its object, JSON
    std::vector<Reach> tiers;
    bool operator==(const Gpu&) const = default;
  };
  Bytes page{};
  memory::Packing packing{};
  Coherence coherence{};
  Degrading degrading{};
  std::vector<Tier> tiers;
  std::vector<Gpu> gpus;
};

/// One call of a brain. Which members count depends on the kind.
struct LogEvent {
  enum class Kind : std::uint8_t {
    declare,   ///< declared
    preload,   ///< tensor
    reserve,   ///< access: address, length, write
    release,   ///< tensor
    touch,     ///< access, digest
    again,     ///< access, digest
    sense,     ///< sensors: now, window and the two shares
    serve,     ///< pages, now
    make_room, ///< look_again
    next,      ///< asked, given, command
    refused,   ///< command.id, now
    landed,    ///< command.id, look_again
    suspend,   ///< command.id
    quiesced,  ///< command.id, now
    completed, ///< command.id
    reclaim,   ///< access: address, length; dead
    link = 18, ///< tier, condition, now; 16 and 17 are no events (log_format.h)
  };
  Kind kind = Kind::declare;
  std::uint32_t gpu = 0;
  std::uint64_t number = 0; ///< from 1
  std::uint64_t at = 0;     ///< offset of its first byte
  Femtoseconds now{};       ///< of kinds without: of the event before
  Access access;
  std::uint32_t digest = 0; ///< of the runs that the machine was given
  bool look_again = false;
  std::uint64_t pages = 0;
  stream::TensorId tensor = 0;
  stream::Tensor declared;
  Asked asked = Asked::any;
  bool given = false;
  Command command;
  policy::Sensors sensors;
  memory::Range dead;
  TierIndex tier = 0;
  Condition condition;
};

std::string_view name_of(LogEvent::Kind kind);

/// Of what a machine acts on: pages, where they lie and their state, not their copies.
std::uint32_t digest_of(std::span<const PageRun> runs);

/// Whether they order the same; copies of the pages and their state are no part of it.
bool same(const Command& a, const Command& b);

/// Writes a log as it happens, a tap a GPU, some 15 bytes an access. Memory: a buffer.
class LogWriter {
public:
  using Sink = std::function<void(std::string_view)>;

  LogWriter(const LogHeader& header, Sink sink);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  Tap& gpu(std::uint32_t index);
  /// Without it the log counts as cut short.
  void finish();

private:
  class Encoder;
  class GpuTap;
  std::unique_ptr<Encoder> encoder_;
  std::vector<std::unique_ptr<GpuTap>> taps_;
};

/// Reads a log event by event; nothing is taken for granted. Throws UserError with file, offset and
/// what was expected. Memory: a buffer.
class LogReader {
public:
  /// Puts up to so many bytes there; how many: 0 at the end of the file.
  using Fill = std::function<std::size_t(char* to, std::size_t most)>;

  LogReader(Fill fill, std::string file);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  const LogHeader& header() const { return header_; }
  const std::string& file() const;
  /// False: the log ends here, as it should. Members the event has no use for keep old values.
  bool next(LogEvent& event);

private:
  class Decoder;
  std::unique_ptr<Decoder> decoder_;
  LogHeader header_;
};

} // namespace umf::scheduler
