// In builds without MUMPS.
#include <blockspan/operators/detail/direct_factors.hpp>
#include <blockspan/operators/detail/symmetric_factors.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

bool has_direct() { return false; }

namespace detail {

SymmetricFactors::SymmetricFactors(int, std::vector<int>, std::vector<int>, bool, int,
                                   std::int64_t) {
  fail("blockspan::direct",
       "needs the library MUMPS: apt-get install libmumps-seq-dev and build again");
}
SymmetricFactors::~SymmetricFactors() = default;
FactorCounts SymmetricFactors::factor(std::vector<double>&) { return {}; }
void SymmetricFactors::solve(double*, std::int64_t) const {}

}  // namespace detail
}  // namespace blockspan
