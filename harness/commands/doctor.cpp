#include "harness/commands/doctor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "baselines/gemm/blas.hpp"
#include "baselines/table.hpp"
#include "harness/command_line/command_line.hpp"
#include "harness/counters/backends.hpp"
#include "harness/counters/counters.hpp"
#include "harness/counters/cuda_driver.hpp"
#include "harness/counters/cupti_library.hpp"
#include "harness/device/nvml.hpp"
#include "harness/run/build_info.hpp"
#include "harness/run/environment.hpp"
#include "kernels/base/process/library.hpp"
#include "kernels/base/process/run_in_child.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/cpu/bf16_products.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/machine/host_memory.hpp"
#include "kernels/machine/nvml.hpp"
#include "kernels/machine/processor_limits.hpp"
#include "kernels/ring/transport/mpi.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "reports/figures/chart_library.hpp"

namespace hilbench {
namespace {

constexpr double kPatience_s = 20;

ProbeFinding missing(const LoadedLibrary& library, std::string_view remedy) {
  return {.text = fmt::format("{}; {}", library.why(), remedy)};
}

ProbeFinding look_at_cpu() {
  const Host host = inspect_host();
  std::string caches;
  for (const CacheLevel& cache : host.data_caches)
    caches += fmt::format(", L{} {} KiB", cache.level, cache.bytes / 1024);
  const Bf16Choice bf16 = chosen_bf16_products();
  const std::string wrong =
      bf16.against ? fmt::format("; dilated_cpu and peak skip bf16: {}", *bf16.against) : "";
  return {
      true,
      fmt::format("{}: {} cores, {} threads by default, {}, bf16 products: {}{}, {:.1f} GiB of memory free{}",
                  host.cpu, host.cores, default_threads(host), simd_text(host.simd),
                  bf16.against ? "none" : name_of(bf16.products), caches,
                  static_cast<double>(host.available_memory_bytes) / (1 << 30), wrong)};
}

// How much of the processor this process may use.
ProbeFinding look_at_cores() {
  const Host host = inspect_host();
  const std::string quota =
      host.quota_cores > 0 ? fmt::format("a quota of {:.4g} cores", host.quota_cores) : "no quota";
  const std::string text =
      fmt::format("{} of {} cores in the affinity mask, {}", host.allowed_cores, host.threads, quota);
  return {true,
          limited_cores_text(host).empty()
              ? text
              : text + "; times will be those of fewer cores than the machine has; see docs/machines.md"};
}

// Asks for 2 MiB pages, and looks at what the system gives.
ProbeFinding look_at_huge_pages() {
  constexpr std::size_t kTried = std::size_t{32} << 20;
  const HugePages system = inspect_huge_pages();
  if (const auto reason = why_not_pages(PageSize::of_2m, system)) return {.text = *reason};
  const std::shared_ptr<void> tried = allocate_buffer(kTried, PageSize::of_2m);
  std::memset(tried.get(), 1, kTried);
  if (const auto fault = pages_fault(PageSize::of_2m)) return {.text = *fault};
  return {true,
          fmt::format("`pages: 2m` gives {:.0f} % of 32 MiB; transparent_hugepage/enabled is {}, defrag {}",
                      100 * huge_share()->mean, system.enabled,
                      system.defrag.empty() ? "unknown" : system.defrag)};
}

ProbeFinding look_at_blas() {
  if (!blas_absence().empty()) return {.text = blas_absence()};
  const nlohmann::json& blas = blas_record();
  const std::string note = blas.value("note", "");
  return {true, fmt::format("OpenBLAS {}, core {}: {:.0f} of {:.0f} GFLOP/s{}", blas.value("version", "?"),
                            blas.value("core", "?"), blas.value("sgemm_gflops", 0.0),
                            blas.value("fma_gflops", 0.0), note.empty() ? "" : "; " + note)};
}

// Tries to count every event of a counter set, with no work in between.
ProbeFinding look_at_counters(const CounterSet& set) {
  const auto counters = count(
      set, 1, [] {}, [] {});
  std::string open;
  std::string absent, reason;
  for (const CounterEvent& event : set.events) {
    const Counter& counter = counters.at(event.name);
    std::string& names = counter.value ? open : absent;
    names += (names.empty() ? "" : ", ") + event.name;
    if (!counter.value) reason = counter.reason;
  }
  if (absent.empty()) return {true, open};
  if (open.empty()) return {.text = reason};
  return {true, fmt::format("{}; without {}: {}", open, absent, reason)};
}

bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

ProbeFinding look_at_still_figures() {
  if (!in_path("node"))
    return {.text = "node is not in PATH, so reports have no SVG figures; install nodejs"};
  if (in_path("rsvg-convert")) return {true, "SVG and PNG figures in reports"};
  return {true, "SVG figures in reports; without PNG: no rsvg-convert in PATH; install librsvg2-bin"};
}

ProbeFinding look_at_gpu_code() {
  const BuildInfo& build = build_info();
  if (build.cuda.empty()) return {.text = kNoGpuCode};
  if (build.has_gpu_stubs)
    return {.text =
                "this build has stubs of the GPU code, which refuse to launch; ./quickstart.sh --cuda "
                "builds the code"};
  return {true, fmt::format("CUDA {}, for {}", build.cuda, build.cuda_architectures)};
}

ProbeFinding look_at_driver() {
  const LoadedLibrary library({"libcuda.so.1"});
  if (!library) return missing(library, "install NVIDIA's driver if there is an NVIDIA GPU");
  const auto init = library.find<int(unsigned)>("cuInit");
  const auto count_devices = library.find<int(int*)>("cuDeviceGetCount");
  const auto get_version = library.find<int(int*)>("cuDriverGetVersion");
  if (init == nullptr || count_devices == nullptr || get_version == nullptr)
    return {.text = "libcuda.so.1 lacks the driver's functions; install NVIDIA's driver again"};
  if (const int status = init(0); status != 0) return {.text = cuda_start_failure(status)};
  int devices = 0, version = 0;
  if (count_devices(&devices) != 0 || get_version(&version) != 0)
    return {.text = "the driver returns errors; check whether nvidia-smi works"};
  if (version / 1000 < cuda_runtime_version() / 1000)
    return {.text = old_driver(version, cuda_runtime_version())};
  return {devices > 0, fmt::format("{} {}, CUDA {}.{}", devices, devices == 1 ? "device" : "devices",
                                   version / 1000, version % 1000 / 10)};
}

// "; GPU 0 is split (MIG): ..." for each GPU that is split, as NVML reports it.
std::string split_gpus(const Nvml& nvml) {
  const auto count = nvml.find<int(unsigned*)>("nvmlDeviceGetCount_v2");
  const auto handle_of = nvml.find<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
  const auto mode_of = nvml.find<int(void*, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
  unsigned gpus = 0;
  if (count == nullptr || handle_of == nullptr || mode_of == nullptr || count(&gpus) != 0) return "";
  std::string text;
  for (unsigned i = 0; i < gpus; ++i) {
    void* handle = nullptr;
    unsigned now = 0, after_restart = 0;
    if (handle_of(i, &handle) == 0 && mode_of(handle, &now, &after_restart) == 0 && now != 0)
      text += fmt::format(
          "; GPU {} is split (MIG): a slice is measured as a device of its own, counters may be "
          "refused; `nvidia-smi -i {} -mig 0` makes it whole",
          i, i);
  }
  return text;
}

ProbeFinding look_at_nvml() {
  const Nvml& nvml = Nvml::get();
  if (!nvml.is_here()) return {.text = nvml.absence() + "; it comes with NVIDIA's driver"};
  if (!nvml_absence().empty()) return {.text = nvml_absence()};
  const std::string version = nvml_driver_version();
  if (version.empty()) return {.text = "NVML does not return the driver's version"};
  return {true, fmt::format("driver {}{}", version, split_gpus(nvml))};
}

// Why no kernel of this build runs on a GPU of this compute capability; "" if one does.
std::string why_no_times(CounterTarget capability) {
  if (!look_at_gpu_code().works) return "see GPU code above";
  if (!look_at_driver().works) return "see NVIDIA driver above";
  const Gpu gpu{.compute_capability = capability};
  std::string why;
  for (const Implementation* each : implementation_table()) {
    if (each->kind != ImplementationKind::kernel || each->device != DeviceKind::cuda) continue;
    const Refusal reason = each->why_not_on == nullptr ? std::nullopt : each->why_not_on(gpu);
    if (!reason) return "";
    if (each->name == "dilated_simt") why = *reason;  // the one for any GPU
  }
  return why;
}

// What works is known from driver, CUPTI and GPU, before anything is counted.
ProbeFinding look_at_cupti() {
  if (std::string absence = find_cupti_range().absence; !named_cupti().empty() && !absence.empty())
    return {.text = std::move(absence)};
  std::ifstream in("/proc/driver/nvidia/params");
  const std::string permission = profiling_permission({std::istreambuf_iterator<char>(in), {}});
  const CudaDriver& driver = CudaDriver::get();
  if (!driver.make_context())
    return {.text =
                fmt::format("nothing to count on: {}",
                            driver.unavailable().empty() ? "device 0 has no context" : driver.unavailable())};
  const CounterTarget gpu = counter_target(DeviceKind::cuda);
  const CounterSet set = counter_set("default", gpu);
  const std::string against = set.unavailable.empty() ? why_not_countable(set) : set.unavailable;
  ProbeFinding finding = against.empty() ? look_at_counters(set) : ProbeFinding{.text = against};
  if (!finding.works) finding.text = without_counters(why_no_times(gpu), finding.text);
  if (const CuptiFound cupti = find_cupti(set); set.unavailable.empty() && cupti.absence.empty())
    finding.text += fmt::format("; used: {}, {}", cupti.path, cupti_text(cupti.version));
  if (!permission.empty()) finding.text += "; " + permission;
  return finding;
}

// Loads the library behind a baseline and looks up every function that the baseline calls.
ProbeFinding look_at_rival(std::string_view baseline) {
  const nlohmann::json library = find_implementation(baseline, DeviceKind::cuda)->library();
  if (library.contains("note")) return {.text = library.at("note").get<std::string>()};
  return {true, fmt::format("{} {}", library.value("name", "?"), library.value("version", "?"))};
}

ProbeFinding look_at_nccl() {
  if (const std::string why = nccl_absence(); !why.empty()) return {.text = why};
  return {true, fmt::format("NCCL {}", nccl_version())};
}

ProbeFinding look_at_mpi() {
  if (const std::string why = mpi_absence(); !why.empty()) return {.text = why};
  if (!in_path("mpirun") && !in_path("srun"))
    return {.text = fmt::format("{}, but neither mpirun nor srun is in PATH; install openmpi-bin",
                                mpi_version())};
  return {true, mpi_version()};
}

struct Part {
  std::string_view name;
  ProbeFinding (*look)();
};

constexpr auto kParts = std::to_array<Part>({
    {"processor", look_at_cpu},
    {"cores", look_at_cores},
    {"huge pages", look_at_huge_pages},
    {"BLAS (baseline gemm)", look_at_blas},
    {"perf hardware events", [] { return look_at_counters(counter_set("default", kCpuTarget)); }},
    {"perf software events", [] { return look_at_counters(counter_set("software", kCpuTarget)); }},
    {"Vega",
     [] {
       const ChartLibrary charts = find_chart_library({});
       return ProbeFinding{!charts.script.empty(),
                           charts.note.empty() ? "charts in report.html" : charts.note};
     }},
    {"Node.js, rsvg-convert", look_at_still_figures},
});

constexpr auto kGpuParts = std::to_array<Part>({
    {"GPU code", look_at_gpu_code},
    {"NVIDIA driver", look_at_driver},
    {"NVML", look_at_nvml},
    {"CUPTI", look_at_cupti},
    {"cuBLAS", [] { return look_at_rival("cublas"); }},
    {"cuDNN", [] { return look_at_rival("cudnn"); }},
    {"NCCL", look_at_nccl},
    {"MPI", look_at_mpi},
});

template <std::size_t size>
std::string section(const std::array<Part, size>& parts) {
  std::string text;
  for (const Part& part : parts) {
    const ProbeFinding finding = probe(part.look, kPatience_s);
    text += fmt::format("  {:<7} {:<21} {}\n", finding.works ? "works" : "absent", part.name,
                        one_line(finding.text, 1000));
  }
  return text;
}

}  // namespace

std::string without_counters(const std::string& why_no_times, const std::string& why_no_counters) {
  const std::string times = why_no_times.empty() ? "times yes," : fmt::format("times no: {};", why_no_times);
  return fmt::format("{} counters no: {}", times, why_no_counters);
}

std::string doctor_report() {
  return fmt::format(
      "{}\n\nmeasuring on processors\n{}\nmeasuring on GPUs, and what rings use (NCCL, MPI)\n{}",
      version_text(), section(kParts), section(kGpuParts));
}

void add_doctor(Commands& commands) {
  Options options = commands.add(
      "doctor",
      "check each optional part of the program on this machine: it works, or why not and what to do", [] {
        fmt::print("{}", doctor_report());
        return ExitCode::done;
      });
  options.examples(
      {{"hilbench doctor", "before the first run, and if something is skipped"},
       {"HILBENCH_CUPTI=cuda-12/lib64/libcupti.so.12 hilbench doctor", "count GPUs by another CUPTI"}});
}

}  // namespace hilbench
