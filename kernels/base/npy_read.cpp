// The format is described in NumPy's reference, numpy.lib.format: magic bytes, version, header length, a
// Python dict literal with the keys descr, fortran_order and shape, then the elements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

#include "kernels/base/error.hpp"
#include "kernels/base/float16.hpp"
#include "kernels/base/npy.hpp"
#include "kernels/base/text.hpp"

static_assert(std::endian::native == std::endian::little, "elements are read as they lie in the file");

namespace hilbench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLongestHeader = 1 << 16;
constexpr std::size_t kMostDimensions = 32;
constexpr std::int64_t kChunkElements = 1 << 18;

[[noreturn]] void refuse(const fs::path& file, std::string what, std::string why = "",
                         std::string remedy = "") {
  throw UsageError({std::move(what), file.string(), std::move(why), std::move(remedy)});
}

struct Header {
  std::string descr;  // "<f4"
  char kind = 0;      // f, i, u, b
  int size = 0;       // bytes of an element
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::int64_t count = 1;   // elements
  std::int64_t offset = 0;  // of the first element
};

// Parses the dict literal of a header. Everything unexpected is an error; nothing is guessed.
class HeaderText {
 public:
  HeaderText(const fs::path& file, std::string_view text) : file_(file), text_(text) {}

  Header parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !has_descr) {
        header.descr = quoted();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = tuple();
        has_shape = true;
      } else {
        fail();
      }
      if (take(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (!text_.empty() || !has_descr || !has_order || !has_shape) fail();
    return header;
  }

 private:
  [[noreturn]] void fail() const {
    refuse(file_, "damaged .npy header", "not the dict of descr, fortran_order and shape that NumPy writes");
  }
  void skip_blanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t'))
      text_.remove_prefix(1);
  }
  bool take(char c) {
    skip_blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::string quoted() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos || end > 32) fail();
    std::string word(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return word;
  }
  bool boolean() {
    if (take_word("True")) return true;
    if (!take_word("False")) fail();
    return false;
  }
  std::int64_t dimension() {
    skip_blanks();
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits) {
      if (value > (std::int64_t{1} << 58)) refuse(file_, "shape overflows");
      value = value * 10 + (text_[digits] - '0');
    }
    if (digits == 0) fail();
    text_.remove_prefix(digits);
    return value;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!take(')')) {
      shape.push_back(dimension());
      if (shape.size() > kMostDimensions) refuse(file_, "more than 32 dimensions");
      if (take(',')) continue;
      if (shape.size() == 1) fail();  // (3) is a number, not a tuple
      expect(')');
      break;
    }
    return shape;
  }

  const fs::path& file_;
  std::string_view text_;
};

void set_type(const fs::path& file, Header& header) {
  const std::string& descr = header.descr;
  if (descr.size() == 3 && descr[0] == '>')
    refuse(file, fmt::format("big-endian dtype '{}'", one_line(descr)), "only little endian is read",
           "save it with a.astype(a.dtype.newbyteorder('<'))");
  const bool known =
      descr.size() == 3 && std::string_view("<|=").find(descr[0]) != std::string_view::npos &&
      std::string_view("fiub").find(descr[1]) != std::string_view::npos &&
      std::string_view(descr[1] == 'b' ? "1" : "1248").find(descr[2]) != std::string_view::npos;
  if (!known)
    refuse(file, fmt::format("dtype '{}' is not read", one_line(descr)),
           "floats are f2, f4, f8; integers i4, i8, u4, u8; booleans b1");
  header.kind = descr[1];
  header.size = descr[2] - '0';
}

void set_count(const fs::path& file, Header& header, std::int64_t file_bytes) {
  const std::int64_t most = (std::int64_t{1} << 62) / header.size;
  for (const std::int64_t extent : header.shape)
    if (__builtin_mul_overflow(header.count, extent, &header.count) || header.count > most)
      refuse(file, fmt::format("shape ({}) overflows", fmt::join(header.shape, ", ")));
  const std::int64_t expected = header.offset + header.count * header.size;
  if (file_bytes == expected) return;
  refuse(file, file_bytes < expected ? "truncated .npy file" : ".npy file longer than its header says",
         fmt::format("shape ({}) of {} makes {} bytes, the file has {}", fmt::join(header.shape, ", "),
                     header.descr, expected, file_bytes));
}

// Leaves `in` at the first element.
Header read_any_header(const fs::path& file, std::ifstream& in) {
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    refuse(file, fs::exists(file, error) ? "not a regular file" : "no such file");
  const auto file_bytes = static_cast<std::int64_t>(fs::file_size(file, error));
  in.open(file, std::ios::binary);
  if (error || !in)
    throw_file_error(error ? error.value() : errno, {.what = "cannot be read", .where = file.string()});
  char prefix[12] = {};
  in.read(prefix, 10);
  if (in.gcount() < 10 || std::string_view(prefix, 6) != kNpyMagic)
    refuse(file, "not a .npy file", "does not begin with the magic bytes \\x93NUMPY");
  const int major = prefix[6];
  if (major < 1 || major > 3)
    refuse(file, fmt::format(".npy format {} is not read", major), "1.0 to 3.0 are");
  const int length_bytes = major == 1 ? 2 : 4;
  if (length_bytes == 4) in.read(prefix + 10, 2);
  std::uint32_t length = 0;
  std::memcpy(&length, prefix + 8, static_cast<std::size_t>(length_bytes));
  const std::int64_t offset = 8 + length_bytes + std::int64_t{length};
  if (!in || offset > file_bytes)
    refuse(file, "truncated .npy file",
           fmt::format("the header ends at byte {}, the file at {}", offset, file_bytes));
  if (length > kLongestHeader)
    refuse(file, ".npy header too long", fmt::format("{} bytes, at most {}", length, kLongestHeader));
  std::string text(length, '\0');
  in.read(text.data(), length);
  if (!in) refuse(file, "cannot be read", "the header ends early");
  Header header = HeaderText(file, text).parse();
  header.offset = offset;
  set_type(file, header);
  set_count(file, header, file_bytes);
  return header;
}

// The same, of an array in C order.
Header read_header(const fs::path& file, std::ifstream& in) {
  Header header = read_any_header(file, in);
  if (header.fortran)
    refuse(file, "array in Fortran order", "only C order is read", "save it with numpy.ascontiguousarray(a)");
  return header;
}

template <class Element>
Element element_at(const std::vector<char>& bytes, std::int64_t i) {
  Element element;
  std::memcpy(&element, bytes.data() + i * static_cast<std::int64_t>(sizeof element), sizeof element);
  return element;
}

// Reads the elements in chunks and calls visit(bytes, first, count) for each chunk.
void for_each_chunk(const fs::path& file, std::ifstream& in, const Header& header,
                    const std::function<void(const std::vector<char>&, std::int64_t, std::int64_t)>& visit) {
  std::vector<char> bytes(static_cast<std::size_t>(std::min(kChunkElements, header.count) * header.size));
  for (std::int64_t first = 0; first < header.count; first += kChunkElements) {
    const std::int64_t count = std::min(kChunkElements, header.count - first);
    in.read(bytes.data(), count * header.size);
    if (!in) refuse(file, "cannot be read", "the data end early");
    visit(bytes, first, count);
  }
}

float float_at(const Header& header, const std::vector<char>& bytes, std::int64_t i) {
  if (header.size == 2) return fp16_value(element_at<std::uint16_t>(bytes, i));
  if (header.size == 4) return element_at<float>(bytes, i);
  return static_cast<float>(element_at<double>(bytes, i));
}

// Reads and checks the floats. Stores them in `keep` unless it is null.
std::vector<std::int64_t> scan_floats(const fs::path& file, std::vector<float>* keep) {
  std::ifstream in;
  const Header header = read_header(file, in);
  if (header.kind != 'f' || header.size == 1)
    refuse(file, fmt::format("dtype '{}' where floats are wanted", header.descr), "f2, f4 and f8 are read");
  if (keep != nullptr) keep->resize(static_cast<std::size_t>(header.count));
  for_each_chunk(
      file, in, header, [&](const std::vector<char>& bytes, std::int64_t first, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          const float value = float_at(header, bytes, i);
          if (!std::isfinite(value))
            refuse(file,
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
  return read_header(file, in).shape;
}

std::vector<std::int64_t> read_npy_integers(const fs::path& file) {
  std::ifstream in;
  const Header header = read_header(file, in);
  if (header.kind == 'f' || header.size < 4)
    refuse(file, fmt::format("dtype '{}' where integers are wanted", header.descr),
           "i4, i8, u4 and u8 are read");
  if (header.shape.size() != 1)
    refuse(file, fmt::format("shape ({}) where one dimension is wanted", fmt::join(header.shape, ", ")));
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
                       refuse(file, fmt::format("element {} is above 2^63", first + i));
                     values[static_cast<std::size_t>(first + i)] = value;
                   }
                 });
  return values;
}

NpyBooleans read_npy_booleans(const fs::path& file, std::int64_t most) {
  std::ifstream in;
  const Header header = read_any_header(file, in);
  const std::string shape = fmt::format("shape ({})", fmt::join(header.shape, ", "));
  if (header.kind != 'b')
    refuse(file, fmt::format("dtype '{}' where booleans are wanted", header.descr), "b1 is read",
           "save it with a.astype(bool)");
  if (header.shape.size() != 2) refuse(file, shape + " where two dimensions are wanted");
  if (header.count > most)
    refuse(file, shape + " is too large", fmt::format("at most {} elements are read", most));
  NpyBooleans array{header.shape, std::vector<bool>(static_cast<std::size_t>(header.count))};
  const std::int64_t rows = header.shape[0], columns = header.shape[1];
  for_each_chunk(file, in, header,
                 [&](const std::vector<char>& bytes, std::int64_t first, std::int64_t count) {
                   for (std::int64_t i = 0; i < count; ++i) {
                     const auto byte = element_at<std::uint8_t>(bytes, i);
                     if (byte > 1)
                       refuse(file, fmt::format("byte {} in booleans", byte),
                              fmt::format("element {} of {}", first + i, header.count));
                     const std::int64_t at = first + i;
                     const std::int64_t to = header.fortran ? at % rows * columns + at / rows : at;
                     array.values[static_cast<std::size_t>(to)] = byte == 1;
                   }
                 });
  return array;
}

}  // namespace hilbench
