#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <blockspan/operators/factors/direct_factors.hpp>
#include <blockspan/operators/factors/direct_scaling.hpp>
#include <blockspan/operators/factors/scaled_pencil.hpp>
#include <blockspan/operators/factors/symmetric_factors.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators {

namespace {

constexpr char const* where = "blockspan::exact";

double dot(double const* x, double const* y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// Gram and Schmidt, twice. Returns false where a column has no direction of its own.
bool orthonormalize_columns(std::vector<double>& X, std::int64_t n, int columns) {
  for (int j = 0; j < columns; ++j) {
    double* const x = &X[static_cast<std::size_t>(j * n)];
    for (int pass = 0; pass < 2; ++pass) {
      // columns of an inverse may have any length
      double top = 0;
      for (std::int64_t i = 0; i < n; ++i) top = std::max(top, std::abs(x[i]));
      if (!(top > 0) || !std::isfinite(top)) return false;
      for (std::int64_t i = 0; i < n; ++i) x[i] /= top;
      for (int c = 0; c < j; ++c) {
        double const* const q = &X[static_cast<std::size_t>(c * n)];
        double const part = dot(q, x, n);
        for (std::int64_t i = 0; i < n; ++i) x[i] -= part * q[i];
      }
      double const norm = std::sqrt(dot(x, x, n));
      if (!(norm > 0)) return false;
      for (std::int64_t i = 0; i < n; ++i) x[i] /= norm;
    }
  }
  return true;
}

class DirectPencil final : public ScaledPencil {
 public:
  DirectPencil(HostHermitian K, std::optional<HostHermitian> M, PencilUse const& use)
      : ScaledPencil(std::move(K), std::move(M), use.scale_by_mass),
        a_(scaled_triangle(stiffness(), scaling())),
        b_(mass() != nullptr ? scaled_triangle(*mass(), scaling()) : squares(scaling(), parts())) {
    Places places;
    places.add(stiffness());
    if (mass() != nullptr) places.add(*mass());
    places.add_diagonal(order());  // every unknown has a pivot
    values_.resize(places.rows.size());
    factors_.emplace(order(), std::move(places.rows), std::move(places.columns), false, parts(),
                     use.memory_limit);
    counts_ = factors_->predicted();
  }

  ShiftCount factor(double shift) override {
    require(std::isfinite(shift), where, "the shift is ", shift);
    auto value = std::copy(a_.begin(), a_.end(), values_.begin());
    for (double const entry : b_) *value++ = -shift * entry;
    std::fill(value, values_.end(), 0.0);
    counts_ = factors_->factor(values_);
    ShiftCount count;
    count.asked = count.shift = shift;
    count.count = counts_.negative_pivots / parts();
    count.null_pivots = (counts_.null_pivots + parts() - 1) / parts();
    count.static_pivots = counts_.static_pivots;
    if (counts_.singular) {  // no factors at all, as for a matrix of zeros
      count.null_pivots = std::max<std::int64_t>(count.null_pivots, 1);
      count.rho = std::numeric_limits<double>::infinity();
      return count;
    }
    test_factors(count);
    count.trusted = counts_.null_pivots == 0 && counts_.static_pivots == 0 &&
                    counts_.negative_pivots % parts() == 0 && count.rho < 0.1;
    return count;
  }

  std::vector<std::int64_t> null_rows() const override {
    std::vector<std::int64_t> rows;
    if (counts_.singular) return rows;
    for (int const row : factors_->null_rows(std::min(counts_.null_pivots, 64)))
      rows.push_back((row - 1) / parts());
    return rows;
  }

  void solve(double* B, std::int64_t columns) const override {
    scale(B, columns);
    factors_->solve(B, columns);
    scale(B, columns);
  }

  std::string library() const override { return "MUMPS on the host"; }

  std::int64_t factor_entries() const override { return counts_.entries; }
  std::int64_t bytes() const override { return counts_.bytes; }
  double flops() const override { return counts_.flops; }

 private:
  static constexpr int tested = 4;  ///< columns of the inverse iteration

  void scale(double* B, std::int64_t columns) const {
    for (std::int64_t j = 0; j < columns; ++j)
      for (double const factor : scaling())
        for (int part = 0; part < parts(); ++part) *B++ *= factor;
  }

  /// The factors are exact for F + E, and E z = x - F z for z = (F + E)^-1 x: |E z| / |x| is the
  /// size of E over the least eigenvalue, where z is the direction of that (Weyl). Infinite where
  /// that cannot be computed.
  void test_factors(ShiftCount& count) const {
    count.rho = count.inverse = std::numeric_limits<double>::infinity();
    std::int64_t const n = order();
    int const columns = static_cast<int>(std::min<std::int64_t>(tested, n));
    std::vector<double> X(static_cast<std::size_t>(n * columns)), Z, R(X.size());
    std::uint64_t bits = 1;
    for (double& entry : X) {
      bits = bits * 6364136223846793005u + 1442695040888963407u;  // Knuth's generator
      entry = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
    }
    double rho = 0;
    for (int step = 0; step < 3; ++step) {
      if (!orthonormalize_columns(X, n, columns)) return;
      Z = X;
      factors_->solve(Z.data(), columns);
      if (step > 0) {
        factors_->multiply(values_, Z.data(), R.data(), columns);
        for (int c = 0; c < columns; ++c) {
          double sum = 0;
          for (std::int64_t i = c * n; i < (c + 1) * n; ++i) sum += (X[i] - R[i]) * (X[i] - R[i]);
          if (!(std::sqrt(sum) <= rho)) rho = std::sqrt(sum);
        }
        if (!std::isfinite(rho)) return;
      }
      std::swap(X, Z);
    }
    count.rho = rho;
    count.inverse = 0;
    for (int c = 0; c < columns; ++c)
      count.inverse = std::max(count.inverse, std::sqrt(dot(&X[c * n], &X[c * n], n)));
  }

  std::optional<SymmetricFactors> factors_;
  std::vector<double> a_, b_;  // K and M, scaled, in the order of the places
  std::vector<double> values_;
  FactorCounts counts_;
};

}  // namespace

std::unique_ptr<PencilFactors> direct_pencil(HostHermitian K, std::optional<HostHermitian> M,
                                             PencilUse const& use) {
  return std::make_unique<DirectPencil>(std::move(K), std::move(M), use);
}

}  // namespace blockspan::operators
