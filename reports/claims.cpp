#include "reports/claims.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>

#include "harness/embedded.hpp"
#include "harness/error.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kLongestFile = std::size_t{1} << 20;
constexpr int kDeepestNesting = 32;

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

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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
    {"ring_communication_reduction", Quantity::other, Form::reduction, "needs a ring of several ranks"},
    {"break_even_sequence_length", Quantity::break_even, Form::value, ""},
}};

[[noreturn]] void fail(const std::string& where, const YAML::Mark& mark, std::string what, std::string why,
                       std::string remedy = {}) {
  const std::string place = mark.is_null() ? where : fmt::format("{}:{}", where, mark.line + 1);
  throw UsageError({std::move(what), place, std::move(why), std::move(remedy)});
}

// Nesting that would exhaust the parser's stack: flow brackets, and `- - -` on one line.
int nesting_of(std::string_view text) {
  int depth = 0, deepest = 0, dashes = 0;
  bool line_start = true;
  for (const char c : text) {
    if (c == '\n') line_start = true, dashes = 0;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (line_start && (c == '-' || c == '?')) deepest = std::max(deepest, ++dashes);
    if (c != ' ' && c != '-' && c != '?' && c != '\n') line_start = false;
  }
  return deepest;
}

class Loader {
 public:
  explicit Loader(std::string where) : where_(std::move(where)) {}

  std::vector<ClaimRow> load(const YAML::Node& root) {
    if (!root.IsMap() || !root["claims"] || !root["claims"].IsSequence())
      fail(where_, root.Mark(), "not a claims file", "it needs a list under the key 'claims'");
    for (const YAML::Node& claim : root["claims"]) load_claim(claim);
    return std::move(rows_);
  }

 private:
  void load_claim(const YAML::Node& claim) {
    if (!claim.IsMap()) fail(where_, claim.Mark(), "claim is not a map", "each entry of 'claims' has keys");
    std::vector<std::string_view> allowed(kClaimKeys.begin(), kClaimKeys.end());
    allowed.push_back("note");
    check_keys(claim, allowed);
    ClaimRow base;
    base.claim_id = text_of(claim, "id");
    if (!ids_.insert(base.claim_id).second)
      fail(where_, claim.Mark(), fmt::format("claim '{}' stands twice", base.claim_id), "ids are unique");
    base.title = text_of(claim, "title");
    if (!claim["source"] || !claim["source"].IsMap())
      fail(where_, claim.Mark(), "claim without source", "'source' is {seed: FILE, section: TITLE}");
    base.source = text_of(claim["source"], "seed") + ", " + text_of(claim["source"], "section");
    base.provenance = provenance_of(claim);
    if (claim["metric"]) base.metric = text_of(claim, "metric");
    if (claim["note"]) base.note = text_of(claim, "note");
    for (const char* key : {"config", "assumed"})
      if (claim[key]) check_keys(claim[key], kWorkKeys);
    if (!claim["rows"] || !claim["rows"].IsSequence() || claim["rows"].size() == 0)
      fail(where_, claim.Mark(), fmt::format("claim '{}' has no rows", base.claim_id), "'rows' is a list");
    for (const YAML::Node& row : claim["rows"]) load_row(claim, row, base);
  }

  void load_row(const YAML::Node& claim, const YAML::Node& row, ClaimRow base) {
    if (!row.IsMap()) fail(where_, row.Mark(), "row is not a map", "each row has keys");
    std::vector<std::string_view> allowed(kWorkKeys.begin(), kWorkKeys.end());
    allowed.insert(allowed.end(), kFigureKeys.begin(), kFigureKeys.end());
    allowed.insert(allowed.end(), kOtherRowKeys.begin(), kOtherRowKeys.end());
    check_keys(row, allowed);
    if (row["metric"]) base.metric = text_of(row, "metric");
    if (row["provenance"]) base.provenance = provenance_of(row);
    if (row["note"]) base.note = text_of(row, "note");
    base.configuration = configuration_of(claim, row);
    base.stated = stated_of(row);
    base.work = work_of(claim, row);
    if (const YAML::Node chunk = find(claim, row, "order_chunk")) base.order_chunk = integer(chunk);
    const std::size_t before = rows_.size();
    add_quantities(claim, row, base);
    if (rows_.size() == before)
      fail(where_, row.Mark(), "row claims nothing",
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
    if (row["max_sequence_length"])
      add_value(row, base, "max_sequence_length",
                row["device"] || row["gpus"] ? fmt::format("projected memory limit of {} x {}",
                                                           row["gpus"] ? text_of(row, "gpus") : "1",
                                                           row["device"] ? text_of(row, "device") : "GPU")
                                             : "memory limit of another device (GTX 1080, 8 GB)");
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
      fail(where_, row.Mark(), fmt::format("unknown metric '{}'", one_line(base.metric, 60)),
           fmt::format("allowed: {}", fmt::join(names, ", ")));
    }
    ClaimRow claim = base;
    claim.untestable = metric->untestable;
    const bool range = static_cast<bool>(row["low"]);
    add({}, row, claim, metric->quantity, metric->form, range ? "low" : "value", range ? "high" : "");
  }

  void add_option(const YAML::Node& row, const ClaimRow& base) {
    const std::string option = text_of(row, "option");
    if (option == "memory_pool") return add({}, row, base, Quantity::buffers, Form::ratio, "speedup", "");
    add_value(
        row, base, "speedup",
        fmt::format("compares two attention backends of its authors' program ({}), not two orders", option));
  }

  void add_value(const YAML::Node& row, ClaimRow claim, const char* key, std::string untestable) {
    claim.quantity = Quantity::other;
    claim.untestable = std::move(untestable);
    claim.claimed = positive(row[key], key);
    rows_.push_back(std::move(claim));
  }

  void add(const YAML::Node& claim_node, const YAML::Node& row, ClaimRow claim, Quantity quantity, Form form,
           const char* low, const char* high) {
    claim.quantity = quantity;
    claim.claimed = as_ratio(form, stated_number(row[low], low, form));
    if (*high != '\0') {
      if (!row[high]) fail(where_, row.Mark(), fmt::format("'{}' without '{}'", low, high), "give both ends");
      claim.claimed_range = Interval{*claim.claimed, as_ratio(form, stated_number(row[high], high, form))};
    }
    const bool needs_case = quantity != Quantity::buffers && quantity != Quantity::break_even;
    if (claim.untestable.empty() && needs_case && !claim.work)
      claim.untestable = missing_case(claim_node, row);
    rows_.push_back(std::move(claim));
  }

  // Why a row that compares two orders names no case.
  std::string missing_case(const YAML::Node& claim, const YAML::Node& row) {
    std::vector<std::string> missing;
    for (const char* key : {"sequence_length", "segments", "dilations"}) {
      const YAML::Node node = find(claim, row, key);
      if (!node || (std::string_view(key) != "sequence_length" && !node.IsSequence())) missing.push_back(key);
    }
    const YAML::Node ring = find(claim, row, "ring_size");
    if (ring && integer(ring) > 1)
      return fmt::format("needs a ring of {} ranks, and states no {}", integer(ring),
                         fmt::join(missing, " or "));
    if (missing.size() == 3) return "states no configuration";
    return fmt::format("states no {}", fmt::join(missing, " or "));
  }

  std::optional<Case> work_of(const YAML::Node& claim, const YAML::Node& row) {
    const YAML::Node length = find(claim, row, "sequence_length"), segments = find(claim, row, "segments"),
                     dilations = find(claim, row, "dilations");
    if (!length || !segments || !dilations || !segments.IsSequence() || !dilations.IsSequence()) return {};
    if (segments.size() != dilations.size() || segments.size() == 0)
      fail(where_, row.Mark(), "segments and dilations differ in number", "they pair one to one");
    Case work;
    work.sequence_length = integer(length);
    work.pattern.clear();
    for (std::size_t i = 0; i < segments.size(); ++i)
      work.pattern.push_back({integer(segments[i]), integer(dilations[i])});
    for (const Field<Case>& field : case_fields()) {
      const YAML::Node node = find(claim, row, std::string(field.name));
      if (node && field.name != "device") field.set(work, field_value(field, node));
    }
    if (const YAML::Node model = find(claim, row, "model_dim")) {
      if (integer(model) % work.heads != 0)
        fail(where_, row.Mark(), "model_dim is no multiple of heads", "head_dim is their quotient");
      work.head_dim = integer(model) / work.heads;
    }
    if (work.kv_heads == 0) work.kv_heads = work.heads;
    return work;
  }

  std::int64_t field_value(const Field<Case>& field, const YAML::Node& node) {
    if (field.kind == FieldKind::integer) return integer(node);
    if (field.kind == FieldKind::boolean) {
      bool value = false;
      if (!YAML::convert<bool>::decode(node, value))
        fail(where_, node.Mark(), fmt::format("'{}' is not true or false", field.name), "");
      return value ? 1 : 0;
    }
    const std::string name = node.IsScalar() ? node.Scalar() : "";
    const auto found = std::find(field.choices.begin(), field.choices.end(), name);
    if (found == field.choices.end())
      fail(where_, node.Mark(), fmt::format("'{}' cannot be '{}'", field.name, one_line(name, 60)),
           fmt::format("allowed: {}", fmt::join(field.choices, ", ")));
    return found - field.choices.begin();
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
        said.push_back(key + " " + plain(row[key]));
      else if (claim["config"] && claim["config"][key])
        said.push_back(key + " " + plain(claim["config"][key]));
      else if (claim["assumed"] && claim["assumed"][key])
        assumed.push_back(key + " " + plain(claim["assumed"][key]));
    }
    std::string text = fmt::format("{}", fmt::join(said, ", "));
    if (!assumed.empty())
      text += fmt::format("{}assumed: {}", text.empty() ? "" : "; ", fmt::join(assumed, ", "));
    return text;
  }

  std::string stated_of(const YAML::Node& row) {
    std::vector<std::string> figures;
    for (const std::string_view name : kFigureKeys)
      if (const std::string key(name); row[key]) figures.push_back(key + " " + plain(row[key]));
    return fmt::format("{}", fmt::join(figures, ", "));
  }

  static std::string plain(const YAML::Node& node) {
    if (node.IsScalar()) return one_line(node.Scalar(), 120);
    std::vector<std::string> parts;
    if (node.IsSequence())
      for (const YAML::Node& part : node)
        parts.push_back(part.IsScalar() ? one_line(part.Scalar(), 40) : "?");
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }

  template <class Names>
  void check_keys(const YAML::Node& map, const Names& allowed) {
    if (!map.IsMap()) fail(where_, map.Mark(), "not a map", "keys are expected here");
    for (const auto& entry : map) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (holds(allowed, key)) continue;
      const std::string near = nearest_name(key, allowed);
      fail(where_, entry.first.Mark(), fmt::format("unknown key '{}'", one_line(key, 60)),
           fmt::format("allowed: {}", fmt::join(allowed, ", ")),
           near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
  }

  std::string provenance_of(const YAML::Node& map) {
    const std::string text = text_of(map, "provenance");
    if (!holds(kProvenances, text))
      fail(where_, map.Mark(), fmt::format("unknown provenance '{}'", one_line(text, 60)),
           fmt::format("allowed: {}", fmt::join(kProvenances, ", ")));
    return text;
  }

  std::string text_of(const YAML::Node& map, const char* key) {
    if (!map[key] || !map[key].IsScalar())
      fail(where_, map.Mark(), fmt::format("'{}' is missing or no text", key), "");
    return one_line(map[key].Scalar(), 1000);
  }

  std::int64_t integer(const YAML::Node& node) {
    std::int64_t value = 0;
    if (!node.IsScalar() || !YAML::convert<std::int64_t>::decode(node, value) || value < 1 ||
        value > std::int64_t{1} << 40)
      fail(where_, node.Mark(), fmt::format("'{}' is not an integer from 1 to 2^40", plain(node)), "");
    return value;
  }

  double positive(const YAML::Node& node, const char* key) {
    double value = 0;
    if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !std::isfinite(value) ||
        value <= 0)
      fail(where_, node.Mark(), fmt::format("'{}' is not a positive number", key), "");
    return value;
  }

  double stated_number(const YAML::Node& node, const char* key, Form form) {
    const double value = positive(node, key);
    if (form == Form::reduction && value >= 1)
      fail(where_, node.Mark(), fmt::format("'{}' is a reduction of {}", key, value),
           "it lies between 0 and 1");
    return value;
  }

  std::string where_;
  std::set<std::string> ids_;
  std::vector<ClaimRow> rows_;
};

}  // namespace

std::vector<ClaimRow> parse_claims(const std::string& text, const std::string& where) {
  if (text.size() > kLongestFile)
    throw UsageError({"claims file too long", where, "more than 1 MiB", "split it, or check the path"});
  if (nesting_of(text) > kDeepestNesting)
    throw UsageError({"claims file nests too deeply", where,
                      fmt::format("more than {} levels", kDeepestNesting), "check that it is a claims file"});
  try {
    return Loader(where).load(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    fail(where, error.mark, "claims file cannot be read", error.msg, "it must be YAML");
  }
}

std::vector<ClaimRow> load_claims(const std::filesystem::path& file) {
  if (file.empty()) return parse_claims(std::string(embedded_claims()), "claims.yaml");
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    throw UsageError(
        {"claims file cannot be read", file.string(), "no such file, empty, or no permission", ""});
  return parse_claims(text.str(), file.string());
}

std::string_view to_string(ClaimVerdict verdict) {
  constexpr std::array<std::string_view, 5> kNames = {
      "reproduced", "smaller than claimed", "no difference shown", "contradicted", "not testable here"};
  return kNames[static_cast<std::size_t>(verdict)];
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
