#include "reports/claims/claims.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>

#include "kernels/base/files.hpp"
#include "kernels/base/text.hpp"
#include "reports/claims/yaml_reader.hpp"

namespace hilbench {

std::string_view embedded_claims();  // claims.yaml of this folder, built into the program

namespace {

constexpr std::array<std::string_view, 3> kProvenances = {"measured", "modelled", "unsourced"};
constexpr std::array<std::string_view, 8> kClaimKeys = {"id",     "title",   "source", "provenance",
                                                        "metric", "assumed", "config", "rows"};
// What a row, `config` or `assumed` may say of the work.
constexpr std::array<std::string_view, 16> kWorkKeys = {
    "sequence_length", "segments",  "dilations", "batch",       "heads",  "head_dim", "model_dim", "dtype",
    "causal",          "ring_size", "kv_heads",  "order_chunk", "device", "gpus",     "variant",   "option"};
// What a row may claim. `standard` and `hilbert` stand behind a ratio.
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
constexpr std::array<std::string_view, 3> kOtherRowKeys = {"metric", "note", "provenance"};

// How a stated figure becomes the ratio standard / hilbert.
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
  std::string_view untestable;  // why no record answers it
};
constexpr std::array<MetricInfo, 7> kMetrics = {{
    {"speedup", Quantity::speedup, Form::ratio, ""},
    {"cache_line_accesses_reduction", Quantity::cache_lines, Form::reduction, ""},
    {"cache_line_utilisation_gain", Quantity::cache_lines, Form::gain, ""},
    {"cache_miss_reduction", Quantity::cache_lines, Form::reduction, ""},
    {"peak_memory_reduction", Quantity::memory, Form::reduction, ""},
    {"ring_communication_reduction", Quantity::communication, Form::reduction, ""},
    {"break_even_sequence_length", Quantity::break_even, Form::value, ""},
}};

class Loader {
 public:
  explicit Loader(const YamlReader& reader) : reader_(reader) {}

  std::vector<ClaimRow> load(const YAML::Node& root) {
    if (!root.IsMap() || !root["claims"] || !root["claims"].IsSequence())
      reader_.fail(root.Mark(), "not a claims file", "it needs a list under the key 'claims'");
    if (const YAML::Node seeds = root["seeds"]) load_titles(seeds);
    for (const YAML::Node& claim : root["claims"]) load_claim(claim);
    return std::move(rows_);
  }

 private:
  void load_titles(const YAML::Node& seeds) {
    if (!seeds.IsMap()) reader_.fail(seeds.Mark(), "'seeds' is not a map", "it gives each FILE its TITLE");
    for (const auto& seed : seeds) {
      const std::string file = plain_text(seed.first);
      titles_[file] = reader_.text_of(seeds, file.c_str());
    }
  }

  // "TITLE: SECTION"; a document without a title goes by its file's name.
  std::string source_of(const YAML::Node& source) const {
    const std::string file = reader_.text_of(source, "seed");
    const auto title = titles_.find(file);
    return fmt::format("{}: {}", title == titles_.end() ? file : title->second,
                       reader_.text_of(source, "section"));
  }

  void load_claim(const YAML::Node& claim) {
    if (!claim.IsMap()) reader_.fail(claim.Mark(), "claim is not a map", "each entry of 'claims' has keys");
    std::vector<std::string_view> allowed(kClaimKeys.begin(), kClaimKeys.end());
    allowed.push_back("note");
    reader_.check_keys(claim, allowed);
    ClaimRow base;
    base.claim_id = reader_.text_of(claim, "id");
    if (!ids_.insert(base.claim_id).second)
      reader_.fail(claim.Mark(), fmt::format("claim '{}' stands twice", base.claim_id), "ids are unique");
    base.title = reader_.text_of(claim, "title");
    if (!claim["source"] || !claim["source"].IsMap())
      reader_.fail(claim.Mark(), "claim without source", "'source' is {seed: FILE, section: TITLE}");
    base.source = source_of(claim["source"]);
    base.provenance = reader_.choice_of(claim, "provenance", kProvenances);
    if (claim["metric"]) base.metric = reader_.text_of(claim, "metric");
    if (claim["note"]) base.note = reader_.text_of(claim, "note");
    for (const char* key : {"config", "assumed"})
      if (claim[key]) reader_.check_keys(claim[key], kWorkKeys);
    if (!claim["rows"] || !claim["rows"].IsSequence() || claim["rows"].size() == 0)
      reader_.fail(claim.Mark(), fmt::format("claim '{}' has no rows", base.claim_id), "'rows' is a list");
    for (const YAML::Node& row : claim["rows"]) load_row(claim, row, base);
  }

  void load_row(const YAML::Node& claim, const YAML::Node& row, ClaimRow base) {
    if (!row.IsMap()) reader_.fail(row.Mark(), "row is not a map", "each row has keys");
    std::vector<std::string_view> allowed(kWorkKeys.begin(), kWorkKeys.end());
    allowed.insert(allowed.end(), kFigureKeys.begin(), kFigureKeys.end());
    allowed.insert(allowed.end(), kOtherRowKeys.begin(), kOtherRowKeys.end());
    reader_.check_keys(row, allowed);
    if (row["metric"]) base.metric = reader_.text_of(row, "metric");
    if (row["provenance"]) base.provenance = reader_.choice_of(row, "provenance", kProvenances);
    if (row["note"]) base.note = reader_.text_of(row, "note");
    base.configuration = configuration_of(claim, row);
    base.stated = stated_of(row);
    base.work = work_of(claim, row);
    base.names_dtype = row["dtype"] || (claim["config"] && claim["config"]["dtype"]);
    if (const YAML::Node chunk = find(claim, row, "order_chunk")) base.order_chunk = reader_.integer(chunk);
    if (const YAML::Node length = find(claim, row, "sequence_length"))
      base.sequence_length = reader_.integer(length);
    for (const char* key : {"ring_size", "gpus"})
      if (const YAML::Node ranks = find(claim, row, key)) base.ring_size = reader_.integer(ranks);
    if (const YAML::Node device = find(claim, row, "device")) base.device = plain_text(device);
    const std::size_t before = rows_.size();
    add_quantities(claim, row, base);
    if (rows_.size() == before)
      reader_.fail(row.Mark(), "row claims nothing",
                   fmt::format("none of its keys is a figure: {}", fmt::join(kFigureKeys, ", ")));
  }

  // One ClaimRow for each quantity that the row states.
  void add_quantities(const YAML::Node& claim, const YAML::Node& row, const ClaimRow& base) {
    if (row["value"] || row["low"]) return add_metric(row, base);
    if (row["option"]) return add_option(row, base);
    if (row["speedup"]) add(claim, row, base, Quantity::speedup, Form::ratio, "speedup", "");
    if (row["speedup_low"])
      add(claim, row, base, Quantity::speedup, Form::ratio, "speedup_low", "speedup_high");
    if (row["cache_reduction"]) {
      ClaimRow lines = base;
      lines.metric = "cache_line_accesses_reduction";
      add(claim, row, lines, Quantity::cache_lines, Form::reduction, "cache_reduction", "");
    }
    if (row["reduction"]) add(claim, row, base, Quantity::memory, Form::reduction, "reduction", "");
    if (row["memory_reduction_low"]) {
      ClaimRow memory = base;
      memory.metric = "peak_memory_reduction";
      add(claim, row, memory, Quantity::memory, Form::reduction, "memory_reduction_low",
          "memory_reduction_high");
    }
    if (row["break_even_sequence_length"])
      add(claim, row, base, Quantity::break_even, Form::value, "break_even_sequence_length", "");
    if (row["max_sequence_length"] && row["device"] && row["gpus"])
      add(claim, row, base, Quantity::longest, Form::value, "max_sequence_length", "");
    else if (row["max_sequence_length"])
      add_value(row, base, "max_sequence_length", "memory limit of another device (GTX 1080, 8 GB)");
    if (row["peak_memory_gb"])
      add_value(row, base, "peak_memory_gb",
                "peak memory of its authors' own program; states no segments or dilations");
  }

  void add_metric(const YAML::Node& row, const ClaimRow& base) {
    const auto metric = std::find_if(kMetrics.begin(), kMetrics.end(),
                                     [&](const MetricInfo& info) { return info.name == base.metric; });
    if (metric == kMetrics.end()) {
      std::vector<std::string_view> names;
      for (const MetricInfo& info : kMetrics) names.push_back(info.name);
      reader_.fail(row.Mark(), fmt::format("unknown metric '{}'", one_line(base.metric, 60)),
                   fmt::format("allowed: {}", fmt::join(names, ", ")));
    }
    ClaimRow claim = base;
    claim.untestable = metric->untestable;
    const bool range = static_cast<bool>(row["low"]);
    add({}, row, claim, metric->quantity, metric->form, range ? "low" : "value", range ? "high" : "");
  }

  void add_option(const YAML::Node& row, const ClaimRow& base) {
    const std::string option = reader_.text_of(row, "option");
    if (option == "memory_pool") return add({}, row, base, Quantity::buffers, Form::ratio, "speedup", "");
    add_value(
        row, base, "speedup",
        fmt::format("compares two attention backends of its authors' program ({}), not two orders", option));
  }

  void add_value(const YAML::Node& row, ClaimRow claim, const char* key, std::string untestable) {
    claim.quantity = Quantity::other;
    claim.untestable = std::move(untestable);
    claim.claimed = reader_.positive(row[key], key);
    rows_.push_back(std::move(claim));
  }

  void add(const YAML::Node& claim_node, const YAML::Node& row, ClaimRow claim, Quantity quantity, Form form,
           const char* low, const char* high) {
    claim.quantity = quantity;
    claim.claimed = as_ratio(form, stated_number(row[low], low, form));
    if (*high != '\0') {
      if (!row[high]) reader_.fail(row.Mark(), fmt::format("'{}' without '{}'", low, high), "give both ends");
      claim.claimed_range = Interval{*claim.claimed, as_ratio(form, stated_number(row[high], high, form))};
      if (claim.claimed_range->low > claim.claimed_range->high)
        reader_.fail(row.Mark(), fmt::format("'{}' is above '{}'", low, high), "give the smaller one first");
    }
    constexpr std::array kOverStore = {Quantity::buffers, Quantity::break_even, Quantity::communication,
                                       Quantity::longest};
    const bool needs_case = std::find(kOverStore.begin(), kOverStore.end(), quantity) == kOverStore.end();
    if (claim.untestable.empty() && needs_case && !claim.work) {
      const bool of_ring = claim.sequence_length && claim.ring_size;
      claim.any_case = of_ring || !names_any_case(claim_node, row);
      if (!claim.any_case) claim.untestable = missing_case(claim_node, row);
    }
    rows_.push_back(std::move(claim));
  }

  // Whether the row says anything of the case that it means.
  static bool names_any_case(const YAML::Node& claim, const YAML::Node& row) {
    constexpr std::array<const char*, 4> kKeys = {"sequence_length", "segments", "dilations", "ring_size"};
    return std::any_of(kKeys.begin(), kKeys.end(), [&](const char* key) {
      const YAML::Node node = find(claim, row, key);
      return node && !node.IsNull();
    });
  }

  // Why a row that compares two orders names no case.
  std::string missing_case(const YAML::Node& claim, const YAML::Node& row) {
    std::vector<std::string> missing;
    for (const char* key : {"sequence_length", "segments", "dilations"}) {
      const YAML::Node node = find(claim, row, key);
      if (!node || (std::string_view(key) != "sequence_length" && !node.IsSequence())) missing.push_back(key);
    }
    return fmt::format("states no {}", fmt::join(missing, " or "));
  }

  std::optional<Case> work_of(const YAML::Node& claim, const YAML::Node& row) {
    const YAML::Node length = find(claim, row, "sequence_length"), segments = find(claim, row, "segments"),
                     dilations = find(claim, row, "dilations");
    if (!length || !segments || !dilations || !segments.IsSequence() || !dilations.IsSequence()) return {};
    if (segments.size() != dilations.size() || segments.size() == 0)
      reader_.fail(row.Mark(), "segments and dilations differ in number", "they pair one to one");
    Case work;
    work.sequence_length = reader_.integer(length);
    work.pattern.clear();
    for (std::size_t i = 0; i < segments.size(); ++i)
      work.pattern.push_back({reader_.integer(segments[i]), reader_.integer(dilations[i])});
    for (const Field<Case>& field : case_fields()) {
      const YAML::Node node = find(claim, row, std::string(field.name));
      if (node && field.name != "device") field.set(work, reader_.field_value(field, node));
    }
    if (const YAML::Node model = find(claim, row, "model_dim")) {
      if (reader_.integer(model) % work.heads != 0)
        reader_.fail(row.Mark(), "model_dim is no multiple of heads", "head_dim is their quotient");
      work.head_dim = reader_.integer(model) / work.heads;
    }
    if (work.kv_heads == 0) work.kv_heads = work.heads;
    return work;
  }

  // The row's own word, else `config`, else `assumed`.
  static YAML::Node find(const YAML::Node& claim, const YAML::Node& row, const std::string& key) {
    if (row[key]) return row[key];
    if (!claim.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
    for (const char* part : {"config", "assumed"})
      if (claim[part] && claim[part][key]) return claim[part][key];
    return YAML::Node(YAML::NodeType::Undefined);
  }

  std::string configuration_of(const YAML::Node& claim, const YAML::Node& row) {
    std::vector<std::string> said, assumed;
    for (const std::string_view name : kWorkKeys) {
      const std::string key(name);
      if (row[key])
        said.push_back(key + " " + plain_text(row[key]));
      else if (claim["config"] && claim["config"][key])
        said.push_back(key + " " + plain_text(claim["config"][key]));
      else if (claim["assumed"] && claim["assumed"][key])
        assumed.push_back(key + " " + plain_text(claim["assumed"][key]));
    }
    std::string text = fmt::format("{}", fmt::join(said, ", "));
    if (!assumed.empty())
      text += fmt::format("{}assumed: {}", text.empty() ? "" : "; ", fmt::join(assumed, ", "));
    return text;
  }

  std::string stated_of(const YAML::Node& row) {
    std::vector<std::string> figures;
    for (const std::string_view name : kFigureKeys)
      if (const std::string key(name); row[key]) figures.push_back(key + " " + plain_text(row[key]));
    return fmt::format("{}", fmt::join(figures, ", "));
  }

  double stated_number(const YAML::Node& node, const char* key, Form form) {
    const double value = reader_.positive(node, key);
    if (form == Form::reduction && value >= 1)
      reader_.fail(node.Mark(), fmt::format("'{}' is a reduction of {}", key, value),
                   "it lies between 0 and 1");
    return value;
  }

  const YamlReader& reader_;
  std::set<std::string> ids_;
  std::map<std::string, std::string> titles_;
  std::vector<ClaimRow> rows_;
};

}  // namespace

std::vector<ClaimRow> parse_claims(const std::string& text, const std::string& where) {
  const YamlReader reader(where);
  try {
    return Loader(reader).load(reader.parse(text));
  } catch (const YAML::Exception& error) {
    reader.fail(error.mark, "not a claims file", error.msg);
  }
}

std::vector<ClaimRow> load_claims(const std::filesystem::path& file) {
  if (file.empty()) return parse_claims(std::string(embedded_claims()), "claims.yaml");
  return parse_claims(read_text(file, "claims file", kMostInputBytes), file.string());
}

std::string_view to_string(ClaimVerdict verdict) {
  constexpr std::array<std::string_view, 6> kNames = {
      "reproduced", "smaller than claimed", "no difference shown", "contradicted",
      "mixed",      "not testable here"};
  return kNames[static_cast<std::size_t>(verdict)];
}

bool claims_a_gain(const ClaimRow& claim) {
  return claim.claimed.value_or(0) > 1 || claim.quantity == Quantity::break_even ||
         claim.quantity == Quantity::longest;
}

ClaimVerdict judge(double claimed, const Interval& measured) {
  const bool holds_one = measured.low <= 1 && measured.high >= 1;
  if (claimed == 1) return holds_one ? ClaimVerdict::reproduced : ClaimVerdict::contradicted;
  if (holds_one) return ClaimVerdict::no_difference;
  if (claimed > 1 && measured.low > 1)
    return measured.high >= claimed ? ClaimVerdict::reproduced : ClaimVerdict::smaller_than_claimed;
  if (claimed < 1 && measured.high < 1)
    return measured.low <= claimed ? ClaimVerdict::reproduced : ClaimVerdict::smaller_than_claimed;
  return ClaimVerdict::contradicted;
}

}  // namespace hilbench
