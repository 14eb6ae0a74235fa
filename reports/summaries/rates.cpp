#include "reports/summaries/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/case/windows.hpp"
#include "reports/summaries/effects.hpp"
#include "reports/tables/by_case.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kComparedKeys = 2048;

using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // threads, heads, head_dim

struct RatedPattern {
  Shape shape;
  std::string text;
  std::int64_t keys = 0;
  std::map<Dtype, double> flops_per_s;
};

Shape shape_of(const Record& record) {
  return {record.threads, record.work.heads, record.work.head_dim};
}

// Without gaps; windows and masks are never dense.
bool is_dense(const Case& work) {
  return !has_windows(work) && std::all_of(work.pattern.begin(), work.pattern.end(),
                                           [](const Branch& branch) { return branch.dilation == 1; });
}

// The text of the case without its dtype.
std::string text_of(const Record& record) {
  std::string text = whole_case_text(record.work);
  const std::string dtype = fmt::format(", {}", to_string(record.work.dtype));
  const std::size_t at = text.find(dtype);
  return at == std::string::npos ? text : text.erase(at, dtype.size());
}

const Record* linear_of(const CaseView& of_case) {
  for (const Record* record : of_case.records)
    if (is_plain_linear(*record) && record->status == Status::ok && record->tflops) return record;
  return nullptr;
}

std::string share_text(const std::map<Dtype, double>& mine, const std::map<Dtype, double>* dense,
                       Dtype dtype) {
  if (dense == nullptr || !mine.contains(dtype) || !dense->contains(dtype)) return "";
  return percent_text(mine.at(dtype) / dense->at(dtype));
}

}  // namespace

Table rates_table(const View& view) {
  std::vector<RatedPattern> patterns;
  std::map<std::pair<Shape, std::int64_t>, std::map<Dtype, double>> dense;
  std::map<Dtype, std::size_t> dtypes;
  bool any_sparse = false;
  for (const CaseView& of_case : view.cases) {
    const Record* record = linear_of(of_case);
    if (record == nullptr || record->work.ring_size > 1) continue;
    const std::string text = text_of(*record);
    auto known = std::find_if(patterns.begin(), patterns.end(), [&](const RatedPattern& each) {
      return each.text == text && each.shape == shape_of(*record);
    });
    if (known == patterns.end())
      known = patterns.insert(known, {shape_of(*record), text, keys_read(record->work), {}});
    const double rate = *record->tflops * 1e12;
    known->flops_per_s[record->work.dtype] = rate;
    ++dtypes[record->work.dtype];
    if (is_dense(record->work))
      dense[{known->shape, known->keys}][record->work.dtype] = rate;
    else
      any_sparse = true;
  }
  const bool both = dtypes.contains(Dtype::bf16) && dtypes.contains(Dtype::fp32);
  const auto rate_column = [](Dtype dtype) { return std::string(to_string(dtype)); };
  const auto share_column = [](Dtype dtype, std::int64_t keys) {
    return fmt::format("{}, share of the dense rate with {} keys", to_string(dtype),
                       keys == 0 ? "as many" : std::to_string(keys));
  };
  constexpr const char* kRatio = "bf16 / fp32";
  std::vector<std::string> columns;
  for (const auto& [dtype, count] : dtypes) columns.push_back(rate_column(dtype));
  if (both) columns.emplace_back(kRatio);
  for (const std::int64_t keys : {std::int64_t{0}, kComparedKeys})
    for (const auto& [dtype, count] : dtypes) columns.push_back(share_column(dtype, keys));
  std::vector<CaseRow> rows;
  for (const RatedPattern& pattern : patterns) {
    CaseRow row{.first = {{pattern.text}, {pattern.keys == 0 ? "" : std::to_string(pattern.keys)}},
                .cells = {}};
    for (const auto& [dtype, rate] : pattern.flops_per_s) {
      row.cells[rate_column(dtype)] = {rate_text(rate)};
      for (const std::int64_t keys : {std::int64_t{0}, kComparedKeys}) {
        const auto found = dense.find({pattern.shape, keys == 0 ? pattern.keys : keys});
        row.cells[share_column(dtype, keys)] = {
            share_text(pattern.flops_per_s, found == dense.end() ? nullptr : &found->second, dtype)};
      }
    }
    if (pattern.flops_per_s.contains(Dtype::bf16) && pattern.flops_per_s.contains(Dtype::fp32))
      row.cells[kRatio] = {
          fmt::format("{:.2f}", pattern.flops_per_s.at(Dtype::bf16) / pattern.flops_per_s.at(Dtype::fp32))};
    rows.push_back(std::move(row));
  }
  if (!both && (dense.empty() || !any_sparse)) rows.clear();
  return by_case_table("rates", "",
                       {{"case", "case (segment/dilation)", Align::wrapped}, {"keys", "keys", Align::right}},
                       columns, rows);
}

Table inputs_table(const View& view) {
  std::vector<std::string> variants;
  std::vector<CaseRow> rows;
  for (const CaseView& of_case : view.cases) {
    Case normal = *of_case.work;
    normal.data = Case{}.data;
    normal.score_scale = Case{}.score_scale;
    if (normal == *of_case.work) continue;
    const auto base = std::find_if(view.cases.begin(), view.cases.end(),
                                   [&](const CaseView& other) { return *other.work == normal; });
    if (base == view.cases.end()) continue;
    CaseRow row{.first = {{whole_case_text(*of_case.work)}}, .cells = {}};
    for (const Record* record : of_case.records) {
      if (!measured_right(*record)) continue;
      for (const Record* other : base->records) {
        if (other->variant_id != record->variant_id || !measured_right(*other)) continue;
        row.cells[record->variant_id] = {
            fmt::format("{:.3f}", record->time->median_ns / other->time->median_ns)};
        if (std::find(variants.begin(), variants.end(), record->variant_id) == variants.end())
          variants.push_back(record->variant_id);
      }
    }
    if (!row.cells.empty()) rows.push_back(std::move(row));
  }
  return by_case_table("inputs", "", {{"case", "case (segment/dilation)", Align::wrapped}}, variants, rows);
}

}  // namespace hilbench
