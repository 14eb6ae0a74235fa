#include "harness/counters/counters.hpp"
