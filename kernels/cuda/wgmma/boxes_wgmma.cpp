// boxes_wgmma as an implementation: the control of every order of a grid. Its tiles of queries and its blocks
// of keys are boxes of the grid, as with order `boxes` on dilated_wgmma, but tensor maps fetch them from
// tensors in position order, so that nothing is permuted. The code is in windows_wgmma.cu; CMake defines
// HILBENCH_ARCHITECTURES, those that it is compiled for ("": none), and HILBENCH_CUDA_MAJOR, the toolkit's
// version (0: no CUDA).
#include <fmt/format.h>

#include "kernels/cuda/shared/forward_implementation.hpp"
#include "kernels/cuda/wgmma/wgmma_sectors.hpp"
#include "kernels/cuda/wgmma/wgmma_tile_sizes.hpp"

namespace hilbench {
namespace cuda {

// In windows_wgmma.cu.
std::unique_ptr<WindowKernel> make_boxes_wgmma(const ForwardShape& shape);

namespace {

constexpr std::array kHeadDims = wgmma_head_dims();
constexpr std::string_view kArchitectures = HILBENCH_ARCHITECTURES;

std::int32_t tile_rows(const ForwardShape&) {
  return kMaskedRows;
}

constexpr ForwardCode code() {
  if constexpr (kArchitectures.empty())
    return {.absence = HILBENCH_CUDA_MAJOR == 0
                           ? kNoGpuCode
                           : "this build has no sm_90a code; ./quickstart.sh --all-architectures builds it"};
  else
    return {kArchitectures, tile_rows, nullptr, make_boxes_wgmma};
}

constexpr ForwardFacts kFacts = {
    .name = "boxes_wgmma",
    .help = "windows on grids for sm_90a whose tiles are boxes by tensor maps: nothing is permuted",
    .first_capability = 90,
    .last_capability = 90,
    .window_head_dims = kHeadDims,
    .head_dims = kHeadDims,
    .peak_unit = gpu_product_unit,
    .automatic_tiles = KeyTiles::aligned,
    .stream = &kWgmmaStream,
    .code = code(),
};

// Why the order does not cut the grid into whole boxes of a tile's size.
Refusal why_not_boxes(const Case& work, const Variant& variant) {
  if (!has_windows(work)) return "it computes windows on grids only";
  if (has_mask_blocks(work)) return "it computes windows on grids, no mask";
  if (variant.kernel().order != "boxes" || variant.kernel().order_box.size() != work.windows.size())
    return "its tiles are the boxes of an order boxes.A.B[.C]";
  std::int64_t positions = 1;
  for (std::size_t d = 0; d < work.windows.size(); ++d) {
    const std::int64_t extent = work.windows[d].extent, box = variant.kernel().order_box[d];
    if (extent % box != 0)
      return fmt::format("boxes of {} do not divide {} positions of the grid", box, extent);
    positions *= box;
  }
  if (positions != kMaskedRows)
    return fmt::format("boxes have {} positions, its tiles {}", positions, kMaskedRows);
  if (variant.kernel().order_tensors != OrderTensors::qkv)
    return "its queries are boxes too: write order_tensors: qkv";
  if (variant.kernel().tiles == KeyTiles::united) return "it reads whole boxes of keys: tiles: aligned";
  if (variant.kernel().order_scope != OrderScope::memory) return "it permutes no tokens";
  return std::nullopt;
}

Refusal why_not_case(const Case& work, const Variant& variant) {
  if (auto reason = why_not(kFacts, work, variant)) return reason;
  const Refusal why = why_not_boxes(work, variant);
  return why ? Refusal("boxes_wgmma: " + *why) : std::nullopt;
}

constexpr Implementation implementation() {
  Implementation made = forward_implementation<kFacts>();
  made.raster_storage = true;
  made.why_not = why_not_case;
  return made;
}

}  // namespace
}  // namespace cuda

extern const Implementation kBoxesWgmma = cuda::implementation();

}  // namespace hilbench
