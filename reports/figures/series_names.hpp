// Names of series: no longer than one figure needs.
#pragma once

#include <string>

#include "reports/view/view.hpp"

namespace hilbench {

// What the names of series must include.
struct Naming {
  bool kernels = false, dtypes = false, pages = false;
};
Naming naming_of(const View& view);

std::string work_text(const Case& work, const Naming& naming);  // ", bf16, pages 2m", or less
// The id of the variant without its kernel, "hilbert@tokens"; all of it if the figure shows several kernels.
std::string series_name(const Record& record, const Naming& naming);

}  // namespace hilbench
