#include "kernels/cpu/permute.hpp"
