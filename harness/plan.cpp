#include "harness/plan.hpp"
