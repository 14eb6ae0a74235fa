#include "harness/external/input_files.hpp"

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

InputFiles InputFileSets::of(InputSet set) {
  const auto [at, created] = sets_.try_emplace(set);
  InputFiles& files = at->second;
  if (!created) return files;
  if (has_mask_blocks(work_) && !mask_) mask_ = written_mask(work_);
  files.mask = mask_;
  if (work_.pass != Pass::forward) {
    add_gradient_files(set, files);
    return files;
  }
  if (set == InputSet::negated) {
    const InputFiles second = of(InputSet::second);
    files.q = second.q;
    files.k = second.k;
  } else {
    files.q = write(set, Tensor::q);
    files.k = set == InputSet::key_probe ? of(InputSet::first).k : write(set, Tensor::k);
  }
  files.v = write(set, Tensor::v);
  return files;
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
}

std::shared_ptr<const SharedFile> InputFileSets::write(InputSet set, Tensor which) const {
  constexpr std::array<const char*, kTensors> kNames = {"q", "k", "v", "d_o"};
  const Tensor negated = work_.pass == Pass::forward ? Tensor::v : Tensor::d_o;
  auto file = std::make_shared<SharedFile>(kNames[static_cast<std::size_t>(which)]);
  const InputTensors& inputs = tensors_(set);
  const auto bytes = static_cast<std::size_t>(dtype_bytes(work_.dtype));
  std::vector<std::byte> part;
  for_each_part(inputs.size(which), 1, [&](std::int64_t first, std::int64_t count) {
    part.resize(static_cast<std::size_t>(count) * bytes);
    inputs.read_stored(which, first, count, part.data(), threads_);
    if (set == InputSet::negated && which == negated)  // little endian: the sign is in the last byte
      for (std::size_t last = bytes - 1; last < part.size(); last += bytes) part[last] ^= std::byte{0x80};
    file->write(part.data(), part.size());
  });
  file->seal();
  return file;
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
