#include "harness/device/device.hpp"

#include <nlohmann/json.hpp>

#include "kernels/base/text/hash.hpp"

namespace hilbench {

Buffer Device::allocate(std::size_t bytes) {
  constexpr std::uint64_t kOffsets = 64, kUnit = 1024;
  if (offset_seed_ == 0) return allocate_aligned(bytes);
  const std::uint64_t random = mix(offset_seed_ + buffers_++);
  const std::size_t moved =
      bytes >= moves().bytes ? random / kOffsets % (moves().most + 1) * moves().bytes : 0;
  const std::size_t offset = random % kOffsets * kUnit + moved;
  Buffer whole = allocate_aligned(bytes + offset);
  Buffer before{.memory = whole.memory, .bytes = offset};
  fill(before, std::byte{0});  // a page of a processor is placed when it is touched
  // What is smaller than a page shares one with others.
  const auto occupied = [page = moves().bytes](std::size_t of) {
    return of < page ? of : (of + page - 1) / page * page;
  };
  const std::size_t gap = occupied(bytes + offset) - occupied(bytes);
  *gap_bytes_ += gap;
  const auto freed = [memory = whole.memory, gaps = gap_bytes_, gap](void*) { *gaps -= gap; };
  return {.memory = std::shared_ptr<void>(static_cast<std::byte*>(whole.data()) + offset, freed),
          .bytes = bytes};
}

Buffer Device::allocate_host(std::size_t bytes) {
  return {.memory = {new std::byte[bytes], std::default_delete<std::byte[]>()}, .bytes = bytes};
}

nlohmann::json Device::state() const {
  return nullptr;
}

}  // namespace hilbench
