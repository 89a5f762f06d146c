#include <algorithm>

#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan {

int lobpcg_block_size(int wanted) { return ceil_div(wanted + std::max(4, wanted / 4), 4) * 4; }

}  // namespace blockspan
