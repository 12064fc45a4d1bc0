#pragma once

#include "model/stream/records.h"

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>

namespace umf::test {

/// Records of every type with every field set now and then, extremes often: the highest and
/// lowest numbers, empty and 10 kB texts, bytes that are not UTF-8.
class RandomRecords {
public:
  explicit RandomRecords(std::uint64_t seed) : random_(seed) {}
  stream::Record record();
  stream::Header header();

private:
  bool chance(unsigned in);
  template <class Number>
  Number number();
  double figure();
  std::string text();
  template <class Enum>
  Enum code(Enum last);
  template <class Number>
  std::vector<Number> list();
  stream::StreamId stream_id();
  stream::Access access();
  stream::Kernel kernel();

  std::mt19937_64 random_;
};

/// Every member of each type, by structured bindings: a member added to one of them and
/// forgotten here does not compile.
bool same(const stream::Record&, const stream::Record&);
bool same(const stream::Header&, const stream::Header&);

/// A folder of its own, removed at the end.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

std::string bytes_of(const std::filesystem::path&);
void put_bytes(const std::filesystem::path&, const std::string& bytes);

} // namespace umf::test
