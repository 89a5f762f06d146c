#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <blockspan/solvers/lobpcg/subspace/problem.hpp>

// What Problem knows of B: rows that neither matrix uses, the diagonal that measures residuals, and
// the factor that makes its norm a bound.
namespace blockspan::eigen {

inline std::string rows_in_words(std::vector<std::int64_t> const& rows) {
  constexpr std::size_t most = 5;
  std::ostringstream words;
  words << (rows.size() == 1 ? "row" : "rows");
  for (std::size_t k = 0; k < std::min(rows.size(), most); ++k)
    words << (k > 0 ? ", " : " ") << rows[k];
  if (rows.size() > most) words << " and " << rows.size() - most << " more";
  words << (rows.size() == 1 ? " has" : " have");
  return words.str();
}

template <class Scalar, class Exec>
void Problem<Scalar, Exec>::find_unused_rows() {
  auto const d = b_->entries().diagonal(exec);
  bool const empty_rows = std::any_of(d.begin(), d.end(), [](Real value) { return value == 0; });
  if (!ranks().any(empty_rows)) return;
  auto const n = static_cast<std::size_t>(rows());
  std::vector<Real> sizes(n, 0);
  auto const ones = to_device<RowValues>(exec, "Blockspan::lobpcg::rows", std::vector<Real>(n, 1));
  auto const sums = allocate<RowValues>(exec, "Blockspan::lobpcg::rows", n);
  for (Operator const* op : {&a_, b_}) {
    if (!op->entries().apply_magnitudes(exec, OperatorValues<Real const, Exec>(ones.data(), n),
                                        OperatorValues<Real, Exec>(sums.data(), n)))
      return;
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
    for (std::size_t i = 0; i < n; ++i) sizes[i] += host(i);
  }
  std::vector<Real> weights;
  for (Real const size : sizes) weights.push_back(size > 0 || size != size ? Real(1) : Real(0));
  auto const zeros = std::count(weights.begin(), weights.end(), Real(0));
  unused_ = ranks().sum(static_cast<std::int64_t>(zeros));
  if (unused_ == 0) return;
  used_weights_ = to_device<RowValues>(exec, "Blockspan::lobpcg::rows", weights);
  for (Real const weight : weights) used_.push_back(weight != 0);
}

template <class Scalar, class Exec>
auto Problem<Scalar, Exec>::possible_lift() const -> Real {
  constexpr int tolerated = 20, above = 10;  // powers of two
  if (sign < 0) return 0;
  auto const a = a_.entries().diagonal(exec), b = b_->entries().diagonal(exec);
  Real least = std::numeric_limits<Real>::infinity(), largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    Real const ratio = scaled_by_a(a[i]) / scaled_by_b(b[i]);
    if (!(ratio > 0)) continue;
    least = std::min(least, ratio), largest = std::max(largest, ratio);
  }
  least = ranks().least(least), largest = ranks().largest(largest);
  if (!std::isfinite(least) || !(largest > std::ldexp(least, tolerated))) return 0;
  Real const lift = std::ldexp(1 / least, -above);
  return std::isnormal(lift) ? lift : Real(0);
}

template <class Scalar, class Exec>
void Problem<Scalar, Exec>::take_lifted_diagonal(Real lift) {
  auto const a = a_.entries().diagonal(exec);
  auto d = b_->entries().diagonal(exec);
  for (std::size_t i = 0; i < std::min(a.size(), d.size()); ++i)
    d[i] = is_used(i) ? scaled_by_b(d[i]) + lift * std::max(Real(0), scaled_by_a(a[i])) : Real(1);
  if (!lifted) lifted.emplace();
  lifted->lift = lift;
  lifted->measured = true;
  lifted->words = "the diagonal of B + A / tau, times an estimate by Lanczos";
  lifted->set_diagonal(exec, ranks(), d);
}

template <class Scalar, class Exec>
bool Problem<Scalar, Exec>::lift_mass() {
  if (!lifted) return false;
  mass = std::move(*lifted);
  lifted.reset();
  rounding_a_ = {}, rounding_b_ = {};
  return true;
}

template <class Scalar, class Exec>
auto Problem<Scalar, Exec>::take_mass_diagonal() -> std::optional<Status> {
  auto d = b_->entries().diagonal(exec);
  knows_mass_ = ranks().any(!d.empty());
  if (!knows_mass_) return std::nullopt;
  enum { definite, singular, indefinite } here = definite;
  std::int64_t const row = workspace.rows().first_row() + 1;  // as files count
  std::vector<std::int64_t> massless;
  for (std::size_t i = 0; i < d.size() && here != indefinite; ++i) {
    if (d[i] < 0) {
      std::ostringstream words;
      words << "the diagonal entry of row " << row + static_cast<std::int64_t>(i)
            << " of the mass matrix is " << d[i] << " (rows counted from 1)";
      trouble = words.str();
      here = indefinite;
    }
    d[i] = is_used(i) ? scaled_by_b(d[i]) : Real(1);
    if (!(d[i] >= std::numeric_limits<Real>::min()))
      massless.push_back(row + static_cast<std::int64_t>(i));
  }
  if (here == definite && !massless.empty()) {
    trouble = "the mass matrix is singular: " + rows_in_words(massless) +
              " no mass (rows counted from 1)";
    here = singular;
  }
  auto const found = ranks().largest(here);
  if (found != definite) {
    trouble = ranks().words_of_first(here == found ? trouble : std::string());
    return found == singular ? Status::mass_singular : Status::mass_not_positive_definite;
  }
  mass.set_diagonal(exec, ranks(), d);
  return std::nullopt;
}

template <class Scalar, class Exec>
void Problem<Scalar, Exec>::set_mass_norm(Real factor) {
  mass.factor = factor;
  mass.measured = true;
  mass.words = knows_mass_ ? "the diagonal of B, times an estimate by Lanczos"
                           : "an estimate of the least eigenvalue of B by Lanczos";
  if (facts_of_b_.terms_per_row == 1) mass.words = "B is diagonal: exact";
  auto const bound = facts_of_b_.eigenvalue_lower_bound;
  if (!bound || !(*bound > 0) || facts_of_b_.terms_per_row == 1) return;
  Real const proven = 1 / std::sqrt(scaled_by_b(*bound));
  if (proven > 1.5 * factor * mass.largest_weight) return;
  mass.factor = proven / mass.largest_weight;
  mass.words = "Gershgorin's bound of the least eigenvalue of B";
}

template <class Scalar, class Exec>
auto Problem<Scalar, Exec>::trouble_of_mass(View const& V, View const& BV,
                                            std::vector<int>* null_columns)
    -> std::optional<Status> {
  int const k = static_cast<int>(V.extent(1));
  DirectionTerms<Scalar> const terms{row_major_ref<Exec>(BV), row_major_ref<Exec>(V)};
  auto const sums = fold("Blockspan::lobpcg::mass", terms, k);
  Real const rounding =
      static_cast<Real>(*facts_of_b_.terms_per_row) * Thresholds<Real>::u * norm_b;
  for (int j = 0; j < k; ++j) {
    Real const size = std::sqrt(sums[j]), product = sums[k + j];
    if (!std::isfinite(product)) return Status::operator_not_finite;
    if (product <
        -Thresholds<Real>::indefinite * size * std::sqrt(sums[2 * k + j]) - rounding * size * size)
      return Status::mass_not_positive_definite;
    if (null_columns && !(product > Thresholds<Real>::u * norm_b * size * size))
      null_columns->push_back(j);
  }
  return std::nullopt;
}

}  // namespace blockspan::eigen
