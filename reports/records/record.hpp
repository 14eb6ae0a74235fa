// A record: all that is known of one case and variant. Its JSON form is a line of `export --format jsonl`,
// the message from a worker to its supervisor, and what the store keeps.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/counter.hpp"
#include "kernels/base/json.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

inline constexpr int kRecordSchema = 2;
inline constexpr int kOldestRecordSchema = 1;  // still read

enum class Status { ok, skipped, failed, invalid };
enum class Verdict { faster, slower, equivalent, inconclusive, different_function };

std::string_view to_string(Status status);
std::string_view to_string(Verdict verdict);  // "faster", "different function", ...

struct Interval {
  double low = 0;
  double high = 0;
};

struct Verification {
  double max_abs = 0;      // largest |O - reference|, over the rows compared
  double rel_l2 = 0;       // |O - reference|_2 / |reference|_2
  double lse_max_abs = 0;  // largest |LSE - reference|; NaN if the variant returns no LSE
  std::int64_t rows = 0;   // (row, head) pairs compared
  double tolerance = 0;    // of the row that came nearest to its own, or exceeded it most
  // The largest error of a row as a multiple of its tolerance: at most 1 in a right output. Older records
  // have one tolerance for all rows instead.
  std::optional<double> worst;
  // Rows in which the key probe would have shown one missing or doubled key; nothing if it did not run.
  std::optional<std::int64_t> probed_rows;
};

// The largest error of a row as a multiple of its tolerance; of older records, of the tolerance of all rows.
inline double worst_share(const Verification& verify) {
  if (verify.worst) return *verify.worst;
  return verify.max_abs == 0 ? 0 : verify.max_abs / verify.tolerance;
}

struct Timing {
  double median_ns = 0;
  Interval ci_ns;
  std::vector<double> samples_ns;            // in the order measured, processes one after another
  std::vector<std::int64_t> process_rounds;  // number of samples of each process; rounds pair by index
  std::string timer;                         // steady_clock | cuda_events | cupti_activity
};

// (query, key) pairs of windows on a grid, of all heads. Counted, not measured.
struct Pairs {
  double needed = 0;          // that the windows select
  double computed = 0;        // that the tiles multiply
  double density = 0;         // computed, as a share of all pairs
  double partial_blocks = 0;  // share of the blocks of keys that need a mask
};

// What an execution used, of the whole device.
struct Energy {
  double median_j = 0;
  std::vector<double> samples_j;  // as Timing::samples_ns, of the same rounds
  std::string source;             // nvml | rapl
  std::string reason;             // why there are no samples
};

// Found from the samples of all records when they are read (reports/view/judge.hpp); never stored.
struct Speedup {
  std::string against;
  double ratio = 0;  // reference time / this time; above 1, this is faster
  Interval ci;
  std::int64_t processes = 0;  // that timed both
  double margin = 0;           // the smallest effect worth a name, as a share
  Verdict verdict = Verdict::inconclusive;
};

inline constexpr double kDefaultMargin = 0.01;
// The variant id of a twin is that of its reference and these letters.
inline constexpr std::string_view kTwinSuffix = "@twin";

struct Record {
  std::string sweep;
  Case work;
  Variant variant;
  std::string case_id;
  std::string variant_id;
  bool twin = false;      // a second instance of the reference: what it differs by is noise
  std::string reference;  // variant that the others of its comparison are compared with; empty: none
  double injected = 0;    // share of work that a gate added to its time, to see whether it is noticed
  double margin = kDefaultMargin;  // `measure.margin` of the sweep
  std::string kernel;              // resolved: "dilated_cpu"
  ImplementationKind kind = ImplementationKind::kernel;
  std::int64_t order_chunk = 0;         // resolved; 0: not applicable
  std::int64_t threads = 0;             // resolved
  std::vector<std::string> traversals;  // of each branch, if the variant leaves them to `auto`
  std::string ring_algorithm;    // resolved; `local` if nothing is exchanged; empty if one rank, or skipped
  std::int64_t ring_groups = 0;  // resolved: groups of ranks; 0 if none are known, one rank, or skipped
  std::string transport;         // resolved; empty as above
  Sharding sharding = Sharding::automatic;      // resolved; automatic as above
  HeadMoves head_moves = HeadMoves::automatic;  // resolved; automatic as above, and if no heads move
  std::string cache = "warm";
  double steady_s = 0;  // a sample is executions back to back for so many seconds or more; 0: it is not
  Status status = Status::ok;
  std::string reason;  // empty if status is ok
  std::optional<Verification> verify;
  std::optional<Timing> time;
  std::optional<Energy> energy;      // of steady samples
  std::optional<double> permute_ns;  // none if no row is moved, or rows are made where they belong
  std::optional<double> flops;
  std::optional<double> min_bytes;
  std::optional<double> tflops;
  std::optional<double> memory_bytes;
  std::optional<double> comm_bytes;
  std::optional<double> comm_bytes_inside;   // groups of ranks; none if there are no groups
  std::optional<double> comm_bytes_between;  // the same
  std::optional<Pairs> pairs;                // of windows, if it computes them by tiles
  std::map<std::string, Counter> counters;
  std::optional<Speedup> speedup;
  std::int64_t schema = kRecordSchema;  // of the JSON that it was read from; it is written as kRecordSchema
  JsonValue environment;                // host, device, build, time; `library` if a library computed it
};

// Number of other processes that used the device during the timing. If there are any, its times
// give no ratio.
std::int64_t foreign_processes(const Record& record);

// The counter of that name, read or not; null if the record has none.
const Counter* find_counter(const Record& record, std::string_view name);
// Its value; nothing if it is absent or could not be read.
std::optional<double> counter_value(const Record& record, std::string_view name);

// The variant with what its ring options resolved to.
Variant variant_that_ran(const Record& record);

// "2 s": how long its samples are at least if they are steady; "no" if they are not.
std::string steady_text(const Record& record);

// Why the GPU ran slower during the timing, by NVML: "power cap", "hardware thermal" ...
std::vector<std::string> throttle_reasons(const Record& record);

// The text of environment.PART.KEY on one line; "" if there is none.
std::string environment_text(const Record& record, const char* part, const char* key);

// All keys are always present: null if unknown or not applicable; never NaN or Infinity.
nlohmann::json to_json(const Record& record);
// Throws UsageError if `json` is not a record of schema 1 or 2. `speedup` is not read: only what it is
// against.
Record record_from_json(const nlohmann::json& json);

}  // namespace hilbench
