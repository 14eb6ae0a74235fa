#include "harness/external/external_variant.hpp"

#include <algorithm>

#include "baselines/external/programs.hpp"
#include "harness/external/program.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {
namespace {

// UUIDs of the GPUs that the program may see. They are the bench's GPU and, for a ring, the next GPUs of this
// machine, at most one for each rank. Empty for a case on the CPU.
std::vector<std::string> gpus_of(const Bench& bench) {
  const std::string own = bench.device->gpu_uuid();
  if (own.empty() || bench.work.ring_size == 1)
    return own.empty() ? std::vector<std::string>{} : std::vector{own};
  std::vector<std::string> uuids;
  for (const Gpu& gpu : survey_gpus().gpus) uuids.push_back(gpu.uuid);
  std::rotate(uuids.begin(), std::find(uuids.begin(), uuids.end(), own), uuids.end());
  uuids.resize(std::min(uuids.size(), static_cast<std::size_t>(bench.work.ring_size)));
  return uuids;
}

class ExternalVariant final : public PreparedVariant {
 public:
  ExternalVariant(Bench& bench, const Record& record)
      : PreparedVariant(kDeclaredExternal),
        bench_(bench),
        gpus_(gpus_of(bench)),
        program_(record.kernel, *find_external(bench.externals, record.kernel), bench.work, bench.threads,
                 bench.inputs, gpus_) {}

  void run() override { program_.run(1); }
  std::vector<double> run_timed(std::int64_t executions) override { return program_.run(executions); }
  bool times_itself() const override { return true; }
  std::string timer() const override { return program_.timer(); }
  int devices() const override { return std::max(1, static_cast<int>(gpus_.size())); }
  std::string why_not_counted() const override { return "runs in a process of its own"; }
  nlohmann::json library() const override { return program_.description(); }
  void fill_output(std::byte) override {}  // every read uses new files
  VerifyResult verify() override {
    return verify_output(bench_.work, bench_.oracle("", {}), output(), bench_.threads);
  }
  // A program is given its inputs once.
  bool load(InputSet) override { return false; }
  ProbeErrors probe() override { return {}; }
  OutputReader output() override { return program_.output(); }
  std::map<std::string, Counter> measured() override { return {}; }
  std::optional<double> permute_ns() const override { return std::nullopt; }

 private:
  Bench& bench_;
  const std::vector<std::string> gpus_;
  ExternalProgram program_;
};

}  // namespace

std::unique_ptr<PreparedVariant> make_external_variant(Bench& bench, const Record& record) {
  return std::make_unique<ExternalVariant>(bench, record);
}

}  // namespace hilbench
