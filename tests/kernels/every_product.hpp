// The ways in which this machine can multiply bf16, forced one after the other, and its instruction sets.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "kernels/cpu/bf16_products.hpp"

namespace hilbench {

// HILBENCH_BF16 is `wish` while this lives, and afterwards what it was before.
class Bf16Wish {
 public:
  explicit Bf16Wish(const std::string& wish) {
    if (const char* before = std::getenv(kName)) before_ = before;
    setenv(kName, wish.c_str(), 1);
  }
  explicit Bf16Wish(Bf16Products products) : Bf16Wish(std::string(name_of(products))) {}
  Bf16Wish(const Bf16Wish&) = delete;
  Bf16Wish& operator=(const Bf16Wish&) = delete;
  ~Bf16Wish() {
    if (before_)
      setenv(kName, before_->c_str(), 1);
    else
      unsetenv(kName);
  }

 private:
  static constexpr const char* kName = "HILBENCH_BF16";
  std::optional<std::string> before_;
};

// Runs `check` once for every way to multiply `dtype` here, and passes it that way.
template <class Check>
void with_every_product(Dtype dtype, const Check& check) {
  for (const Bf16Products products : available_bf16_products()) {
    if (dtype != Dtype::bf16 && products != Bf16Products::widened) continue;
    SCOPED_TRACE(name_of(products));
    const Bf16Wish wish(products);
    check(products);
  }
}

// The same for every instruction set that this machine has and this build dispatches to.
template <class Check>
void on_every_target(Dtype dtype, const Check& check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    with_every_product(dtype, check);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace hilbench
