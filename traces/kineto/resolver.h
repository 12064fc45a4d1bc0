#pragma once

#include "traces/io/spill.h"
#include "traces/kineto/captured_works.h"
#include "traces/kineto/issued.h"
#include "traces/kineto/join.h"
#include "traces/kineto/learned_shapes.h"
#include "traces/kineto/tensor_identity.h"
#include "traces/kineto/work.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace umf::traces::kineto {

/// An Issued record with its bytes, tensors and FLOPs known.
struct Resolved {
  Issued issued{};
  stream::Rule rule = stream::Rule::unknown;
  double flops = 0;
  stream::DType flops_dtype = stream::DType::unknown;
  std::vector<Touch> touches;
  std::vector<NewTensor> fresh; ///< tensors first used here
};

template <class Archive>
void visit(Archive& archive, Resolved& record) {
  archive(record.issued, record.rule, record.flops, record.flops_dtype, record.touches,
          record.fresh);
}

/// Gives kernels their bytes by the named rules and their tensors by identity, in two
/// passes over the records in order of issue: a kernel without an operator copies the
/// first matched kernel of equal name, grid and block, wherever that one is. An operator
/// called again with equal inputs is worked out once.
class Resolver {
public:
  explicit Resolver(const io::TextPool& texts) : texts_(texts) {}

  /// `resolved` receives Resolved records in the order of `joined`.
  void run(Join& joined, io::RecordLog& resolved);

  /// Adds what the kernels of this trace do. Called instead of run().
  void capture(Join& joined, CapturedWorks& captured);
  /// Kernels that this trace gives no work find theirs here; before run().
  void use(CapturedWorks& captured) { captured_ = &captured; }
  /// Kernels that had no operator and found nothing there either.
  std::uint64_t not_captured() const { return not_captured_; }

  const TensorIdentity& tensors() const { return tensors_; }

private:
  struct Likeness {
    TextId name = kNoText;
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    bool operator==(const Likeness&) const = default;
    struct Hash {
      std::size_t operator()(const Likeness& likeness) const;
    };
  };
  struct Template {
    std::string op;
    Work work;
  };

  /// What the work of a call depends on besides what its rule says.
  struct Called {
    TextId call = kNoText;
    TextId kernel = kNoText;
    const Shape* learned = nullptr;
    bool operator==(const Called&) const = default;
    struct Hash {
      std::size_t operator()(const Called& called) const;
    };
  };

  void capture(const Issued& issued, CapturedWorks& captured);
  void collect_templates(Join& joined);
  void observe(const Issued& issued);
  bool has_window(TextId op_name);
  void resolve(Resolved& record, std::uint32_t ordinal);
  const Work& work_for(const Issued& issued, std::string& identity);
  const Work& work_of_call(const Issued& issued, const Shape* learned);
  const Work& work_of_message(TextId message);
  const Work& work_of_capture(const Issued& issued, std::string& identity);
  const Shape* learned(const Issued& issued);

  const io::TextPool& texts_;
  std::unordered_map<Likeness, Template, Likeness::Hash> templates_;
  std::unordered_map<Called, Work, Called::Hash> works_;
  std::unordered_map<TextId, Work> messages_;
  std::unordered_map<TextId, bool> has_window_; ///< by operator name
  LearnedShapes shapes_;
  CapturedWorks* captured_ = nullptr;
  std::uint64_t not_captured_ = 0;
  stream::DType half_ = stream::DType::unknown; ///< the 16-bit type first seen
  TensorIdentity tensors_;
};

} // namespace umf::traces::kineto
