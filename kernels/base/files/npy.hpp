// Reading and writing NumPy .npy files (format 1.0 to 3.0, C order, little endian). Every reader throws
// UsageError naming the file if it is absent, not a .npy file, truncated, longer than its header says, of
// another dtype or (but for booleans) in Fortran order; EnvironmentError if permissions or the disk prevent
// reading it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace hilbench {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";  // first bytes of a file

struct NpyFloats {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // from f2, f4 or f8
};
// Also throws UsageError if a value is NaN, infinite or outside the range of fp32.
NpyFloats read_npy_floats(const std::filesystem::path& file);
// Makes the checks of read_npy_floats in constant memory. Returns the shape.
std::vector<std::int64_t> check_npy_floats(const std::filesystem::path& file);
// The shape alone, without reading the data. Checks that the file is as long as its header says.
std::vector<std::int64_t> read_npy_shape(const std::filesystem::path& file);
// A one-dimensional array of i4, i8, u4 or u8.
std::vector<std::int64_t> read_npy_integers(const std::filesystem::path& file);

struct NpyBooleans {
  std::int64_t rows = 0, columns = 0;
  std::int64_t words = 0;           // of a row
  std::vector<std::uint64_t> bits;  // column c of a row: bit c % 64 of its word c / 64
  void set(std::int64_t row, std::int64_t column) {
    bits[static_cast<std::size_t>(row * words + column / 64)] |= std::uint64_t{1} << column % 64;
  }
};
// An array of b1 with at most `most` rows and as many columns. Also throws UsageError if a byte is neither
// 0 nor 1.
NpyBooleans read_npy_booleans(const std::filesystem::path& file, std::int64_t most);

// Written as write_file of files.hpp does, but only to regular files.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape,
               std::span<const float> values);
// The same with values in parts: `write` passes them to its argument, part by part. They must fill the shape.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape,
               const std::function<void(const std::function<void(std::span<const float>)>&)>& write);
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> values);

}  // namespace hilbench
