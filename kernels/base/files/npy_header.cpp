// The format is described in NumPy's reference, numpy.lib.format: magic bytes, version, header length, a
// Python dict literal with the keys descr, fortran_order and shape, then the elements.
#include "kernels/base/files/npy_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "kernels/base/files/npy.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {

namespace fs = std::filesystem;

void refuse_npy(const fs::path& file, std::string what, std::string why, std::string remedy) {
  throw UsageError({std::move(what), file.string(), std::move(why), std::move(remedy)});
}

namespace {

constexpr std::int64_t kLongestHeader = 1 << 16;
constexpr std::size_t kMostDimensions = 32;

// Parses the dict literal of a header. Everything unexpected is an error; nothing is guessed.
class HeaderText {
 public:
  HeaderText(const fs::path& file, std::string_view text) : file_(file), text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
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
    refuse_npy(file_, "damaged .npy header",
               "not the dict of descr, fortran_order and shape that NumPy writes");
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
      if (value > (std::int64_t{1} << 58)) refuse_npy(file_, "shape overflows");
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
      if (shape.size() > kMostDimensions) refuse_npy(file_, "more than 32 dimensions");
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

void set_type(const fs::path& file, NpyHeader& header) {
  const std::string& descr = header.descr;
  if (descr.size() == 3 && descr[0] == '>')
    refuse_npy(file, fmt::format("big-endian dtype '{}'", one_line(descr)), "only little endian is read",
               "save it with a.astype(a.dtype.newbyteorder('<'))");
  const bool known =
      descr.size() == 3 && std::string_view("<|=").find(descr[0]) != std::string_view::npos &&
      std::string_view("fiub").find(descr[1]) != std::string_view::npos &&
      std::string_view(descr[1] == 'b' ? "1" : "1248").find(descr[2]) != std::string_view::npos;
  if (!known)
    refuse_npy(file, fmt::format("dtype '{}' is not read", one_line(descr)),
               "floats are f2, f4, f8; integers i4, i8, u4, u8; booleans b1");
  header.kind = descr[1];
  header.size = descr[2] - '0';
}

void set_count(const fs::path& file, NpyHeader& header, std::int64_t file_bytes) {
  const std::int64_t most = (std::int64_t{1} << 62) / header.size;
  for (const std::int64_t extent : header.shape)
    if (__builtin_mul_overflow(header.count, extent, &header.count) || header.count > most)
      refuse_npy(file, fmt::format("shape ({}) overflows", fmt::join(header.shape, ", ")));
  const std::int64_t expected = header.offset + header.count * header.size;
  if (file_bytes == expected) return;
  refuse_npy(file, file_bytes < expected ? "truncated .npy file" : ".npy file longer than its header says",
             fmt::format("shape ({}) of {} makes {} bytes, the file has {}", fmt::join(header.shape, ", "),
                         header.descr, expected, file_bytes));
}

}  // namespace

NpyHeader read_any_npy_header(const fs::path& file, std::ifstream& in) {
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    refuse_npy(file, fs::exists(file, error) ? "not a regular file" : "no such file");
  const auto file_bytes = static_cast<std::int64_t>(fs::file_size(file, error));
  in.open(file, std::ios::binary);
  if (error || !in)
    throw_file_error(error ? error.value() : errno, {.what = "cannot be read", .where = file.string()});
  char prefix[12] = {};
  in.read(prefix, 10);
  if (in.gcount() < 10 || std::string_view(prefix, 6) != kNpyMagic)
    refuse_npy(file, "not a .npy file", "does not begin with the magic bytes \\x93NUMPY");
  const int major = prefix[6];
  if (major < 1 || major > 3)
    refuse_npy(file, fmt::format(".npy format {} is not read", major), "1.0 to 3.0 are");
  const int length_bytes = major == 1 ? 2 : 4;
  if (length_bytes == 4) in.read(prefix + 10, 2);
  std::uint32_t length = 0;
  std::memcpy(&length, prefix + 8, static_cast<std::size_t>(length_bytes));
  const std::int64_t offset = 8 + length_bytes + std::int64_t{length};
  if (!in || offset > file_bytes)
    refuse_npy(file, "truncated .npy file",
               fmt::format("the header ends at byte {}, the file at {}", offset, file_bytes));
  if (length > kLongestHeader)
    refuse_npy(file, ".npy header too long", fmt::format("{} bytes, at most {}", length, kLongestHeader));
  std::string text(length, '\0');
  in.read(text.data(), length);
  if (!in) refuse_npy(file, "cannot be read", "the header ends early");
  NpyHeader header = HeaderText(file, text).parse();
  header.offset = offset;
  set_type(file, header);
  set_count(file, header, file_bytes);
  return header;
}

NpyHeader read_npy_header(const fs::path& file, std::ifstream& in) {
  NpyHeader header = read_any_npy_header(file, in);
  if (header.fortran)
    refuse_npy(file, "array in Fortran order", "only C order is read",
               "save it with numpy.ascontiguousarray(a)");
  return header;
}

}  // namespace hilbench
