#include "tests/support/shared_data.h"
#include "tests/traces/kineto/counts.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace umf;

namespace {

/// Weights of one step of a training run.
struct Step {
  std::set<stream::TensorId> touched;
  std::uint64_t fresh = 0; ///< first touched in this step
  Bytes bytes{};
};

std::vector<Step> steps_of(const test::Drained& records) {
  std::vector<Step> steps;
  std::map<stream::TensorId, Bytes> weights;
  for (const auto& record : records.all) {
    if (const auto* mark = std::get_if<stream::Mark>(&record))
      if (mark->name.compare(0, 13, "ProfilerStep#") == 0) steps.emplace_back();
    if (steps.empty()) continue;
    auto& step = steps.back();
    const auto* tensor = std::get_if<stream::Tensor>(&record);
    if (tensor && tensor->role == stream::Role::weight) {
      weights[tensor->id] = tensor->bytes;
      ++step.fresh;
    }
    if (const auto* kernel = std::get_if<stream::Kernel>(&record))
      for (const auto& access : kernel->accesses)
        if (weights.count(access.tensor) > 0 && step.touched.insert(access.tensor).second)
          step.bytes += weights.at(access.tensor);
  }
  return steps;
}

} // namespace

TEST_CASE("the weights of ResNet-50 are the same tensors in every step") {
  const auto path =
      test::shared_file("data/traces/kineto/resnet50_nw0_worker0.1623143566756.pt.trace.json.gz");
  if (!path) return;
  const auto steps = steps_of(test::drain(*traces::kineto::open_kineto(*path)));
  REQUIRE(steps.size() == 6); // ProfilerStep#16 to #21
  // 53 convolutions without bias; 53 batch norms with weight, bias, running mean and variance;
  // a linear layer with weight and bias. Backward, no tensor is added to these.
  constexpr std::size_t weights = 53 + 53 * 4 + 2;
  for (const auto& step : steps) {
    CHECK(step.touched.size() == weights);
    CHECK(step.touched == steps.front().touched);
    // 25,557,032 parameters (torchvision's figure) and 2 × 26,560 running statistics, in f32.
    CHECK(step.bytes.count == (25557032 + 2 * 26560) * 4);
  }
  CHECK(steps[0].fresh == weights);
  for (std::size_t i = 1; i < steps.size(); ++i)
    CHECK(steps[i].fresh == 0);
}
