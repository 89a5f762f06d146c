#include "multigrid/problems.hpp"
