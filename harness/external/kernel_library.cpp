#include "harness/external/kernel_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>

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
  if (!std::filesystem::exists(file))
    refuse_library(file, "there is no such library", "build it, or mend `library` of the sweep");
  version_ = hash_text(read_text(file, "library", kMostLibraryBytes));
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
