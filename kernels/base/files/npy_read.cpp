// The elements of .npy files; npy_header.cpp reads what stands before them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

#include "kernels/base/files/float16.hpp"
#include "kernels/base/files/npy.hpp"
#include "kernels/base/files/npy_header.hpp"

static_assert(std::endian::native == std::endian::little, "elements are read as they lie in the file");

namespace hilbench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kChunkElements = 1 << 18;

template <class Element>
Element element_at(const std::vector<char>& bytes, std::int64_t i) {
  Element element;
  std::memcpy(&element, bytes.data() + i * static_cast<std::int64_t>(sizeof element), sizeof element);
  return element;
}

// Reads the elements in chunks and calls visit(bytes, first, count) for each chunk.
void for_each_chunk(const fs::path& file, std::ifstream& in, const NpyHeader& header,
                    const std::function<void(const std::vector<char>&, std::int64_t, std::int64_t)>& visit) {
  std::vector<char> bytes(static_cast<std::size_t>(std::min(kChunkElements, header.count) * header.size));
  for (std::int64_t first = 0; first < header.count; first += kChunkElements) {
    const std::int64_t count = std::min(kChunkElements, header.count - first);
    in.read(bytes.data(), count * header.size);
    if (!in) refuse_npy(file, "cannot be read", "the data end early");
    visit(bytes, first, count);
  }
}

// Calls visit(number, byte) for each byte that is not 0 among the first `count`.
template <class Visit>
void for_each_true(const std::vector<char>& bytes, std::int64_t count, const Visit& visit) {
  constexpr std::int64_t kTogether = sizeof(std::uint64_t);
  for (std::int64_t i = 0; i < count; i += kTogether) {
    const std::int64_t end = std::min(i + kTogether, count);
    if (end - i == kTogether && element_at<std::uint64_t>(bytes, i / kTogether) == 0) continue;
    for (std::int64_t at = i; at < end; ++at)
      if (const auto byte = element_at<std::uint8_t>(bytes, at); byte != 0) visit(at, byte);
  }
}

float float_at(const NpyHeader& header, const std::vector<char>& bytes, std::int64_t i) {
  if (header.size == 2) return fp16_value(element_at<std::uint16_t>(bytes, i));
  if (header.size == 4) return element_at<float>(bytes, i);
  return static_cast<float>(element_at<double>(bytes, i));
}

// Reads and checks the floats. Stores them in `keep` unless it is null.
std::vector<std::int64_t> scan_floats(const fs::path& file, std::vector<float>* keep) {
  std::ifstream in;
  const NpyHeader header = read_npy_header(file, in);
  if (header.kind != 'f' || header.size == 1)
    refuse_npy(file, fmt::format("dtype '{}' where floats are wanted", header.descr),
               "f2, f4 and f8 are read");
  if (keep != nullptr) keep->resize(static_cast<std::size_t>(header.count));
  for_each_chunk(
      file, in, header, [&](const std::vector<char>& bytes, std::int64_t first, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          const float value = float_at(header, bytes, i);
          if (!std::isfinite(value))
            refuse_npy(file,
                       std::isnan(value) ? "NaN in the data" : "infinity in the data, or a value beyond fp32",
                       fmt::format("element {} of {}", first + i, header.count));
          if (keep != nullptr) (*keep)[static_cast<std::size_t>(first + i)] = value;
        }
      });
  return header.shape;
}

}  // namespace

NpyFloats read_npy_floats(const fs::path& file) {
  NpyFloats array;
  array.shape = scan_floats(file, &array.values);
  return array;
}

std::vector<std::int64_t> check_npy_floats(const fs::path& file) {
  return scan_floats(file, nullptr);
}

std::vector<std::int64_t> read_npy_shape(const fs::path& file) {
  std::ifstream in;
  return read_npy_header(file, in).shape;
}

std::vector<std::int64_t> read_npy_integers(const fs::path& file) {
  std::ifstream in;
  const NpyHeader header = read_npy_header(file, in);
  if (header.kind == 'f' || header.size < 4)
    refuse_npy(file, fmt::format("dtype '{}' where integers are wanted", header.descr),
               "i4, i8, u4 and u8 are read");
  if (header.shape.size() != 1)
    refuse_npy(file, fmt::format("shape ({}) where one dimension is wanted", fmt::join(header.shape, ", ")));
  std::vector<std::int64_t> values(static_cast<std::size_t>(header.count));
  const bool is_signed = header.kind == 'i';
  for_each_chunk(file, in, header,
                 [&](const std::vector<char>& bytes, std::int64_t first, std::int64_t count) {
                   for (std::int64_t i = 0; i < count; ++i) {
                     std::int64_t value = 0;
                     if (header.size == 8)
                       value = element_at<std::int64_t>(bytes, i);
                     else
                       value = is_signed ? element_at<std::int32_t>(bytes, i)
                                         : std::int64_t{element_at<std::uint32_t>(bytes, i)};
                     if (!is_signed && value < 0)
                       refuse_npy(file, fmt::format("element {} is above 2^63", first + i));
                     values[static_cast<std::size_t>(first + i)] = value;
                   }
                 });
  return values;
}

NpyBooleans read_npy_booleans(const fs::path& file, std::int64_t most) {
  std::ifstream in;
  const NpyHeader header = read_any_npy_header(file, in);
  const std::string shape = fmt::format("shape ({})", fmt::join(header.shape, ", "));
  if (header.kind != 'b')
    refuse_npy(file, fmt::format("dtype '{}' where booleans are wanted", header.descr), "b1 is read",
               "save it with a.astype(bool)");
  if (header.shape.size() != 2) refuse_npy(file, shape + " where two dimensions are wanted");
  const std::int64_t rows = header.shape[0], columns = header.shape[1];
  if (rows > most || columns > most)
    refuse_npy(file, shape + " is too large", fmt::format("at most {} rows and columns are read", most));
  NpyBooleans array{rows, columns, (columns + 63) / 64, {}};
  array.bits.resize(static_cast<std::size_t>(rows * array.words));
  // A line of the file is a row, or in Fortran order a column.
  const std::int64_t line_length = header.fortran ? rows : columns;
  for_each_chunk(file, in, header,
                 [&](const std::vector<char>& bytes, std::int64_t first, std::int64_t count) {
                   for_each_true(bytes, count, [&](std::int64_t i, std::uint8_t byte) {
                     if (byte > 1)
                       refuse_npy(file, fmt::format("byte {} in booleans", byte),
                                  fmt::format("element {} of {}", first + i, header.count));
                     const std::int64_t line = (first + i) / line_length, at = (first + i) % line_length;
                     array.set(header.fortran ? at : line, header.fortran ? line : at);
                   });
                 });
  return array;
}

}  // namespace hilbench
