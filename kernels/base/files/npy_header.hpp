// The header of a .npy file: what npy_read.cpp needs to know before the elements.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hilbench {

struct NpyHeader {
  std::string descr;  // "<f4"
  char kind = 0;      // f, i, u, b
  int size = 0;       // bytes of an element
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::int64_t count = 1;   // elements
  std::int64_t offset = 0;  // of the first element
};

// Throws UsageError that names the file.
[[noreturn]] void refuse_npy(const std::filesystem::path& file, std::string what, std::string why = "",
                             std::string remedy = "");

// Opens `in` and leaves it at the first element. Both throw as the readers of npy.hpp say.
NpyHeader read_any_npy_header(const std::filesystem::path& file, std::ifstream& in);
// The same, of an array in C order.
NpyHeader read_npy_header(const std::filesystem::path& file, std::ifstream& in);

}  // namespace hilbench
