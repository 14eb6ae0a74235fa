#include "harness/stats.hpp"
