// Kernels against the baselines that compute the same case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/view/pairing.hpp"
#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A kernel in linear order and a verified baseline of the same case.
struct RivalPair {
  const CaseView* where = nullptr;
  const Record* kernel = nullptr;
  const Record* rival = nullptr;
  Measured ratio;  // rival's time / kernel's time
};
// Linear order, with any ring options.
bool is_plain_linear(const Record& record);
// The kernel that ran, and its ring options: "dilated_cpu, zigzag".
std::string kernel_text(const Record& kernel);
// The pairs of the first `most_kernels` kernels of cases that have any.
inline constexpr std::size_t kMostRivalRows = 60;  // in a figure
std::vector<RivalPair> rival_pairs(const View& view, std::size_t most_kernels = SIZE_MAX);

// The fastest record of a kernel in a case, whatever its order, among those that compute the case's function;
// of any kernel if `kernel` is empty. Null if there is none. Rivals on windows choose their order too.
const Record* fastest_order(const CaseView& of_case, std::string_view kernel = "");

// Kernels in linear order against every rival: time of the rival / time of the kernel. The CSV has one row
// for each rival, the page one column.
Table rivals_table(const View& view);
Table rivals_page_table(const View& view);

}  // namespace hilbench
