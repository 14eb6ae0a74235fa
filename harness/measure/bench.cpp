#include "harness/measure/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/measure/verify.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/hash.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/machine/host.hpp"
#include "reports/records/record.hpp"

namespace hilbench {
namespace {

// The GPUs after the task's own, for further ranks of a ring in this process.
std::vector<std::unique_ptr<Device>> further_gpus(const ComparisonTask& task, const Case& work,
                                                  const RingHost& rings) {
  std::vector<std::unique_ptr<Device>> further;
  if (work.device != DeviceKind::cuda || work.ring_size == 1 || rings.spans_processes()) return further;
  const auto gpus = static_cast<std::int64_t>(survey_gpus().gpus.size());
  for (std::int64_t rank = 1; rank < std::min(work.ring_size, gpus); ++rank)
    further.push_back(open_cuda_device(static_cast<int>((task.device_ordinal + rank) % gpus)));
  return further;
}

// The ranks of a ring make their rows anew for every variant: where the GPUs leave the host's memory free,
// the rows are kept there.
InputTensors kept_for_ranks(InputTensors inputs, const Case& work, const RingHost& rings) {
  constexpr double kShare = 0.125;  // of the memory that is available now, for each of two sets
  if (work.device == DeviceKind::cuda && work.ring_size > 1 && !rings.spans_processes() &&
      inputs.stored_bytes() <= kShare * static_cast<double>(available_memory()))
    inputs.keep();
  return inputs;
}

}  // namespace

std::int64_t row_bytes(const Case& work, std::int64_t heads) {
  return heads * work.head_dim * dtype_bytes(work.dtype);
}

Bench::Bench(const ComparisonTask& task, std::unique_ptr<RingHost> ring_host)
    : work(task.records.at(0).work),
      threads(static_cast<int>(task.records.at(0).threads)),
      seed(task.measure.seed),
      cache(task.measure.cache),
      further_devices(further_gpus(task, work, *ring_host)),
      device(work.device == DeviceKind::cuda
                 ? open_cuda_device(task.device_ordinal)
                 : open_cpu_device(std::max(threads, static_cast<int>(work.ring_size)), work.pages)),
      inputs(kept_for_ranks(InputTensors(work, task.inputs, seed), work, *ring_host)),
      second_inputs(kept_for_ranks(InputTensors::second(inputs, seed), work, *ring_host)),
      probe_inputs(InputTensors::key_probe(work, seed)),
      externals(task.externals),
      forward(work.pass == Pass::forward ? nullptr : std::make_unique<ForwardPass>(work, *device, threads)),
      rings(std::move(ring_host)) {
  device->set_offset_seed(mix(seed + 1));
  for (const auto& further : further_devices) further->set_offset_seed(mix(seed + 1));
  if (work.ring_size > 1) return;
  stored = {allocate(Tensor::q), allocate(Tensor::k), allocate(Tensor::v)};
  const std::int64_t rows = work.batch * work.sequence_length;
  if (work.pass != Pass::backward) {
    o = device->allocate(static_cast<std::size_t>(rows * row_bytes(work, work.heads)));
    lse = device->allocate(static_cast<std::size_t>(rows * work.heads) * sizeof(float));
  }
  if (forward) {
    stored.d_o = allocate(Tensor::d_o);
    d_q = allocate(Tensor::q), d_k = allocate(Tensor::k), d_v = allocate(Tensor::v);
  }
  fill_all(InputSet::first);  // only after every allocation has succeeded
}

template <class Value, class Make>
const Value& Bench::once(std::map<std::string, Value>& values, const std::string& key, const Make& make) {
  std::unique_lock lock(mutex_);
  auto [at, created] = values.try_emplace(key);
  lock.unlock();  // no other thread asks for this key
  if (created) at->second = make();
  return at->second;
}

const Oracle& Bench::oracle(const ComputedFunction& function, InputSet set, const DrawnRows& rows) {
  const InputTensors& from = tensors(set);
  const std::string key = fmt::format("{} {} {}", function.key, &from == &inputs ? 1 : 2, rows.entropy);
  return once(oracles_, key, [&] {
    Oracle made;
    if (work.pass != Pass::backward) made = make_oracle(work, from, function, rows.rows, threads);
    if (work.pass != Pass::forward)
      made.gradients =
          make_gradient_oracle(work, from, right_forward_rows(set, rows), rows.rows, rows.keys, threads);
    return made;
  });
}

ForwardRows Bench::forward_rows(InputSet set) {
  const std::int64_t rows = work.batch * work.sequence_length * work.heads;
  ForwardRows made;
  made.lse.resize(static_cast<std::size_t>(rows));
  read_elements(forward->lse, Dtype::fp32, 0, made.lse);
  made.delta.resize(made.lse.size());
  made.delta_size.resize(made.lse.size());
  std::vector<float> o_part, d_o_part;
  const auto width = static_cast<std::size_t>(work.head_dim);
  for_each_part(rows * work.head_dim, work.head_dim, [&](std::int64_t first, std::int64_t count) {
    o_part.resize(static_cast<std::size_t>(count));
    d_o_part.resize(o_part.size());
    read_elements(forward->o, work.dtype, first, o_part);
    tensors(set).read(Tensor::d_o, first, d_o_part);
    for (std::size_t at = 0; at < o_part.size(); at += width) {
      const Delta delta =
          delta_of(std::span(d_o_part).subspan(at, width), std::span(o_part).subspan(at, width));
      const std::size_t row = static_cast<std::size_t>(first) / width + at / width;
      made.delta[row] = delta.value;
      made.delta_size[row] = delta.size;
    }
  });
  return made;
}

const ForwardRows& Bench::right_forward_rows(InputSet set, const DrawnRows& rows) {
  const InputTensors& from = tensors(set);
  return once(forward_rows_, &from == &inputs ? "1" : "2", [&] {
    const Case alone = forward_of(work);
    const OutputReader output{
        .o = [&](std::int64_t first,
                 std::span<float> to) { read_elements(forward->o, work.dtype, first, to); },
        .lse = [&](std::int64_t first,
                   std::span<float> to) { read_elements(forward->lse, Dtype::fp32, first, to); }};
    const VerifyResult result =
        verify_output(alone, make_oracle(alone, from, {}, rows.rows, threads), output, threads);
    if (result.fault)
      throw EnvironmentError(
          {.what = "the forward pass that gradients start from is wrong", .why = *result.fault});
    return forward_rows(set);
  });
}

const GradientProbe& Bench::gradient_probe(std::uint64_t entropy) {
  return once(gradient_probes_, "",
              [&] { return make_gradient_probe(work, probe_inputs, entropy, threads); });
}

void Bench::tell_forward(const Put& put_o, const Put& put_lse) {
  const auto tell = [&](const Buffer& buffer, const Put& put) {
    for_each_part(static_cast<std::int64_t>(buffer.bytes), 1, [&](std::int64_t first, std::int64_t count) {
      std::byte* part = staging(static_cast<std::size_t>(count));
      device->download(buffer, static_cast<std::size_t>(first), static_cast<std::size_t>(count), part);
      put(part, static_cast<std::size_t>(count));
    });
  };
  tell(forward->o, put_o);
  tell(forward->lse, put_lse);
}

void Bench::read_elements(const Buffer& from, Dtype dtype, std::int64_t first, std::span<float> to) {
  const auto element = static_cast<std::size_t>(dtype_bytes(dtype));
  const std::size_t bytes = to.size() * element;
  std::byte* raw = staging(bytes);
  device->download(from, static_cast<std::size_t>(first) * element, bytes, raw);
  widen_stored(dtype, raw, to, threads);
}

const KeyProbe& Bench::key_probe(const ComputedFunction& function, std::uint64_t entropy) {
  return once(key_probes_, function.key,
              [&] { return make_key_probe(work, probe_inputs, function, entropy, threads); });
}

const InputTensors& Bench::tensors(InputSet set) const {
  if (set == InputSet::first) return inputs;
  return set == InputSet::key_probe ? probe_inputs : second_inputs;
}

void Bench::hold(InputSet set) {
  if (held_ == set || work.ring_size > 1) return;
  const std::optional<InputSet> held = std::exchange(held_, std::nullopt);  // if filling fails
  const auto of_second = [](std::optional<InputSet> one) {
    return one == InputSet::second || one == InputSet::negated;
  };
  Buffer& negated = forward ? stored.d_o : stored.v;
  if (of_second(held) && of_second(set)) {
    device->negate(negated, work.dtype);
  } else {
    fill_all(set);
    if (set == InputSet::negated) device->negate(negated, work.dtype);
  }
  held_ = set;
}

void Bench::fill_all(InputSet set) {
  fill(set, Tensor::q, stored.q);
  if (set != InputSet::key_probe || forward) fill(set, Tensor::k, stored.k);  // the key probe leaves K
  fill(set, Tensor::v, stored.v);
  if (!forward) return;
  fill(set, Tensor::d_o, stored.d_o);
  forward->run(stored.q, stored.k, stored.v);
  device->synchronize();
}

void Bench::observe() {
  device->observe();
  for (const auto& further : further_devices) further->observe();
  rings->observe();
}

bool Bench::lost() const {
  return device->lost() || std::any_of(further_devices.begin(), further_devices.end(),
                                       [](const auto& further) { return further->lost(); });
}

nlohmann::json Bench::device_state() const {
  nlohmann::json state = device->state();
  std::vector<nlohmann::json> beside = rings->device_states();
  for (const auto& each : further_devices) beside.push_back(each->state());
  if (beside.empty()) return state;
  state["further"] = nlohmann::json::array();
  for (nlohmann::json& further : beside) {
    if (const auto found = further.find("foreign_processes"); found != further.end() && found->is_number())
      state["foreign_processes"] =
          found->get<std::int64_t>() + state.value("foreign_processes", std::int64_t{0});
    state["further"].push_back(std::move(further));
  }
  return state;
}

bool Bench::used_by_others() {
  observe();
  return foreign_processes(device_state()) > 0;
}

namespace {

std::string shard_key(const Shards& shards, std::int64_t rank) {
  return fmt::format("{} {}", static_cast<int>(shards.sharding()), rank);
}
std::function<bool(std::int64_t)> owned_by(const Shards& shards, std::int64_t rank) {
  return [&shards, rank](std::int64_t position) { return shards.owner(position) == rank; };
}

}  // namespace

const KeyProbe& Bench::key_probe_of_shard(const Shards& shards, std::int64_t rank, int rank_threads,
                                          std::uint64_t entropy) {
  return once(key_probes_, shard_key(shards, rank), [&] {
    return make_key_probe(work, probe_inputs, {}, entropy, rank_threads, owned_by(shards, rank));
  });
}

Buffer Bench::allocate(Tensor which) {
  return device->allocate(static_cast<std::size_t>(inputs.size(which) * dtype_bytes(work.dtype)));
}

std::byte* Bench::staging(std::size_t bytes) {
  if (staging_.bytes < bytes) staging_ = device->allocate_host(bytes);
  return static_cast<std::byte*>(staging_.data());
}

void Bench::fill(InputSet set, Tensor which, Buffer& buffer) {
  if (set == InputSet::key_probe && which == Tensor::q && !forward) return device->fill(buffer, std::byte{0});
  const auto element = static_cast<std::size_t>(dtype_bytes(work.dtype));
  for_each_part(inputs.size(which), 1, [&](std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * element;
    std::byte* part = staging(bytes);
    tensors(set).read_stored(which, first, count, part, threads);
    device->upload(part, bytes, buffer, static_cast<std::size_t>(first) * element);
  });
}

}  // namespace hilbench
