// Used by builds without CUDA.
#include "harness/ring/rank_resources.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {

std::unique_ptr<RankResources> cuda_rank_resources(int, const std::vector<Device*>&, TransportKind, double,
                                                   EmulatedLink, int) {
  throw EnvironmentError({.what = "no ring of GPUs", .why = survey_gpus().absence});
}

std::unique_ptr<RankResources> cuda_rank_resources(std::shared_ptr<Transport>, Device&, double, int) {
  throw EnvironmentError({.what = "no ring of GPUs", .why = survey_gpus().absence});
}

}  // namespace hilbench
