// What papers claim about order and windows, as data, compared with the records of a store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/claims/claims.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// How a store can answer a claim: two variants, and the cases that have them.
struct PaperTest {
  std::string compares;                     // what is divided by what, for readers
  std::map<std::string, std::string> work;  // parameters that a case must have, as ids write them
  std::string variant, against, control;    // ids of variants; control may be empty
  bool dense = false;   // `against` is of the case with dense attention on the same tokens
  bool misses = false;  // compares misses of the caches, not kernel time
  std::string level;    // of that cache alone; empty: of every level that was counted
};

struct PaperClaim {
  std::string paper, title, arxiv;  // "sliding-tile"; "2502.04507"
  std::string says;                 // in our words
  std::string obtained;             // measured | modelled, and where
  double claimed = 0;               // the ratio of PaperTest, or the figure stated; 0: none is
  std::optional<PaperTest> test;
  std::string untestable;  // why no record of any store can answer it; empty if there is a test
};

struct PaperAnswer {
  const PaperClaim* claim = nullptr;
  const CaseView* where = nullptr;  // null if no case answers it
  ClaimVerdict verdict = ClaimVerdict::not_testable;
  bool excludes_claim = false;               // though inconclusive, as of ClaimAnswer
  std::string why;                           // basis of the verdict, or why there is none
  std::optional<Measured> measured;          // against / variant
  std::optional<Measured> with_permutation;  // the time of one permutation added to the variant's
  std::optional<Measured> against_control;   // control / variant
};

// The claims built into the program, in the order of the file.
const std::vector<PaperClaim>& paper_claims();
// Claims from text; `where` names it in messages. Throws UsageError if it is not a file of papers.
std::vector<PaperClaim> parse_papers(const std::string& text, const std::string& where);
// What a sweep may name under `claims`: "literature", and every paper that a store can answer.
std::vector<std::string> paper_names();

// Answers to the claims that the sweep of `view` names: one for each case that answers a claim, at least one
// for each claim. Empty if it names none.
std::vector<PaperAnswer> answer_papers(const View& view);
// The same for these claims, which must outlive the answers.
std::vector<PaperAnswer> answer_papers(const std::vector<PaperClaim>& claims, const View& view);

}  // namespace hilbench
