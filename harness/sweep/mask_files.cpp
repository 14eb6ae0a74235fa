// `mask`: reads the .npy files that a sweep names.
#include <fmt/format.h>

#include "harness/sweep/parts.hpp"
#include "kernels/base/files/npy.hpp"
#include "kernels/base/process/shared_file.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// The mask of that name beside an embedded sweep of the folder; null if there is none.
const EmbeddedMask* find_embedded_mask(const std::string& folder, const std::string& name) {
  const std::string wanted = (fs::path(folder) / name).lexically_normal().string();
  for (const EmbeddedMask& mask : embedded_masks())
    if (mask.file == wanted) return &mask;
  return nullptr;
}

std::shared_ptr<const BlockBits> read_bits(const YamlValue& value, const fs::path& file) {
  NpyBooleans array;
  try {
    array = read_npy_booleans(file, kMostMaskBlocks);
  } catch (const UsageError& error) {
    value.fail("mask cannot be used", error.what());
  }
  const std::int64_t rows = array.rows;
  if (rows != array.columns || rows < 1 || rows > kMostMaskBlocks)
    value.fail(
        fmt::format("mask of shape ({}, {})", rows, array.columns),
        fmt::format("it has a row for each block of queries and a column for each block of keys, as many, 1 "
                    "to {}",
                    kMostMaskBlocks));
  return std::make_shared<const BlockBits>(rows, std::move(array.bits));
}

}  // namespace

std::shared_ptr<const BlockBits> MaskFiles::read(const YamlValue& value) {
  const std::string name = value.text();
  const fs::path file = (fs::absolute(sweep_).parent_path() / name).lexically_normal();
  std::shared_ptr<const BlockBits>& bits = known_[file];
  if (bits != nullptr) return bits;
  const EmbeddedMask* embedded = folder_.empty() ? nullptr : find_embedded_mask(folder_, name);
  if (embedded == nullptr) return bits = read_bits(value, file);
  SharedFile copy("mask");
  copy.write(embedded->bytes.data(), embedded->bytes.size());
  return bits = read_bits(value, copy.path());
}

}  // namespace hilbench
