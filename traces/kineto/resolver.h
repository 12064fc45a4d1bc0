#pragma once

#include "traces/io/spill.h"
#include "traces/kineto/byte_rules.h"
#include "traces/kineto/issued.h"
#include "traces/kineto/tensor_identity.h"

#include <cstdint>
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
  visit(archive, record.issued);
  archive(record.rule, record.flops, record.flops_dtype, record.touches, record.fresh);
}

/// Gives kernels their bytes by the named rules and their tensors by identity, in two
/// passes over the records in order of issue: a kernel without an operator copies the
/// first matched kernel of equal name, grid and block, wherever that one is.
class Resolver {
public:
  /// `resolved` receives Resolved records in the same order.
  void run(io::RecordLog& ordered, io::RecordLog& resolved);

  const TensorIdentity& tensors() const { return tensors_; }

private:
  struct Template {
    std::string op;
    Work work;
  };

  void collect_templates(io::RecordLog& ordered);
  void resolve(Resolved& record, std::uint32_t ordinal);
  Work work_for(const Issued& issued, std::string& identity) const;

  std::unordered_map<std::string, Template> templates_;
  TensorIdentity tensors_;
};

} // namespace umf::traces::kineto
