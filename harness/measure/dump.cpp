#include "harness/measure/dump.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

void write_tensor(const std::filesystem::path& file, const std::vector<std::int64_t>& shape,
                  const OutputReader::Read& read) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  write_npy(file, shape, [&](const auto& put) {
    std::vector<float> part;
    for_each_part(elements, 1, [&](std::int64_t first, std::int64_t count) {
      part.resize(static_cast<std::size_t>(count));
      read(first, part);
      put(part);
    });
  });
}

}  // namespace

void dump_tensors(const std::filesystem::path& folder, const Record& record, const InputTensors& inputs,
                  const OutputReader& output) {
  std::string variant = record.variant_id;
  std::replace(variant.begin(), variant.end(), '/', '_');
  const std::filesystem::path target = folder / record.case_id / variant;
  std::error_code error;
  std::filesystem::create_directories(target, error);
  if (error)
    throw EnvironmentError(
        {.what = "cannot make the folder of a dump", .where = target.string(), .why = error.message()});
  const Case& work = record.work;
  const std::vector<std::int64_t> rows = {work.batch, work.sequence_length, work.heads, work.head_dim};
  const std::vector<std::int64_t> kv_rows = {work.batch, work.sequence_length, work.kv_heads, work.head_dim};
  const std::vector<std::int64_t> lse_rows = {work.batch, work.sequence_length, work.heads};
  const auto input = [&](Tensor which) {
    return [&inputs, which](std::int64_t first, std::span<float> to) { inputs.read(which, first, to); };
  };
  write_tensor(target / "q.npy", rows, input(Tensor::q));
  write_tensor(target / "k.npy", kv_rows, input(Tensor::k));
  write_tensor(target / "v.npy", kv_rows, input(Tensor::v));
  if (output.o) write_tensor(target / "o.npy", rows, output.o);
  if (output.lse) write_tensor(target / "lse.npy", lse_rows, output.lse);
  if (work.pass == Pass::forward) return;
  write_tensor(target / "do.npy", rows, input(Tensor::d_o));
  write_tensor(target / "dq.npy", rows, output.gradients[number_of(Gradient::q)]);
  write_tensor(target / "dk.npy", kv_rows, output.gradients[number_of(Gradient::k)]);
  write_tensor(target / "dv.npy", kv_rows, output.gradients[number_of(Gradient::v)]);
}

}  // namespace hilbench
