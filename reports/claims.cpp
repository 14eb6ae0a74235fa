#include "reports/claims.hpp"
