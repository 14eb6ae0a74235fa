#include "baselines/external/programs.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>

namespace hilbench {

// Made by hilbench_embed (CMake), as is embedded_fork_server().
std::string_view embedded_branch_case();
std::string_view embedded_request_loop();
std::string_view embedded_torch_program();
std::string_view embedded_torch_sdpa();
std::string_view embedded_sdpa_backends();
std::string_view embedded_sdpa_gradients();
std::string_view embedded_selected_rows();
std::string_view embedded_torch_context_parallel();
std::string_view embedded_torch_windows();
std::string_view embedded_jax_fa3();
std::string_view embedded_jax_ring();
std::string_view embedded_origin();
std::string_view embedded_kept_choice();
std::string_view embedded_published_choices();
std::string_view embedded_natten_windows();
std::string_view embedded_window_pairs();

namespace {

constexpr std::array<std::string_view, 7> kBackends = {"flash", "efficient", "math", "cudnn",
                                                       "fa3",   "fa4",       "flex"};
constexpr std::array<std::string_view, 2> kRotations = {"allgather", "ring"};
constexpr std::array<std::string_view, 3> kWindowKernels = {"flex", "flex_boxes", "natten"};
constexpr std::array<std::string_view, 24> kOriginModules = {"off",
                                                             "identity_gather",
                                                             "bijection",
                                                             "on",
                                                             "core",
                                                             "multihead",
                                                             "multihead_bare",
                                                             "final_off",
                                                             "final_identity_gather",
                                                             "final_on",
                                                             "final_outside",
                                                             "final_core",
                                                             "off_tf32",
                                                             "identity_gather_tf32",
                                                             "bijection_tf32",
                                                             "on_tf32",
                                                             "core_tf32",
                                                             "multihead_tf32",
                                                             "multihead_bare_tf32",
                                                             "final_off_tf32",
                                                             "final_identity_gather_tf32",
                                                             "final_on_tf32",
                                                             "final_outside_tf32",
                                                             "final_core_tf32"};

// Known only for programs that compute with a unit whose peak is measured.
std::string_view peak_unit(const Case& work) {
  if (work.device == DeviceKind::cuda) return work.dtype == Dtype::fp32 ? "" : gpu_product_unit(work);
  return work.dtype == Dtype::fp32 ? "fp32_fma" : "";
}

// Only the program knows what it can compute; it answers when it is loaded.
Refusal why_not(const Case&, const Variant&) {
  return std::nullopt;
}

// What a kernel of the user is not told of, so that it cannot have it.
Refusal why_no_declared_kernel(const Case& work, const Variant& variant) {
  const KernelChoice& kernel = variant.kernel();
  const KernelChoice defaults;
  const auto because = [&](const char* what) {
    return fmt::format("{}: not with kernels that the sweep declares, such as {}", what, variant.name());
  };
  if (work.ring_size > 1) return because("ring_size");
  if (work.pass != Pass::forward) return because("pass");
  if (kernel.order_scope != OrderScope::memory) return because("order_scope");
  if (kernel.order_tensors != defaults.order_tensors) return because("order_tensors");
  if (kernel.key_visit != defaults.key_visit) return because("key_visit");
  if (kernel.rows != defaults.rows) return because("rows");
  if (kernel.tiles != defaults.tiles) return because("tiles");
  if (kernel.buffers != defaults.buffers) return because("buffers");
  if (kernel.index != defaults.index) return because("index");
  return std::nullopt;
}

Refusal why_not_on_rings(const Case& work, const Variant& variant) {
  if (work.ring_size == 1) return std::nullopt;
  return fmt::format("ring_size {}: {} runs on one rank", work.ring_size, variant.name());
}

Refusal why_not_on_one_rank(const Case& work, const Variant& variant) {
  if (work.ring_size > 1) return std::nullopt;
  return fmt::format("{} needs a ring: ring_size must be above 1", variant.name());
}

Refusal why_not_without_windows(const Case& work, const Variant& variant) {
  if (has_windows(work)) return std::nullopt;
  return fmt::format("{} computes windows on a grid only", variant.name());
}

// An estimate: operands, rows gathered from them, and the output in fp32.
double workspace_bytes(const Case& work, int) {
  const double rows = static_cast<double>(work.batch) * static_cast<double>(work.sequence_length) *
                      static_cast<double>(work.head_dim);
  const double q = rows * static_cast<double>(work.heads), kv = 2 * rows * static_cast<double>(work.kv_heads);
  return 2 * (2 * q + kv) * static_cast<double>(dtype_bytes(work.dtype)) + 4 * q;
}

double framework_bytes(const Case& work, int threads) {
  constexpr double kRuntimeBytes = 0.5 * 0x1p30;  // PyTorch or JAX itself
  return kRuntimeBytes + workspace_bytes(work, threads);
}

Implementation external(std::string_view name, std::string_view help) {
  return {.name = name,
          .help = help,
          .kind = ImplementationKind::baseline,
          .device = DeviceKind::automatic,
          .external = true,
          .peak_unit = peak_unit,
          .why_not = why_not,
          .workspace_bytes = workspace_bytes};
}

// A script of this folder, under PyTorch or JAX.
Implementation framework(std::string_view name, std::string_view help,
                         std::span<const std::string_view> options,
                         Refusal (*why_not)(const Case&, const Variant&)) {
  Implementation implementation = external(name, help);
  implementation.options = options;
  implementation.why_not = why_not;
  implementation.workspace_bytes = framework_bytes;
  return implementation;
}

// Python, on one line, that makes `text` the module `name`: a script in memory has no folder with modules.
std::string as_module(std::string_view name, std::string_view text) {
  const std::string quoted = nlohmann::json(text).dump();
  return fmt::format(
      "import sys, types; sys.modules[\"{0}\"] = types.ModuleType(\"{0}\"); "
      "exec(compile({1}, \"{0}.py\", \"exec\"), sys.modules[\"{0}\"].__dict__); ",
      name, quoted);
}

}  // namespace

// Only the program knows whether it computes windows; it answers when it is greeted.
const Implementation kDeclaredExternal = [] {
  Implementation implementation = external("external", "a program that the sweep declares");
  implementation.windows = true;
  return implementation;
}();

const Implementation kDeclaredKernel = [] {
  Implementation implementation = external("kernel of the sweep", "a kernel that the sweep declares");
  implementation.kind = ImplementationKind::kernel;
  implementation.windows = true;
  implementation.why_not = why_no_declared_kernel;
  return implementation;
}();

const Implementation kTorchSdpa = framework(
    "torch_sdpa",
    "PyTorch's attention, also .flash (FlashAttention-2), .fa3 and .fa4 (FlashAttention-3 and 4), .flex "
    "(FlexAttention), .cudnn, .efficient, .math; needs --allow-external",
    kBackends, why_not_on_rings);

const Implementation kTorchContextParallel =
    framework("torch_context_parallel",
              "PyTorch's context_parallel on a ring, also .allgather, .ring; needs --allow-external",
              kRotations, why_not_on_one_rank);

const Implementation kJaxRing =
    framework("jax_ring", "the ring of flash-attn3-jax: FlashAttention-3 under JAX; needs --allow-external",
              {}, why_not_on_one_rank);

const Implementation kJaxFa3 =
    framework("jax_fa3", "FlashAttention-3 of flash-attn3-jax under JAX, on one GPU; needs --allow-external",
              {}, why_not_on_rings);

const Implementation kTorchWindows = [] {
  Implementation implementation = framework(
      "torch_windows",
      "PyTorch on windows: a stored mask, also .flex and .flex_boxes (FlexAttention), .natten; needs "
      "--allow-external",
      kWindowKernels, why_not_without_windows);
  implementation.windows = true;
  return implementation;
}();

const Implementation kOrigin =
    framework("origin",
              "the modules that the reports measured, from the clone that HILBENCH_ORIGIN names; needs "
              "--allow-external",
              kOriginModules, why_not_on_rings);

std::string embedded_script(std::string_view name) {
  const std::string loop = as_module("request_loop", embedded_request_loop());
  const std::string branches = as_module("branch_case", embedded_branch_case());
  if (name == kJaxRing.name) return loop + "\n" + std::string(embedded_jax_ring());
  if (name == kJaxFa3.name)
    return loop + branches + as_module("jax_ring", embedded_jax_ring()) + "\n" +
           std::string(embedded_jax_fa3());
  const std::string server = as_module("fork_server", embedded_fork_server());
  if (name == kTorchContextParallel.name)
    return loop + server + "\n" + std::string(embedded_torch_context_parallel());
  const std::string shared = loop + server + as_module("torch_program", embedded_torch_program());
  if (name == kOrigin.name) return shared + "\n" + std::string(embedded_origin());
  if (name == kTorchSdpa.name)
    return shared + branches + as_module("sdpa_backends", embedded_sdpa_backends()) +
           as_module("sdpa_gradients", embedded_sdpa_gradients()) +
           as_module("selected_rows", embedded_selected_rows()) + "\n" + std::string(embedded_torch_sdpa());
  return shared + as_module("kept_choice", embedded_kept_choice()) +
         as_module("published_choices", embedded_published_choices()) +
         as_module("natten_windows", embedded_natten_windows()) +
         as_module("window_pairs", embedded_window_pairs()) + "\n" + std::string(embedded_torch_windows());
}

double baseline_tuning_s(std::string_view baseline) {
  constexpr double kFlexTuningS = 120;  // FLEX_TUNING_S of torch_program.py
  const bool flex = baseline.starts_with("torch_sdpa.flex") || baseline.starts_with("torch_windows.flex");
  return flex ? kFlexTuningS : 0;
}

bool can_be_forked(std::string_view name) {
  return name == kTorchSdpa.name || name == kTorchWindows.name || name == kTorchContextParallel.name ||
         name == kOrigin.name;
}

}  // namespace hilbench
