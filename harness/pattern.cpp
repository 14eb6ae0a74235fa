#include "harness/pattern.hpp"
