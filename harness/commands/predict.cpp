// `hilbench predict`: predicts rings that were not measured from records of smaller rings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "harness/command_line/command_line.hpp"
#include "harness/command_line/sweep_arguments.hpp"
#include "harness/plan/memory.hpp"
#include "harness/predict/text.hpp"
#include "harness/run/step_progress.hpp"
#include "kernels/case/variant_filter.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct PredictArguments {
  std::filesystem::path subject;      // a folder of records, or a sweep file
  std::filesystem::path calibration;  // the folder of records, if `subject` is a sweep file
  std::vector<std::int64_t> fit_ranks = {1, 2};
  std::vector<std::int64_t> rings;  // to predict; empty: those of the sweep, or 2, 4, 8, 16
  std::vector<std::string> axes;    // of the sweep
  std::string filter;
  std::optional<std::int64_t> memory_bytes;  // of each rank's device
  std::string format = "text";
};

constexpr std::size_t kMostPredictions = 100'000;

void require_ranks(const std::vector<std::int64_t>& ranks, const char* option) {
  for (const std::int64_t count : ranks)
    if (count < 1 || count > kMaxRanks)
      throw UsageError({.what = fmt::format("ring size {}", count),
                        .where = option,
                        .why = fmt::format("rings have 1 to {} ranks", kMaxRanks)});
}

PredictionFormat parse_format(const std::string& format) {
  if (format == "text") return PredictionFormat::text;
  if (format == "markdown") return PredictionFormat::markdown;
  if (format == "json") return PredictionFormat::json;
  throw UsageError({.what = fmt::format("unknown format '{}'", format),
                    .where = "--format",
                    .remedy = "text, markdown or json"});
}

std::vector<RingFit> fits_of(const ReportInput& input, const std::set<std::int64_t>& ranks,
                             std::vector<std::string>& notes) {
  std::vector<RingFit> fits;
  std::vector<std::string> reasons;
  for (auto& [group, samples] : ring_samples(input.records)) try {
      fits.emplace_back(group, std::move(samples), ranks);
    } catch (const UsageError& error) {
      reasons.push_back(error.what());
    }
  if (fits.empty())
    throw UsageError(
        {.what = "no model can be fitted",
         .where = input.source.string(),
         .why = reasons.empty() ? "it holds no timed kernel that rings can run" : reasons.front(),
         .remedy = reasons.empty() ? "measure rings, as sweeps/ring/threads.yaml does" : ""});
  for (const std::string& reason : reasons) notes.push_back("Not fitted: " + reason);
  return fits;
}

class Asker {
 public:
  Asker(const std::vector<RingFit>& fits, const std::string& filter, PredictionReport& report,
        StepProgress& progress)
      : fits_(fits), filter_(filter), report_(report), progress_(progress) {}

  // Asks for the cases of the records at other ring sizes.
  void ask_records(const std::vector<std::int64_t>& rings) {
    for (const RingFit& fit : fits_)
      for (const RingSample& sample : fit.samples())
        for (const std::int64_t ranks : rings) ask(fit, at_ring_size(*sample.record, ranks));
  }

  void ask_sweep(const Sweep& sweep, const std::vector<std::int64_t>& rings) {
    for (const SweepCase& swept : sweep.cases) {
      if (swept.skipped || sweep.skip_when.matches(swept.work)) continue;
      for (const Variant& variant : sweep.variants) {
        if (variant.is_baseline()) continue;
        for (const std::int64_t ranks : rings.empty() ? std::vector{swept.work.ring_size} : rings)
          ask_groups(swept.work, variant, ranks);
      }
    }
  }

  bool found_any() const { return found_; }

 private:
  void ask_groups(const Case& work, const Variant& variant, std::int64_t ranks) {
    RingQuestion question{work, variant, {}};
    question.work.ring_size = ranks;
    bool fitted = false;
    for (const RingFit& fit : fits_) {
      const RingGroup& group = fit.group();
      const bool same_device = work.device == DeviceKind::automatic || work.device == group.device;
      const bool same_dtype = work.dtype_by_device || work.dtype == group.dtype;
      if (!same_device || !same_dtype || work.head_dim != group.head_dim) continue;
      if (variant.name() != "dilated" && variant.name() != group.kernel) continue;
      question.work.device = group.device;
      question.work.dtype = group.dtype;
      question.work.dtype_by_device = false;
      const Record& measured = *fit.samples().front().record;
      question.machine = machine_of(measured);
      if (work.threads > 0) question.machine.threads = work.threads;
      ask(fit, question);
      fitted = true;
    }
    if (!fitted && asks_for(question, ""))
      refuse(question, "the records hold no rings with its device, kernel, dtype and head_dim");
  }

  static std::string name_of(const RingQuestion& question) {
    return fmt::format("{}/{}", case_id(question.work), variant_id(question.variant));
  }

  // True if the filter finds the question and this group was not asked it before.
  bool asks_for(const RingQuestion& question, const std::string& group) {
    if (!asked_.insert(group + name_of(question)).second) return false;
    if (!filter_.finds(case_id(question.work), variant_id(question.variant))) return false;
    found_ = true;
    return true;
  }

  void refuse(const RingQuestion& question, const std::string& why) {
    report_.notes.push_back(fmt::format("Not predicted: {}: {}", name_of(question), why));
  }

  void ask(const RingFit& fit, const RingQuestion& question) {
    if (!asks_for(question, fit.group().text())) return;
    if (question.work.sequence_length > kMostPositions)
      return refuse(question, "rings have at most 2^31 - 1 rows");
    if (question.work.pass != Pass::forward) return refuse(question, "rings compute only the forward pass");
    if (const auto reason = why_not_ring(question.work, question.variant)) return refuse(question, *reason);
    if (const auto reason = why_not_modelled(question.work, question.variant))
      return refuse(question, *reason);
    if (report_.predictions.size() == kMostPredictions)
      throw UsageError({.what = fmt::format("more than {} predictions", kMostPredictions),
                        .remedy = "name fewer with --filter or --ring"});
    progress_.begin("predict " + name_of(question));
    report_.predictions.push_back(predict(fit, question));
  }

  const std::vector<RingFit>& fits_;
  VariantFilter filter_;
  PredictionReport& report_;
  StepProgress& progress_;
  std::set<std::string> asked_;
  bool found_ = false;
};

// Memory of a rank's device: the amount that the user names, else that of the records' GPU. Nothing for a
// CPU, whose memory the ranks share.
std::optional<double> device_bytes(const RingFit& fit, const PredictArguments& arguments) {
  Gpu gpu{.name = "device"};
  if (arguments.memory_bytes) {
    gpu.memory_bytes = *arguments.memory_bytes;
  } else {
    const nlohmann::json& environment = *fit.samples().front().record->environment;
    const nlohmann::json::json_pointer place("/device/memory_bytes");
    if (fit.group().device != DeviceKind::cuda || !environment.contains(place)) return std::nullopt;
    const nlohmann::json& bytes = environment[place];
    if (!bytes.is_number_integer() || bytes.get<std::int64_t>() <= 0) return std::nullopt;
    gpu.memory_bytes = bytes.get<std::int64_t>();
  }
  Site site;
  site.gpu = gpu;
  return usable_memory({.device = DeviceKind::cuda}, site).device;
}

void add_longest(const RingFit& fit, const PredictArguments& arguments,
                 const std::vector<std::int64_t>& rings, PredictionReport& report, StepProgress& progress) {
  const std::optional<double> bytes = device_bytes(fit, arguments);
  if (!bytes) return;
  std::set<std::string> seen;
  for (const RingSample& sample : fit.samples()) {
    const Variant& variant = sample.record->variant;
    if (variant.kernel().order != "linear" || variant.ring.order_span == OrderSpan::global) continue;
    for (const std::int64_t ranks : rings) {
      RingQuestion question = at_ring_size(*sample.record, ranks);
      question.work.device = DeviceKind::cuda;
      if (why_not_ring(question.work, variant)) continue;
      std::vector<std::string> branches;
      for (const Branch& branch : question.work.pattern)
        branches.push_back(branch.segment_length >= question.work.sequence_length
                               ? fmt::format("whole/{}", branch.dilation)
                               : fmt::format("{}/{}", branch.segment_length, branch.dilation));
      const std::string pattern =
          fmt::format("{}, {} heads of {}, {}, {}", fmt::join(branches, " + "), question.work.heads,
                      question.work.head_dim, to_string(question.work.dtype), variant_id(variant));
      if (!seen.insert(fmt::format("{} {}", pattern, ranks)).second) continue;
      progress.begin(fmt::format("find the longest sequence of {} on {} ranks", pattern, ranks));
      report.longest.push_back({pattern, ranks, longest_on_ranks(question.work, variant, *bytes), *bytes});
    }
  }
}

void check_arguments(const PredictArguments& arguments, bool given_folder) {
  require_ranks(arguments.fit_ranks, "--fit-ranks");
  require_ranks(arguments.rings, "--ring");
  if (given_folder && !arguments.calibration.empty())
    throw UsageError({.what = "two folders of records",
                      .where = "--calibration",
                      .remedy = "give a sweep file with --calibration, or the folder alone"});
  if (!given_folder && arguments.calibration.empty())
    throw UsageError({.what = fmt::format("'{}' is not a folder of records", arguments.subject.string()),
                      .remedy = "name one; for a sweep file, name the records with --calibration DIR"});
}

ExitCode predict_command(const PredictArguments& arguments) {
  const PredictionFormat format = parse_format(arguments.format);
  const bool given_folder = std::filesystem::is_directory(arguments.subject);
  check_arguments(arguments, given_folder);
  PredictionReport report;
  const ReportInput input = read_results(given_folder ? arguments.subject : arguments.calibration);
  std::optional<Sweep> sweep;
  if (!given_folder) sweep = load_or_find(arguments.subject, {.axes = arguments.axes});
  if (given_folder && !arguments.axes.empty())
    throw UsageError(
        {.what = "--axis without a sweep", .remedy = "predict SWEEP.yaml --calibration DIR --axis ..."});
  const std::vector<RingFit> fits =
      fits_of(input, {arguments.fit_ranks.begin(), arguments.fit_ranks.end()}, report.notes);
  report.fits = &fits;
  std::vector<std::int64_t> rings;  // each once, as they were named
  for (const std::int64_t ranks : arguments.rings)
    if (std::find(rings.begin(), rings.end(), ranks) == rings.end()) rings.push_back(ranks);
  if (rings.empty() && given_folder) rings = {2, 4, 8, 16};
  std::optional<StepProgress> progress(std::in_place, stderr, StatusLine::style_for(stderr), "predict");
  Asker asker(fits, arguments.filter, report, *progress);
  if (sweep)
    asker.ask_sweep(*sweep, rings);
  else
    asker.ask_records(rings);
  for (const RingFit& fit : fits)
    add_longest(fit, arguments, rings.empty() ? std::vector<std::int64_t>{1, 2, 4, 8} : rings, report,
                *progress);
  if (!arguments.filter.empty() && !asker.found_any())
    throw UsageError({.what = fmt::format("'{}' matches no ring", arguments.filter), .where = "--filter"});
  report.claims = answer_projections(load_claims({}), fits);
  progress.reset();  // its line goes before the report is printed
  fmt::print("{}", rendered(report, format, screen_of(stdout)));
  return ExitCode::done;
}

}  // namespace

void add_predict(Commands& commands) {
  auto arguments = std::make_shared<PredictArguments>();
  Options options = commands.add(
      "predict", "predict time and memory of rings that were not measured, from records of smaller rings",
      [arguments] { return predict_command(*arguments); });
  options.argument(
      "DIR|SWEEP.yaml", arguments->subject,
      "folder with results of rings, to predict their cases at other ring sizes; or a sweep file, with "
      "--calibration");
  options.path("--calibration", arguments->calibration,
               "for a sweep file: folder with the results to fit on");
  options.integers("--fit-ranks", arguments->fit_ranks,
                   "ring sizes to fit on; default: 1,2. Larger rings check the fit");
  options.integers("--ring", arguments->rings, "ring sizes to predict; default: the sweep's, or 2,4,8,16");
  options.texts("--axis", arguments->axes,
                "NAME=V,V: replace the values of a parameter in every case of the sweep; may be repeated");
  options.text("--filter", arguments->filter,
               "keep only variants whose CASE/VARIANT contains a match of this regular expression",
               Empty::allowed);
  options.bytes("--memory", arguments->memory_bytes,
                "print the longest sequences for devices with this much memory (80GB, 8GiB); default: that "
                "of the records' GPU");
  options.text("--format", arguments->format, "text, markdown or json; default: text", Empty::allowed);
  options.examples({{"hilbench predict results/nccl --ring 4,8", "larger rings, from those of 1 and 2 ranks"},
                    {"hilbench predict rings.yaml --calibration results/nccl", "the cases of a sweep"}});
}

}  // namespace hilbench
