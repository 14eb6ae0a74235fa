#include "reports/report.hpp"
