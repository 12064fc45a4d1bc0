#pragma once

#include "model/base/error.h"

#include <string>

namespace umf::test {

/// What the user would read; empty when nothing is wrong.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

} // namespace umf::test
