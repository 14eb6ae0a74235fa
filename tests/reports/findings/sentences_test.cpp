#include "reports/findings/sentences.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/document/sections.hpp"
#include "reports/findings/tally.hpp"
#include "reports/view/judge.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/windows_records.hpp"

namespace hilbench {
namespace {

TEST(Tiles, TellALossThatWasReproducedFromAGain) {
  ReportInput input;
  const Case work = sample::work(16384, {{4096, 2}});  // claimed: 0.82 by one table, 2.66 by another
  for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"hilbert", 1.25}, {"random", 1.0}}) {
    input.records.push_back(sample::record(work, "dilated", order));
    sample::time(input.records.back(), 1, factor, 0);
  }
  for (Record& record : input.records) record.reference = "dilated/linear";
  judge(input.records);
  const Document document = document_without_pictures(input);
  const auto tile = [&](std::string_view label) {
    for (const Tile& one : document.tiles)
      if (one.label == label) return one.value;
    return std::string("no tile");
  };
  EXPECT_EQ(tile("gains reproduced"), "0");
  EXPECT_EQ(tile("claims of a loss or of no difference reproduced"), "1");
  const std::string text = to_markdown(document);
  EXPECT_NE(text.find("reproduced (no gain was claimed)"), std::string::npos);
  input.records[1].variant.change().order_chunk = input.records[1].order_chunk =
      64;  // not the order that the claims are about
  EXPECT_TRUE(document_without_pictures(input).tiles.empty()) << "no claim is tested";
}

TEST(Tiles, CountExcludedClaimsApart) {
  const ClaimRow claim{.claim_id = "one", .quantity = Quantity::speedup, .claimed = 1.5};
  const auto judged = [&](ClaimVerdict verdict) { return ClaimAnswer{.claim = &claim, .verdict = verdict}; };
  const std::vector<Tile> tiles =
      claim_tiles({judged(ClaimVerdict::excluded), judged(ClaimVerdict::excluded),
                   judged(ClaimVerdict::inconclusive), judged(ClaimVerdict::not_testable)});
  const auto value = [&](std::string_view label) {
    for (const Tile& tile : tiles)
      if (tile.label == label) return tile.value;
    return std::string("no such tile");
  };
  EXPECT_EQ(value("claim excluded"), "2");
  EXPECT_EQ(value("inconclusive"), "1");
  EXPECT_EQ(value("not testable here"), "1");
}

TEST(FirstSentences, InjectedWorkIsSaidFirstAndThenFailures) {
  ReportInput input = sample::input();
  EXPECT_EQ(to_markdown(document_without_pictures(input)).find("injected work"), std::string::npos);
  input.records[0].injected = 0.1;
  EXPECT_EQ(
      document_without_pictures(input).answer.front().rfind(
          "1 record holds injected work; it is no result. 1 of 31 records failed: dilated/gray in 1 of 1 "
          "case. Faster in all 4 cases (1 process, injected work): ",
          0),
      0u);
}

TEST(FirstSentences, SayThatOnlyLinearOrderIsRight) {
  ReportInput input;
  for (const std::int64_t length : {1024, 2048})
    for (const char* order : {"linear", "hilbert", "random"}) {
      input.records.push_back(sample::record(sample::work(length, {{length, 1}}), "mine", order));
      if (order == std::string("linear")) continue;
      input.records.back().status = Status::failed;
      input.records.back().reason =
          "the error 3.62 of O in the row at 7 exceeds the tolerance 1e-06 of that row";
    }
  EXPECT_EQ(failed_sentence(view_of(input)),
            "4 of 6 records failed: mine/hilbert in 2 of 2 cases, mine/random in 2 of 2 cases. Right in "
            "linear order "
            "and wrong in others: mine. Are K and V read through the slots?");
  input.records[0].status = Status::failed;
  EXPECT_EQ(
      failed_sentence(view_of(input)),
      "5 of 6 records failed: mine/hilbert in 2 of 2 cases, mine/linear in 1 of 2 cases, mine/random in 2 of "
      "2 cases.");
}

TEST(FirstSentences, SayThatTimesAreSteady) {
  ReportInput input = sample::input();
  EXPECT_EQ(to_markdown(document_without_pictures(input)).find("Steady:"), std::string::npos);
  for (Record& record : input.records) record.steady_s = 2;
  const auto said = [&] {
    for (const std::string& sentence : document_without_pictures(input).answer)
      if (sentence.starts_with("Steady")) return sentence;
    return std::string();
  };
  EXPECT_EQ(
      said(),
      "Steady: all times are of executions back to back for 2 s or more, so clocks are those of sustained "
      "work.");
  input.records[0].energy = Energy{.reason = "no counter"};
  EXPECT_NE(said().find("The energy of 1 record is not known: no counter."), std::string::npos);
}

TEST(FirstSentences, FollowWhatTheSweepVaries) {
  ReportInput input;
  const Case work = sample::work(16384, {{16384, 1}});
  const auto add = [&](const char* order, const char* traversal, double factor) {
    input.records.push_back(sample::record(work, "dilated", order));
    Record& made = input.records.back();
    made.variant.change().traversal = traversal;
    made.variant_id = variant_id(made.variant);
    made.reference = "dilated/linear/head_major";
    sample::time(made, 1, factor, 0);
  };
  add("linear", "head_major", 1.0);
  add("linear", "sawtooth", 1.25);
  add("linear", "auto", 0.8);
  add("random", "head_major", 1.0);
  add("random", "sawtooth", 0.5);
  judge(input.records);
  const Document document = document_without_pictures(input);
  EXPECT_EQ(
      document.question.rfind("Does the sequence in which tiles are computed make attention faster?", 0), 0u);
  EXPECT_EQ(
      document.answer[0],
      "Faster (1 process): dilated_cpu/random, traversal sawtooth, is 2.000 [2.000, 2.000] times as fast as "
      "head_major.");
  ASSERT_EQ(document.compared.rows.size(), 3u);
  EXPECT_EQ(document.compared.rows[1][0].text, "dilated_cpu/linear, traversal auto, against head_major");
  EXPECT_EQ(document.compared.rows[2][2].text, "slower");
  input.records.resize(1);
  const Document alone = document_without_pictures(input);
  EXPECT_EQ(alone.question, "How much time and memory does each case need?");
  EXPECT_EQ(alone.answer.front(),
            "Nothing is compared here: dilated/linear/head_major alone was measured, in 1 case.");
}

// For each of `chunks` a case with linear and Hilbert order; 0: over the whole length.
TEST(FirstSentences, TellOfEveryCaseAndNotOfTheClaimedChunksAlone) {
  const auto said_of = [](std::initializer_list<std::int64_t> chunks, std::int64_t length = 16384) {
    ReportInput input;
    for (const std::int64_t chunk : chunks) {
      const Case work = sample::work(length, {{4096, 2}});
      for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"hilbert", 0.9}}) {
        input.records.push_back(sample::record(work, "dilated", order));
        Record& made = input.records.back();
        if (made.variant.kernel().order == "hilbert")
          made.variant.change().order_chunk = made.order_chunk = chunk;
        sample::time(made, 1, factor, 0);
      }
      length *= 2;
    }
    return document_without_pictures(input).answer;
  };
  const std::string alone = "It was not measured beside a random permutation";
  const std::vector<std::string> both = said_of({4096, 0});
  ASSERT_GE(both.size(), 2u);
  EXPECT_NE(both[0].find("Hilbert order in chunks of 4096 "), std::string::npos) << both[0];
  EXPECT_EQ(both[1].rfind(alone, 0), 0u) << both[1];
  const std::vector<std::string> claimed = said_of({4096});
  EXPECT_NE(claimed[0].find("Hilbert order "), std::string::npos) << claimed[0];
  EXPECT_EQ(claimed[1].rfind(alone, 0), 0u) << claimed[1];
  EXPECT_EQ(claimed[2].find("Hilbert"), std::string::npos) << claimed[2];
  const std::vector<std::string> whole = said_of({0});
  EXPECT_NE(whole[0].find("Hilbert order over the whole length "), std::string::npos) << whole[0];
  const std::vector<std::string> same = said_of({0}, 4096);
  EXPECT_NE(same[0].find("Hilbert order "), std::string::npos) << same[0];
  EXPECT_EQ(same[2].find("Hilbert"), std::string::npos) << "said once, though a chunk is the whole length";
  const std::vector<std::string> other = said_of({64});
  EXPECT_EQ(other[0].rfind("No case here has times of linear order", 0), 0u) << other[0];
}

// Linear, Hilbert and random order of one case, each measured in as many processes as rounds are given.
Document told_of(double hilbert, std::vector<std::int64_t> process_rounds) {
  ReportInput input;
  const Case work = sample::work(16384, {{4096, 2}});
  for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"hilbert", hilbert}, {"random", 1.08}}) {
    input.records.push_back(sample::record(work, "dilated", order));
    sample::time(input.records.back(), 1, factor, 0);
    input.records.back().reference = "dilated/linear";
    input.records.back().time->process_rounds = process_rounds;
  }
  judge(input.records);
  return document_without_pictures(input);
}

TEST(FirstSentences, SayWhatWasFoundThenWhatTheControlSays) {
  const Document same = told_of(1.081, {3, 3, 3, 3});
  EXPECT_EQ(same.answer[0].rfind("Slower (4 processes): Hilbert order is 0.9251 [", 0), 0u) << same.answer[0];
  EXPECT_EQ(same.compared.rows.at(0)[2].text, "slower");
  EXPECT_EQ(same.compared.rows.at(1)[0].text, "Hilbert order against random order");
  EXPECT_EQ(same.compared.rows.at(1)[2].text, "equal within 1 %");
  const Document better = told_of(0.9, {3, 3, 3, 3});
  EXPECT_EQ(better.answer[0].rfind("Faster (4 processes): Hilbert order is 1.111 [", 0), 0u)
      << better.answer[0];
  EXPECT_EQ(better.compared.rows.at(1)[2].text, "faster");
}

TEST(FirstSentences, SayThatOneProcessShowsNoEquality) {
  const Document told = told_of(1.081, {12});
  EXPECT_EQ(told.answer[0].rfind("Slower (1 process): ", 0), 0u) << told.answer[0];
  EXPECT_EQ(told.compared.rows.at(1)[2].text, "nothing shown");
  EXPECT_EQ(told.answer.at(1), "Limits: 1 process, where 10 show how much processes differ.");
}

TEST(FirstSentences, SayTheVerdictOverManyCases) {
  Tally tally;
  const auto with = [&](Verdict verdict) {
    tally.add({.ratio = 1.1, .ci = {1, 1.2}, .processes = 5, .verdict = verdict});
    return tally.verdict();
  };
  EXPECT_EQ(with(Verdict::inconclusive), "Nothing shown");
  EXPECT_EQ(with(Verdict::inconclusive), "Nothing shown in 2 cases");
  EXPECT_EQ(with(Verdict::equivalent), "Equal within 1 % in 1 of 3 cases, nothing shown in 2");
  EXPECT_EQ(with(Verdict::faster),
            "Faster in 1 of 4 cases, slower in 0, equal within 1 % in 1, nothing shown in 2");
  with(Verdict::slower);
  EXPECT_EQ(with(Verdict::slower),
            "Slower in 2 of 6 cases, faster in 1, equal within 1 % in 1, nothing shown in 2");
}

TEST(FirstSentences, SayHowManyRatiosAreOfOneProcess) {
  Tally tally;
  tally.add({.ratio = 2, .processes = 5});
  EXPECT_EQ(tally.with_one_process("Faster."), "Faster.");
  tally.add({.ratio = 2, .processes = 1});
  EXPECT_EQ(tally.with_one_process("Faster."),
            "Faster. Of these ratios, 1 of 2 was measured by one process only, from which no equality can "
            "be shown.");
}

TEST(FirstSentences, SayNothingOfClaimsIfTheSweepNamesNone) {
  const ReportInput input = sample::input();
  const Document document = document_of(view_of(input), {}, {}, {});
  for (const std::string& sentence : document.answer)
    EXPECT_EQ(sentence.find("claim"), std::string::npos) << sentence;
  for (const Section& section : document.sections) EXPECT_NE(section.id, "claims");
  EXPECT_TRUE(document.tiles.empty());
}

TEST(FirstSentences, AnswerTheQuestionThatIsAsked) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  EXPECT_NE(question_of(view_of(input)).find("Does the order of rows in memory"), std::string::npos);
  std::erase_if(input.records,
                [](const Record& record) { return record.variant.kernel().order == "random"; });
  const View view = view_of(input);
  EXPECT_EQ(question_of(view), "How fast are the kernels, compared with libraries that compute the same?");
  EXPECT_EQ(main_sentences(view).at(0),
            "Faster (1 process): dilated_cpu is 2.394 [2.389, 2.422] times as fast as gemm.");
}

TEST(FirstSentences, NameTheStrongestRivalFirst) {
  ReportInput input;
  const Case work = sample::work(8192, {{4096, 2}});
  sample::add_comparison(input.records, work, 1);  // gemm takes 2.4 times as long as the kernel
  Record strongest = sample::record(work, "torch_sdpa", "linear", true);
  sample::time(strongest, 1, 1.2, 3);
  sample::compare_with(strongest, input.records.front());
  input.records.push_back(strongest);
  std::erase_if(input.records,
                [](const Record& record) { return record.variant.kernel().order == "random"; });
  EXPECT_EQ(
      main_sentences(view_of(input)).at(0),
      "Faster (1 process): dilated_cpu is 1.204 [1.189, 1.214] times as fast as torch_sdpa, its strongest "
      "rival.");
  EXPECT_EQ(rivals_sentence(view_of(input)),
            "dilated_cpu is faster than torch_sdpa, its strongest rival, in 1 of 1 case and slower in 0 "
            "(time of the "
            "rival / time of the kernel: 1.20; other rivals: gemm 2.39).");
}

TEST(FirstSentences, NameRivalsOnWindowsBeforeThoseOnAllPairs) {
  ReportInput input;
  input.records = sample::windowed_records();  // flex takes 5/6 of the kernel's time
  const Record dense = input.records.back();   // dense attention takes 30
  Record gemm = sample::record(dense.work, "gemm", "linear", true);
  sample::time(gemm, 1, 15, 3);
  sample::compare_with(gemm, dense);
  input.records.push_back(gemm);
  EXPECT_EQ(
      rivals_sentence(view_of(input)),
      "dilated_cpu in its fastest order is faster than torch_windows.flex in 1 of 1 case and slower in 0 "
      "(time of the rival / time of the kernel: 1.66). Dense attention on all pairs, which is another "
      "function than windows: dilated_cpu is faster than gemm in 0 of 1 case and slower in 1 (time of the "
      "rival / time of the kernel: 0.501).");
}

TEST(FirstSentences, CountACaseOnceIfItsKernelRanInSeveralWays) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  std::erase_if(input.records,
                [](const Record& record) { return record.variant.kernel().order == "random"; });
  Record zigzag = input.records.front();
  zigzag.variant.ring.sharding = Sharding::zigzag;
  zigzag.variant_id = variant_id(zigzag.variant);
  input.records.push_back(zigzag);
  EXPECT_EQ(
      rivals_sentence(view_of(input)),
      "dilated_cpu is faster than gemm in 2 of 2 comparisons of 1 case and slower in 0 (time of the rival "
      "/ time of the kernel: 2.39).");
}

TEST(FirstSentences, SayWhereTheBudgetLeftFewRounds) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  sample::add_comparison(input.records, sample::work(16384, {{4096, 2}}), 1);
  const auto rounds = [](Record& record, std::int64_t measured, int wanted) {
    (*record.environment)["processes"] = {{{"seed", 1}, {"rounds_wanted", wanted}}};
    record.time->process_rounds = {measured};
  };
  EXPECT_EQ(main_sentences(view_of(input)).back().find("budget"), std::string::npos);
  rounds(input.records[0], 5, 8);
  rounds(input.records[1], 2, 6);
  EXPECT_EQ(
      main_sentences(view_of(input)).back(),
      "In 1 of 2 cases the budget was spent before all rounds were measured: a process has 2 of 6 at worst.");
}

TEST(FirstSentences, CompareVariantsIfNothingElseIsAsked) {
  ReportInput input;
  for (const std::int64_t length : {16384, 32768}) {
    const Case work = sample::work(length, {{4096, 2}});
    for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"morton", 0.5}, {"random", 2.0}}) {
      input.records.push_back(sample::record(work, "dilated", order));
      sample::time(input.records.back(), 1, factor, 0);
      input.records.back().reference = "dilated/linear";
    }
  }
  judge(input.records);
  const View view = view_of(input);
  EXPECT_EQ(question_of(view), "Which variants are faster than the reference, and by how much?");
  EXPECT_EQ(main_sentences(view).at(0),
            "Faster in all 2 cases (1 process): dilated/morton is 2.000 times as fast as dilated/linear.");
  EXPECT_EQ(
      variant_sentences(view),
      (std::vector<std::string>{
          "dilated/morton is faster than dilated/linear in 2 of 2 cases, slower in 0, within 1 % in 0 and "
          "inconclusive in 0 (time of dilated/linear / time of dilated/morton: 2.000).",
          "dilated/random is faster than dilated/linear in 0 of 2 cases, slower in 2, within 1 % in 0 and "
          "inconclusive in 0 (time of dilated/linear / time of dilated/random: 0.5000).",
          "Of these ratios, all were measured by one process only, from which no equality can be shown."}));
}

TEST(FirstSentences, SayThatNothingIsShownWhereSamplesDoNotDecide) {
  Tally one;
  one.add({.ratio = 1.25, .ci = {1.02, 1.6}, .processes = 1, .verdict = Verdict::inconclusive});
  EXPECT_EQ(one.compared("Hilbert order", "linear order", "B", "A"),
            "Nothing is shown of Hilbert order against linear order (time of A / time of B: 1.250 [1.020, "
            "1.600]).");
  one.add({.ratio = 1.1, .ci = {0.9, 1.3}, .processes = 1, .verdict = Verdict::inconclusive});
  EXPECT_EQ(one.compared("B", "A", "B", "A").rfind("Nothing is shown: B is faster than A in 0 of 2 cases", 0),
            0u);
}

TEST(FirstSentences, AnswerTheQuestionOfTheSweep) {
  ReportInput input = sample::input();
  const auto asked = [&] { return question_of(view_of(input)); };
  EXPECT_NE(asked().find("Does the order of rows in memory"), std::string::npos);
  input.meta["title"] = "Do windows gain?";
  EXPECT_EQ(asked(), "Do windows gain?");
  EXPECT_EQ(document_of(view_of(input), {}, {}, {}).title, "hilbench: quick") << "it is not said twice";
  input.meta["sweep_text"] = "name: x\nquestion: >\n  Which order\n  wins?\n";
  EXPECT_EQ(asked(), "Which order wins?");
  input.meta["sweep_text"] = "\t: [";
  EXPECT_EQ(asked(), "Do windows gain?") << "a text that is no sweep states none";
  input.meta["question"] = "Which one?";
  EXPECT_EQ(asked(), "Which one?");
  EXPECT_EQ(subject_of(view_of(input)), "Which one?");
  EXPECT_EQ(document_of(view_of(input), {}, {}, {}).title, "hilbench: quick")
      << "the question stands in place of the title";
  input.meta.erase("question");
  input.meta["title"] = "Windows in every order";
  EXPECT_EQ(subject_of(view_of(input)), "Windows in every order");
  EXPECT_EQ(document_of(view_of(input), {}, {}, {}).title, "hilbench: quick: Windows in every order");
}

}  // namespace
}  // namespace hilbench
