#include "harness/commands/list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "baselines/table.hpp"
#include "harness/command_line/command_line.hpp"
#include "harness/commands/list_counters.hpp"
#include "harness/sweep/claim_sweeps.hpp"
#include "harness/sweep/embedded.hpp"
#include "harness/sweep/sweep.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/ring/algorithms.hpp"
#include "kernels/ring/transport/table.hpp"
#include "kernels/traversals/traversal.hpp"
#include "reports/claims/claims_file.hpp"

namespace hilbench {
namespace {

std::string param_suffix(OrderParam param) {
  switch (param) {
    case OrderParam::none:
      return "";
    case OrderParam::chunk:
      return "[.CHUNK]";
    case OrderParam::residue:
      return "[.R]";
    case OrderParam::max_residue:
      return "[.R_MAX]";
    case OrderParam::seed:
      return "[.SEED]";
    case OrderParam::box:
      return ".A.B[.C]";
  }
  return "";
}

std::string list_orders() {
  std::vector<Line> lines;
  for (const OrderInfo& order : orders())
    lines.push_back({std::string(order.name) + param_suffix(order.param), std::string(order.help)});
  return in_columns(lines);
}

std::string list_traversals() {
  std::vector<Line> lines;
  for (const TraversalInfo& traversal : traversals())
    lines.push_back(
        {std::string(traversal.name) + (traversal.has_param ? "[.G]" : ""), std::string(traversal.help)});
  return in_columns(lines);
}

// Why `implementation` cannot compute even an ordinary case here; empty if it can.
std::string unavailable(const Implementation& implementation, const GpuSurvey& survey) {
  if (implementation.device == DeviceKind::automatic) return "";
  const bool on_gpu = implementation.device == DeviceKind::cuda;
  const Case ordinary{
      .kv_heads = 8, .dtype = on_gpu ? Dtype::bf16 : Dtype::fp32, .device = implementation.device};
  const std::string name(implementation.name);
  const Variant variant = variant_named(implementation.kind, name);
  // A reason in the build has priority over a reason in the machine.
  const auto reason = [&](const Case& work, const Variant& by) {
    if (on_gpu && !survey.absence.empty()) return implementation.why_not(work, by).value_or(survey.absence);
    return why_not(implementation, work, by, on_gpu ? &survey.gpus.front() : nullptr).value_or("");
  };
  const std::string why = reason(ordinary, variant);
  if (why.empty() || !implementation.windows) return why;
  // Some kernels compute windows alone, in boxes.
  Case windows = ordinary;
  windows.windows = {{.extent = 64, .window = 13}, {.extent = 64, .window = 13}};
  return reason(windows, {KernelChoice{.name = name,
                                       .order = "boxes",
                                       .order_box = {8, 16},
                                       .order_tensors = OrderTensors::qkv,
                                       .tiles = KeyTiles::aligned}});
}

std::string best_kernels(const GpuSurvey& survey) {
  std::string text = "the best kernel for the device and dtype:";
  const auto add = [&](const Case& work, const Gpu* gpu, std::string_view where) {
    const Variant dilated{KernelChoice{.name = "dilated"}};
    const Implementation* best = resolve_implementation(dilated, work, gpu);
    if (best == nullptr || why_not(*best, work, dilated, gpu)) return;
    text += fmt::format(" {} for {} on {},", best->name, to_string(work.dtype), where);
  };
  add({.kv_heads = 8, .device = DeviceKind::cpu}, nullptr, "the CPU");
  if (survey.absence.empty())
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
      add({.kv_heads = 8, .dtype = dtype, .device = DeviceKind::cuda}, &survey.gpus.front(), "the GPU");
  text.pop_back();
  return text;
}

std::string list_variants(ImplementationKind kind) {
  const GpuSurvey survey = survey_gpus();
  std::vector<Line> lines;
  if (kind == ImplementationKind::kernel) lines.push_back({"dilated", best_kernels(survey)});
  for (const Implementation* implementation : implementation_table()) {
    if (implementation->kind != kind) continue;
    const std::string reason = unavailable(*implementation, survey);
    lines.push_back(
        {std::string(implementation->name),
         fmt::format("{} ({}){}", implementation->help,
                     implementation->device == DeviceKind::automatic ? "any device"
                                                                     : to_string(implementation->device),
                     reason.empty() ? "" : "; unavailable here: " + reason)});
  }
  return in_columns(lines);
}

std::string list_ring_algorithms() {
  std::vector<Line> lines;
  for (const RingAlgorithmInfo& info : ring_algorithms())
    lines.push_back({std::string(to_string(info.algorithm)), std::string(info.help)});
  return in_columns(lines);
}

std::string list_transports() {
  std::vector<Line> lines;
  for (const TransportInfo& transport : transports()) {
    const std::string reason = transport.absence();
    lines.push_back(
        {std::string(transport.name), fmt::format("{} ({} memory){}", transport.help,
                                                  transport.memory == TransportMemory::gpu ? "GPU" : "host",
                                                  reason.empty() ? "" : "; unavailable here: " + reason)});
  }
  return in_columns(lines);
}

std::string list_devices() {
  const Host host = inspect_host();
  std::vector<Line> lines = {{"cpu", fmt::format("{}: {} cores, {}, {} threads by default", host.cpu,
                                                 host.cores, simd_text(host.simd), default_threads(host))}};
  const GpuSurvey survey = survey_gpus();
  for (const Gpu& gpu : survey.gpus)
    lines.push_back({fmt::format("cuda:{}", gpu.ordinal),
                     fmt::format("{}: compute capability {}, {} multiprocessors, {:.1f} GiB, L2 {} MiB",
                                 gpu.name, gpu.capability_text(), gpu.multiprocessors,
                                 static_cast<double>(gpu.memory_bytes) / 0x1p30, gpu.l2_bytes >> 20)});
  if (!survey.absence.empty()) lines.push_back({"cuda", "unavailable: " + survey.absence});
  return in_columns(lines);
}

std::string list_sweeps() {
  std::vector<Line> lines;
  for (const EmbeddedSweep& sweep : embedded_sweeps())
    lines.push_back({std::string(sweep.path()), parse_embedded(sweep).title});
  return in_columns(lines) +
         "run one with `hilbench run NAME`, its last part is enough; `hilbench init -o FILE` writes one for "
         "this machine\n";
}

std::string list_claims() {
  std::vector<Line> lines;
  std::vector<std::size_t> rows;
  std::map<std::string, std::set<std::string>> obtained;  // a claim's figures may differ in it
  for (const ClaimRow& row : built_in_claims()) {
    if (lines.empty() || lines.back().name != row.claim_id) {
      lines.push_back({row.claim_id, of_paper(row) ? row.source : row.title});
      rows.push_back(0);
    }
    ++rows.back();
    obtained[row.claim_id].insert(row.provenance);
  }
  for (Line& line : lines) line.text += fmt::format(" ({})", fmt::join(obtained[line.name], ", "));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<std::string> sweeps = sweeps_naming(lines[i].name);
    lines[i].text +=
        fmt::format(", {} {}; {}", rows[i], rows[i] == 1 ? "figure" : "figures",
                    sweeps.empty() ? "not testable here" : fmt::format("{}", fmt::join(sweeps, ", ")));
  }
  return in_columns(lines);
}

struct Topic {
  std::string_view name;
  std::string (*list)();
};
constexpr auto kTopics = std::to_array<Topic>({
    {"orders", list_orders},
    {"traversals", list_traversals},
    {"kernels", [] { return list_variants(ImplementationKind::kernel); }},
    {"baselines", [] { return list_variants(ImplementationKind::baseline); }},
    {"ring_algorithms", list_ring_algorithms},
    {"transports", list_transports},
    {"counters", [] { return list_counters(Shown::here); }},
    {"devices", list_devices},
    {"claims", list_claims},
    {"sweeps", list_sweeps},
    {"schema", [] { return std::string(sweep_schema()); }},
});
constexpr auto kTopicNames = [] {
  std::array<std::string_view, kTopics.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kTopics[i].name;
  return names;
}();

}  // namespace

std::string in_columns(const std::vector<Line>& lines) {
  std::size_t width = 0;
  for (const Line& line : lines) width = std::max(width, line.name.size());
  std::string text;
  for (const Line& line : lines) text += fmt::format("{:<{}}  {}\n", line.name, width, line.text);
  return text;
}

std::string list_text(std::string_view what, Shown shown) {
  if (shown == Shown::all) {
    if (what == "counters") return list_counters(Shown::all);
    throw UsageError({.what = fmt::format("'{}' lists all that there is", one_line(what, 80)),
                      .where = "--all",
                      .remedy = "only `list counters` has more to show"});
  }
  for (const Topic& topic : kTopics)
    if (topic.name == what) return topic.list();
  const std::string near = nearest_name(what, kTopicNames);
  throw UsageError({.what = fmt::format("nothing to list under '{}'", what),
                    .why = fmt::format("the topics are {}", fmt::join(kTopicNames, ", ")),
                    .remedy = near.empty() ? "" : fmt::format("did you mean '{}'?", near)});
}

void add_list(Commands& commands) {
  struct Arguments {
    std::string topic;
    bool all = false;
  };
  auto arguments = std::make_shared<Arguments>();
  Options options = commands.add(
      "list", "list what this build knows, and why something is unavailable on this machine", [arguments] {
        fmt::print("{}", list_text(arguments->topic, arguments->all ? Shown::all : Shown::here));
        return ExitCode::done;
      });
  const std::span<const std::string_view> names(kTopicNames);
  options.argument("WHAT", arguments->topic,
                   fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back()));
  options.flag("--all", arguments->all, "counters of other machines too");
  options.examples({{"hilbench list sweeps", "sweeps that the program holds, to run by name"},
                    {"hilbench list counters", "what this machine can count"},
                    {"hilbench list schema > sweep.schema.json", "for an editor that checks sweeps"}});
}

}  // namespace hilbench
