#include "kernels/index.hpp"
