// How the output of a program is read: the request `read` (docs/external.md).
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "harness/external/program.hpp"
#include "harness/external/protocol_fault.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// Reads `size` floats that the program must have written.
OutputReader::Read reader_of(const std::string& name, std::shared_ptr<SharedFile> file, std::int64_t size) {
  const auto bytes = static_cast<std::size_t>(size) * sizeof(float);
  if (file->bytes() != bytes)
    throw EnvironmentError(
        {.what = fmt::format("'{}' wrote {} bytes of output, not {}", name, file->bytes(), bytes)});
  return [file](std::int64_t first, std::span<float> to) { file->read(first, to); };
}

}  // namespace

// Returns whether there is an LSE.
bool ExternalProgram::read_into(const json& further, const SharedFile& o, const SharedFile& lse) {
  json request = {{"do", "read"}, {"o", o.path()}, {"lse", lse.path()}};
  request.update(further);
  const json answer = ask(request);
  if (!answer.value("lse", json()).is_boolean()) break_off(name_, "read needs lse true or false", answer);
  const bool has_lse = answer["lse"].get<bool>();
  if (has_lse_.value_or(has_lse) != has_lse)
    break_off(name_, "read says `lse` true in every answer, or false in every one", answer);
  has_lse_ = has_lse;
  return has_lse;
}

OfGradients<std::shared_ptr<SharedFile>> ExternalProgram::read_gradients(const json& further) {
  constexpr OfGradients<const char*> kNames = {"d_q", "d_k", "d_v"};
  json request = {{"do", "read"}};
  OfGradients<std::shared_ptr<SharedFile>> files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i] = std::make_shared<SharedFile>(kNames[i]);
    request[kNames[i]] = files[i]->path();
  }
  request.update(further);
  ask(request);
  return files;
}

OutputReader ExternalProgram::output() {
  if (work_.pass == Pass::backward) {
    const auto files = read_gradients(json::object());
    OutputReader output;
    for (const Gradient which : kGradients)
      output.gradients[number_of(which)] =
          reader_of(name_, files[number_of(which)], all_rows(rows_of(work_, which)).count * work_.head_dim);
    return output;
  }
  const auto o = std::make_shared<SharedFile>("o"), lse = std::make_shared<SharedFile>("lse");
  const bool has_lse = read_into(json::object(), *o, *lse);
  const std::int64_t rows = all_rows(work_).count;
  OutputReader output{.o = reader_of(name_, o, rows * work_.head_dim)};
  if (has_lse) output.lse = reader_of(name_, lse, rows);
  return output;
}

TakenRows ExternalProgram::rows(const DrawnRows& drawn, InputSet inputs) {
  const auto numbers_of = [](const Case& rows_of_tensor, const std::vector<RowId>& rows) {
    json numbers = json::array();
    for (const RowId& row : rows) numbers.push_back(all_rows(rows_of_tensor).number(row));
    return numbers;
  };
  const json numbers = numbers_of(work_, drawn.rows);
  if (work_.pass == Pass::backward) {
    const auto files =
        read_gradients({{"rows", numbers}, {"keys", numbers_of(rows_of(work_, Gradient::k), drawn.keys)}});
    TakenRows taken{.inputs = inputs, .rows = drawn.rows, .keys = drawn.keys};
    for (const Gradient which : kGradients) {
      const std::size_t i = number_of(which);
      const std::int64_t rows = std::ssize(which == Gradient::q ? drawn.rows : drawn.keys);
      taken.gradients[i].resize(static_cast<std::size_t>(rows * work_.head_dim));
      reader_of(name_, files[i], std::ssize(taken.gradients[i]))(0, taken.gradients[i]);
      taken.gradient_values[i] = std::ssize(taken.gradients[i]);
    }
    return taken;
  }
  const OutputRows all = all_rows(work_);
  const auto o = std::make_shared<SharedFile>("o"), lse = std::make_shared<SharedFile>("lse");
  const bool has_lse = read_into({{"rows", numbers}}, *o, *lse);
  const std::int64_t count = std::ssize(drawn.rows);
  if (count != all.count &&
      o->bytes() == static_cast<std::size_t>(all.count * work_.head_dim) * sizeof(float)) {
    OutputReader whole{
        .o = reader_of(name_, o, all.count * work_.head_dim)};  // it wrote all rows: that is as good
    if (has_lse) whole.lse = reader_of(name_, lse, all.count);
    return take_rows(work_, whole, drawn, inputs, threads_);
  }
  TakenRows taken{.inputs = inputs, .rows = drawn.rows, .values = count * work_.head_dim};
  const auto read = [&](const std::shared_ptr<SharedFile>& file, std::int64_t width) {
    std::vector<float> values(static_cast<std::size_t>(count * width));
    reader_of(name_, file, std::ssize(values))(0, values);
    return values;
  };
  taken.o = read(o, work_.head_dim);
  if (has_lse) {
    taken.lse = read(lse, 1);
    taken.lse_values = count;
  }
  return taken;
}

}  // namespace hilbench
