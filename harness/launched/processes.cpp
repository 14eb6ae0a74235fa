#include "harness/launched/processes.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/base/text/error.hpp"
#include "kernels/machine/host_name.hpp"

namespace hilbench {
namespace {

using Json = nlohmann::json;

constexpr double kStartTimeout_s = 120;  // planning a large sweep on a busy host takes long
constexpr double kCommandShare = 1.5;    // of the timeout; rank 0 speaks earlier than that
constexpr double kTellShare = 0.25;      // of the timeout; rank 0 then says that it works

constexpr double kRollTimeout_s = 3;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

LaunchedProcesses::LaunchedProcesses(const Launch& launch) {
  if (program_.size() == launch.processes && program_.rank() == launch.rank) return;
  throw EnvironmentError(
      {.what = fmt::format("the launcher started {} processes, of which MPI sees {}", launch.processes,
                           program_.size()),
       .where = fmt::format("rank {}", launch.rank),
       .why = fmt::format("it does not belong to {}, which this build uses", mpi_version()),
       .remedy =
           "use the mpirun or the srun --mpi option of that library; if none started this process, unset "
           "the variables that one left (OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS)"});
}

template <class Call>
auto LaunchedProcesses::guarded(Call call) {
  try {
    return call();
  } catch (const TransportError& error) {
    set_broken(error.what());
    throw;
  }
}

std::vector<std::string> LaunchedProcesses::gather(const std::string& mine) {
  return guarded([&] { return program_.transport(size(), kStartTimeout_s)->gather(mine); });
}

void LaunchedProcesses::open(double timeout_s) {
  timeout_s_ = timeout_s;
  guarded([&] {
    commands_ = program_.transport(size(), kCommandShare * timeout_s);
    answers_ = program_.transport(size(), timeout_s);
    roll_ = program_.transport(size(), kRollTimeout_s);
  });
}

// Sends the length, then this many bytes of CBOR. Unlike text, CBOR keeps infinities and binary values.
void LaunchedProcesses::send(int first, int end, Transport& transport, const Json& value) {
  if (end <= first) return;
  std::vector<std::uint8_t> text = Json::to_cbor(value);
  std::uint64_t length = text.size();
  std::vector<Transport::Message> messages;
  for (int peer = first; peer < end; ++peer) {
    messages.push_back({peer, &length, sizeof length});
    messages.push_back({peer, text.data(), text.size()});
  }
  guarded([&] {
    transport.post(messages, {});
    transport.wait();
  });
}

Json LaunchedProcesses::receive(int from, Transport& transport) {
  std::uint64_t length = 0;
  std::vector<std::uint8_t> text;
  guarded([&] {
    const std::array head = {Transport::Message{from, &length, sizeof length}};
    transport.post({}, head);
    transport.wait();
    text.resize(length);
    const std::array body = {Transport::Message{from, text.data(), text.size()}};
    transport.post({}, body);
    transport.wait();
  });
  return Json::from_cbor(text);
}

void LaunchedProcesses::tell(int ranks, const ProcessCommand& command) {
  send(1, ranks, *commands_, to_json(command));
  if (ranks == size()) last_told_ns_ = now_ns();
}

std::vector<ProcessAnswer> LaunchedProcesses::answers(int ranks, ProcessAnswer own) {
  std::vector<ProcessAnswer> all{std::move(own)};
  for (int peer = 1; peer < ranks; ++peer) all.push_back(process_answer_from_json(receive(peer, *answers_)));
  return all;
}

void LaunchedProcesses::keep_waiting() {
  if (static_cast<double>(now_ns() - last_told_ns_) * 1e-9 < kTellShare * timeout_s_) return;
  tell(size(), KeepWaiting{});
}

ProcessCommand LaunchedProcesses::hear() {
  for (;;) {
    ProcessCommand command = process_command_from_json(receive(0, *commands_));
    if (!std::holds_alternative<KeepWaiting>(command)) return command;
  }
}

void LaunchedProcesses::answer(const ProcessAnswer& answer) {
  send(0, 1, *answers_, to_json(answer));
}

std::unique_ptr<Transport> LaunchedProcesses::ring(int size) {
  return guarded([&] { return program_.transport(size, timeout_s_); });
}

void LaunchedProcesses::set_broken(const std::string& why) {
  if (broken_.empty()) broken_ = why;
}

void LaunchedProcesses::call_roll() noexcept {
  if (roll_ == nullptr) return;
  try {
    if (leads()) tell(size(), CallRoll{});
    roll_->gather("");
  } catch (const std::exception& error) {
    broken_ += fmt::format("; roll call: {}", error.what());
  }
  roll_.reset();
}

std::string host_identity() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string boot;
  in >> boot;
  return boot.empty() ? host_name() : boot;
}

}  // namespace hilbench
