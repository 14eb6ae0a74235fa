// The sentences of findings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/claims/answers.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// What Hilbert order did, in the chunks that the claims are about and over the whole length. If no case has
// it, what these records compare instead: windows, rivals, rings. Traversals come first if the sweep varies
// them. The first one alone says what was found: a run ends with it. None if there are no records.
std::vector<std::string> main_sentences(const View& view);
// The question that main_sentences() answers.
std::string main_question(const View& view);

// Hilbert order against linear order, which says what was found, and against random order, the control: in
// the chunks that the claims are about and over the whole length. None if no case has both.
std::vector<std::string> hilbert_sentences(const View& view);
// That Hilbert order has no random order beside it; "" if it has, or was not measured.
std::string uncontrolled_sentence(const View& view);
// Positions in a chunk of Hilbert order as the claims of the reports have it.
std::int64_t claimed_chunk();
// Whether some case has linear order beside Hilbert order in the chunks that the claims are about.
bool has_claimed_order(const View& view);
// Each traversal of a kernel in an order against that of the reference, all else equal; the one that gains
// most first. None if kernels do not differ in traversal, the sequence of the tiles, more than in order.
std::vector<std::string> traversal_sentences(const View& view);
// Whether orders can change what caches see, and whether GPUs counted what is derived. Empty sentences if
// nothing was derived.
std::vector<std::string> block_sentences(const View& view);
// Each kernel against its rivals, the strongest first; "" if there is no pair.
std::string rivals_sentence(const View& view);
// Each order of windows against raster order, the one that gains most first; "" if there is none.
std::string windows_sentence(const View& view);
// Each variant against the reference, the one that gains most first. None if nothing is compared.
std::vector<std::string> variant_sentences(const View& view);

std::string claims_sentence(const std::vector<ClaimAnswer>& answers);
// How many claims of papers have which verdict; "" without an answer.
std::string papers_sentence(const std::vector<ClaimAnswer>& answers);
std::string status_sentence(const View& view);
// Which variants failed, in how many of their cases; "" if none did.
std::string failed_sentence(const View& view);
// "Limits: 1 process, where 10 show how much processes differ."; "" if nothing limits what is shown.
std::string limits_sentence(const View& view);
// That times are of steady samples, and why an energy is not known; "" if they are not steady.
std::string steady_sentence(const View& view);
// "3 records of A hold injected work; they are no results." Empty if none does. `of`: " of A", or nothing.
std::string injected_sentence(const View& view, std::string_view of = "");
// In how many cases the budget left too few rounds; "" if in none.
std::string bent_rounds_sentence(const View& view);

}  // namespace hilbench
