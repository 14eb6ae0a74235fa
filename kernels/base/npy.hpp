// Reading and writing NumPy .npy files (format 1.0 to 3.0, C order, little endian).
// Every reader throws UsageError naming the file: absent, not .npy, truncated, longer than its header says,
// another dtype, Fortran order; EnvironmentError where it may not be read.
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
// Also throws UsageError for NaN, infinity, or a value beyond fp32 in it.
NpyFloats read_npy_floats(const std::filesystem::path& file);
// The checks of read_npy_floats in constant memory; returns the shape.
std::vector<std::int64_t> check_npy_floats(const std::filesystem::path& file);
// Shape alone, without reading the data. Also checks that the file is as long as its header says.
std::vector<std::int64_t> read_npy_shape(const std::filesystem::path& file);
// From i4, i8, u4 or u8, one-dimensional.
std::vector<std::int64_t> read_npy_integers(const std::filesystem::path& file);

// As write_file of files.hpp, to regular files alone.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape,
               std::span<const float> values);
// The values in parts: `write` calls its argument with one after another, as many as the shape says in all.
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape,
               const std::function<void(const std::function<void(std::span<const float>)>&)>& write);
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> values);

}  // namespace hilbench
