// A case as a library gets it (kernels/plugin/kernel.h).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/plugin/kernel.h"

namespace hilbench {

// Owns what the struct points to.
class HostedCase {
 public:
  // `fields`: `case` of the request `load`; `kernel`: its key of that name. Throws nlohmann::json::exception
  // if they are not of this program.
  HostedCase(const nlohmann::json& fields, const nlohmann::json& kernel);
  HostedCase(const HostedCase&) = delete;
  HostedCase& operator=(const HostedCase&) = delete;

  const hilbench_case& operator*() const { return case_; }
  const hilbench_case* operator->() const { return &case_; }
  Dtype dtype() const { return static_cast<Dtype>(case_.dtype); }
  std::int64_t elements(std::int64_t heads) const {
    return case_.batch * case_.sequence_length * heads * case_.head_dim;
  }

 private:
  std::string order_, traversal_, json_;
  std::vector<std::int64_t> segments_, dilations_;
  hilbench_case case_ = {};
};

}  // namespace hilbench
