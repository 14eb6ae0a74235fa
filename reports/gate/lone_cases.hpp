// Names what only one of two runs has.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

// Variants that the other run lacks, by case.
class LoneCases {
 public:
  // `whole`: the other run has nothing of the case.
  void add(std::string_view case_id, std::string_view variant_id, bool whole);
  bool empty() const { return cases_.empty(); }
  std::size_t variants() const;
  // Up to five cases: "n256, n512 (gemm, dilated/linear) and 3 more cases". The variants of a case that is
  // lone as a whole are not named.
  std::string names() const;

 private:
  struct Lone {
    std::vector<std::string> variants;
    bool whole = false;
  };
  std::map<std::string, Lone> cases_;
};

}  // namespace hilbench
