// External baselines and kernels of the user: programs in any language that answer a protocol of JSON lines
// (docs/external.md, docs/kernels.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/device.hpp"
#include "harness/external/input_files.hpp"
#include "harness/external/request_clock.hpp"
#include "harness/measure/verify.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/base/process/answering_program.hpp"
#include "kernels/base/process/shared_file.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// Thrown if the program cannot compute the case here. The variant is skipped with this reason.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One external baseline for one case. greet(), load() and profile() throw Unsupported if the program answers
// `unsupported`; every function throws EnvironmentError if it dies, reports an error or breaks the protocol.
class ExternalProgram {
 public:
  static constexpr int kNewestProtocol = 2;

  // Starts the program of baseline `kernel` (NAME or NAME.OPTION) and says hello, but does not wait for the
  // answer. `gpus` holds the UUIDs of the GPUs that it may see; if empty, it sees the same GPUs as this
  // process. A program of this build may run in a fork of the server at `fork_server`, unless that is -1.
  // `cache`: in which state executions are timed.
  ExternalProgram(std::string kernel, const External& external, Case work, int threads,
                  const std::vector<std::string>& gpus, int fork_server, CacheState cache);

  // Waits for the answer to hello, and checks that the program can run the case here. Only the first call
  // waits.
  void greet();
  // Of a kernel that is greeted: query rows of its tiles; 0: it says none.
  std::int64_t tile_rows() const;
  // Gives the program, which is greeted, the case and its inputs; `kernel`: KernelLayout::request, null for a
  // baseline. It reads `files` and those of `kernel` before this returns.
  void load(const InputFiles& files, const nlohmann::json& kernel = nullptr);
  // The protocol that it speaks, 1 or 2.
  int protocol() const { return protocol_; }
  // Gives it other inputs, which differ from those that it has in the tensors `changed`. False: it takes
  // none, because it speaks protocol 1 or says so. It reads `files` before this returns.
  bool give(const InputFiles& files, const std::vector<std::string>& changed);
  // Returns the duration of each of `executions` in nanoseconds, by the program's own clock. Throws
  // EnvironmentError besides if that clock contradicts ours.
  std::vector<double> run(std::int64_t executions);
  // As RequestClock::allow_for_others(): for run() and check_clock().
  void allow_for_others(std::function<bool()> shared) { clock_.allow_for_others(std::move(shared)); }
  // After the timing: holds what it reports for executions alone in their request against requests for as
  // many as were timed, and what it reports for many against what `device`, on which it computes, was busy
  // meanwhile, if the device tells. Throws like run().
  void check_clock(Device& device);
  // What run() asked for so far, except the first time: a program may start parts of itself then.
  Requests requests() const { return clock_.requests(); }
  // How long the busiest device works in each of this many further executions, in nanoseconds; the program
  // says in its answer to hello whether it knows.
  bool profiles() const;
  // Of a library that this program hosts: it counts one execution in its own process, as a worker counts its
  // own.
  bool counts() const { return hosted_; }
  std::map<std::string, Counter> count(const std::string& set, CacheState cache);
  std::vector<double> profile(std::int64_t executions);
  // Reads the output of the last execution. The result stays valid after further executions.
  OutputReader output();
  // The same for these rows alone; of protocol 2. `inputs` are those that it has.
  TakenRows rows(const DrawnRows& rows, InputSet inputs);

  // Lets the program exit, and does not wait for that. Nothing may be asked afterwards.
  void end() { process_->end(); }

  pid_t process() const { return process_->id(); }
  int devices() const { return devices_; }             // number of devices that it may use
  const std::string& timer() const { return timer_; }  // "external:cuda_events"
  // What the program says that storing its inputs in its own order takes, once; nothing if it stores none so.
  std::optional<double> permute_ns() const { return permute_ns_; }
  // Why it computes another function than the case asks for, as it says; empty if it computes that one.
  const std::string& other_function() const { return other_function_; }
  // Name, version, and further keys of its answers.
  const nlohmann::json& description() const { return described_; }

 private:
  void pause(const std::set<pid_t>& watched) const;
  // Only some requests may be answered by `unsupported`.
  enum class Refusal { allowed, breaks_protocol };
  nlohmann::json ask(const nlohmann::json& request, Refusal refusal = Refusal::breaks_protocol);
  nlohmann::json hear(Refusal refusal);
  struct Durations {
    std::vector<double> ns;
    double wall_ns = 0;         // from asking to the answer
    double processor_ns = 0;    // of the program and what it started, meanwhile
    std::set<pid_t> processes;  // the program and what it started, afterwards
  };
  // `watched`: the program and what it started, before.
  Durations durations(const char* request, const char* key, std::int64_t executions,
                      const std::set<pid_t>& watched, Refusal refusal = Refusal::breaks_protocol);
  // A request for timed executions, and their durations.
  RequestTimes timed(std::int64_t executions, std::vector<double>& ns);
  // By the reported times: each of `alone` is one execution in a request of its own.
  struct AloneAndBeside {
    std::vector<RequestTimes> alone;
    std::vector<double>
        beside_ns;  // of one among others in its request; several, for requests of other sizes
  };
  AloneAndBeside alone_and_beside_others();
  OfGradients<std::shared_ptr<SharedFile>> read_gradients(const nlohmann::json& further);
  bool read_into(const nlohmann::json& further, const SharedFile& o, const SharedFile& lse);
  std::set<pid_t> processes() const;
  struct Waits {
    std::map<pid_t, double> own_s, program_s;  // for a core, by thread
  };
  static Waits waits_of(const std::set<pid_t>& watched);
  // In nanoseconds; nothing if it is not known.
  std::optional<double> waited_since(const Waits& before, const std::set<pid_t>& watched) const;

  // A library whose kernels CUPTI times, each one, in our own code.
  bool has_kernel_records() const { return hosted_ && timer_ == "external:" + std::string(kKernelRecords); }

  std::string kernel_, name_;
  ImplementationKind kind_;
  bool hosted_;
  Case work_;
  int threads_, devices_;
  int protocol_ = kNewestProtocol;
  std::unique_ptr<SharedFile> script_;   // of a program of this build, until it is loaded
  std::unique_ptr<SharedFile> package_;  // that a program of the sweep may import: hilbench.kernel
  std::unique_ptr<AnsweringProgram> process_;
  std::string timer_;
  std::optional<double> permute_ns_;
  std::string other_function_;
  RequestClock clock_;
  std::int64_t most_executions_ = 0;  // of a request for timed ones
  bool may_be_forked_ = false;   // what computes may be a fork of the server, which is not seen from here
  bool rests_long_ = false;      // before and after each request
  bool takes_inputs_ = false;    // as it has shown
  std::optional<bool> has_lse_;  // as its first answer to `read` says
  nlohmann::json described_;
};

}  // namespace hilbench
