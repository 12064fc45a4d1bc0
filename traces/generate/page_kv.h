#pragma once

#include "traces/access/access.h"
#include "traces/generate/run_kv.h"

#include <memory>
#include <vector>

namespace umf::traces::generate {

/// Whole runs of which decoding sequences read the pages that a chooser picks, where everything is
/// kept token by token; windows and compressed entries are read as they are. Pages lie as
/// [page][head][token][dim], so that a head's part of one is a block; a fresh token is written as
/// one run of as many bytes. Bounds, where the chooser has them, are two vectors in BF16 a page.
class PageKv : public RunKv {
public:
  PageKv(const StepOptions& options, std::uint64_t sequences, std::uint64_t tokens,
         std::unique_ptr<access::PageChooser> chooser, Numbers& numbers);

  void declare(std::vector<stream::Record>& records) const;
  std::uint64_t read(const KvAsk& ask, std::vector<stream::Access>& accesses) override;
  void append(const KvAsk& ask, std::vector<stream::Access>& accesses) override;

private:
  /// Keys and values of a layer are two questions with one answer.
  struct Choice {
    access::PageAsk ask;
    bool chosen = false, known = false;
    std::vector<std::uint64_t> pages;
  };

  const Choice& choice(const access::PageAsk& ask, std::size_t at);
  bool concerns(const KvAsk& ask) const;
  bool has_bounds(const KvAsk& ask) const;
  std::uint64_t read_pages(const KvAsk& ask, std::uint32_t sequence, std::uint32_t heads,
                           std::vector<stream::Access>& accesses);
  void read_tail(const KvAsk& ask, std::uint32_t sequence, std::uint64_t first,
                 std::vector<stream::Access>& accesses) const;
  void touch_bounds(const KvAsk& ask, std::uint32_t sequence, std::uint64_t first,
                    std::uint64_t pages, bool write, std::vector<stream::Access>& accesses) const;

  std::unique_ptr<access::PageChooser> chooser_;
  std::uint64_t page_;
  std::vector<stream::TensorId> first_bounds_; ///< of a layer, one tensor a sequence
  std::vector<stream::Tensor> bounds_;
  std::vector<Choice> choices_; ///< of the layer last asked for: by sequence and head
};

} // namespace umf::traces::generate
