#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <blockspan/operators/factors/direct_factors.hpp>
#include <blockspan/operators/factors/direct_scaling.hpp>
#include <blockspan/operators/factors/symmetric_factors.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators {

namespace {

constexpr char const* where = "blockspan::exact";

/// Row sums of magnitudes.
std::vector<double> row_sums(HostHermitian const& A) {
  std::vector<double> sums(A.rows, 0.0);
  for (int i = 0; i < A.rows; ++i)
    for (auto e = A.offsets[i]; e < A.offsets[i + 1]; ++e)
      sums[i] +=
          A.parts == 2 ? std::hypot(A.values[2 * e], A.values[2 * e + 1]) : std::abs(A.values[e]);
  return sums;
}

double largest(std::vector<double> const& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

/// x^T |A| x for a vector of magnitudes.
double energy(HostHermitian const& A, std::vector<double> const& x) {
  double sum = 0;
  for (int i = 0; i < A.rows; ++i) {
    double row = 0;
    for (auto e = A.offsets[i]; e < A.offsets[i + 1]; ++e)
      row += x[A.columns[e]] * (A.parts == 2 ? std::hypot(A.values[2 * e], A.values[2 * e + 1])
                                             : std::abs(A.values[e]));
    sum += x[i] * row;
  }
  return sum;
}

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

class DirectPencil final : public PencilFactors {
 public:
  DirectPencil(HostHermitian K, std::optional<HostHermitian> M, PencilUse const& use)
      : k_(std::move(K)), m_(std::move(M)) {
    require(k_.rows > 0, where, "the matrix has no rows");
    require(std::int64_t(k_.rows) * k_.parts <= std::numeric_limits<int>::max(), where,
            "a matrix of ", k_.rows, " rows is too large");
    require(!m_ || m_->rows == k_.rows, where, "the mass matrix has ", m_ ? m_->rows : 0,
            " rows, the matrix ", k_.rows);
    require_finite(where, "the matrix", k_);
    if (m_) require_finite(where, "the mass matrix", *m_);
    order_ = k_.rows * k_.parts;
    choose_scaling(use.scale_by_mass);
    a_ = scaled_triangle(k_, scaling_);
    b_ = m_ ? scaled_triangle(*m_, scaling_) : squares(scaling_, k_.parts);
    Places places;
    places.add(k_);
    if (m_) places.add(*m_);
    places.add_diagonal(order_);  // every unknown has a pivot
    factors_.emplace(order_, std::move(places.rows), std::move(places.columns), false, k_.parts,
                     use.memory_limit);
    counts_ = factors_->predicted();
    values_.resize(a_.size() + b_.size() + (m_ ? static_cast<std::size_t>(order_) : 0));
    measure();
  }

  std::int64_t rows() const override { return k_.rows; }

  ShiftCount factor(double shift) override {
    require(std::isfinite(shift), where, "the shift is ", shift);
    auto value = std::copy(a_.begin(), a_.end(), values_.begin());
    for (double const entry : b_) *value++ = -shift * entry;
    std::fill(value, values_.end(), 0.0);
    counts_ = factors_->factor(values_);
    ShiftCount count;
    count.asked = count.shift = shift;
    count.count = counts_.negative_pivots / k_.parts;
    count.null_pivots = (counts_.null_pivots + k_.parts - 1) / k_.parts;
    count.static_pivots = counts_.static_pivots;
    if (counts_.singular) {  // no factors at all, as for a matrix of zeros
      count.null_pivots = std::max<std::int64_t>(count.null_pivots, 1);
      count.rho = std::numeric_limits<double>::infinity();
      return count;
    }
    test_factors(count);
    count.trusted = counts_.null_pivots == 0 && counts_.static_pivots == 0 &&
                    counts_.negative_pivots % k_.parts == 0 && count.rho < 0.1;
    return count;
  }

  std::vector<std::int64_t> null_rows() const override {
    std::vector<std::int64_t> rows;
    if (counts_.singular) return rows;
    for (int const row : factors_->null_rows(std::min(counts_.null_pivots, 64)))
      rows.push_back((row - 1) / k_.parts);
    return rows;
  }

  void solve(double* B, std::int64_t columns) const override {
    scale(B, columns);
    factors_->solve(B, columns);
    scale(B, columns);
  }

  double scaled_size() const override { return scaled_size_; }
  double norm_k() const override { return norm_k_; }
  double norm_m() const override { return norm_m_; }
  bool massless_rows() const override { return massless_; }
  std::int64_t factor_entries() const override { return counts_.entries; }
  std::int64_t bytes() const override { return counts_.bytes; }
  double flops() const override { return counts_.flops; }

  std::vector<double> energies(double const* X, std::vector<double> const& values) const override {
    std::vector<double> result, x(static_cast<std::size_t>(k_.rows));
    for (std::size_t c = 0; c < values.size(); ++c) {
      double const* const column = X + static_cast<std::int64_t>(c) * order_;
      for (int i = 0; i < k_.rows; ++i)
        x[i] = k_.parts == 2 ? std::hypot(column[2 * i], column[2 * i + 1]) : std::abs(column[i]);
      double const mass = m_ ? energy(*m_, x) : dot(x.data(), x.data(), k_.rows);
      result.push_back(energy(k_, x) + std::abs(values[c]) * mass);
    }
    return result;
  }

  std::vector<double> scaled_squares(double const* R, std::int64_t columns) const override {
    std::vector<double> result;
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < order_; ++i) {
        double const entry = scaling_[static_cast<std::size_t>(i / k_.parts)] * R[c * order_ + i];
        sum += entry * entry;
      }
      result.push_back(sum);
    }
    return result;
  }

 private:
  static constexpr int tested = 4;  ///< columns of the inverse iteration

  /// Rows without an entry in the one matrix are scaled by the other.
  void choose_scaling(bool by_mass) {
    auto const &first = by_mass && m_ ? *m_ : k_, &second = by_mass || !m_ ? k_ : *m_;
    scaling_ = symmetric_scaling(first);
    auto const sums = row_sums(first);
    if (!m_ || std::all_of(sums.begin(), sums.end(), [](double sum) { return sum > 0; })) return;
    auto const others = symmetric_scaling(second);
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (sums[i] == 0) scaling_[i] = others[i];
  }

  void measure() {
    norm_k_ = largest(row_sums(k_));
    norm_m_ = m_ ? largest(row_sums(*m_)) : 1;
    auto const scaled = [&](HostHermitian const& A) {
      auto S = A;
      for (int i = 0; i < S.rows; ++i)
        for (auto e = S.offsets[i]; e < S.offsets[i + 1]; ++e)
          for (int p = 0; p < S.parts; ++p)
            S.values[e * S.parts + p] *= scaling_[i] * scaling_[S.columns[e]];
      return largest(row_sums(S));
    };
    double mass = 0;
    if (m_)
      mass = scaled(*m_);
    else
      for (double const s : scaling_) mass = std::max(mass, s * s);
    scaled_size_ = mass > 0 ? scaled(k_) / mass : 0;
    if (!m_) return;
    auto const sums = row_sums(*m_);
    massless_ = std::any_of(sums.begin(), sums.end(), [](double sum) { return sum == 0; });
  }

  void scale(double* B, std::int64_t columns) const {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < order_; ++i)
        B[i + j * order_] *= scaling_[static_cast<std::size_t>(i / k_.parts)];
  }

  /// The factors are exact for F + E, and E z = x - F z for z = (F + E)^-1 x: |E z| / |x| is the
  /// size of E over the least eigenvalue, where z is the direction of that (Weyl). Infinite where
  /// that cannot be computed.
  void test_factors(ShiftCount& count) const {
    count.rho = count.inverse = std::numeric_limits<double>::infinity();
    std::int64_t const n = order_;
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

  HostHermitian k_;
  std::optional<HostHermitian> m_;
  int order_ = 0;  ///< of the real form
  std::optional<SymmetricFactors> factors_;
  std::vector<double> scaling_;  // powers of two, one a row
  std::vector<double> a_, b_;    // K and M, scaled, in the order of the places
  std::vector<double> values_;
  FactorCounts counts_;
  double scaled_size_ = 0, norm_k_ = 0, norm_m_ = 1;
  bool massless_ = false;
};

}  // namespace

std::unique_ptr<PencilFactors> direct_pencil(HostHermitian K, std::optional<HostHermitian> M,
                                             PencilUse const& use) {
  return std::make_unique<DirectPencil>(std::move(K), std::move(M), use);
}

}  // namespace blockspan::operators
