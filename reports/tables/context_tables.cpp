// Tables about how and where, beside those about how fast.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "kernels/base/text.hpp"
#include "reports/tables/tables.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kShownValues = 3;

struct CounterColumn {
  std::string name, unit;
  bool layout = false;
};

// Counters that some record holds, the exact layout counts first.
std::vector<CounterColumn> counter_columns(const View& view) {
  std::vector<CounterColumn> layout, hardware;
  std::set<std::string> seen;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      for (const auto& [name, counter] : record->counters) {
        if (!counter.value || counter.source == "measured" || !seen.insert(name).second) continue;
        const bool exact = counter.source == "layout";
        (exact ? layout : hardware).push_back({name, counter.unit, exact});
      }
  const auto by_name = [](const CounterColumn& a, const CounterColumn& b) { return a.name < b.name; };
  std::sort(layout.begin(), layout.end(), by_name);
  std::sort(hardware.begin(), hardware.end(), by_name);
  layout.insert(layout.end(), hardware.begin(), hardware.end());
  return layout;
}

std::string readable(const CounterColumn& counter) {
  std::string title =
      counter.layout && counter.name.starts_with("layout_") ? counter.name.substr(7) : counter.name;
  std::replace(title.begin(), title.end(), '_', ' ');
  return counter.unit.empty() ? title : fmt::format("{} ({})", title, counter.unit);
}

// A value inside an environment, less JSON's punctuation: "level 1, bytes 32768; level 2, bytes 1048576".
std::string value_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "unknown";
  std::vector<std::string> parts;
  if (value.is_array())
    for (const nlohmann::json& part : value) parts.push_back(value_text(part));
  else if (value.is_object())
    for (const auto& [key, part] : value.items()) parts.push_back(key + " " + value_text(part));
  else
    return value.dump();
  return fmt::format("{}", fmt::join(parts, value.is_array() ? "; " : ", "));
}

// environment JSON as "host.cpu" -> text.
void flatten(const nlohmann::json& value, const std::string& path, std::map<std::string, std::string>& into) {
  if (value.is_object()) {
    for (const auto& [key, inside] : value.items())
      flatten(inside, path.empty() ? key : path + "." + key, into);
  } else {
    into[path] = value_text(value);
  }
}

// `--axis` and `--device` change what a case is, so a repetition needs them as the store's own run had them.
std::string overrides_of(const View& view) {
  const auto command = view.meta.find("command");
  if (command == view.meta.end()) return "";
  std::istringstream words(command->second);
  std::string kept, word;
  while (words >> word) {
    if (word.starts_with("--axis=") || word.starts_with("--device="))
      kept += fmt::format(" {}", shell_quoted(word));
    if (word != "--axis" && word != "--device") continue;
    kept += fmt::format(" {}", word);
    if (words >> word) kept += fmt::format(" {}", shell_quoted(word));
  }
  return kept;
}

}  // namespace

RepeatCommand repeat_command(const std::string& sweep, const View& view) {
  const auto file = view.meta.find("sweep_file");
  const std::string path =
      file != view.meta.end() && !file->second.empty() ? file->second : fmt::format("sweeps/{}.yaml", sweep);
  return {fmt::format("hilbench run {}{} --filter ", shell_quoted(path), overrides_of(view)),
          fmt::format(" --fresh -o {}", shell_quoted("results/" + sweep + "-repeat"))};
}

std::string repeat_word(std::string_view id) {
  return inside_quotes(regex_escaped(id));
}

Table locality_table(const View& view) {
  const std::vector<CounterColumn> counters = counter_columns(view);
  std::vector<const Record*> rows;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (std::any_of(counters.begin(), counters.end(), [&](const CounterColumn& counter) {
            const auto found = record->counters.find(counter.name);
            return found != record->counters.end() && found->second.value;
          }))
        rows.push_back(record);
  using R = const Record* const&;
  std::vector<ColumnOf<const Record*>> columns = {
      {{"case", "case"}, [](R r) { return Cell{r->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r->variant_id}; }},
      {{"time", "time", Align::right, Show::page},
       [](R r) { return Cell{r->time ? time_text(r->time->median_ns) : ""}; }},
      {{"time_ns", "", Align::right, Show::data},
       [](R r) { return Cell{r->time ? data_text(r->time->median_ns) : ""}; }},
  };
  for (const CounterColumn& counter : counters)
    columns.push_back({{counter.name, readable(counter), Align::right}, [name = counter.name](R r) {
                         const auto found = r->counters.find(name);
                         if (found == r->counters.end() || !found->second.value) return Cell{};
                         return Cell{number_text(*found->second.value)};
                       }});
  return make_table<const Record*>("locality", "", columns, rows);
}

Table unavailable_table(const View& view) {
  std::map<std::string, std::pair<std::set<std::string>, std::size_t>> reasons;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      for (const auto& [name, counter] : record->counters) {
        if (counter.value) continue;
        auto& [names, records] = reasons[counter.reason.empty() ? "no reason given" : counter.reason];
        names.insert(name);
        ++records;
      }
  using Reason = std::pair<std::string, std::pair<std::set<std::string>, std::size_t>>;
  const std::vector<ColumnOf<Reason>> columns = {
      {{"counters", "counters"},
       [](const Reason& r) { return Cell{fmt::format("{}", fmt::join(r.second.first, ", "))}; }},
      {{"readings", "readings missing", Align::right},
       [](const Reason& r) { return Cell{std::to_string(r.second.second)}; }},
      {{"reason", "why"}, [](const Reason& r) { return Cell{r.first}; }},
  };
  return make_table<Reason>("unavailable", "", columns, {reasons.begin(), reasons.end()});
}

EnvironmentValues environment_values(const View& view) {
  EnvironmentValues values;
  const nlohmann::json* last = nullptr;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (last && *last == record->environment) continue;
      last = &record->environment;
      std::map<std::string, std::string> flat;
      flatten(record->environment, "", flat);
      for (const auto& [key, value] : flat)
        if (auto& known = values[key]; std::find(known.begin(), known.end(), value) == known.end())
          known.push_back(value);
    }
  return values;
}

std::string values_text(const std::vector<std::string>& values) {
  const std::size_t shown = std::min(values.size(), kShownValues);
  std::string text = fmt::format("{}", fmt::join(values.begin(), values.begin() + shown, "; "));
  if (shown < values.size()) text += fmt::format("; and {} more", values.size() - shown);
  return text;
}

Table environment_table(const View& view) {
  const EnvironmentValues values = environment_values(view);
  using Entry = std::pair<std::string, std::vector<std::string>>;
  const std::vector<ColumnOf<Entry>> columns = {
      {{"key", "what"}, [](const Entry& e) { return Cell{e.first}; }},
      {{"value", "value"}, [](const Entry& e) { return Cell{values_text(e.second)}; }},
  };
  return make_table<Entry>("environment", "", columns, {values.begin(), values.end()});
}

Table commands_table(std::span<const CaseView> cases, const View& view) {
  std::vector<const Record*> rows;
  for (const CaseView& of_case : cases)
    rows.insert(rows.end(), of_case.records.begin(), of_case.records.end());
  using R = const Record* const&;
  const std::vector<ColumnOf<const Record*>> columns = {
      {{"case", "", Align::left, Show::data}, [](R r) { return Cell{r->case_id}; }},
      {{"variant", "variant"}, [](R r) { return Cell{r->variant_id}; }},
      {{"command", "command"},
       [&view](R r) {
         const RepeatCommand command = repeat_command(r->sweep, view);
         return Cell{fmt::format("{}'^{}/{}$'{}", command.head, repeat_word(r->case_id),
                                 repeat_word(r->variant_id), command.tail)};
       }},
  };
  return make_table<const Record*>("commands", "", columns, rows);
}

}  // namespace hilbench
