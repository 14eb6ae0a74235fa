#include "harness/sweep.hpp"
