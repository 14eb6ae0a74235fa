// Costs as a file.
#include "kernels/base/text/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/costs/costs.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kSchema = 1;

// The keys of a row beside its costs.
struct RowKeys {
  const char* group;
  const char* name;
};
constexpr RowKeys kOfVariants = {"case", "variant"}, kOfKernels = {"architecture", "kernel"};

// Whole numbers without a fraction, as people compare them.
ordered_json number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value == std::floor(value) && value <= kExact) return static_cast<std::int64_t>(value);
  return value;
}

std::string rows_json(const std::vector<CostRow>& rows, const RowKeys& keys) {
  std::string text;
  for (const CostRow& row : rows) {
    ordered_json line = {{keys.group, row.group}, {keys.name, row.name}};
    for (const auto& [name, cost] : row.costs) line[name] = cost.value ? number(*cost.value) : ordered_json();
    text += fmt::format("{}\n  {}", text.empty() ? "" : ",", line.dump());
  }
  return fmt::format("[{}\n]", text);
}

// Reads a file of costs. Every function throws UsageError that names the file and what is wrong in it.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  CostTable table(const json& root) const {
    if (!root.is_object() || root.value("kind", json()) != "hilbench costs")
      damaged("it has no \"kind\": \"hilbench costs\"");
    if (root.value("schema", json()) != kSchema)
      damaged(fmt::format("its schema is {}, this program reads {}", root.value("schema", json()).dump(),
                          kSchema));
    CostTable table{.sweep = text(root, "sweep")};
    table.instructions.taken_with = basis(root, "instructions_taken_with");
    table.instructions.tolerance = share(root, "instructions_tolerance");
    table.kernels_basis.taken_with = basis(root, "kernels_taken_with");
    table.variants = rows(root, "variants", kOfVariants);
    table.kernels = rows(root, "kernels", kOfKernels);
    if (root.contains("device_code")) table.device_code = device_code(member(root, "device_code"));
    return table;
  }

 private:
  [[noreturn]] void damaged(const std::string& why) const {
    throw UsageError({.what = "not a file of accepted costs",
                      .where = file_.string(),
                      .why = why,
                      .remedy = "remove it; `hilbench costs SWEEP.yaml --accept` writes a new one"});
  }

  const json& member(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) damaged(fmt::format("'{}' is missing", key));
    return *found;
  }
  std::string text(const json& object, const char* key) const {
    const json& value = member(object, key);
    if (!value.is_string()) damaged(fmt::format("'{}' is no text", key));
    return one_line(value.get<std::string>());
  }
  double share(const json& object, const char* key) const {
    const json& value = member(object, key);
    if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= 1))
      damaged(fmt::format("'{}' is no share from 0 to 1", key));
    return value.get<double>();
  }
  std::map<std::string, std::string> basis(const json& root, const char* key) const {
    const json& object = member(root, key);
    if (!object.is_object()) damaged(fmt::format("'{}' is no object", key));
    std::map<std::string, std::string> basis;
    for (const auto& [name, value] : object.items()) basis[one_line(name)] = text(object, name.c_str());
    return basis;
  }
  DeviceCode device_code(const json& object) const {
    if (!object.is_object()) damaged("'device_code' is no object");
    return {text(object, "compiler"), text(object, "flags"), basis(object, "sources")};
  }
  std::vector<CostRow> rows(const json& root, const char* key, const RowKeys& keys) const {
    const json& list = member(root, key);
    if (!list.is_array()) damaged(fmt::format("'{}' is no list", key));
    std::vector<CostRow> rows;
    std::set<std::string> seen;
    for (const json& each : list) {
      rows.push_back(row(each, keys));
      if (!seen.insert(rows.back().text()).second)
        damaged(fmt::format("'{}' is there twice", rows.back().text()));
    }
    return rows;
  }
  CostRow row(const json& object, const RowKeys& keys) const {
    if (!object.is_object()) damaged("a row is no object");
    CostRow row{.group = text(object, keys.group), .name = text(object, keys.name)};
    for (const auto& [name, value] : object.items()) {
      if (name == keys.group || name == keys.name) continue;
      const bool known = value.is_number() && value.get<double>() >= 0 && std::isfinite(value.get<double>());
      if (!known && !value.is_null())
        damaged(fmt::format("'{}' of '{}' is no cost", one_line(name, 60), row.text()));
      row.costs[one_line(name)] = known ? CostValue{value.get<double>(), ""} : CostValue{{}, "was not known"};
    }
    return row;
  }

  const std::filesystem::path& file_;
};

// A file is a line.
std::string device_code_json(const DeviceCode& code) {
  std::string sources;
  for (const auto& [file, hash] : code.sources)
    sources += fmt::format("{}\n  {}: {}", sources.empty() ? "" : ",", json(file).dump(), json(hash).dump());
  return fmt::format("{{\"compiler\": {}, \"flags\": {}, \"sources\": {{{}\n}}}}", json(code.compiler).dump(),
                     json(code.flags).dump(), sources);
}

}  // namespace

std::string costs_json(const CostTable& table) {
  const auto basis = [](const CostBasis& taken_with) { return json(taken_with).dump(); };
  return fmt::format(
      "{{\"kind\": \"hilbench costs\", \"schema\": {}, \"sweep\": {},\n\"instructions_taken_with\": {},\n"
      "\"instructions_tolerance\": {},\n\"variants\": {},\n\"kernels_taken_with\": {},\n\"kernels\": {},\n"
      "\"device_code\": {}}}\n",
      kSchema, json(table.sweep).dump(), basis(table.instructions.taken_with),
      json(table.instructions.tolerance).dump(), rows_json(table.variants, kOfVariants),
      basis(table.kernels_basis.taken_with), rows_json(table.kernels, kOfKernels),
      device_code_json(table.device_code));
}

CostTable costs_from_json(std::string_view text, const std::filesystem::path& file) {
  return Reader(file).table(parse_json(text, file.string()));
}

}  // namespace hilbench
