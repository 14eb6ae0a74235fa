#include "harness/record.hpp"
