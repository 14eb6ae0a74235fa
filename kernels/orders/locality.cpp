#include "kernels/orders/locality.hpp"
