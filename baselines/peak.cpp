#include "baselines/peak.hpp"
