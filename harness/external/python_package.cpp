#include "harness/external/python_package.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>

namespace hilbench {

std::string_view embedded_python_kernel();  // made by hilbench_embed (CMake)

namespace {

// CRC-32 of IEEE 802.3, as archives have it.
std::uint32_t crc_32(std::string_view text) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

void put_16(std::string& to, std::size_t value) {
  to += static_cast<char>(value & 0xff);
  to += static_cast<char>(value >> 8 & 0xff);
}
void put_32(std::string& to, std::size_t value) {
  put_16(to, value & 0xffff);
  put_16(to, value >> 16);
}

// What the two headers of a file have in common: version, flags, method, time, date (1 January 1980), CRC,
// sizes.
std::string description_of(std::string_view name, std::string_view text) {
  std::string described;
  put_16(described, 20);
  for (int i = 0; i < 3; ++i) put_16(described, 0);
  put_16(described, 0x21);
  put_32(described, crc_32(text));
  put_32(described, text.size());
  put_32(described, text.size());
  put_16(described, name.size());
  put_16(described, 0);
  return described;
}

}  // namespace

std::string stored_zip(const std::vector<std::pair<std::string, std::string_view>>& files) {
  std::string archive, directory;
  for (const auto& [name, text] : files) {
    const std::string described = description_of(name, text);
    put_32(directory, 0x02014b50);
    put_16(directory, 20);
    directory += described;
    directory += std::string(10, '\0');  // comment, disk, attributes
    put_32(directory, archive.size());
    directory += name;
    put_32(archive, 0x04034b50);
    archive += described + name + std::string(text);
  }
  const std::size_t begin = archive.size();
  archive += directory;
  put_32(archive, 0x06054b50);
  put_32(archive, 0);
  put_16(archive, files.size());
  put_16(archive, files.size());
  put_32(archive, directory.size());
  put_32(archive, begin);
  put_16(archive, 0);
  return archive;
}

std::string python_path_with(SharedFile& file) {
  const std::string archive =
      stored_zip({{"hilbench/__init__.py", ""}, {"hilbench/kernel.py", embedded_python_kernel()}});
  file.write(archive.data(), archive.size());
  file.seal();
  const char* given = std::getenv("PYTHONPATH");
  return (given != nullptr && *given != '\0' ? std::string(given) + ":" : "") + file.path();
}

}  // namespace hilbench
