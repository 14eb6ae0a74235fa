#include "harness/external/input_files.hpp"

#include <cstddef>
#include <vector>

#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

void write_tensor(const InputTensors& inputs, Tensor which, Dtype dtype, int threads, SharedFile& file) {
  std::vector<std::byte> part;
  for_each_part(inputs.size(which), 1, [&](std::int64_t first, std::int64_t count) {
    part.resize(static_cast<std::size_t>(count * dtype_bytes(dtype)));
    inputs.read_stored(which, first, count, part.data(), threads);
    file.write(part.data(), part.size());
  });
  file.seal();
}

void write_mask(const Case& work, SharedFile& file) {
  const std::int64_t blocks = bits_of(work).blocks();
  std::vector<std::byte> row(static_cast<std::size_t>(blocks));
  for (std::int64_t q = 0; q < blocks; ++q) {
    for (std::int64_t k = 0; k < blocks; ++k)
      row[static_cast<std::size_t>(k)] = std::byte{bits_of(work).selects(q, k)};
    file.write(row.data(), row.size());
  }
  file.seal();
}

}  // namespace

InputFiles::InputFiles(const InputTensors& inputs, const Case& work, int threads) {
  write_tensor(inputs, Tensor::q, work.dtype, threads, q);
  write_tensor(inputs, Tensor::k, work.dtype, threads, k);
  write_tensor(inputs, Tensor::v, work.dtype, threads, v);
  if (has_mask_blocks(work)) write_mask(work, mask);
}

}  // namespace hilbench
