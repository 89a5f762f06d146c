#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <blockspan/operators/factors/direct_scaling.hpp>
#include <blockspan/operators/factors/scaled_pencil.hpp>
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

double square(std::vector<double> const& x) {
  double sum = 0;
  for (double const entry : x) sum += entry * entry;
  return sum;
}

}  // namespace

ScaledPencil::ScaledPencil(HostHermitian K, std::optional<HostHermitian> M, bool scale_by_mass)
    : k_(std::move(K)), m_(std::move(M)) {
  require(k_.rows > 0, where, "the matrix has no rows");
  require(std::int64_t(k_.rows) * k_.parts <= std::numeric_limits<int>::max(), where,
          "a matrix of ", k_.rows, " rows is too large");
  require(!m_ || m_->rows == k_.rows, where, "the mass matrix has ", m_ ? m_->rows : 0,
          " rows, the matrix ", k_.rows);
  require_finite(where, "the matrix", k_);
  if (m_) require_finite(where, "the mass matrix", *m_);
  choose_scaling(scale_by_mass);
  measure();
}

std::vector<double> ScaledPencil::energies(double const* X,
                                           std::vector<double> const& values) const {
  std::vector<double> result, x(static_cast<std::size_t>(k_.rows));
  for (std::size_t c = 0; c < values.size(); ++c) {
    double const* const column = X + static_cast<std::int64_t>(c) * order();
    for (int i = 0; i < k_.rows; ++i)
      x[i] = k_.parts == 2 ? std::hypot(column[2 * i], column[2 * i + 1]) : std::abs(column[i]);
    double const mass = m_ ? energy(*m_, x) : square(x);
    result.push_back(energy(k_, x) + std::abs(values[c]) * mass);
  }
  return result;
}

std::vector<double> ScaledPencil::scaled_squares(double const* R, std::int64_t columns) const {
  std::vector<double> result;
  std::int64_t const n = order();
  for (std::int64_t c = 0; c < columns; ++c) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double const entry = scaling_[static_cast<std::size_t>(i / k_.parts)] * R[c * n + i];
      sum += entry * entry;
    }
    result.push_back(sum);
  }
  return result;
}

double ScaledPencil::size_at(double shift) const {
  return stiffness_size_ + std::abs(shift) * mass_size_;
}

/// Rows without an entry in the one matrix are scaled by the other.
void ScaledPencil::choose_scaling(bool by_mass) {
  auto const &first = by_mass && m_ ? *m_ : k_, &second = by_mass || !m_ ? k_ : *m_;
  scaling_ = symmetric_scaling(first);
  auto const sums = row_sums(first);
  if (!m_ || std::all_of(sums.begin(), sums.end(), [](double sum) { return sum > 0; })) return;
  auto const others = symmetric_scaling(second);
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] == 0) scaling_[i] = others[i];
}

void ScaledPencil::measure() {
  norm_k_ = largest(row_sums(k_));
  auto const scaled = [&](HostHermitian const& A) {
    auto S = A;
    for (int i = 0; i < S.rows; ++i)
      for (auto e = S.offsets[i]; e < S.offsets[i + 1]; ++e)
        for (int p = 0; p < S.parts; ++p)
          S.values[e * S.parts + p] *= scaling_[i] * scaling_[S.columns[e]];
    return largest(row_sums(S));
  };
  stiffness_size_ = scaled(k_);
  if (!m_) {
    for (double const s : scaling_) mass_size_ = std::max(mass_size_, s * s);
    return;
  }
  mass_size_ = scaled(*m_);
  auto const sums = row_sums(*m_);
  norm_m_ = largest(sums);
  massless_ = std::any_of(sums.begin(), sums.end(), [](double sum) { return sum == 0; });
}

}  // namespace blockspan::operators
