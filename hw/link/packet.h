#pragma once

#include "hw/link/options.h"

#include <cstdint>
#include <vector>

namespace umf::hw::link {

inline constexpr std::uint32_t kNone = UINT32_MAX;

/// What crosses links: a TLP, a CXL message, an NVLink packet.
struct Packet {
  std::uint64_t address = 0;
  std::uint64_t order = 0;              ///< in which it was queued where it is
  Femtoseconds ready{};                 ///< for the next direction, once it has arrived
  std::uint32_t payload = 0, asked = 0; ///< bytes it carries; bytes a read asks for
  std::uint32_t next = kNone;           ///< in a queue
  std::uint32_t work = kNone;           ///< the asker's record: of a read or of an answered write
  std::uint32_t service = kNone;        ///< of the memory, ended once this has gone
  std::uint32_t came_by = kNone;        ///< direction whose receive buffer holds it
  std::uint32_t chunks = 0;             ///< of 16 B, still to be sent in flits
  std::uint16_t from = 0, to = 0;       ///< nodes
  Kind kind = Kind::posted;
  bool relaxed = false;
  bool redirected = false; ///< ACS: has been to the first port

  std::uint32_t data_units() const { return (payload + 15) / 16; }
};

/// Records by index, used again when freed: nothing is allocated once enough have been made.
template <class T>
class Pool {
public:
  std::uint32_t make() {
    if (free_.empty()) {
      all_.emplace_back();
      return static_cast<std::uint32_t>(all_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    all_[index] = T{};
    return index;
  }
  void free(std::uint32_t index) { free_.push_back(index); }
  T& operator[](std::uint32_t index) { return all_[index]; }
  const T& operator[](std::uint32_t index) const { return all_[index]; }
  std::size_t in_use() const { return all_.size() - free_.size(); }

private:
  std::vector<T> all_;
  std::vector<std::uint32_t> free_;
};

/// First in, first out, linked through `next` of its members.
struct Queue {
  std::uint32_t head = kNone, tail = kNone, size = 0;

  bool empty() const { return head == kNone; }
  template <class T>
  void push(Pool<T>& pool, std::uint32_t index) {
    pool[index].next = kNone;
    (head == kNone ? head : pool[tail].next) = index;
    tail = index;
    ++size;
  }
  template <class T>
  std::uint32_t pop(Pool<T>& pool) {
    const std::uint32_t index = head;
    head = pool[index].next;
    if (head == kNone) tail = kNone;
    --size;
    return index;
  }
};

} // namespace umf::hw::link
