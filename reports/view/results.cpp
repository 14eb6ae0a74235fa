#include "reports/view/results.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/base/files/files.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/json.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/records/record_consistency.hpp"
#include "reports/records/store.hpp"
#include "reports/view/judge.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// Records as `export --format jsonl` prints them, plain or compressed.
constexpr const char* kRecords = "records.jsonl";
constexpr const char* kCompressed = "records.jsonl.gz";
constexpr const char* kStore = "results.sqlite";

[[noreturn]] void fail_to_read(const fs::path& file, const std::string& why) {
  throw UsageError({"the export cannot be read", file.string(), why, ""});
}

// Lines of a file, plain or compressed by gzip.
class LineReader {
 public:
  explicit LineReader(const fs::path& file) : file_(file) {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) fail_to_read(file, "it is not a file");
    in_.reset(::gzopen(file.c_str(), "rb"));
    if (!in_) throw_file_error(errno, {"the export cannot be read", file.string(), "", ""});
  }

  bool next(std::string& line) {
    line.clear();
    char part[1 << 14];
    while (::gzgets(in_.get(), part, sizeof part) != nullptr) {
      if (part[0] == '\0') fail_to_read(file_, "it is not text");
      line += part;
      if (line.size() > kMostInputBytes)
        fail_to_read(file_, fmt::format("it has a line of more than {} MiB", kMostInputBytes >> 20));
      if (line.back() != '\n') continue;
      line.pop_back();
      return true;
    }
    int status = Z_OK;
    const char* why = ::gzerror(in_.get(), &status);
    if (status == Z_ERRNO) throw_file_error(errno, {"the export cannot be read", file_.string(), "", ""});
    if (status != Z_OK && status != Z_STREAM_END) fail_to_read(file_, why);
    return !line.empty();
  }

  // To be called when all lines are read: gzgets() ignores what follows the compressed text.
  void expect_end() {
    if (::gzdirect(in_.get()) != 0) return;
    z_stream stream{};
    if (::inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
    const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, ::inflateEnd);
    std::ifstream compressed(file_, std::ios::binary);
    std::array<char, 1 << 16> from, to;
    int status = Z_OK;
    while (compressed.read(from.data(), from.size()), compressed.gcount() > 0) {
      stream.next_in = reinterpret_cast<Bytef*>(from.data());
      stream.avail_in = static_cast<uInt>(compressed.gcount());
      do {
        if (status == Z_STREAM_END) ::inflateReset(&stream);  // another member may follow
        stream.next_out = reinterpret_cast<Bytef*>(to.data());
        stream.avail_out = static_cast<uInt>(to.size());
        status = ::inflate(&stream, Z_NO_FLUSH);
        if (status < 0 && status != Z_BUF_ERROR) fail_to_read(file_, "bytes follow its compressed text");
      } while (stream.avail_in > 0 || (status == Z_OK && stream.avail_out == 0));
    }
    if (status != Z_STREAM_END) fail_to_read(file_, "bytes follow its compressed text");
  }

 private:
  struct Close {
    void operator()(gzFile file) const { ::gzclose_r(file); }
  };
  fs::path file_;
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> in_;
};

std::map<std::string, std::string> read_meta(const fs::path& file) {
  std::error_code error;
  if (fs::status(file, error).type() == fs::file_type::not_found) return {};
  const std::string text = read_text(file, "file of meta", kMostInputBytes);
  try {
    return parse_json(text, file.string()).get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw UsageError({"meta cannot be read", file.string(), "it is not a JSON object of texts", ""});
  }
}

}  // namespace

bool holds_export(const fs::path& folder) {
  std::error_code ignored;  // reported when the store is opened
  const auto holds = [&](const char* name) { return fs::exists(folder / name, ignored); };
  return (holds(kRecords) || holds(kCompressed)) && !holds(kStore);
}

ReportInput read_exported(const fs::path& folder) {
  ReportInput input;
  input.source = folder;
  input.meta = read_meta(folder / "meta.json");
  const fs::path file = folder / (fs::exists(folder / kRecords) ? kRecords : kCompressed);
  LineReader lines(file);
  std::map<std::pair<std::string, std::string>, int> seen;  // case and variant: the line
  std::string line;
  for (int number = 1; lines.next(line); ++number) {
    try {
      Record record = record_from_json(parse_json(line, "it"));
      expect_consistent(record);
      const auto [first, fresh] = seen.try_emplace({record.case_id, record.variant_id}, number);
      if (!fresh)
        throw UsageError(
            {fmt::format("{}/{} is already in line {}", record.case_id, record.variant_id, first->second), "",
             "", ""});
      input.records.push_back(std::move(record));
    } catch (const std::exception& error) {
      throw UsageError({"record cannot be read", fmt::format("{} line {}", file.string(), number),
                        one_line(error.what(), 200), ""});
    }
  }
  lines.expect_end();
  if (input.records.empty()) throw UsageError({"no records", file.string(), "it is empty", ""});
  judge(input.records);
  return input;
}

ReportInput read_results(const fs::path& folder) {
  if (holds_export(folder)) return read_exported(folder);
  const Store store = Store::open_for_reading(folder);
  ReportInput input;
  input.records = store.records();
  judge(input.records);
  input.meta = store.meta();
  input.source = folder;
  return input;
}

std::string stored_sweep(const fs::path& folder) {
  const auto meta =
      holds_export(folder) ? read_meta(folder / "meta.json") : Store::open_for_reading(folder).meta();
  const auto known = meta.find("sweep");
  return known == meta.end() ? "" : known->second;
}

}  // namespace hilbench
