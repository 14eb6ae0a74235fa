#include "harness/external/kernel_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "harness/external/kernel_layout.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr const char* kTable = "hilbench_kernel_table";
constexpr std::size_t kMostLibraryBytes = std::size_t{1} << 31;

[[noreturn]] void refuse_library(const std::filesystem::path& file, const std::string& why,
                                 const std::string& remedy = "") {
  throw EnvironmentError({.what = "no kernel to use", .where = file.string(), .why = why, .remedy = remedy});
}

// It starts with the path, which the message names already.
std::string last_dl_error(const std::filesystem::path& file) {
  const char* said = ::dlerror();
  std::string text = said != nullptr ? one_line(said, 500) : "the system does not say why";
  if (const std::string begin = file.string() + ": "; text.starts_with(begin)) text.erase(0, begin.size());
  return text;
}

// How long the file must be for what the loader maps of it, which would crash on less. 0 if the headers are
// not whole, or of no library: the loader says that by itself.
std::uint64_t loaded_bytes(const std::string& file) {
  ElfW(Ehdr) header = {};
  if (!file.starts_with(ELFMAG) || file.size() < sizeof header) return 0;
  std::memcpy(&header, file.data(), sizeof header);
  std::uint64_t needed = 0;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part = {};
    const std::uint64_t at = header.e_phoff + i * sizeof part;
    if (at > file.size() || file.size() - at < sizeof part) return 0;
    std::memcpy(&part, file.data() + at, sizeof part);
    if (part.p_type == PT_LOAD) needed = std::max<std::uint64_t>(needed, part.p_offset + part.p_filesz);
  }
  return needed;
}

void expect_usable(const hilbench_kernel& table, const std::filesystem::path& file) {
  if (table.interface != HILBENCH_KERNEL_INTERFACE)
    refuse_library(file,
                   fmt::format("it has version {} of the interface, this program has {}", table.interface,
                               HILBENCH_KERNEL_INTERFACE),
                   "build it with the kernel.h of this hilbench");
  constexpr std::int32_t kBoth = HILBENCH_ON_CPU | HILBENCH_ON_CUDA;
  if ((table.devices & kBoth) == 0 || (table.devices & ~kBoth) != 0)
    refuse_library(
        file, fmt::format("devices {}: expects HILBENCH_ON_CPU, HILBENCH_ON_CUDA or both", table.devices));
  if (table.tile_rows < 0 || table.tile_rows > kMostTileRows)
    refuse_library(file, fmt::format("tile_rows {}: expects 0 to {}", table.tile_rows, kMostTileRows));
  if (table.launch == nullptr) refuse_library(file, "its table has no launch");
  if (table.name == nullptr || *table.name == '\0') refuse_library(file, "its table has no name");
}

}  // namespace

KernelLibrary::KernelLibrary(const std::filesystem::path& file) {
  std::error_code error;  // read_text names it
  if (!std::filesystem::exists(file, error) && !error)
    refuse_library(file, "there is no such library", "build it, or mend `library` of the sweep");
  const std::string bytes = read_text(file, "library", kMostLibraryBytes);
  if (const std::uint64_t needed = loaded_bytes(bytes); needed > bytes.size())
    refuse_library(file, fmt::format("it is cut off: it has {} of {} bytes", bytes.size(), needed),
                   "build it again");
  version_ = hash_text(bytes);
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse_library(file, last_dl_error(file));
  using Table = const hilbench_kernel* (*)();
  const auto table = reinterpret_cast<Table>(::dlsym(library, kTable));
  if (table == nullptr)
    refuse_library(file, fmt::format("it exports no {}", kTable), "kernel.h says what a kernel exports");
  table_ = table();
  if (table_ == nullptr) refuse_library(file, fmt::format("{} returns null", kTable));
  expect_usable(*table_, file);
  name_ = one_line(table_->name, 100);
}

}  // namespace hilbench
