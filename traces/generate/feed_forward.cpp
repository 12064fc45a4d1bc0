#include "traces/generate/step_builder.h"

namespace umf::traces::generate {

using shapes::Slot;
using stream::Kernel;

namespace {

/// Gate times up: two numbers in, one out.
void activate(KernelWriter& write, const Rows& in, const Rows& out, std::uint64_t rows) {
  Kernel& kernel = write.start("silu_mul", 2);
  write.read(in, rows);
  write.write(out, rows);
  write.shape_pointwise(kernel, out.width * rows);
}

} // namespace

/// a → b → c → d.
void StepBuilder::gated(Out& out, Slot up, Slot down) {
  const Weight& gate_up = of(out)[up];
  const Weight& back = of(out)[down];
  const Rows wide = rows(Buffer::b, gate_up.out), narrow = rows(Buffer::c, back.in);
  project(out, up, rows(Buffer::a, options_.model.hidden), wide);
  activate(out.write, wide, narrow, step_.tokens);
  project(out, down, narrow, rows(Buffer::d, options_.model.hidden));
}

void StepBuilder::feed_forward(Out& out) {
  if (!options_.model.is_moe(out.layer)) return gated(out, Slot::gate_up, Slot::down);
  const Weight& router = of(out)[Slot::router];
  const Rows scores{Buffer::c, router.out * 4, 0}; // in 32 bits
  const Rows choice{Buffer::scratch, options_.model.ffn.top_k * kChoice, 0};
  out.write.product("router", router, step_.tokens, rows(Buffer::a, options_.model.hidden), scores);
  Kernel& kernel = out.write.start("router_top_k", 3);
  out.write.read(scores, step_.tokens);
  out.write.read(of(out)[Slot::router_bias]);
  out.write.write(choice, step_.tokens);
  out.write.shape_rows(kernel, step_.tokens, scores.width);
  if (options_.model.ffn.shared_experts != 0) gated(out, Slot::shared_gate_up, Slot::shared_down);
  experts(out);
}

/// Grouped products: each expert that any token was sent to is read once, its tokens are tiles.
void StepBuilder::experts(Out& out) {
  const shapes::Model& model = options_.model;
  const LayerWeights& weights = of(out);
  loads_.assign(model.ffn.experts, 0);
  out.router.route(out.layer, step_.batch, loads_);
  std::uint64_t sent = 0, touched = 0;
  for (const std::uint32_t load : loads_) {
    sent += load;
    touched += load != 0 ? 1 : 0;
  }
  const std::uint64_t tile =
      KernelWriter::tile_rows((sent + touched - 1) / std::max(touched, std::uint64_t{1}));
  std::uint64_t tiles = 0;
  for (const std::uint32_t load : loads_)
    tiles += (load + tile - 1) / tile;
  const Rows choice{Buffer::scratch, model.ffn.top_k * kChoice, 0};
  const Weight& up = weights[Slot::expert_gate_up];
  const Weight& down = weights[Slot::expert_down];
  const auto grouped = [&](const char* name, const Weight& weight, std::uint64_t offset,
                           const Rows& in, std::uint64_t in_rows, const Rows& result) {
    Kernel& kernel = out.write.start(name, touched + 3);
    for (std::uint32_t e = 0; e < loads_.size(); ++e)
      if (loads_[e] != 0) out.write.read(weights.first_expert + e, weight.bytes, offset);
    out.write.read(choice, step_.tokens);
    out.write.read(in, in_rows);
    out.write.write(result, sent);
    kernel.flops = 2.0 * static_cast<double>(sent) * static_cast<double>(weight.out * weight.in);
    kernel.flops_dtype = weight.compute;
    out.write.shape_product(kernel, tile, weight.out, weight.in, tiles);
  };
  const Rows wide = rows(Buffer::b, up.out), narrow = rows(Buffer::c, down.in);
  const Rows each = rows(Buffer::b, model.hidden), sum = rows(Buffer::d, model.hidden);
  grouped("expert_gate_up", up, 0, rows(Buffer::a, model.hidden), step_.tokens, wide);
  activate(out.write, wide, narrow, sent);
  grouped("expert_down", down, up.bytes.count, narrow, sent, each);
  Kernel& kernel = out.write.start("expert_combine", 4);
  out.write.read(each, sent);
  out.write.read(choice, step_.tokens);
  if (model.ffn.shared_experts != 0) out.write.read(sum, step_.tokens);
  out.write.write(sum, step_.tokens);
  out.write.shape_pointwise(kernel, sum.width * step_.tokens);
}

} // namespace umf::traces::generate
