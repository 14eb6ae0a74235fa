#include "kernels/base/process/offspring.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

using Clock = std::chrono::steady_clock;

// A process in an uninterruptible call does not end by a signal: nobody waits for it any longer.
constexpr std::chrono::seconds kPatience{3};

// The programs that run at present in this process.
struct Programs {
  std::mutex mutex;
  int running = 0, started = 0;
  std::set<pid_t> before;  // children from before the first of them
};
Programs& programs() {
  static Programs all;
  return all;
}

bool childless() {
  siginfo_t any = {};
  return ::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

std::string text_of(pid_t process, const char* name) {
  std::ifstream in(fmt::format("/proc/{}/{}", process, name), std::ios::binary);
  // Not by iterators, which throw if the process ends between opening and reading.
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// 0 if the process is gone.
pid_t parent_of(pid_t process) {
  const std::string text = text_of(process, "stat");
  const std::size_t name_end = text.rfind(')');  // the name of a program may hold anything
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(text.substr(name_end + 1));
  std::string state;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

// 'R': it runs, or waits for a core. 0 if the thread is gone.
char thread_state(const std::filesystem::path& stat) {
  std::ifstream in(stat);
  std::string text;
  std::getline(in, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '\0' : text[name_end + 2];
}

// The children of every process, by process.
std::multimap<pid_t, pid_t> children_of_all() {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t process = 0;
    const auto [stop, wrong] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (wrong != std::errc() || stop != name.data() + name.size()) continue;
    if (const pid_t parent = parent_of(process); parent > 0) children.emplace(parent, process);
  }
  return children;
}

// All that descends from `process`, except through a process in `kept`.
std::set<pid_t> below(pid_t process, const std::multimap<pid_t, pid_t>& children,
                      const std::set<pid_t>& kept = {}) {
  std::set<pid_t> found;
  for (std::vector<pid_t> open = {process}; !open.empty();) {
    const auto [first, end] = children.equal_range(open.back());
    open.pop_back();
    for (auto at = first; at != end; ++at)
      if (!kept.contains(at->second) && found.insert(at->second).second) open.push_back(at->second);
  }
  return found;
}

// Kills what `find` returns until it returns nothing more: a process may start another before it is killed.
template <class Find>
void end_all(const Find& find) {
  const auto deadline = Clock::now() + kPatience;
  for (std::set<pid_t> left = find(); !left.empty() && Clock::now() < deadline; left = find()) {
    for (const pid_t process : left) ::kill(process, SIGKILL);
    for (const pid_t process : left)  // only children of this process can be waited for
      while (::waitpid(process, nullptr, WNOHANG) == 0 && Clock::now() < deadline) ::usleep(200);
  }
}

bool has_line(const std::string& environment, const std::string& line) {
  for (std::size_t begin = 0; begin < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', begin), environment.size());
    if (environment.compare(begin, end - begin, line) == 0) return true;
    begin = end + 1;
  }
  return false;
}

// Descendants of this process that have `line` in their environment, and all that descends from them.
std::set<pid_t> marked(const std::string& line) {
  std::set<pid_t> found;
  if (childless()) return found;
  const auto children = children_of_all();
  for (const pid_t process : below(::getpid(), children)) {
    if (!has_line(text_of(process, "environ"), line)) continue;
    found.insert(process);
    found.merge(below(process, children));
  }
  return found;
}

}  // namespace

void adopt_orphans() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw_errno("cannot adopt processes");
}

std::set<pid_t> own_children() {
  std::set<pid_t> found;
  if (childless()) return found;
  const auto children = children_of_all();
  const auto [first, end] = children.equal_range(::getpid());
  for (auto at = first; at != end; ++at) found.insert(at->second);
  return found;
}

std::map<pid_t, std::set<pid_t>> descendants_by_child() {
  std::map<pid_t, std::set<pid_t>> found;
  if (childless()) return found;
  const auto children = children_of_all();
  const auto [first, end] = children.equal_range(::getpid());
  for (auto at = first; at != end; ++at) {
    found[at->second] = below(at->second, children);
    found[at->second].insert(at->second);
  }
  return found;
}

double processor_s(pid_t process) {
  clockid_t clock = {};
  timespec used = {};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

std::map<pid_t, double> waited_s(pid_t process) {
  std::map<pid_t, double> waited;
  std::error_code error;  // also of threads that end meanwhile
  for (std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), error), end;
       !error && thread != end; thread.increment(error)) {
    std::ifstream in(thread->path() / "schedstat");  // nanoseconds that it ran, and waited for a core
    double ran_ns = 0, waited_ns = 0;
    if (in >> ran_ns >> waited_ns) waited[std::stoi(thread->path().filename())] = 1e-9 * waited_ns;
  }
  return waited;
}

std::optional<bool> computes(pid_t process) {
  if (thread_state("/proc/thread-self/stat") != 'R') return std::nullopt;  // of this thread, which runs
  const std::string self = std::to_string(::gettid());
  std::error_code error;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), error), end;
  if (error) return std::nullopt;
  for (; !error && thread != end; thread.increment(error))
    if (thread->path().filename() != self && thread_state(thread->path() / "stat") == 'R') return true;
  return false;
}

void end_children_except(const std::set<pid_t>& kept) {
  end_all([&kept] { return childless() ? std::set<pid_t>() : below(::getpid(), children_of_all(), kept); });
}

Offspring::Offspring() {
  adopt_orphans();
  Programs& all = programs();
  const std::lock_guard lock(all.mutex);
  if (all.running++ == 0) all.before = own_children();
  mark_ = fmt::format("{}.{}", ::getpid(), ++all.started);
}

Offspring::~Offspring() {
  const std::string line = fmt::format("{}={}", kVariable, mark_);
  end_all([&line] { return marked(line); });
  Programs& all = programs();
  const std::lock_guard lock(all.mutex);
  if (--all.running == 0) end_children_except(all.before);
}

}  // namespace hilbench
