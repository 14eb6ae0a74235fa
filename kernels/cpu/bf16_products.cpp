#include "kernels/cpu/bf16_products.hpp"

#include <fmt/format.h>
#include <hwy/base.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "kernels/cpu/dilated_tile.hpp"

#if HWY_ARCH_X86_64
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace hilbench {
namespace {

struct Named {
  Bf16Products products;
  std::string_view name, unit;
};
constexpr auto kNames = std::to_array<Named>({{Bf16Products::amx_bf16, "amx", "bf16_amx"},
                                              {Bf16Products::avx512_bf16, "avx512", "bf16_avx512"},
                                              {Bf16Products::widened, "widened", "fp32_fma"}});

#if HWY_ARCH_X86_64
constexpr unsigned kFeatureLeaf = 7;

// EAX of subleaf 1 and EDX of subleaf 0 (Intel SDM, CPUID).
bool has_avx512_bf16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(kFeatureLeaf, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax >> 5 & 1) != 0;
}
bool has_amx_bf16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24;
  return __get_cpuid_count(kFeatureLeaf, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kBf16) != 0 &&
         (edx & kTile) != 0;
}

// Linux lets a process use the tile registers only after it asks, once for all its threads.
bool may_use_tiles() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  static const bool granted = has_amx_bf16() && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}
#else
bool has_avx512_bf16() {
  return false;
}
bool may_use_tiles() {
  return false;
}
#endif

}  // namespace

std::string_view name_of(Bf16Products products) {
  return std::ranges::find(kNames, products, &Named::products)->name;
}

std::vector<Bf16Products> available_bf16_products() {
  std::vector<Bf16Products> available = {Bf16Products::widened};
  if (!multiplies_pairs()) return available;
  // On processors with AMX, `widened` comes before vdpbf16ps, which has fewer units there.
  if (has_avx512_bf16())
    available.insert(has_amx_bf16() ? available.end() : available.begin(), Bf16Products::avx512_bf16);
  if (may_use_tiles()) available.insert(available.begin(), Bf16Products::amx_bf16);
  return available;
}

Bf16Choice chosen_bf16_products() {
  const std::vector<Bf16Products> available = available_bf16_products();
  const char* wish = std::getenv("HILBENCH_BF16");
  if (wish == nullptr || *wish == '\0') return {available.front(), std::nullopt};
  const auto named = std::ranges::find(kNames, std::string_view(wish), &Named::name);
  if (named == kNames.end())
    return {available.front(),
            fmt::format("HILBENCH_BF16 is '{}', not amx, avx512 or widened", std::string_view(wish))};
  if (std::ranges::find(available, named->products) == available.end())
    return {available.front(),
            fmt::format("HILBENCH_BF16={}: this processor or its system has no such products", wish)};
  return {named->products, std::nullopt};
}

std::string_view unit_of(Bf16Products products) {
  return std::ranges::find(kNames, products, &Named::products)->unit;
}

std::string_view cpu_product_unit(Dtype dtype) {
  return unit_of(dtype == Dtype::bf16 ? chosen_bf16_products().products : Bf16Products::widened);
}

}  // namespace hilbench
