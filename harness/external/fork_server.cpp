#include "harness/external/fork_server.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "baselines/external/programs.hpp"
#include "harness/external/python.hpp"
#include "kernels/base/process/answering_program.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

class ForkServer::Process {
 public:
  Process()
      : python_("python", python_command(embedded_fork_server(), script_), ""),
        address_(python_.hear(limit)) {
    if (!address_.starts_with("hilbench-"))
      throw EnvironmentError({.what = "the fork server gives no address", .why = address_});
  }

  const std::string& address() const { return address_; }

 private:
  // Until it listens; PyTorch is imported after that.
  static void limit(double seconds) {
    constexpr double kPatience_s = 10;
    if (seconds > kPatience_s) throw EnvironmentError({.what = "the fork server does not start"});
  }

  SharedFile script_{"fork_server"};
  AnsweringProgram python_;
  const std::string address_;
};

ForkServer::ForkServer() = default;
ForkServer::~ForkServer() = default;

std::string ForkServer::address_for(const ComparisonTask& task) {
  const bool wanted = std::ranges::any_of(task.records, [&](const Record& record) {
    return record.variant.is_baseline() && can_be_forked(external_name(record.kernel)) &&
           find_external(task.externals, record.kernel) != nullptr;
  });
  if (!wanted || std::getenv(kVariable) != nullptr) return "";
  if (!std::exchange(tried_, true)) {
    try {
      process_ = std::make_unique<Process>();
    } catch (const EnvironmentError&) {
      return "";
    }
  }
  return process_ ? process_->address() : "";
}

}  // namespace hilbench
