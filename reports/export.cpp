#include "reports/export.hpp"
