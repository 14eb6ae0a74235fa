#include "baselines/cudnn/cudnn_sdpa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include "kernels/base/process/library.hpp"

// The frontend has a JSON library of its own, which would change how the whole program writes floats.
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#include <cudnn_frontend.h>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // the frontend looks up cuDNN's functions here
}

namespace hilbench {
namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

// Loads the library and gives it to the frontend. Returns "", or the reason for a failure and what to do.
std::string load() {
  const LoadedLibrary library(toolkit_names(fmt::format("libcudnn.so.{}", CUDNN_MAJOR)));
  fe::cudnn_dlhandle = library.handle();
  if (!library)
    return fmt::format("{}; install cuDNN for the CUDA version of this build, or set LD_LIBRARY_PATH",
                       library.why());
  for (const char* name :
       {"cudnnCreate", "cudnnGetVersion", "cudnnGetErrorString", "cudnnSetStream",
        "cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute", "cudnnBackendGetAttribute",
        "cudnnBackendFinalize", "cudnnBackendExecute", "cudnnBackendDestroyDescriptor"})
    if (library.find<void()>(name) == nullptr)
      return fmt::format("cuDNN lacks {}: its file is damaged, or is not cuDNN", name);
  return "";
}

void check(cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("{}: {}", call, fe::detail::get_error_string(status)));
}

void check(fe::error_t status, const char* step) {
  if (status.is_bad()) throw std::runtime_error(fmt::format("cuDNN, {}: {}", step, status.get_message()));
}

// One handle for the process. It is never destroyed, because cuDNN may be unloaded before static objects are.
cudnnHandle_t handle() {
  static const cudnnHandle_t made = [] {
    cudnnHandle_t created = nullptr;
    check(fe::detail::create_handle(&created), "cudnnCreate");
    return created;
  }();
  return made;
}

enum Uid : std::int64_t { kQ = 1, kK, kV, kO, kLse, kDO, kDQ, kDK, kDV };

// [outer, heads, rows, width] with the strides of the call in elements.
fe::graph::Tensor_attributes tensor(Uid uid, std::int64_t outer, std::int64_t heads, std::int64_t rows,
                                    std::int64_t width, const RowStrides& strides) {
  return fe::graph::Tensor_attributes()
      .set_uid(uid)
      .set_dim({outer, heads, rows, width})
      .set_stride({strides.outer * width, strides.head * width, strides.row * width, 1});
}

// LSE of a backward call. cuDNN below 9.26 reads no other layout.
fe::graph::Tensor_attributes packed_lse(const AttentionCall& call) {
  return fe::graph::Tensor_attributes()
      .set_uid(kLse)
      .set_dim({call.outer, call.heads, call.queries, 1})
      .set_stride({call.heads * call.queries, call.queries, 1, 1})
      .set_data_type(fe::DataType_t::FLOAT);
}

void describe(fe::graph::Graph& graph, Dtype dtype) {
  graph.set_io_data_type(dtype == Dtype::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
}

template <class Attributes>
Attributes attributes_of(const char* name, std::int64_t head_dim, Mask mask) {
  Attributes attributes;
  attributes.set_name(name).set_attn_scale(1 / std::sqrt(static_cast<float>(head_dim)));
  if (mask == Mask::causal)
    attributes.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
  return attributes;
}

// The plans of cuDNN's heuristics that cuDNN can build, each once: the modes name many of them again.
std::vector<SdpaPlan> build(fe::graph::Graph& graph) {
  check(graph.validate(), "attention graph");
  check(graph.build_operation_graph(handle()), "operation graph");
  check(graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK}),
        "execution plans");
  check(graph.check_support(), "support of the shape");
  std::vector<SdpaPlan> plans;
  fe::error_t refusal;
  const std::int64_t offered = graph.get_execution_plan_count();
  for (std::int64_t index = 0; index < offered && plans.size() < kMostSdpaPlans; ++index) {
    SdpaPlan plan{.name = {}, .index = index};
    check(graph.get_plan_name_at_index(index, plan.name), "name of a plan");
    if (std::any_of(plans.begin(), plans.end(),
                    [&](const SdpaPlan& built) { return built.name == plan.name; }))
      continue;
    if (const fe::error_t status = graph.build_plan_at_index(index); status.is_bad()) {
      refusal = status;
      continue;
    }
    check(graph.get_workspace_size_plan_at_index(index, plan.workspace_bytes), "workspace size");
    plans.push_back(std::move(plan));
  }
  if (plans.empty()) check(refusal, "building a plan");
  if (plans.empty()) throw std::runtime_error("cuDNN has no plan for the shape");
  return plans;
}

}  // namespace

struct CudnnSdpa::State {
  fe::graph::Graph graph;
  std::vector<SdpaPlan> plans;
};

const std::string& cudnn_absence() {
  static const std::string absence = load();
  return absence;
}

std::string cudnn_version() {
  const std::size_t version = fe::detail::get_backend_version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string cudnn_frontend_version() {
  return fmt::format("{}.{}.{}", CUDNN_FRONTEND_MAJOR_VERSION, CUDNN_FRONTEND_MINOR_VERSION,
                     CUDNN_FRONTEND_PATCH_VERSION);
}

CudnnSdpa::CudnnSdpa(const AttentionCall& call, std::int64_t head_dim, Dtype dtype, Mask mask)
    : state_(std::make_unique<State>()) {
  if (!cudnn_absence().empty()) throw std::runtime_error(cudnn_absence());
  fe::graph::Graph& graph = state_->graph;
  describe(graph, dtype);
  const Tensor q = graph.tensor(tensor(kQ, call.outer, call.heads, call.queries, head_dim, call.q));
  const Tensor k = graph.tensor(tensor(kK, call.outer, call.kv_heads, call.keys, head_dim, call.kv));
  const Tensor v = graph.tensor(tensor(kV, call.outer, call.kv_heads, call.keys, head_dim, call.kv));
  auto options = attributes_of<fe::graph::SDPA_attributes>("attention", head_dim, mask);
  options.set_generate_stats(true);
  const auto [o, lse] = graph.sdpa(q, k, v, options);
  const auto place = [&](const Tensor& output, Uid uid, std::int64_t width) {
    output->set_output(true)
        .set_uid(uid)
        .set_dim({call.outer, call.heads, call.queries, width})
        .set_stride({call.q.outer * width, call.q.head * width, call.q.row * width, 1});
  };
  place(o, kO, head_dim);
  place(lse, kLse, 1);
  lse->set_data_type(fe::DataType_t::FLOAT);
  state_->plans = build(graph);
}

CudnnSdpa::CudnnSdpa(const AttentionCall& call, const AttentionCall& gradients, std::int64_t head_dim,
                     Dtype dtype, Mask mask)
    : state_(std::make_unique<State>()) {
  if (!cudnn_absence().empty()) throw std::runtime_error(cudnn_absence());
  fe::graph::Graph& graph = state_->graph;
  describe(graph, dtype);
  const auto queries = [&](Uid uid) {
    return graph.tensor(tensor(uid, call.outer, call.heads, call.queries, head_dim, call.q));
  };
  const auto keys = [&](Uid uid) {
    return graph.tensor(tensor(uid, call.outer, call.kv_heads, call.keys, head_dim, call.kv));
  };
  const Tensor q = queries(kQ), o = queries(kO), d_o = queries(kDO), k = keys(kK), v = keys(kV);
  const Tensor lse = graph.tensor(packed_lse(call));
  const auto [d_q, d_k, d_v] = graph.sdpa_backward(
      q, k, v, o, d_o, lse, attributes_of<fe::graph::SDPA_backward_attributes>("gradients", head_dim, mask));
  const auto place = [&](const Tensor& output, Uid uid, std::int64_t heads, std::int64_t rows,
                         const RowStrides& strides) {
    output->set_output(true)
        .set_uid(uid)
        .set_dim({call.outer, heads, rows, head_dim})
        .set_stride({strides.outer * head_dim, strides.head * head_dim, strides.row * head_dim, 1});
  };
  place(d_q, kDQ, call.heads, call.queries, gradients.q);
  place(d_k, kDK, call.kv_heads, call.keys, gradients.kv);
  place(d_v, kDV, call.kv_heads, call.keys, gradients.kv);
  state_->plans = build(graph);
}

CudnnSdpa::~CudnnSdpa() = default;
CudnnSdpa::CudnnSdpa(CudnnSdpa&&) noexcept = default;

const std::vector<SdpaPlan>& CudnnSdpa::plans() const {
  return state_->plans;
}

void CudnnSdpa::run(std::size_t plan, const SdpaRows& rows, void* workspace) const {
  std::unordered_map<std::int64_t, void*> tensors = {{kQ, const_cast<void*>(rows.q)},
                                                     {kK, const_cast<void*>(rows.k)},
                                                     {kV, const_cast<void*>(rows.v)},
                                                     {kO, rows.o},
                                                     {kLse, rows.lse}};
  if (rows.d_o != nullptr)
    tensors.insert({{kDO, const_cast<void*>(rows.d_o)}, {kDQ, rows.d_q}, {kDK, rows.d_k}, {kDV, rows.d_v}});
  check(state_->graph.execute_plan_at_index(handle(), tensors, workspace, state_->plans[plan].index),
        "execution");
}

}  // namespace hilbench
