// Kernels that misbehave. C++17 and no fmt.
#pragma once

#include <cstddef>

namespace hilbench::cuda {

void write_where_nothing_is();           // destroys the context
void write_nan(float* to);               // one value
void spin_without_end();                 // ends with the process
void keep_busy(double seconds);          // short kernels one after another; returns after the last
void fill_memory_but(std::size_t left);  // allocates all other memory until the process ends

}  // namespace hilbench::cuda
