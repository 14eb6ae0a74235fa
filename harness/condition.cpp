#include "harness/condition.hpp"
