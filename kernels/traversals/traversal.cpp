#include "kernels/traversals/traversal.hpp"
