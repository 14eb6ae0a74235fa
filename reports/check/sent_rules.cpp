// The rules on where the records were measured, and on what is sent of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/check/rules.hpp"
#include "reports/gate/disturbances.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// The member of the environment at a JSON pointer, as text; "" if there is none.
std::string text_at(const Record& record, const char* pointer) {
  const json::json_pointer at(pointer);
  if (!record.environment->contains(at)) return "";
  const json& value = record.environment->at(at);
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Of all records; those that do not say it, such as records of a processor that name no GPU, do not count.
std::set<std::string> values_of(const std::vector<Record>& records, const char* pointer) {
  std::set<std::string> values;
  for (const Record& record : records)
    if (std::string text = text_at(record, pointer); !text.empty()) values.insert(std::move(text));
  return values;
}

// Words as a shell reads them; `hilbench` quotes by single quotes alone.
std::vector<std::string> shell_words(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char letter : command) {
    if (letter == '\'')
      quoted = !quoted;
    else if (letter == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += letter;
  }
  return words;
}

bool is_absolute(std::string_view text) {
  return text.starts_with('/') || text.starts_with("~");
}

// The first absolute path among the words. What follows --filter is a regular expression.
std::string absolute_path_in(const std::string& command) {
  bool expression = false;
  for (const std::string& word : shell_words(command)) {
    const bool skipped = expression || word.starts_with("--filter=");
    expression = word == "--filter";
    if (skipped) continue;
    const std::size_t value = word.find('=');
    if (is_absolute(word)) return word;
    if (value != std::string::npos && is_absolute(std::string_view(word).substr(value + 1))) return word;
  }
  return "";
}

bool is_word_in(const std::string& text, const std::string& word) {
  const auto inside = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !inside(text[at - 1])) && (end == text.size() || !inside(text[end]))) return true;
  }
  return false;
}

// Why the text may not be sent; "" if it may.
std::string why_private(const std::string& text, const PrivateNames& names) {
  constexpr std::array<const char*, 3> kHomes = {"home", "root", "Users"};  // folders of the root folder
  for (const char* home : kHomes)
    if (text.find(fmt::format("/{}/", home)) != std::string::npos) return "a path in a home folder";
  // A home of "/" is that of a service, and in every path.
  if (names.home.size() > 1 && text.find(names.home) != std::string::npos) return "a path in a home folder";
  // Short names are too often words of something else.
  if (names.host.size() > 3 && names.host != "localhost" && is_word_in(text, names.host))
    return "this machine's name";
  return "";
}

bool names_a_host(const std::string& key) {
  constexpr std::array<std::string_view, 6> kKeys = {"hostname", "host_name", "nodename",
                                                     "node",     "fqdn",      "user"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

class PrivateFields {
 public:
  explicit PrivateFields(const PrivateNames& names) : names_(names) {}

  void look_at(const std::string& field, const std::string& text) {
    if (const std::string why = why_private(text, names_); !why.empty()) add(field, why);
  }
  void look_into(const std::string& field, const json& value) {
    for (const auto& [key, member] : value.items()) {
      const std::string name = value.is_object() ? field + "." + key : field;
      if (value.is_object() && names_a_host(key) && !member.is_null())
        add(name, "a name of a machine or user");
      if (member.is_structured())
        look_into(name, member);
      else if (member.is_string())
        look_at(name, member.get<std::string>());
    }
  }
  void add(const std::string& field, const std::string& why) { found_.insert(field + " (" + why + ")"); }
  const std::set<std::string>& found() const { return found_; }

 private:
  const PrivateNames& names_;
  std::set<std::string> found_;
};

}  // namespace

void check_build(const std::vector<Record>& records, CheckLines& lines) {
  const std::set<std::string> commits = values_of(records, "/build/commit");
  const std::set<std::string> builds = values_of(records, "/build");
  if (commits.empty() || commits.count("unknown") > 0)
    return add_not_ok(lines,
                      "build: the commit is not known; build in a clone made by git, and measure again");
  if (commits.size() > 1)
    return add_not_ok(lines, fmt::format("build: several commits: {}; measure again into a new folder",
                                         fmt::join(commits, ", ")));
  const std::string& commit = *commits.begin();
  if (commit.ends_with("-dirty"))
    return add_not_ok(lines, fmt::format("build: {} is no commit, files were changed; commit or undo the "
                                         "changes, build, and measure again",
                                         commit));
  if (builds.size() > 1)
    return add_not_ok(lines, "build: compilers, flags or libraries differ; measure again into a new folder");
  add_ok(lines, "build: commit " + commit);
}

void check_machine(const std::vector<Record>& records, CheckLines& lines) {
  constexpr std::array<const char*, 7> kMembers = {
      "/host/cpu",    "/host/cores",         "/host/memory_bytes",  "/host/simd",
      "/device/name", "/device/driver_cuda", "/device_state/driver"};
  for (const char* member : kMembers)
    if (const std::set<std::string> values = values_of(records, member); values.size() > 1)
      return add_not_ok(lines, fmt::format("machine: several machines or drivers, environment{} is {}; "
                                           "measure again into a new folder",
                                           member, fmt::join(values, " and ")));
  const std::set<std::string> cpus = values_of(records, "/host/cpu"),
                              gpus = values_of(records, "/device/name");
  if (cpus.empty()) return add_not_ok(lines, "machine: no record says which; measure again");
  add_ok(lines, fmt::format("machine: {}{}{}", *cpus.begin(), gpus.empty() ? "" : ", ",
                            gpus.empty() ? "" : *gpus.begin()));
}

// What stands in for a GPU, its driver or CUPTI in tests says so in its name.
void check_fakes(const std::vector<Record>& records, CheckLines& lines) {
  constexpr std::array<const char*, 2> kMembers = {"/device/name", "/device_state/driver"};
  const auto says = [](const std::string& text) { return is_word_in(text, "fake"); };
  Chosen fakes;
  for (const Record& record : records)
    if (std::any_of(kMembers.begin(), kMembers.end(),
                    [&](const char* member) { return says(text_at(record, member)); }) ||
        std::any_of(record.counters.begin(), record.counters.end(),
                    [&](const auto& counter) { return says(counter.second.source); }))
      fakes.push_back(&record);
  if (fakes.empty()) return;
  add_not_ok(lines, fmt::format("fake: a stand-in for a GPU, its driver or CUPTI is in {}; measure on a GPU",
                                some_of(fakes, records.size())));
}

void check_quiet(const std::vector<Record>& records, CheckLines& lines) {
  Disturbances seen;
  seen.add(records);
  std::vector<std::string> found = seen.of_gpu();
  for (std::string& sentence : seen.of_host(cores_of(records))) found.push_back(std::move(sentence));
  if (!found.empty())
    return add_not_ok(lines,
                      fmt::format("quiet: {}; stop other programs, see to the cooling, and measure again",
                                  fmt::join(found, ", ")),
                      fmt::format("{}", fmt::join(found, ", ")));
  if (!seen.known()) return add_note(lines, "quiet: no record says how busy the machine was");
  add_ok(lines, "quiet: little else ran");
}

void check_private(const ReportInput& input, const PrivateNames& names, CheckLines& lines) {
  PrivateFields fields(names);
  // What publish.sh keeps of the meta.
  for (const char* key : {"command", "sweep_file", "title", "question", "description"}) {
    const auto found = input.meta.find(key);
    if (found == input.meta.end()) continue;
    fields.look_at(key, found->second);
    const bool path = key == std::string_view("sweep_file") && is_absolute(found->second);
    if (path || (key == std::string_view("command") && !absolute_path_in(found->second).empty()))
      fields.add(key, "an absolute path");
  }
  for (const Record& record : input.records) {
    fields.look_into("environment", *record.environment);
    fields.look_at("reason", record.reason);
    for (const auto& [name, counter] : record.counters) fields.look_at("counters." + name, counter.reason);
    if (is_absolute(record.variant.kernel().order_file.string()))
      fields.add("asked.order_file", "an absolute path");
  }
  if (fields.found().empty())
    return add_ok(lines, "private: no absolute path, no name of this machine or its user");
  add_not_ok(lines, fmt::format("private: {}; run from the folder of the program, with paths relative to it",
                                fmt::join(fields.found(), ", ")));
}

}  // namespace hilbench
