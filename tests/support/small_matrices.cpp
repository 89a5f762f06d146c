#include "support/small_matrices.hpp"

#include <algorithm>
#include <cmath>

#include "support/extended.hpp"
#include "support/instantiations.hpp"

namespace blockspan::test {

template <class Scalar>
double SmallMatrices<Scalar>::residual(HostBlock<Scalar> const& P, bool adjoint_p,
                                       HostBlock<Scalar> const& Q, bool adjoint_q,
                                       HostBlock<Scalar> const& R) {
  auto const at = [](HostBlock<Scalar> const& A, bool adjoint, std::int64_t i, std::int64_t j) {
    return adjoint ? conjugate(extended(A(j, i))) : extended(A(i, j));
  };
  std::int64_t const inner = adjoint_p ? P.rows() : P.columns();
  long double worst = 0;
  for (std::int64_t i = 0; i < R.rows(); ++i)
    for (std::int64_t j = 0; j < R.columns(); ++j) {
      extended_t<Scalar> sum = -extended(R(i, j));
      for (std::int64_t l = 0; l < inner; ++l)
        sum += at(P, adjoint_p, i, l) * at(Q, adjoint_q, l, j);
      worst = std::max(worst, std::abs(sum));
    }
  return static_cast<double>(worst);
}

#define INSTANTIATE(Scalar) template struct SmallMatrices<Scalar>;
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
