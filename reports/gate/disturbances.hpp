// What disturbed a measurement, by what its records say of every process: other programs, the hypervisor,
// a quota, the GPU. One judgement for gates and for stored results.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

inline constexpr double kOthersAllowed = 0.15;  // cores that others keep busy, as a share of all cores
inline constexpr double kStealAllowed = 0.05;   // the same of what the hypervisor takes away

class Disturbances {
 public:
  // Records of one comparison or several. The processes of a comparison are counted once, however many
  // variants they timed.
  void add(std::span<const Record> records);

  // What was too much on a host with `cores` cores, in the median over processes, a sentence each: "other
  // programs kept 1.0 of 2 cores busy". Empty if nothing was, or nothing is known.
  std::vector<std::string> of_host(double cores) const;
  // Other processes on the GPU, and thermal throttling, a sentence each.
  std::vector<std::string> of_gpu() const { return {gpu_.begin(), gpu_.end()}; }
  // What was too little of the cores that the processes were to use, in the median over processes.
  std::vector<std::string> of_processors() const;
  // of_gpu(), of_host(), of_processors().
  std::vector<std::string> sentences(double cores) const;
  // Whether any process says how busy the host was.
  bool known() const { return !busy_.empty(); }

 private:
  void add_processes(const Record& record);

  std::vector<double> busy_, steal_;        // cores, of each process
  std::vector<double> shares_, throttled_;  // the same as in CoresHad
  std::set<std::string> gpu_;
};

// `environment.host.cores` of the first record that says it; otherwise 0.
double cores_of(std::span<const Record> records);

}  // namespace hilbench
