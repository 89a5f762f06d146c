#pragma once

#include <algorithm>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/scalar.hpp>

// Shared by the files that call LAPACK, which declare the Fortran symbols that they need, with
// 32-bit integers (LP64). Kokkos::complex and Fortran's COMPLEX have the same layout. Trailing
// string lengths are omitted, as in LAPACK's own C interface.

extern "C" {
// Only OpenBLAS defines them; null with any other BLAS.
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) void openblas_set_num_threads(int);
}

namespace blockspan::lapack {

/// Sets one BLAS thread during its lifetime, where the BLAS allows it: the number of threads
/// decides how a product is partitioned, and so its bits.
class OneThread {
 public:
  OneThread() {
    require_room();
    if (openblas_get_num_threads && openblas_set_num_threads) {
      before_ = openblas_get_num_threads();
      if (before_ != 1) openblas_set_num_threads(1);
    }
  }
  ~OneThread() {
    if (before_ > 1) openblas_set_num_threads(before_);
  }
  OneThread(OneThread const&) = delete;
  OneThread& operator=(OneThread const&) = delete;

 private:
  int before_ = 1;
};

/// The function for the type Scalar.
template <class Scalar>
constexpr auto of_type(auto s, auto d, auto c, auto z) {
  if constexpr (std::is_same_v<Scalar, float>)
    return s;
  else if constexpr (std::is_same_v<Scalar, double>)
    return d;
  else if constexpr (std::is_same_v<Scalar, Kokkos::complex<float>>)
    return c;
  else
    return z;
}

template <class Scalar>
int rows(SmallMatrix<Scalar> const& A) {
  return static_cast<int>(A.extent(0));
}
template <class Scalar>
int columns(SmallMatrix<Scalar> const& A) {
  return static_cast<int>(A.extent(1));
}
/// A LayoutLeft view of one column may report any stride; LAPACK requires at least the rows.
template <class Scalar>
int leading_dimension(SmallMatrix<Scalar> const& A) {
  return std::max({1, rows(A), static_cast<int>(A.stride(1))});
}

}  // namespace blockspan::lapack
