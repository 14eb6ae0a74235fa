// How dilated_cpu multiplies bf16: by special instructions if the CPU has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/case/case.hpp"

namespace hilbench {

enum class Bf16Products {
  widened,      // converted to fp32 and multiplied there
  avx512_bf16,  // vdpbf16ps: two products a lane, summed in fp32
  amx_bf16,     // tdpbf16ps: tiles of 16 rows x 32 elements
};

// The value of HILBENCH_BF16 that asks for it.
std::string_view name_of(Bf16Products products);

// Those that this CPU has and this process may use, the fastest first. `widened` is always included.
std::vector<Bf16Products> available_bf16_products();

// The products that HILBENCH_BF16 asks for, or the fastest if it is not set. If they are not available,
// `against` says why and `products` is the fastest.
struct Bf16Choice {
  Bf16Products products = Bf16Products::widened;
  std::optional<std::string> against;
};
Bf16Choice chosen_bf16_products();

// The unit that bounds kernels that multiply `dtype` on this CPU (Implementation::peak_unit).
std::string_view cpu_product_unit(Dtype dtype);
std::string_view unit_of(Bf16Products products);

}  // namespace hilbench
