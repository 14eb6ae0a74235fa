#include "harness/npy.hpp"
