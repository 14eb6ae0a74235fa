#include "harness/store.hpp"
