#include "baselines/reference.hpp"
