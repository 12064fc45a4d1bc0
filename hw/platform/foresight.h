#pragma once

#include "hw/platform/replay.h"
#include "hw/platform/scenario.h"
#include "model/policy/future.h"

#include <memory>
#include <vector>

namespace umf::hw {

/// What the schedulers of a machine will be asked for, a future a GPU: the traces are walked
/// through the L2s, in order of issue and without time. Exact where one stream runs at a time;
/// several streams share an L2 in another order than here, and a policy that moves pages may
/// make a tensor's range free later than here, so that the next one lies elsewhere.
std::vector<std::shared_ptr<const policy::Future>> foresee(const Scenario& scenario,
                                                           const std::vector<TenantSetup>& tenants);

} // namespace umf::hw
