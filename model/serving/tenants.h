#pragma once

#include "model/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace umf::serving {

/// Lengths of a kind of requests: log-normal, with the mean and the standard deviation of the
/// logarithm.
struct Lengths {
  double mean = 1, spread = 0;
};
struct Mix {
  std::string_view name;
  Lengths prompt, output;
  std::string_view source; ///< of the figures
};

/// The shipped ones: code, math, caption.
const std::vector<Mix>& mixes();

/// One of several sources of requests that a server has.
struct Tenant {
  std::string name;
  Lengths prompt, output; ///< of requests drawn at random
  Hertz rate{};
  std::string trace; ///< else of a file, as recorded
  std::string service_class;
  double weight = 1.0; ///< its part where serving.fairness gives parts
};

/// "code math 0.5Hz default 1": name; lengths (a mix, PROMPT/OUTPUT in tokens, or trace:FILE);
/// requests a second, or "recorded" of a trace; class of service; weight. `spread`: of
/// PROMPT/OUTPUT. Throws a UserError that says what is expected.
Tenant parse_tenant(std::string_view text, double spread);

/// (Sum of x)^2 / (n · sum of x^2), 1 where all are equal, 1/n where one has all (Jain, Chiu and
/// Hawe 1984). 1 of none.
double jain_index(const std::vector<double>& parts);

} // namespace umf::serving
