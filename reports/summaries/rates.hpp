// Rates of kernels in linear order, beside those of other cases of the same sweep.
#pragma once

#include "reports/view/table.hpp"
#include "reports/view/view.hpp"

namespace hilbench {

// A row for each pattern and shape: the rate in each dtype, and its share of the rate of dense attention with
// as many keys, and with 2048. No rows unless some case is dense and some is not, or dtypes differ.
Table rates_table(const View& view);

// A row for each case whose inputs are not normal with scores of scale 1: time / time with such inputs, a
// column a variant. The two are cases of their own, measured apart.
Table inputs_table(const View& view);

}  // namespace hilbench
