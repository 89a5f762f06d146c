#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "blockspan-spmm/blocks.hpp"
#include "blockspan-spmm/host_matrix.hpp"
#include "blockspan-spmm/result.hpp"

namespace blockspan::apps {

/// Reference for elements of Y = op(A) X, summed on the host in extended precision from the entries
/// of A and X, with the error bound of a product in the scalar's precision:
/// |y - reference| <= gamma (|A||X|), gamma = m u / (1 - m u), m = (nonzeros of the row) + 3, twice
/// that for complex (Higham 2002, Accuracy and Stability, chapter 3), plus the error of underflow:
/// half the smallest positive value for each rounding.
template <class Scalar>
class Reference {
 public:
  /// X: the rows of the block that the entries of `sample` refer to, one an entry.
  Reference(RowSample<Scalar> const& sample, HostRows<Scalar> const& X)
      : rows_(sample.rows), columns_(X.extent(1)) {
    for (std::size_t s = 0; s < rows_.size(); ++s)
      for (std::size_t j = 0; j < columns_; ++j)
        elements_.push_back(element(sample, X, sample.begin[s], sample.begin[s + 1], j));
  }

  std::vector<std::int64_t> const& rows() const { return rows_; }

  /// Compares the checked rows of Y. Fills in error, its bound and its place; returns whether every
  /// element is within its bound.
  bool compare(HostRows<Scalar> const& Y, Verdict& verdict) const {
    bool right = true;
    long double worst = -1;  // largest error as a multiple of its bound
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      Element const& one = elements_[e];
      std::size_t const s = e / columns_, j = e % columns_;
      auto const error = std::hypot(real_part(Y(s, j)) - one.re, imaginary_part(Y(s, j)) - one.im);
      bool const within = error <= one.bound;  // false for NaN
      right = right && within;
      long double const ratio = error == 0 ? 0 : within ? error / one.bound : excess(error, one);
      if (ratio <= worst) continue;
      worst = ratio;
      verdict.row = rows_[s];
      verdict.column = static_cast<std::int64_t>(j);
      verdict.error = relative(error, one);
      verdict.error_bound = relative(one.bound, one);
    }
    return right;
  }

  /// Four times the bound of an element of row s of the sample: an error that must be detected.
  double fault(std::size_t s, std::size_t column) const {
    Element const& one = elements_[s * columns_ + column];
    return one.magnitude > 0 ? static_cast<double>(4 * one.bound) : 1.0;
  }

 private:
  struct Element {
    long double re = 0, im = 0;
    long double magnitude = 0;  ///< (|A||X|)
    long double bound = 0;
  };

  static Element element(RowSample<Scalar> const& sample, HostRows<Scalar> const& X,
                         std::size_t begin, std::size_t end, std::size_t j) {
    Element sum;
    for (std::size_t at = begin; at < end; ++at) {
      Scalar const a = sample.values[at], x = X(at, j);
      long double const a_re = real_part(a), a_im = imaginary_part(a);
      long double const x_re = real_part(x), x_im = imaginary_part(x);
      sum.re += a_re * x_re - a_im * x_im;
      sum.im += a_re * x_im + a_im * x_re;
      // extended precision has the range for squares of squares
      sum.magnitude += std::sqrt((a_re * a_re + a_im * a_im) * (x_re * x_re + x_im * x_im));
    }
    using Real = real_t<Scalar>;
    constexpr int parts = is_complex_v<Scalar> ? 2 : 1;
    auto const m = static_cast<long double>(end - begin + 3);
    long double const mu = m * unit_roundoff<Scalar>;
    // gamma is undefined for rows of 1 / u entries: only NaN is an error there
    long double const gamma = mu < 1 ? mu / (1 - mu) : std::numeric_limits<long double>::infinity();
    long double const underflow = m * std::numeric_limits<Real>::denorm_min() / 2;
    if (sum.magnitude > 0) sum.bound = parts * (gamma * sum.magnitude + underflow);
    return sum;
  }

  /// Error over bound; infinite for NaN.
  static long double excess(long double error, Element const& one) {
    constexpr long double infinity = std::numeric_limits<long double>::infinity();
    return std::isnan(error) || one.bound == 0 ? infinity : error / one.bound;
  }

  /// Error over |A||X|; infinite where that is zero.
  static double relative(long double error, Element const& one) {
    if (error == 0) return 0;
    return static_cast<double>(error / one.magnitude);
  }

  std::vector<std::int64_t> rows_;
  std::size_t columns_;
  std::vector<Element> elements_;  ///< row by row
};

}  // namespace blockspan::apps
