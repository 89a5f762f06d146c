#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <blockspan/operators/factors/direct_scaling.hpp>
#include <blockspan/operators/factors/scaled_pencil.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators {

namespace {

constexpr char const* where = "blockspan::exact";

/// The magnitude of entry e.
double magnitude(HostHermitian const& A, std::int64_t e) {
  return A.parts == 2 ? std::hypot(A.values[2 * e], A.values[2 * e + 1]) : std::abs(A.values[e]);
}

/// Row sums of the magnitudes of S A S; S: diagonal, of powers of two.
std::vector<double> row_sums(HostHermitian const& A, std::vector<double> const& S) {
  std::vector<double> sums(A.rows, 0.0);
  for (int i = 0; i < A.rows; ++i)
    for (auto e = A.offsets[i]; e < A.offsets[i + 1]; ++e)
      sums[i] += magnitude(A, e) * (S[i] * S[A.columns[e]]);
  return sums;
}
std::vector<double> row_sums(HostHermitian const& A) {
  return row_sums(A, std::vector<double>(A.rows, 1.0));
}

double largest(std::vector<double> const& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

constexpr int together = 4;  ///< columns that share a pass over a matrix
using Sums = std::array<double, together>;

/// x^T |A| x of columns of magnitudes, those of a row beside each other.
Sums energies_of(HostHermitian const& A, std::vector<Sums> const& X) {
  Sums sums{};
  for (int i = 0; i < A.rows; ++i) {
    Sums row{};
    for (auto e = A.offsets[i]; e < A.offsets[i + 1]; ++e) {
      double const entry = magnitude(A, e);
      auto const& x = X[A.columns[e]];
      for (int c = 0; c < together; ++c) row[c] += x[c] * entry;
    }
    for (int c = 0; c < together; ++c) sums[c] += X[i][c] * row[c];
  }
  return sums;
}

Sums squares_of(std::vector<Sums> const& X) {
  Sums sums{};
  for (auto const& x : X)
    for (int c = 0; c < together; ++c) sums[c] += x[c] * x[c];
  return sums;
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
  std::vector<double> result;
  std::vector<Sums> x(static_cast<std::size_t>(k_.rows));
  for (std::size_t first = 0; first < values.size(); first += together) {
    std::size_t const count = std::min<std::size_t>(together, values.size() - first);
    for (std::size_t c = 0; c < count; ++c) {
      double const* const column = X + static_cast<std::int64_t>(first + c) * order();
      for (int i = 0; i < k_.rows; ++i)
        x[i][c] =
            k_.parts == 2 ? std::hypot(column[2 * i], column[2 * i + 1]) : std::abs(column[i]);
    }
    auto const stiffness = energies_of(k_, x), mass = m_ ? energies_of(*m_, x) : squares_of(x);
    for (std::size_t c = 0; c < count; ++c)
      result.push_back(stiffness[c] + std::abs(values[first + c]) * mass[c]);
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

/// Rows without an entry in the one matrix are scaled by the other, to the size that it has in the
/// rest, so that the pencil comes out the same in any units of K and M.
void ScaledPencil::choose_scaling(bool by_mass) {
  bool const mass_first = by_mass && m_;
  auto const& first = mass_first ? *m_ : k_;
  auto const* const second = mass_first ? &k_ : m_ ? &*m_ : nullptr;  // null: the identity
  scaling_ = symmetric_scaling(first);
  auto const sums = row_sums(first);
  if (std::all_of(sums.begin(), sums.end(), [](double sum) { return sum > 0; })) return;
  auto rest = scaling_;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] == 0) rest[i] = 0;
  double const root = largest(rest), size = second ? largest(row_sums(*second, rest)) : root * root,
               unit = size > 0 ? std::exp2(std::round(std::log2(size) / 2)) : 1;
  auto const others = second ? symmetric_scaling(*second) : std::vector<double>(sums.size(), 1.0);
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] == 0) scaling_[i] = unit * others[i];
}

void ScaledPencil::measure() {
  norm_k_ = largest(row_sums(k_));
  stiffness_size_ = largest(row_sums(k_, scaling_));
  if (!m_) {
    for (double const s : scaling_) mass_size_ = std::max(mass_size_, s * s);
    return;
  }
  mass_size_ = largest(row_sums(*m_, scaling_));
  auto const sums = row_sums(*m_);
  norm_m_ = largest(sums);
  massless_ = std::any_of(sums.begin(), sums.end(), [](double sum) { return sum == 0; });
}

}  // namespace blockspan::operators
