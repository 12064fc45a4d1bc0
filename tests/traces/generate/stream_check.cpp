#include "tests/traces/generate/stream_check.h"

#include "model/shapes/totals.h"

namespace umf::test {

using namespace traces::generate;

Stream::Stream(GenerateOptions options) {
  Generator generator(std::move(options));
  generator.declare(records);
  while (generator.next(records)) {
  }
  for (const stream::Record& record : records) {
    if (const auto* tensor = std::get_if<stream::Tensor>(&record)) tensors[tensor->id] = *tensor;
    if (const auto* kernel = std::get_if<stream::Kernel>(&record)) kernels.push_back(kernel);
  }
}

std::uint64_t Stream::bytes(stream::Role role, bool write) const {
  std::uint64_t sum = 0;
  for (const stream::Kernel* kernel : kernels)
    for (const stream::Access& access : kernel->accesses)
      if (access.write == write && tensors.at(access.tensor).role == role)
        sum += stream::moved_bytes(access).count;
  return sum;
}

double Stream::flops() const {
  double sum = 0;
  for (const stream::Kernel* kernel : kernels)
    sum += kernel->flops;
  return sum;
}

double Stream::flops(const std::string& name) const {
  double sum = 0;
  for (const stream::Kernel* kernel : kernels)
    if (kernel->name == name) sum += kernel->flops;
  return sum;
}

std::uint64_t Stream::count(const std::string& name) const {
  std::uint64_t count = 0;
  for (const stream::Kernel* kernel : kernels)
    count += kernel->name == name ? 1 : 0;
  return count;
}

GenerateOptions options_of(const std::string& model, const std::string& phase,
                           std::uint64_t context, std::uint64_t batch, std::uint64_t steps,
                           const std::string& weights) {
  GenerateOptions options;
  options.step.model = shapes::find_model(model);
  const shapes::Format format = shapes::parse_format(weights, "format");
  options.step.weights = {format, format, {}};
  options.phase = *stream::value_of<stream::Phase>(phase);
  options.context = context;
  options.batch = batch;
  options.steps = steps;
  return options;
}

double product_flops(const shapes::Model& model) {
  double numbers = 0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    for (const shapes::Matrix& m : shapes::matrices_of_layer(model, layer)) {
      if (m.in == 1) continue; // norms and biases
      numbers += static_cast<double>(m.out * m.in) *
                 (m.part == shapes::Part::expert ? model.ffn.top_k : 1);
    }
  return 2 * numbers;
}

} // namespace umf::test
