#include "reports/records/record_consistency.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

Record good() {
  Record record{{.case_id = "case", .variant_id = "dilated/hilbert"}};
  record.verify = Verification{.before = {.max_abs = 1e-6, .rel_l2 = 1e-7, .rows = 256, .tolerance = 2e-5}};
  record.time = Timing{.median_ns = 105, .samples_ns = {100, 110, 90, 120}, .process_rounds = {2, 2}};
  record.min_bytes = 6e7;
  return record;
}

std::string refusal(const std::function<void(Record&)>& change) {
  Record record = good();
  change(record);
  try {
    expect_consistent(record);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing refused";
}

#define EXPECT_REFUSED(change, why)                                               \
  EXPECT_NE(refusal([](Record& record) { change; }).find(why), std::string::npos) \
      << refusal([](Record& record) { change; })

TEST(Consistency, OfTwinsWithTheirNames) {
  EXPECT_REFUSED(record.twin = true, "its `twin` is true, and its name says otherwise");
  EXPECT_REFUSED(record.variant_id += kTwinSuffix, "its `twin` is false, and its name says otherwise");
  EXPECT_EQ(refusal([](Record& record) {
              record.variant_id += kTwinSuffix;
              record.twin = true;
            }),
            "nothing refused");
}

TEST(Consistency, AcceptsWhatAgrees) {
  EXPECT_NO_THROW(expect_consistent(good()));
  EXPECT_EQ(refusal([](Record& record) { record.time->median_ns *= 1 + 1e-7; }), "nothing refused");
  EXPECT_EQ(refusal([](Record& record) { record.status = Status::invalid; }), "nothing refused")
      << "what is faster than the peak keeps its time";
}

TEST(Consistency, OfTimesThatAreTooLargeToCompare) {
  EXPECT_REFUSED(record.time->samples_ns.assign(4, 1e308), "a sample is 1e+308, no duration");
  EXPECT_REFUSED(record.time->samples_ns.assign(4, 1e-300), "a sample is 1e-300, no duration");
}

TEST(Consistency, OfTrialsWithDurations) {
  EXPECT_EQ(refusal([](Record& record) {
              record.time->protocols = {{{}, {90, 130}, {2}}};
            }),
            "nothing refused");
  EXPECT_REFUSED((record.time->protocols = {{{}, {90, 0}, {2}}}), "a sample is 0, no duration");
}

TEST(Consistency, OfEnvironmentsThatAreRead) {
  EXPECT_REFUSED(record.environment = "x", "its environment is no object");
  EXPECT_REFUSED((*record.environment)["processes"] = "x",
                 "'processes' of its environment is no list of objects");
  EXPECT_REFUSED((*record.environment)["processes"] = {1},
                 "'processes' of its environment is no list of objects");
  EXPECT_REFUSED((*record.environment)["device"]["multiprocessors"] = "x",
                 "'multiprocessors' of its device is");
  EXPECT_REFUSED((*record.environment)["device"]["multiprocessors"] = 0,
                 "'multiprocessors' of its device is 0");
  EXPECT_EQ(refusal([](Record& record) {
              record.environment = {{"device", nullptr}, {"processes", nlohmann::json::array()}};
            }),
            "nothing refused");
}

TEST(Consistency, OfEnergyWithTheTimes) {
  const auto energetic = [](Record& record) {
    record.steady_s = 2;
    record.energy =
        Energy{.median_j = std::sqrt(10.5 * 10.5), .samples_j = {10, 11, 9, 12}, .source = "nvml"};
    record.energy->median_j = 10.5;
  };
  EXPECT_EQ(refusal(energetic), "nothing refused");
  const auto changed = [&](const std::function<void(Record&)>& change) {
    return refusal([&](Record& record) {
      energetic(record);
      change(record);
    });
  };
  EXPECT_NE(changed([](Record& record) { record.steady_s = 0; }).find("no steady samples"),
            std::string::npos);
  EXPECT_NE(changed([](Record& record) { record.energy->samples_j[1] = 0; }).find("an energy is 0 J"),
            std::string::npos);
  EXPECT_NE(
      changed([](Record& record) { record.energy->samples_j.pop_back(); }).find("not as many as its times"),
      std::string::npos);
  EXPECT_NE(changed([](Record& record) { record.energy->median_j = 11; }).find("its median is 11 J"),
            std::string::npos);
  EXPECT_NE(changed([](Record& record) { record.energy = Energy{}; }).find("no energy and no reason"),
            std::string::npos);
  EXPECT_EQ(changed([](Record& record) { record.energy = Energy{.reason = "no counter"}; }),
            "nothing refused");
}

// Two processes with the medians 105 and 300: their geometric mean, and the median of all rounds.
TEST(Consistency, AcceptsTheMedianOfSeveralProcessesAsBothSchemasHoldIt) {
  EXPECT_EQ(refusal([](Record& record) {
              record.time->samples_ns = {100, 110, 200, 400};
              record.time->median_ns = std::sqrt(105.0 * 300);
            }),
            "nothing refused");
  EXPECT_EQ(refusal([](Record& record) {
              record.time->samples_ns = {100, 110, 200, 400};
              record.time->median_ns = 155;
            }),
            "nothing refused");
  const std::string other = refusal([](Record& record) { record.time->samples_ns = {100, 110, 200, 400}; });
  EXPECT_NE(other.find("that of its samples 177.48"), std::string::npos) << other;
}

TEST(Consistency, RefusesSamplesThatAreNotOfTheirMedian) {
  EXPECT_REFUSED(record.time->median_ns *= 1.001, "that of its samples");
  EXPECT_REFUSED(record.time->median_ns = std::nan(""), "that of its samples");
  EXPECT_REFUSED(for (double& sample : record.time->samples_ns) sample *= 0.9, "that of its samples");
}

TEST(Consistency, RefusesSamplesThatAreNoDurations) {
  EXPECT_REFUSED(record.time->samples_ns[3] = std::nan(""), "a sample is null");
  EXPECT_REFUSED(record.time->samples_ns[3] = 0, "a sample is 0");
  EXPECT_REFUSED(record.time->samples_ns[3] = -5, "a sample is -5");
  EXPECT_REFUSED(record.time->samples_ns[3] = std::numeric_limits<double>::infinity(), "a sample is inf");
  EXPECT_REFUSED(record.time->samples_ns.clear(), "no samples");
}

TEST(Consistency, RefusesAVerificationThatContradictsTheStatus) {
  EXPECT_REFUSED(record.verify->before.max_abs = 2 * record.verify->before.tolerance, "above the tolerance");
  EXPECT_REFUSED(record.verify->before.max_abs = std::nan(""), "above the tolerance");
  EXPECT_REFUSED(record.verify->before.worst = 1.5, "above the tolerance");
  EXPECT_EQ(refusal([](Record& record) {  // the largest error of another row, which may be larger
              record.verify->before.worst = 0.9;
              record.verify->before.max_abs = 2 * record.verify->before.tolerance;
            }),
            "nothing refused");
  EXPECT_REFUSED(record.verify->before.rows = 0, "no row was verified");
  EXPECT_REFUSED(record.verify.reset(), "was not verified");
  EXPECT_REFUSED(record.kind = ImplementationKind::baseline; record.verify.reset(), "was not verified");
  EXPECT_EQ(refusal([](Record& record) {  // like `peak`
              record.kind = ImplementationKind::baseline;
              record.verify.reset();
              record.min_bytes.reset();
            }),
            "nothing refused");
}

TEST(Consistency, OfAnotherFunctionIsForPrograms) {
  const auto other = [](Record& record) {
    record.verify->before.max_abs = 3;
    record.verify->other_function = "it projects its input";
  };
  EXPECT_NE(refusal(other).find("it is a kernel and computes another function"), std::string::npos);
  const auto of_program = [&](Record& record) {
    record.kind = ImplementationKind::baseline;
    other(record);
  };
  EXPECT_EQ(refusal(of_program), "nothing refused");
  EXPECT_NE(refusal([&](Record& record) {
              of_program(record);
              record.verify->before.max_abs = std::numeric_limits<double>::infinity();
            }).find("above the tolerance"),
            std::string::npos);
}

TEST(Consistency, RefusesATimeThatContradictsTheStatus) {
  EXPECT_REFUSED(record.time.reset(), "it is ok and has no time");
  EXPECT_REFUSED(record.status = Status::skipped, "it is skipped and has a time");
  EXPECT_REFUSED(record.status = Status::skipped;
                 record.time.reset(), "it is skipped and has a verification");
}

}  // namespace
}  // namespace hilbench
