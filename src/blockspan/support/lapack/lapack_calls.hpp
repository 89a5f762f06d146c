#pragma once

#include <algorithm>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/scalar.hpp>

// What the files that call LAPACK share. They declare the Fortran symbols that they need, with
// 32-bit integers (LP64). Kokkos::complex and Fortran's COMPLEX have the same layout. Trailing
// string lengths are left out, as in LAPACK's own C interface.

extern "C" {
// OpenBLAS only: absent, and then null, with any other BLAS.
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) void openblas_set_num_threads(int);
}

namespace blockspan::lapack {

/// One BLAS thread while it lives, where the BLAS lets us choose: the number of threads decides how
/// a product is cut, and so its bits.
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

/// The function of the letter of Scalar.
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
/// A LayoutLeft view of one column may report any stride; LAPACK wants at least the rows.
template <class Scalar>
int leading_dimension(SmallMatrix<Scalar> const& A) {
  return std::max({1, rows(A), static_cast<int>(A.stride(1))});
}

}  // namespace blockspan::lapack
