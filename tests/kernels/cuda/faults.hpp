// Kernels that do what none should. C++17 and no fmt.
#pragma once

#include <cstddef>

namespace hilbench::cuda {

void write_where_nothing_is();           // the context is lost with it
void write_nan(float* to);               // one value
void spin_without_end();                 // ends with the process
void keep_busy(double seconds);          // short kernels one after another; complete when it returns
void fill_memory_but(std::size_t left);  // takes all other memory until the process ends

}  // namespace hilbench::cuda
