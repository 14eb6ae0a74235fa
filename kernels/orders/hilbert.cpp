#include "kernels/orders/order.hpp"
