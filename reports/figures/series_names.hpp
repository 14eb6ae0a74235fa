// Names of series: as short as tells them apart in one figure.
#pragma once

#include <string>

#include "reports/view/view.hpp"

namespace hilbench {

// What has to be told apart in the names of series.
struct Naming {
  bool kernels = false, dtypes = false;
};
Naming naming_of(const View& view);

std::string dtype_text(const Case& work, const Naming& naming);  // ", bf16", or nothing
// The part of a variant's id behind its kernel, "hilbert@tokens"; all of it where kernels stand side by side.
std::string series_name(const Record& record, const Naming& naming);

}  // namespace hilbench
