// Reads claims.yaml, literature.yaml, or a file like them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reports/claims/claims.hpp"
#include "reports/view/input.hpp"

namespace hilbench {

// What a sweep may name as the claims that it answers: the claims files built into the program ("seeds",
// "literature"), and the ids of their claims; of papers, of those that a store can answer.
const std::vector<std::string>& claim_names();
// Every row of the claims of the seed reports, then of those of papers, in the order of their files.
const std::vector<ClaimRow>& built_in_claims();
// Those of them that have one of these names or are in a file with one. Another reading of a claim is asked
// for by its own name alone.
std::vector<ClaimRow> named_claims(const std::vector<std::string>& names);

// All rows of all claims; a row that states several quantities becomes several ClaimRows. An empty path means
// the claims of the seed reports, as they are built into the program. Throws UsageError if the file is not a
// claims file.
std::vector<ClaimRow> load_claims(const std::filesystem::path& file);
// The same from text; `where` names the text in messages.
std::vector<ClaimRow> parse_claims(const std::string& text, const std::string& where);

// What the claims of the seed reports compare unless they say otherwise: the head of claims.yaml.
const ComparedVariants& compared_by_reports();

// The claims that the report answers: those of `claims_file` if it is given, otherwise those that the sweep
// names; all of the seed reports if the records are from before sweeps named any.
std::vector<ClaimRow> claims_of(const ReportInput& input);

}  // namespace hilbench
