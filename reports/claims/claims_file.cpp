#include "reports/claims/claims_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>

#include "kernels/base/text/text.hpp"
#include "reports/claims/claim_test.hpp"
#include "reports/claims/claim_values.hpp"

namespace hilbench {
namespace {

constexpr std::array<std::string_view, 3> kProvenances = {"measured", "modelled", "unsourced"};
constexpr std::array<std::string_view, 4> kFileKeys = {"seeds", "test", "claims", "invalid_orders"};
constexpr std::array<std::string_view, 12> kClaimKeys = {"id",         "reading_of", "title",  "source",
                                                         "provenance", "how",        "metric", "assumed",
                                                         "config",     "test",       "note",   "rows"};
// Keys of a row, of `config` and of `assumed` that describe the case.
constexpr std::array<std::string_view, 19> kWorkKeys = {
    "sequence_length", "segments", "dilations", "batch",        "heads",       "head_dim",  "model_dim",
    "dtype",           "causal",   "queries",   "branch_heads", "head_offset", "ring_size", "kv_heads",
    "order_chunk",     "device",   "gpus",      "variant",      "option"};
// Keys of a row that hold claimed numbers. `standard` and `hilbert`: the times of what the report compared.
constexpr std::array<std::string_view, 17> kFigureKeys = {"standard",
                                                          "hilbert",
                                                          "speedup",
                                                          "speedup_low",
                                                          "speedup_high",
                                                          "cache_reduction",
                                                          "reduction",
                                                          "memory_reduction_low",
                                                          "memory_reduction_high",
                                                          "max_sequence_length",
                                                          "memory_gb",
                                                          "tokens_per_second",
                                                          "break_even_sequence_length",
                                                          "peak_memory_gb",
                                                          "low",
                                                          "high",
                                                          "value"};
constexpr std::array<std::string_view, 7> kOtherRowKeys = {"metric", "note", "provenance", "how",
                                                           "says",   "test", "untestable"};

// How a stated number becomes the ratio against / variant.
enum class Form { ratio, reduction, gain, value };
double as_ratio(Form form, double stated) {
  switch (form) {
    case Form::reduction:
      return 1 / (1 - stated);
    case Form::gain:
      return 1 + stated;
    default:
      return stated;
  }
}

struct MetricInfo {
  std::string_view name;
  Quantity quantity;
  Form form;
};
constexpr std::array<MetricInfo, 7> kMetrics = {{
    {"speedup", Quantity::speedup, Form::ratio},
    {"cache_line_accesses_reduction", Quantity::cache_lines, Form::reduction},
    {"cache_line_utilisation_gain", Quantity::cache_lines, Form::gain},
    {"cache_miss_reduction", Quantity::cache_lines, Form::reduction},
    {"peak_memory_reduction", Quantity::memory, Form::reduction},
    {"ring_communication_reduction", Quantity::communication, Form::reduction},
    {"break_even_sequence_length", Quantity::break_even, Form::value},
}};

// Metrics of rows whose keys say what they hold: standard, hilbert, memory_gb ...
constexpr std::array<std::string_view, 4> kOtherMetrics = {"time_ms", "peak_memory_gb", "max_sequence_length",
                                                           "tokens_per_second"};

using Value = std::optional<YamlValue>;  // of a key that may be left out

class Loader {
 public:
  std::vector<ClaimRow> load(const YamlValue& root) {
    const Value claims = root.find("claims");
    if (!claims || !claims->is_list())
      refuse_claim(root, "not a claims file", "it needs a list under the key 'claims'");
    check_keys(root, kFileKeys);
    if (const Value seeds = root.find("seeds")) load_titles(*seeds);
    if (const Value test = root.find("test")) compared_ = compared_of(*test);
    for (const YamlValue& claim : claims->items()) load_claim(claim);
    return std::move(rows_);
  }

 private:
  void load_titles(const YamlValue& seeds) {
    if (!seeds.is_map()) refuse_claim(seeds, "'seeds' is not a map", "it gives each FILE its TITLE");
    for (const auto& [key, title] : seeds.entries()) titles_[one_line(key, 120)] = text_of(seeds, key);
  }

  // "TITLE: SECTION"; if the document has no title, the name of its file.
  std::string source_of(const YamlValue& source) const {
    const std::string file = text_of(source, "seed");
    const auto title = titles_.find(file);
    if (title == titles_.end() && !titles_.empty())
      refuse_claim(source, fmt::format("seed '{}' is not under 'seeds'", one_line(file, 80)),
                   "'seeds' gives each FILE its TITLE");
    return fmt::format("{}: {}", title == titles_.end() ? file : title->second, text_of(source, "section"));
  }

  static std::string metric_of(const YamlValue& map) {
    const std::string metric = text_of(map, "metric");
    std::vector<std::string_view> names(kOtherMetrics.begin(), kOtherMetrics.end());
    for (const MetricInfo& info : kMetrics) names.push_back(info.name);
    if (std::find(names.begin(), names.end(), metric) == names.end())
      refuse_claim(map, fmt::format("unknown metric '{}'", one_line(metric, 60)),
                   fmt::format("allowed: {}", fmt::join(names, ", ")));
    return metric;
  }

  void load_claim(const YamlValue& claim) {
    if (!claim.is_map()) refuse_claim(claim, "claim is not a map", "each entry of 'claims' has keys");
    check_keys(claim, kClaimKeys);
    ClaimRow base;
    base.claim_id = text_of(claim, "id");
    if (!ids_.insert(base.claim_id).second)
      refuse_claim(claim, fmt::format("claim '{}' is defined twice", base.claim_id), "ids are unique");
    if (claim.find("reading_of")) base.reading_of = text_of(claim, "reading_of");
    if (!base.reading_of.empty() && !ids_.contains(base.reading_of))
      refuse_claim(claim, fmt::format("no claim '{}' before this one", one_line(base.reading_of, 60)),
                   "'reading_of' names the claim that is read by other rules");
    base.title = text_of(claim, "title");
    const Value source = claim.find("source");
    if (!source || !source->is_map())
      refuse_claim(claim, "claim without source",
                   "'source' is {seed: FILE, section: TITLE}, or {arxiv: NUMBER}");
    if (source->find("arxiv")) base.arxiv = text_of(*source, "arxiv");
    base.source = of_paper(base) ? fmt::format("arXiv {}: {}", base.arxiv, base.title) : source_of(*source);
    base.provenance = choice_of(claim, "provenance", kProvenances);
    if (claim.find("metric")) base.metric = metric_of(claim);
    if (claim.find("note")) base.note = text_of(claim, "note");
    if (claim.find("how")) base.how = text_of(claim, "how");
    for (const char* key : {"config", "assumed"})
      if (const Value part = claim.find(key)) check_keys(*part, kWorkKeys);
    base.compared = compared_;
    if (const Value test = claim.find("test")) base.compared = compared_of(*test);
    const Value rows = claim.find("rows");
    if (!rows || !rows->is_list() || rows->items().empty())
      refuse_claim(claim, fmt::format("claim '{}' has no rows", base.claim_id), "'rows' is a list");
    for (const YamlValue& row : rows->items()) load_row(claim, row, base);
  }

  void load_row(const YamlValue& claim, const YamlValue& row, ClaimRow base) {
    if (!row.is_map()) refuse_claim(row, "row is not a map", "each row has keys");
    std::vector<std::string_view> allowed(kWorkKeys.begin(), kWorkKeys.end());
    allowed.insert(allowed.end(), kFigureKeys.begin(), kFigureKeys.end());
    allowed.insert(allowed.end(), kOtherRowKeys.begin(), kOtherRowKeys.end());
    check_keys(row, allowed);
    if (row.find("metric")) base.metric = metric_of(row);
    if (row.find("provenance")) base.provenance = choice_of(row, "provenance", kProvenances);
    if (row.find("note")) base.note = text_of(row, "note");
    if (row.find("how")) base.how = text_of(row, "how");
    if (const Value test = row.find("test"); test && !row.find("untestable"))
      base.compared = compared_of(*test);
    if (row.find("says")) base.says = text_of(row, "says");
    base.configuration = configuration_of(claim, row);
    base.stated = stated_of(row);
    base.work = work_of(claim, row);
    base.names_dtype = row.find("dtype") || find_in(claim, "config", "dtype");
    if (const Value chunk = find(claim, row, "order_chunk")) base.compared.order_chunk = integer_of(*chunk);
    if (const Value length = find(claim, row, "sequence_length")) base.sequence_length = integer_of(*length);
    for (const char* key : {"ring_size", "gpus"})
      if (const Value ranks = find(claim, row, key)) base.ring_size = integer_of(*ranks);
    if (const Value device = find(claim, row, "device")) base.device = plain_text(*device);
    const std::size_t before = rows_.size();
    add_quantities(claim, row, base);
    if (rows_.size() == before)
      refuse_claim(row, "row claims nothing",
                   fmt::format("none of its keys is a figure: {}", fmt::join(kFigureKeys, ", ")));
    for (std::size_t i = before; i < rows_.size(); ++i) check_compared(row, rows_[i]);
  }

  // One ClaimRow for each quantity that the row states.
  void add_quantities(const YamlValue& claim, const YamlValue& row, const ClaimRow& base) {
    if (row.find("untestable")) return add_untestable(row, base);
    if (const Value test = row.find("test"); test && (test->find("case") || of_paper(base)))
      return add_tested(row, base);
    if (row.find("value") || row.find("low")) return add_metric(row, base);
    if (row.find("option")) return add_option(row, base);
    if (row.find("speedup")) add(claim, row, base, Quantity::speedup, Form::ratio, "speedup", "");
    if (row.find("speedup_low"))
      add(claim, row, base, Quantity::speedup, Form::ratio, "speedup_low", "speedup_high");
    if (row.find("cache_reduction")) {
      ClaimRow lines = base;
      lines.metric = "cache_line_accesses_reduction";
      add(claim, row, lines, Quantity::cache_lines, Form::reduction, "cache_reduction", "");
    }
    if (row.find("reduction")) add(claim, row, base, Quantity::memory, Form::reduction, "reduction", "");
    if (row.find("memory_reduction_low")) {
      ClaimRow memory = base;
      memory.metric = "peak_memory_reduction";
      add(claim, row, memory, Quantity::memory, Form::reduction, "memory_reduction_low",
          "memory_reduction_high");
    }
    if (row.find("break_even_sequence_length"))
      add(claim, row, base, Quantity::break_even, Form::value, "break_even_sequence_length", "");
    if (row.find("max_sequence_length") && row.find("device") && row.find("gpus"))
      add(claim, row, base, Quantity::longest, Form::value, "max_sequence_length", "");
    else if (row.find("max_sequence_length"))
      add_value(row, base, "max_sequence_length", "memory limit of another device (GTX 1080, 8 GB)");
    if (row.find("peak_memory_gb"))
      add_value(row, base, "peak_memory_gb",
                "memory of its authors' own program; states no segments or dilations");
  }

  void add_metric(const YamlValue& row, const ClaimRow& base) {
    const auto metric = std::find_if(kMetrics.begin(), kMetrics.end(),
                                     [&](const MetricInfo& info) { return info.name == base.metric; });
    if (metric == kMetrics.end())
      refuse_claim(row, fmt::format("'value' or 'low' with metric '{}'", base.metric),
                   "these keys hold a ratio, a reduction or a length");
    const bool range = row.find("low").has_value();
    add({}, row, base, metric->quantity, metric->form, range ? "low" : "value", range ? "high" : "");
  }

  // Of cases that the row names by some of their parameters.
  void add_tested(const YamlValue& row, ClaimRow base) {
    base.test = test_of(*row.find("test"));
    const std::size_t before = rows_.size();
    if (row.find("value") || row.find("low"))
      add_metric(row, base);
    else if (row.find("speedup"))
      add({}, row, base, Quantity::speedup, Form::ratio, "speedup", "");
    if (rows_.size() == before)
      refuse_claim(row, "a test without a figure", "give 'speedup', or 'metric' and 'value'");
    const Quantity quantity = rows_.back().quantity;
    if (quantity != Quantity::speedup && quantity != Quantity::cache_lines)
      refuse_claim(row, fmt::format("a test with metric '{}'", base.metric),
                   "variants are compared by kernel time or by misses");
    if (quantity != Quantity::cache_lines && !base.test->level.empty())
      refuse_claim(row, "a level of a cache, but no misses", "'metric' is one of caches");
  }

  // The row says why; it may state a figure.
  void add_untestable(const YamlValue& row, ClaimRow claim) {
    if (row.find("test")) refuse_claim(row, "'test' and 'untestable'", "give one of them");
    claim.untestable = text_of(row, "untestable");
    for (const char* key : {"speedup", "value"})
      if (row.find(key)) claim.claimed = positive_number(row, key);
    rows_.push_back(std::move(claim));
  }

  void add_option(const YamlValue& row, const ClaimRow& base) {
    const std::string option = text_of(row, "option");
    if (option == "memory_pool") return add({}, row, base, Quantity::buffers, Form::ratio, "speedup", "");
    add_value(
        row, base, "speedup",
        fmt::format("compares two attention backends of its authors' program ({}), not two orders", option));
  }

  void add_value(const YamlValue& row, ClaimRow claim, const char* key, std::string untestable) {
    claim.quantity = Quantity::other;
    claim.untestable = std::move(untestable);
    claim.claimed = positive_number(row, key);
    rows_.push_back(std::move(claim));
  }

  void add(const Value& claim_node, const YamlValue& row, ClaimRow claim, Quantity quantity, Form form,
           const char* low, const char* high) {
    claim.quantity = quantity;
    claim.claimed = as_ratio(form, stated_number(row, low, form));
    if (*high != '\0') {
      if (!row.find(high)) refuse_claim(row, fmt::format("'{}' without '{}'", low, high), "give both ends");
      claim.claimed_range = Interval{*claim.claimed, as_ratio(form, stated_number(row, high, form))};
      if (claim.claimed_range->low > claim.claimed_range->high)
        refuse_claim(row, fmt::format("'{}' is above '{}'", low, high), "give the smaller one first");
    }
    constexpr std::array kOverStore = {Quantity::buffers, Quantity::break_even, Quantity::communication,
                                       Quantity::longest};
    const bool needs_case = std::find(kOverStore.begin(), kOverStore.end(), quantity) == kOverStore.end();
    if (claim.untestable.empty() && needs_case && !claim.work && !claim.test) {
      const bool of_ring = claim.sequence_length && claim.ring_size;
      claim.any_case = of_ring || !names_any_case(claim_node, row);
      if (!claim.any_case) claim.untestable = missing_case(claim_node, row);
    }
    rows_.push_back(std::move(claim));
  }

  // True if the row states anything of its case.
  static bool names_any_case(const Value& claim, const YamlValue& row) {
    for (const char* key : {"sequence_length", "segments", "dilations", "ring_size"})
      if (const Value value = find(claim, row, key); value && !value->is_null()) return true;
    return false;
  }

  // Which keys of its case a row does not state.
  std::string missing_case(const Value& claim, const YamlValue& row) {
    std::vector<std::string> missing;
    for (const char* key : {"sequence_length", "segments", "dilations"}) {
      const Value value = find(claim, row, key);
      if (!value || (std::string_view(key) != "sequence_length" && !value->is_list())) missing.push_back(key);
    }
    return fmt::format("states no {}", fmt::join(missing, " or "));
  }

  std::optional<Case> work_of(const YamlValue& claim, const YamlValue& row) {
    Case work;
    for (const Field<Case>& field : case_fields()) {
      const Value value = find(claim, row, field.name);
      if (value && field.name != "device") field.set(work, claimed_value(*value, field));
    }
    for (const char* key : {"segments", "dilations"})
      if (const Value list = row.find(key); list && !list->is_list())
        refuse_claim(*list, fmt::format("'{}' is not a list", key), "it has one number for each branch");
    Value length = find(claim, row, "sequence_length");
    if (!length && row.find("gpus"))
      length = row.find("max_sequence_length");  // the length itself is claimed
    const Value segment_list = find(claim, row, "segments"), dilation_list = find(claim, row, "dilations");
    if (!length || !segment_list || !dilation_list || !segment_list->is_list() || !dilation_list->is_list())
      return {};
    const std::vector<YamlValue> segments = segment_list->items(), dilations = dilation_list->items();
    if (segments.size() != dilations.size() || segments.empty())
      refuse_claim(row, "segments and dilations differ in number", "they pair one to one");
    work.sequence_length = integer_of(*length);
    work.pattern.clear();
    for (std::size_t i = 0; i < segments.size(); ++i)
      work.pattern.push_back({integer_of(segments[i]), integer_of(dilations[i])});
    if (const Value model = find(claim, row, "model_dim")) {
      if (integer_of(*model) % work.heads != 0)
        refuse_claim(row, "model_dim is no multiple of heads", "head_dim is their quotient");
      work.head_dim = integer_of(*model) / work.heads;
    }
    if (const Value ranks = row.find("gpus")) work.ring_size = integer_of(*ranks);
    if (work.kv_heads == 0) work.kv_heads = work.heads;
    return work;
  }

  // From the row, otherwise from `config`, otherwise from `assumed`.
  static Value find(const Value& claim, const YamlValue& row, std::string_view key) {
    if (const Value value = row.find(key)) return value;
    for (const char* part : {"config", "assumed"})
      if (const Value value = find_in(claim, part, key)) return value;
    return std::nullopt;
  }

  static Value find_in(const Value& claim, std::string_view part, std::string_view key) {
    const Value values = claim ? claim->find(part) : std::nullopt;
    return values ? values->find(key) : std::nullopt;
  }

  std::string configuration_of(const YamlValue& claim, const YamlValue& row) {
    std::vector<std::string> said, assumed;
    for (const std::string_view name : kWorkKeys) {
      const std::string key(name);
      if (const Value own = row.find(key))
        said.push_back(key + " " + plain_text(*own));
      else if (const Value configured = find_in(claim, "config", key))
        said.push_back(key + " " + plain_text(*configured));
      else if (const Value taken = find_in(claim, "assumed", key))
        assumed.push_back(key + " " + plain_text(*taken));
    }
    std::string text = fmt::format("{}", fmt::join(said, ", "));
    if (!assumed.empty())
      text += fmt::format("{}assumed: {}", text.empty() ? "" : "; ", fmt::join(assumed, ", "));
    return text;
  }

  std::string stated_of(const YamlValue& row) {
    std::vector<std::string> figures;
    for (const std::string_view key : kFigureKeys)
      if (const Value figure = row.find(key))
        figures.push_back(fmt::format("{} {}", key, plain_text(*figure)));
    return fmt::format("{}", fmt::join(figures, ", "));
  }

  double stated_number(const YamlValue& row, std::string_view key, Form form) {
    const double value = positive_number(row, key);
    if (form == Form::reduction && value >= 1)
      refuse_claim(*row.find(key), fmt::format("'{}' is a reduction of {}", key, value),
                   "it lies between 0 and 1");
    return value;
  }

  std::set<std::string> ids_;
  std::map<std::string, std::string> titles_;
  ComparedVariants compared_;  // of rows that do not say it themselves, and whose claim does not
  std::vector<ClaimRow> rows_;
};

}  // namespace

std::vector<ClaimRow> parse_claims(const std::string& text, const std::string& where) {
  const YamlNode document = parse_claims_yaml(text, where);
  return Loader().load(YamlValue(document, where, ""));
}

}  // namespace hilbench
