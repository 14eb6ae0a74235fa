#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

#include "kernels/base/files/files.hpp"
#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/error.hpp"

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

namespace hilbench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, std::string why, std::string remedy = "") {
  throw UsageError({"cannot write the file", file.string(), std::move(why), std::move(remedy)});
}

// `write` must write exactly the elements of the shape.
void write_array(const fs::path& file, std::string_view descr, std::span<const std::int64_t> shape,
                 const std::function<void(std::ostream&)>& write) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  while ((10 + dict.size() + 1) % 64 != 0) dict += ' ';  // NumPy aligns the data to 64 bytes
  dict += '\n';
  const auto length = static_cast<std::uint16_t>(dict.size());
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error))
    refuse(file, "it is a folder or a device", "name a file");
  write_file(file, [&](std::ostream& out) {
    out << kNpyMagic << '\x01' << '\x00';
    out.write(reinterpret_cast<const char*>(&length), 2);
    out << dict;
    write(out);
  });
}

}  // namespace

void write_npy(const fs::path& file, std::span<const std::int64_t> shape, std::span<const float> values) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  if (count != std::ssize(values))
    refuse(file, fmt::format("shape ({}) for {} values", fmt::join(shape, ", "), values.size()));
  write_npy(file, shape, [values](const auto& put) { put(values); });
}

void write_npy(const fs::path& file, std::span<const std::int64_t> shape,
               const std::function<void(const std::function<void(std::span<const float>)>&)>& write) {
  write_array(file, "<f4", shape, [&](std::ostream& out) {
    write([&out](std::span<const float> values) {
      out.write(reinterpret_cast<const char*>(values.data()),
                static_cast<std::streamsize>(values.size_bytes()));
    });
  });
}

void write_npy(const fs::path& file, std::span<const std::int64_t> values) {
  const std::int64_t shape[] = {std::ssize(values)};
  write_array(file, "<i8", shape, [values](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size_bytes()));
  });
}

}  // namespace hilbench
