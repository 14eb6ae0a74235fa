#include "harness/external/fork_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "baselines/external/programs.hpp"
#include "harness/external/python.hpp"
#include "kernels/base/process/answering_program.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

namespace {

// A pair whose ends close with it; programs that are started inherit neither by themselves.
class SocketPair {
 public:
  SocketPair() {
    if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends_.data()) != 0)
      throw_errno("cannot make sockets for the fork server");
  }
  ~SocketPair() {
    close_server();
    ::close(ends_[0]);
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  int client() const { return ends_[0]; }
  int server() const { return ends_[1]; }
  void close_server() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

std::vector<std::string> command(SharedFile& script, int socket) {
  std::vector<std::string> words = python_command(embedded_fork_server(), script);
  words.push_back(std::to_string(socket));
  return words;
}

}  // namespace

class ForkServer::Process {
 public:
  Process() : python_("python", command(script_, sockets_.server()), "", {}, {sockets_.server()}) {
    sockets_.close_server();  // so that clients notice its end
  }

  int client() const { return sockets_.client(); }

 private:
  SocketPair sockets_;
  SharedFile script_{"fork_server"};
  AnsweringProgram python_;
};

ForkServer::ForkServer() = default;
ForkServer::~ForkServer() = default;

int ForkServer::socket_for(const ComparisonTask& task) {
  const bool wanted = std::ranges::any_of(task.records, [&](const Record& record) {
    return record.variant.is_baseline() && can_be_forked(external_name(record.kernel)) &&
           find_external(task.externals, record.kernel) != nullptr;
  });
  if (!wanted || std::getenv(kVariable) != nullptr) return -1;
  if (!std::exchange(tried_, true)) {
    try {
      process_ = std::make_unique<Process>();
    } catch (const EnvironmentError&) {
      return -1;
    }
  }
  return process_ ? process_->client() : -1;
}

}  // namespace hilbench
