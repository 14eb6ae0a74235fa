#include "kernels/variant.hpp"
