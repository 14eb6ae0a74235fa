// A record: all that is known of one case and variant. Its JSON form is a line of `export --format jsonl`,
// the message from a worker to its supervisor, and what the store keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/text/counter.hpp"
#include "kernels/base/text/json.hpp"
#include "kernels/case/resolved.hpp"

namespace hilbench {

inline constexpr int kRecordSchema = 3;
inline constexpr int kOldestRecordSchema = 2;  // still read
// What to do with what is of schema 1.
inline constexpr std::string_view kSchema1Remedy =
    "`hilbench export --format jsonl` of version 0.1.0 makes records of it that this version reads";

enum class Status { ok, skipped, failed, invalid };
enum class Verdict { faster, slower, equivalent, inconclusive, different_function };

std::string_view to_string(Status status);
std::string_view to_string(Verdict verdict);  // "faster", "different function", ...

struct Interval {
  double low = 0;
  double high = 0;
};

// What a comparison of rows of one tensor with the reference found, as in RowCheck.
struct TensorCheck {
  std::string name;  // "O", "dQ", "dK", "dV"
  double max_abs = 0, rel_l2 = 0;
  std::int64_t rows = 0;
  double tolerance = 0, worst = 0;
};

// What a comparison of rows of the output with the reference found. With gradients: of the worst tensor, and
// `rows` of all.
struct RowCheck {
  double max_abs = 0;      // largest |O - reference|, over the rows compared
  double rel_l2 = 0;       // |O - reference|_2 / |reference|_2
  double lse_max_abs = 0;  // largest |LSE - reference|; NaN if the variant returns no LSE
  std::int64_t rows = 0;   // (row, head) pairs compared
  double tolerance = 0;    // of the row that came nearest to its own, or exceeded it most
  // The largest error of a row as a multiple of its tolerance: at most 1 in a right output. Older records
  // have one tolerance for all rows instead.
  std::optional<double> worst;
  std::vector<TensorCheck> tensors = {};  // with gradients each tensor, otherwise none
};

// The largest error of a row as a multiple of its tolerance; of older records, of the tolerance of all rows.
inline double worst_share(const RowCheck& check) {
  if (check.worst) return *check.worst;
  return check.max_abs == 0 ? 0 : check.max_abs / check.tolerance;
}

struct Verification {
  RowCheck before;  // the timing
  // Rows in which the key probe would have shown one missing or doubled key; nothing if it did not run.
  std::optional<std::int64_t> probed_rows;
  // After the timing, on other inputs, and in poisoned rounds; nothing in records of schema 2 and older.
  std::optional<RowCheck> after;
  std::int64_t poisoned_rounds = 0;  // in which rows were compared, the last one included
  bool once = false;                 // `after` is of the inputs of `before`: the program takes no others
  // What the compared rows were drawn by, of each process: two numbers of 16 hexadecimal digits, those of
  // `before` and of `after`.
  std::vector<std::string> entropy;
  // Why the program computes another function than the case asks for, as it says; empty if it computes that
  // one. Its output then only has to be written and finite, and its errors are distances from what was asked.
  std::string other_function;
};

// Of its two comparisons the one with the larger error, as a share of what is allowed.
inline const RowCheck& worst_check(const Verification& verify) {
  return verify.after && worst_share(*verify.after) > worst_share(verify.before) ? *verify.after
                                                                                 : verify.before;
}
// (row, head) pairs compared in all.
inline std::int64_t compared_rows(const Verification& verify) {
  return verify.before.rows + (verify.after ? verify.after->rows : 0);
}

// What a program was asked for while it was timed, and how long that took by clocks that are not its own.
struct Requests {
  std::int64_t count = 0, executions = 0;
  double reported_ns = 0;   // by the program, for all executions
  double wall_ns = 0;       // from asking to the answer
  double processor_ns = 0;  // that the program and what it started used meanwhile, over all cores
  double waited_ns = 0;     // for a core, by the program or by us, as far as the system says
  double empty_ns = 0;      // of them the request itself takes, for each; 0: not known
  // Of a further request: that its GPU worked, and what the program reported for it; nothing if that is not
  // known.
  std::optional<double> busy_ns, busy_reported_ns;
};

enum class CacheState { warm, cold };

// How a script takes one time of each end of a chain, to divide the one by the other.
enum class EndTurn { first, last, interleaved };
struct Protocol {
  std::int64_t runs = 1;                // executions of each end, of which the mean is taken
  EndTurn end = EndTurn::first;         // when the end of the chain is timed
  CacheState cache = CacheState::warm;  // warm: after one execution that is not timed; cold: evicted before
  bool operator==(const Protocol&) const = default;
};
std::string protocol_text(const Protocol& protocol);  // "10 runs, end first, warm"

// What scripts reported of one end, in trials that pair with those of the other end by index.
struct ProtocolTimes {
  Protocol protocol;
  std::vector<double> trials_ns;             // processes one after another
  std::vector<std::int64_t> process_trials;  // number of trials of each process
};

struct Timing {
  double median_ns = 0;
  Interval ci_ns;
  std::vector<double> samples_ns;            // in the order measured, processes one after another
  std::vector<std::int64_t> process_rounds;  // number of samples of each process; rounds pair by index
  std::string timer;                         // steady_clock | cuda_events | cupti_activity
  std::vector<ProtocolTimes> protocols;      // of the ends of a chain; no evidence, and of no verdict
};

// What an execution used, of the whole device.
struct Energy {
  double median_j = 0;
  std::vector<double> samples_j;  // as Timing::samples_ns, of the same rounds
  std::string source;             // nvml | rapl
  std::string reason;             // why there are no samples
};

inline constexpr double kDefaultMargin = 0.01;

// What a reference needs, as a multiple of what a variant needs: time, memory, or a counter. Found when
// records are read (reports/view/judge.hpp, pairing.hpp); never stored.
struct Measured {
  double ratio = 0;           // above 1, the variant needs less
  Interval ci;                // of a time: 95 %, unadjusted; of an exact count: both ends equal the ratio
  std::size_t processes = 0;  // that timed both; 0: counted, not timed
  Verdict verdict = Verdict::inconclusive;
  double margin = kDefaultMargin;  // the smallest effect worth a name, as a share
  std::string against;             // of a record's speedup: the reference
};

// The variant id of a twin is that of its reference and these letters.
inline constexpr std::string_view kTwinSuffix = "@twin";

struct Record : Resolved {
  std::string sweep;
  std::string reference;  // variant that the others of its comparison are compared with; empty: none
  double injected = 0;    // share of work that a gate added to its time, to see whether it is noticed
  double margin = kDefaultMargin;  // `measure.margin` of the sweep
  std::string cache = "warm";
  double steady_s = 0;  // a sample is executions back to back for so many seconds or more; 0: it is not
  Status status = Status::ok;
  std::string reason;  // empty if status is ok
  std::optional<Verification> verify;
  std::optional<Timing> time;
  std::optional<Requests> requests;  // of a separate program
  std::optional<Energy> energy;      // of steady samples
  std::optional<double> permute_ns;  // none if no row is moved, or rows are made where they belong
  std::optional<double> tflops;
  // FLOP/s that its rate was held against, of all its devices: the most that its processes measured.
  std::optional<double> judging_peak;
  std::map<std::string, Counter> counters;
  std::optional<Measured> speedup;
  std::int64_t schema = kRecordSchema;  // of the JSON that it was read from; it is written as kRecordSchema
  JsonValue environment;                // host, device, build, time; `library` if a library computed it
};

// Whether what it computes is another function than the case asks for: it permutes tokens, or says so.
bool computes_other_function(const Record& record);

// Whether it is of an output that was verified and timed.
bool measured_right(const Record& record);

// Number of other processes that used the device during the timing, by the record or its `device_state`. If
// there are any, its times give no ratio.
std::int64_t foreign_processes(const Record& record);
std::int64_t foreign_processes(const nlohmann::json& device_state);

// The counter of that name, read or not; null if the record has none.
const Counter* find_counter(const Record& record, std::string_view name);
// Its value; nothing if it is absent or could not be read.
std::optional<double> counter_value(const Record& record, std::string_view name);

// Of windows, pairs that are computed for each that is needed. Kernels count their tiles; rivals may say it
// in their description.
std::optional<double> computed_over_needed(const Record& record);

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
// Throws UsageError if `json` is not a record of schema 2 or 3. `speedup` is not read.
Record record_from_json(const nlohmann::json& json);

}  // namespace hilbench
