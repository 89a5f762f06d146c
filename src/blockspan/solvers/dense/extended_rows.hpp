#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>

namespace blockspan::eigen {

/// Rows of a dense matrix without its zeros, for products in extended precision.
template <class Scalar>
class ExtendedRows {
 public:
  using Wide = std::conditional_t<is_complex_v<Scalar>, std::complex<long double>, long double>;

  explicit ExtendedRows(SmallMatrix<Scalar> const& A) : first_(A.extent(0) + 1, 0) {
    for (std::size_t i = 0; i < A.extent(0); ++i) {
      for (std::size_t j = 0; j < A.extent(1); ++j)
        if (A(i, j) != Scalar(0)) {  // its square may underflow
          columns_.push_back(static_cast<int>(j));
          values_.push_back(wide(A(i, j)));
        }
      first_[i + 1] = values_.size();
    }
  }

  static Wide wide(Scalar const& value) {
    if constexpr (is_complex_v<Scalar>)
      return {value.real(), value.imag()};
    else
      return value;
  }
  static Scalar narrow(Wide const& value) {
    using Real = real_t<Scalar>;
    if constexpr (is_complex_v<Scalar>)
      return {static_cast<Real>(value.real()), static_cast<Real>(value.imag())};
    else
      return static_cast<Real>(value);
  }

  std::vector<Wide> times(std::vector<Wide> const& x) const {
    std::vector<Wide> y(first_.size() - 1, Wide(0));
    for (std::size_t i = 0; i + 1 < first_.size(); ++i)
      for (std::size_t k = first_[i]; k < first_[i + 1]; ++k)
        y[i] += values_[k] * x[static_cast<std::size_t>(columns_[k])];
    return y;
  }

  /// |x|^H |A| |x|: what rounding may do to x^H A x, over the unit of the sum.
  long double energy(std::vector<Wide> const& x) const {
    std::vector<long double> sizes;
    for (Wide const& value : x) sizes.push_back(std::abs(value));
    long double sum = 0;
    for (std::size_t i = 0; i + 1 < first_.size(); ++i)
      for (std::size_t k = first_[i]; k < first_[i + 1]; ++k)
        sum += sizes[i] * std::abs(values_[k]) * sizes[static_cast<std::size_t>(columns_[k])];
    return sum;
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<int> columns_;
  std::vector<Wide> values_;
};

}  // namespace blockspan::eigen
