#include "harness/host.hpp"
