#include "harness/plan/compared_sectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "baselines/derived_sectors.hpp"
#include "baselines/table.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/variant.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

std::size_t sum_of(const std::map<std::string, std::size_t>& counts) {
  std::size_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

bool counted_on_gpu(const Record& record) {
  for (const SectorPair& pair : sector_pairs())
    if (const Counter* counter = find_counter(record, pair.counter))
      if (counter->value && counter->source.starts_with("cupti")) return true;
  return false;
}

Gpu gpu_of(const Record& record) {
  Gpu gpu{.name = environment_text(record, "device", "name")};
  const std::string capability = environment_text(record, "device", "compute_capability");
  if (const auto dot = capability.find('.'); dot != std::string::npos)
    gpu.compute_capability = 10 * std::atoi(capability.c_str()) + std::atoi(capability.c_str() + dot + 1);
  gpu.multiprocessors = (*record.environment).at("device").value("multiprocessors", 0);
  return gpu;
}

std::string time_of(const Record& record) {
  const nlohmann::json& environment = *record.environment;
  const auto found = environment.find("time");
  return found != environment.end() && found->is_string() ? found->get<std::string>() : "";
}

// Whether the record holds other derived sectors than those of today's constants.
bool derived_otherwise(const Record& record, const Sectors& sectors) {
  for (const auto& [name, counter] : sector_counters(sectors))
    if (const auto held = counter_value(record, name); held && *held != counter.value) return true;
  return false;
}

// The L2 counts a read by TMA that it has to get from DRAM once and a quarter. So it is in every record; why
// is not documented.
constexpr double kReadAgain = 0.25;

void explain_reads(const Record& record, const Sectors& sectors, Deviations& deviations) {
  const Counter* const read = find_counter(record, "coalescer_l2_read_sectors");
  const Counter* const merged = find_counter(record, "coalesced_sectors");
  const Counter* const dram = find_counter(record, "dram_read_sectors");
  const std::optional<double> hits = counter_value(record, "l1_load_hit_sectors");
  if (read == nullptr || merged == nullptr || dram == nullptr || !hits) return;
  const std::size_t counts = read->counts.size();
  if (counts == 0 || merged->counts.size() != counts || dram->counts.size() != counts) return;
  // Of what TMA is asked for, the L2 is not asked for what is past the end of a row.
  const auto boxes = static_cast<double>(sectors[MemoryPath::tma].sectors);
  const auto columns = static_cast<double>(record.work.head_dim);
  const double from_l2 = boxes * columns / (64 * std::ceil(columns / 64));
  const double asked = static_cast<double>(sectors.read()) - boxes + from_l2;
  const double by_tma = from_l2 / asked;
  for (std::size_t i = 0; i < counts; ++i) {
    const double expected = asked - *hits - merged->counts[i] + kReadAgain * by_tma * dram->counts[i];
    deviations.add(std::abs(read->counts[i] / expected - 1), record);
  }
}

// The executions that were counted need not be in equal processes.
void note_dram(const Record& record, Deviations& deviations) {
  const Counter* const read = find_counter(record, "dram_read_bytes");
  const Counter* const written = find_counter(record, "dram_write_bytes");
  if (read == nullptr || written == nullptr || read->counts.size() != written->counts.size()) return;
  if (read->counts.size() < 2 || !record.min_bytes) return;
  std::vector<double> bytes;
  for (std::size_t i = 0; i < read->counts.size(); ++i) bytes.push_back(read->counts[i] + written->counts[i]);
  const Mean mean = mean_of(bytes);
  const double deviation = mean.error * std::sqrt(static_cast<double>(bytes.size()));
  deviations.add(deviation / std::max(mean.value, *record.min_bytes), record);
}

}  // namespace

void Deviations::add(double share, const Record& record) {
  const std::string name = fmt::format("{}/{}", record.case_id, record.variant_id);
  if (shares.empty() || share > *std::max_element(shares.begin(), shares.end())) worst = name;
  shares.push_back(share);
  records.insert(name);
}

std::string to_text(const Deviations& deviations) {
  std::vector<double> sorted = deviations.shares;
  std::sort(sorted.begin(), sorted.end());
  const auto percent = [&](double share) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
    return fmt::format("{:.2g} %", 100 * sorted[at]);
  };
  return fmt::format("Half are within {}, nine of ten within {}, all within {}.\nThe furthest: {}",
                     percent(0.5), percent(0.9), percent(1), deviations.worst);
}

std::size_t ComparedSectors::compared() const {
  return sum_of(equal) + sum_of(different);
}

const Sectors& SectorComparison::derived(const Record& record, const Implementation& implementation,
                                         const Gpu& gpu) {
  const std::string key =
      fmt::format("{} {} {} {} {} {}", implementation.name, record.case_id, variant_id(record.variant),
                  to_string(record.key_tiles), gpu.compute_capability, gpu.multiprocessors);
  const auto [at, added] = known_.try_emplace(key);
  if (added) {
    const KernelChoice choice = computed_choice(record);
    const StreamDevice device = stream_device(gpu);
    at->second = implementation.stream->sectors(
        record.work, choice,
        streamed_index(record.work, choice, implementation, device, IndexContents::shape), device);
  }
  return at->second;
}

void SectorComparison::add(const Record& record) {
  if (!counted_on_gpu(record)) return;
  const Gpu gpu = gpu_of(record);
  const Implementation* implementation = find_implementation(record.kernel, DeviceKind::cuda);
  if (Refusal reason = why_no_sectors(record.work, record.variant, implementation, stream_device(gpu))) {
    const bool rival = record.variant.is_baseline() || implementation == nullptr;
    ++found_.not_compared[rival ? "what rivals and limits read is not known" : *reason];
    return;
  }
  const std::string_view since = implementation->stream->since(record.work);
  if (time_of(record) < since) {
    ++found_.not_compared[fmt::format("{}: made before {}, when its stream changed", implementation->name,
                                      since.substr(0, 10))];
    return;
  }
  const Sectors& sectors = derived(record, *implementation, gpu);
  if (derived_otherwise(record, sectors)) {
    ++found_.not_compared[fmt::format("{}: made with other tiles", implementation->name)];
    return;
  }
  explain_reads(record, sectors, found_.l2_reads);
  note_dram(record, found_.dram_bytes);
  bool equal = true;
  for (const SectorPair& pair : sector_pairs()) {
    const std::optional<double> counted = counter_value(record, pair.counter);
    if (!counted) continue;
    ++found_.values;
    const auto expected = static_cast<double>(pair.derived(sectors));
    if (*counted == expected) continue;
    equal = false;
    found_.differences.push_back({fmt::format("{}/{}", record.case_id, record.variant_id),
                                  std::string(pair.counter), *counted, expected});
  }
  ++(equal ? found_.equal : found_.different)[record.kernel];
}

Table compared_table(const ComparedSectors& compared) {
  Table table{
      .name = "compared_sectors",
      .columns = {{"records", "records", Align::right}, {"of", "of"}, {"result", "result", Align::wrapped}}};
  std::set<std::string> kernels;
  for (const auto& [kernel, count] : compared.equal) kernels.insert(kernel);
  for (const auto& [kernel, count] : compared.different) kernels.insert(kernel);
  const auto row = [&](std::size_t count, const std::string& of, const std::string& result) {
    if (count > 0) table.rows.push_back({{std::to_string(count)}, {of}, {result}});
  };
  for (const std::string& kernel : kernels) {
    const auto equal = compared.equal.find(kernel), different = compared.different.find(kernel);
    row(equal == compared.equal.end() ? 0 : equal->second, kernel, "equal to the sector");
    row(different == compared.different.end() ? 0 : different->second, kernel, "different");
  }
  for (const auto& [reason, count] : compared.not_compared) row(count, "", "not compared: " + reason);
  return table;
}

}  // namespace hilbench
