#include "harness/external/input_files.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

std::shared_ptr<const SharedFile> written_mask(const Case& work) {
  auto file = std::make_shared<SharedFile>("mask");
  const std::int64_t blocks = bits_of(work).blocks();
  std::vector<std::byte> row(static_cast<std::size_t>(blocks));
  for (std::int64_t q = 0; q < blocks; ++q) {
    for (std::int64_t k = 0; k < blocks; ++k)
      row[static_cast<std::size_t>(k)] = std::byte{bits_of(work).selects(q, k)};
    file->write(row.data(), row.size());
  }
  file->seal();
  return file;
}

}  // namespace

InputFileSets::InputFileSets(Tensors tensors, Forward forward, Case work, int threads)
    : tensors_(std::move(tensors)), forward_(std::move(forward)), work_(std::move(work)), threads_(threads) {}

InputFiles InputFileSets::of(InputSet set, const StoredOrder& order) {
  if (has_mask_blocks(work_) && !mask_) mask_ = written_mask(work_);
  if (work_.pass == Pass::forward)
    return {.q = forward_file(set, Tensor::q, {}),
            .k = forward_file(set, Tensor::k, order),
            .v = forward_file(set, Tensor::v, order),
            .d_o = nullptr,
            .o = nullptr,
            .lse = nullptr,
            .mask = mask_};
  const auto [at, created] = sets_.try_emplace(set);
  InputFiles& files = at->second;
  if (!created) return files;
  files.mask = mask_;
  add_gradient_files(set, files);
  return files;
}

// Sets share what they have in common: the negated set has V alone of its own, the key probe Q and V.
InputFileSets::File InputFileSets::forward_file(InputSet set, Tensor which, const StoredOrder& order) {
  if (set == InputSet::negated && which != Tensor::v) return forward_file(InputSet::second, which, order);
  if (set == InputSet::key_probe && which == Tensor::k) return forward_file(InputSet::first, which, order);
  File& file = tensors_of_[set][{which, order.key}];
  if (!file) file = write(set, which, order);
  return file;
}

void InputFileSets::add_gradient_files(InputSet set, InputFiles& files) {
  if (set == InputSet::negated) {  // dO alone
    const std::shared_ptr<const SharedFile> mask = files.mask;
    files = of(InputSet::second);
    files.mask = mask;
  } else {
    files.q = write(set, Tensor::q), files.k = write(set, Tensor::k), files.v = write(set, Tensor::v);
    const auto o = std::make_shared<SharedFile>("o"), lse = std::make_shared<SharedFile>("lse");
    const auto put_to = [](SharedFile& file) {
      return [&file](const std::byte* bytes, std::size_t count) { file.write(bytes, count); };
    };
    forward_(set, put_to(*o), put_to(*lse));
    o->seal(), lse->seal();
    files.o = o, files.lse = lse;
  }
  files.d_o = write(set, Tensor::d_o);
}

void InputFileSets::release(InputSet set) {
  sets_.erase(set);
  tensors_of_.erase(set);
}

InputFileSets::File InputFileSets::write(InputSet set, Tensor which, const StoredOrder& order) const {
  constexpr std::array<const char*, kTensors> kNames = {"q", "k", "v", "d_o"};
  auto file = std::make_shared<SharedFile>(kNames[static_cast<std::size_t>(which)]);
  if (order.slots.empty()) {
    const InputTensors& inputs = tensors_(set);
    const auto bytes = static_cast<std::size_t>(dtype_bytes(work_.dtype));
    std::vector<std::byte> part;
    for_each_part(inputs.size(which), 1, [&](std::int64_t first, std::int64_t count) {
      part.resize(static_cast<std::size_t>(count) * bytes);
      inputs.read_stored(which, first, count, part.data(), threads_);
      negate_if_asked(set, which, part);
      file->write(part.data(), part.size());
    });
  } else {
    write_in_order(set, which, order, *file);
  }
  file->seal();
  return file;
}

// The row of position p of each batch entry is written to slots[p].
void InputFileSets::write_in_order(InputSet set, Tensor which, const StoredOrder& order,
                                   SharedFile& file) const {
  const InputTensors& inputs = tensors_(set);
  const std::int64_t width = inputs.size(which) / (work_.batch * work_.sequence_length);
  const auto row_bytes = static_cast<std::size_t>(width * dtype_bytes(work_.dtype));
  std::vector<std::byte> part, stored(static_cast<std::size_t>(work_.sequence_length) * row_bytes);
  for (std::int64_t batch = 0; batch < work_.batch; ++batch) {
    for_each_part(work_.sequence_length * width, width, [&](std::int64_t first, std::int64_t count) {
      part.resize(static_cast<std::size_t>(count / width) * row_bytes);
      inputs.read_stored(which, batch * work_.sequence_length * width + first, count, part.data(), threads_);
      for (std::int64_t row = 0; row < count / width; ++row) {
        const auto slot =
            static_cast<std::size_t>(order.slots[static_cast<std::size_t>(first / width + row)]);
        std::copy_n(part.data() + static_cast<std::size_t>(row) * row_bytes, row_bytes,
                    stored.data() + slot * row_bytes);
      }
    });
    negate_if_asked(set, which, stored);
    file.write(stored.data(), stored.size());
  }
}

void InputFileSets::negate_if_asked(InputSet set, Tensor which, std::vector<std::byte>& part) const {
  const Tensor negated = work_.pass == Pass::forward ? Tensor::v : Tensor::d_o;
  if (set != InputSet::negated || which != negated) return;
  const auto bytes = static_cast<std::size_t>(dtype_bytes(work_.dtype));
  for (std::size_t last = bytes - 1; last < part.size(); last += bytes)  // little endian: the sign comes last
    part[last] ^= std::byte{0x80};
}

std::vector<std::string> changed_inputs(const Case& work, InputSet from, InputSet to) {
  if (from == to) return {};
  const bool gradients = work.pass != Pass::forward;
  const auto either = [&](InputSet one, InputSet other) {
    return (from == one && to == other) || (from == other && to == one);
  };
  if (either(InputSet::second, InputSet::negated)) return {gradients ? "d_o" : "v"};
  if (gradients) return {"q", "k", "v", "d_o", "o", "lse"};
  if (either(InputSet::first, InputSet::key_probe)) return {"q", "v"};
  return {"q", "k", "v"};
}

}  // namespace hilbench
