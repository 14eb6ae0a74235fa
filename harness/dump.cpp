#include "harness/dump.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "harness/error.hpp"
#include "harness/npy.hpp"

namespace hilbench {

void dump_tensors(const std::filesystem::path& folder, const Record& record, const HostTensors& inputs,
                  const std::vector<float>& o, const std::vector<float>& lse) {
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
  write_npy(target / "q.npy", rows, inputs.q);
  write_npy(target / "k.npy", kv_rows, inputs.k);
  write_npy(target / "v.npy", kv_rows, inputs.v);
  write_npy(target / "o.npy", rows, o);
  if (!lse.empty()) write_npy(target / "lse.npy", lse_rows, lse);
}

}  // namespace hilbench
