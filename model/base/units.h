#pragma once

#include <compare>
#include <cstdint>

/// Quantities with their units in the type. Integers where a figure is counted,
/// doubles where it is a rate. Conversions are explicit and say their rounding.
namespace umf {

/// Simulated time or duration, 10^-15 s. 64 bits reach 2.5 hours; 312.5 ps
/// (a DDR5-6400 clock) is exact.
struct Femtoseconds {
  std::int64_t count = 0;

  constexpr auto operator<=>(const Femtoseconds&) const = default;
  constexpr Femtoseconds& operator+=(Femtoseconds other) {
    count += other.count;
    return *this;
  }
  constexpr Femtoseconds& operator-=(Femtoseconds other) {
    count -= other.count;
    return *this;
  }
  friend constexpr Femtoseconds operator+(Femtoseconds a, Femtoseconds b) {
    return {a.count + b.count};
  }
  friend constexpr Femtoseconds operator-(Femtoseconds a, Femtoseconds b) {
    return {a.count - b.count};
  }
  friend constexpr Femtoseconds operator*(Femtoseconds a, std::int64_t times) {
    return {a.count * times};
  }
  constexpr double seconds() const { return static_cast<double>(count) * 1e-15; }
  constexpr double nanoseconds() const { return static_cast<double>(count) * 1e-6; }
};

constexpr Femtoseconds from_nanoseconds(std::int64_t ns) {
  return {ns * 1'000'000};
}

/// A count of bytes: a size, a length or an amount moved.
struct Bytes {
  std::uint64_t count = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count -= other.count;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
};

/// A transfer rate; decimal prefixes (1 GB/s = 10^9 B/s).
struct BytesPerSecond {
  double value = 0;
  constexpr auto operator<=>(const BytesPerSecond&) const = default;
};

/// A clock or event rate.
struct Hertz {
  double value = 0;
  constexpr auto operator<=>(const Hertz&) const = default;
};

/// Bytes moved in one clock of the component that declares the key.
struct BytesPerClock {
  double value = 0;
  constexpr auto operator<=>(const BytesPerClock&) const = default;
};

/// Floating-point operations a second.
struct FlopsPerSecond {
  double value = 0;
  constexpr auto operator<=>(const FlopsPerSecond&) const = default;
};

/// Energy spent on each bit moved.
struct PicojoulesPerBit {
  double value = 0;
  constexpr auto operator<=>(const PicojoulesPerBit&) const = default;
};

/// Energy spent on each floating-point operation.
struct PicojoulesPerFlop {
  double value = 0;
  constexpr auto operator<=>(const PicojoulesPerFlop&) const = default;
};

/// Power that is drawn whatever happens.
struct Watts {
  double value = 0;
  constexpr auto operator<=>(const Watts&) const = default;
};

/// Energy counted exactly: 10^-15 J. 128 bits, for 64 would end at 18 kJ, half a minute of one GPU.
struct Femtojoules {
  __extension__ __int128 count = 0;

  constexpr auto operator<=>(const Femtojoules&) const = default;
  constexpr Femtojoules& operator+=(Femtojoules other) {
    count += other.count;
    return *this;
  }
  friend constexpr Femtojoules operator+(Femtojoules a, Femtojoules b) {
    return {a.count + b.count};
  }
  friend constexpr Femtojoules operator-(Femtojoules a, Femtojoules b) {
    return {a.count - b.count};
  }
  constexpr double joules() const { return static_cast<double>(count) * 1e-15; }
};

/// A temperature.
struct Celsius {
  double value = 0;
  constexpr auto operator<=>(const Celsius&) const = default;
};

constexpr Bytes operator""_KiB(unsigned long long n) {
  return {n << 10};
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return {n << 20};
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return {n << 30};
}
constexpr Femtoseconds operator""_ns(unsigned long long n) {
  return from_nanoseconds(static_cast<std::int64_t>(n));
}

} // namespace umf
