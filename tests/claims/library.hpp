#pragma once

#include <string>

#include <blockspan/sparse/matrix_market.hpp>

#include "claims/dense.hpp"
#include "claims/tally.hpp"
#include "solvers/singular_graph.hpp"
#include "solvers/test_matrix.hpp"

namespace blockspan::test {

/// The same numbers as the scalar of a solver.
template <class Scalar>
Scalar to_scalar(std::complex<double> z) {
  if constexpr (is_complex_v<Scalar>)
    return Scalar(z.real(), z.imag());
  else
    return z.real();
}
inline std::complex<double> to_std(double x) { return x; }
inline std::complex<double> to_std(Kokkos::complex<double> const& z) {
  return {z.real(), z.imag()};
}

/// The entries that are not zero, as files have them.
template <class Scalar>
TestMatrix<Scalar> sparse(Dense const& A) {
  TestMatrix<Scalar> result(A.order());
  for (int i = 0; i < A.order(); ++i)
    for (int j = 0; j < A.order(); ++j)
      if (A(i, j) != 0.0) result.add(i, j, to_scalar<Scalar>(A(i, j)));
  return result;
}

/// A where the solver computes; also a file of the folder asked for.
template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> to_library(Exec const& exec, Dense const& A, std::string const& name) {
  auto const matrix = blockspan::sparse::to_device(exec, host_csr_of(sparse<Scalar>(A)));
  if (!fuzz_folder().empty()) write_matrix_market(fuzz_folder() + "/" + name + ".mtx", matrix);
  return matrix;
}

}  // namespace blockspan::test
