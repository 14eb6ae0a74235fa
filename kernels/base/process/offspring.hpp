// Processes that descend from this one, and how none of them escapes: neither by a session of its own nor
// through a parent that ends.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>

namespace hilbench {

// From now on this process becomes the parent of every descendant whose own parent ends. Throws
// EnvironmentError.
void adopt_orphans();

// Process ids of the children of this process, adopted ones included.
std::set<pid_t> own_children();

// All that descends from this process, by the child of this process through which it does, children included.
std::map<pid_t, std::set<pid_t>> descendants_by_child();

// Seconds of processor time that all threads of a process have used so far; 0 if it is gone.
double processor_s(pid_t process);
// Seconds that each thread of a process has waited for a core so far, by thread; empty if the system does not
// say.
std::map<pid_t, double> waited_s(pid_t process);
// Whether a thread of a process computes or waits for a core, the calling thread aside. Nothing if the system
// does not say, or the process is gone.
std::optional<bool> computes(pid_t process);

// Kills every child of this process that is not in `kept`, and all that descends from them, and waits for
// their end, at most a few seconds.
void end_children_except(const std::set<pid_t>& kept);

// What one program starts while it runs. A mark in its environment, which its descendants inherit, tells it
// from what other programs of this process start.
class Offspring {
 public:
  Offspring();  // adopts orphans; throws EnvironmentError
  // To be called when the program itself has ended. Kills what it left behind. If it was the last program of
  // this process, that includes descendants that lost the mark.
  ~Offspring();
  Offspring(const Offspring&) = delete;
  Offspring& operator=(const Offspring&) = delete;

  static constexpr const char* kVariable = "HILBENCH_OFFSPRING";
  const std::string& mark() const { return mark_; }  // the variable's value

 private:
  std::string mark_;
};

}  // namespace hilbench
