#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <blockspan/solvers/exact/interval.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::exact {

/// max |X^H M X - I|
template <class Scalar, class Exec>
double orthogonality_loss(Pencil<Scalar, Exec>& pencil, WithMass<Scalar, Exec> const& X) {
  int const k = static_cast<int>(X.x.extent(1));
  auto const G = solvers::small_matrix<Scalar>(k, k);
  gram(pencil.exec, X.x, X.mx, G, pencil.workspace);
  return solvers::defect_from_diagonal(G);
}

/// ||K x - lambda M x|| / (|lambda| ||M x||) from the backward errors of the pairs.
template <class Scalar, class Exec>
std::vector<double> relative_residuals(Pencil<Scalar, Exec>& pencil,
                                       Pairs<Scalar, Exec> const& pairs,
                                       WithMass<Scalar, Exec> const& X) {
  Kokkos::View<double*, Kokkos::HostSpace> const x("x", pairs.size()), mx("mx", pairs.size());
  column_norms(pencil.exec, X.x, x, pencil.workspace);
  column_norms(pencil.exec, X.mx, mx, pencil.workspace);
  std::vector<double> result;
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    double const size = std::abs(pairs.values[j]), length = size * mx(j);
    double const residual =
        pairs.errors[j] * (pencil.report.norm_k + size * pencil.report.norm_m) * x(j);
    result.push_back(length > 0 ? residual / length : std::numeric_limits<double>::infinity());
  }
  return result;
}

/// Fills in the fields of the report about pairs.
template <class Scalar, class Exec>
void describe(Pencil<Scalar, Exec>& pencil, Pairs<Scalar, Exec> const& pairs) {
  constexpr double largest_error = 1e-9;
  double const tolerance = pencil.options.tolerance;
  auto& report = pencil.report;
  report.eigenvalues = pairs.values;
  report.backward_errors = pairs.errors;
  report.error_bounds = pairs.bounds;
  if (pairs.size() > 0) {
    auto const X = pencil.with_mass(pairs.X);
    report.orthogonality_loss = orthogonality_loss(pencil, X);
    report.relative_residuals = relative_residuals(pencil, pairs, X);
  }
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    double const size = std::abs(pairs.values[j]), bound = pairs.bounds[j];
    report.certain_digits.push_back(
        std::clamp(bound > 0 ? std::log10(size / bound) : 16.0, 0.0, 16.0));
    bool const good =
        pairs.errors[j] <= std::min(largest_error, tolerance) && report.orthogonality_loss < 1e-7;
    bool const zero = size <= bound && std::isfinite(bound);
    report.pair_status.push_back(!good  ? Status::not_converged
                                 : zero ? Status::zero_eigenvalue
                                        : Status::converged);
  }
  auto const done = std::count_if(report.pair_status.begin(), report.pair_status.end(), is_done);
  if (report.status == Status::converged && done < static_cast<std::int64_t>(pairs.size())) {
    report.status = Status::attainable_limit;
    report.proof = Proof::none;
  }
}

/// Pairs are ascending: the infinite ones are the last.
inline void leave_out_infinite(ExactReport& report) {
  auto const first = std::find(report.eigenvalues.begin(), report.eigenvalues.end(),
                               std::numeric_limits<double>::infinity());
  auto const all = report.eigenvalues.size();
  auto const finite = static_cast<std::size_t>(first - report.eigenvalues.begin());
  if (finite == all) return;
  report.notes.push_back(sentence("Only ", finite, " of the ", all,
                                  " nearest in 1 / lambda are finite: M maps the vectors of the "
                                  "others to zero."));
  for (auto* const values : {&report.eigenvalues, &report.error_bounds, &report.backward_errors,
                             &report.relative_residuals, &report.certain_digits})
    values->resize(finite);
  report.pair_status.resize(finite);
}

/// What was found in mu = 1 / lambda, ascending again; the vectors of X change their order, too.
/// With X^H K X = I the residual K x - lambda Kg x is -lambda times the one found, and as large
/// beside lambda Kg x as that beside mu K x, both nearly K x.
template <class Scalar, class Exec>
void exchange(Exec const& exec, ExactReport& report, Block<Scalar, Exec>& X) {
  auto const count = report.eigenvalues.size();
  auto const inverse = [](double mu) { return 1 / mu; };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  auto const old = report;
  auto const value = [&](std::size_t j) {  // zero to rounding: M maps the vector to nothing
    double const mu = old.eigenvalues[j], bound = old.error_bounds[j];
    return std::abs(mu) > bound || !std::isfinite(bound) ? inverse(mu) : infinite;
  };
  auto const order = sorted_order(count, [&](int a, int b) { return value(a) < value(b); });
  std::swap(report.norm_k, report.norm_m);
  for (std::size_t j = 0; j < count; ++j) {
    auto const from = static_cast<std::size_t>(order[j]);
    double const mu = old.eigenvalues[from], bound = old.error_bounds[from];
    report.eigenvalues[j] = value(from);
    double const left = std::abs(mu) - bound;
    report.error_bounds[j] = left > 0 ? bound / (std::abs(mu) * left) : infinite;
    report.backward_errors[j] = old.backward_errors[from];
    report.relative_residuals[j] = old.relative_residuals[from];
    report.certain_digits[j] = old.certain_digits[from];
    report.pair_status[j] = old.pair_status[from];
  }
  if (count > 0) {
    auto const sorted =
        allocate<Block<Scalar, Exec>>(exec, "Blockspan::exact::sorted", X.extent(0), count);
    copy_columns(exec, blocks::column_range(X, 0, static_cast<int>(count)), order, sorted);
    Kokkos::deep_copy(exec, blocks::column_range(X, 0, static_cast<int>(count)), sorted);
  }
  leave_out_infinite(report);
  report.next_eigenvalue = inverse(report.next_eigenvalue);
  for (auto& at : report.counts) at.asked = inverse(at.asked), at.shift = inverse(at.shift);
  double const from = report.from;
  report.from = inverse(report.to), report.to = inverse(from);
  for (auto& cell : report.missing) {
    double const low = cell.from;
    cell.from = inverse(cell.to), cell.to = inverse(low);
  }
}

/// Squares of what the inverse makes of a vector must be numbers. Throws Error.
inline void require_range(operators::PencilFactors const& factors, double sigma) {
  constexpr double most = 1e140;
  double const m = factors.norm_m(), a = factors.norm_k() + std::abs(sigma) * m;
  auto const fits = [](double size) { return size == 0 || (size < most && size > 1 / most); };
  require(fits(m) && fits(a) && (a == 0 || fits(m / a)), "blockspan::exact",
          "the matrix, its mass and the shift differ by more than double precision can square (",
          factors.norm_k(), ", ", m, ", ", sigma, "): scale them");
}

/// Whether the diagonal proves that M is not semidefinite, which the report then says.
template <class Scalar, class Exec>
bool refuses_mass(Exec const& exec, LinearOperator<Scalar, Exec> const* M, bool exchanged,
                  ExactReport& report) {
  if (M == nullptr) return false;
  RowSpace const rows = M->row_space();
  report.trouble = rows.communicator().words_of_first(
      in_words_negative(M->entries().diagonal(exec), rows.first_row(), exchanged));
  if (report.trouble.empty()) return false;
  report.status = Status::mass_not_positive_definite;
  return true;
}

/// Fewer pairs than were asked for, of a space that is exhausted: with rows that have no mass the
/// others may be infinite.
inline void say_too_few(ExactReport& report, std::size_t found, std::int64_t rows, bool massless) {
  if (massless) {
    report.notes.push_back(sentence("Only ", found, " of ", rows,
                                    " eigenvalues are finite, as far as rounding lets this shift "
                                    "tell."));
    return;
  }
  report.status = Status::missing_pairs;
  report.proof = Proof::missing;
  report.trouble = sentence("only ", found, " of ", rows,
                            " eigenvalues can be told from rounding at this shift: ask for the "
                            "others near one of theirs, or as an interval");
}

template <class Scalar, class Exec>
ExactReport near(Exec const& exec, LinearOperator<Scalar, Exec> const& K,
                 LinearOperator<Scalar, Exec> const* M, operators::PencilFactors& factors,
                 double sigma, Block<Scalar, Exec> const& X, ExactOptions const& options) {
  auto const wanted = std::min<std::int64_t>(options.pairs, factors.rows());
  bool const exchanged = options.form == Spectral::buckling;
  K.row_space().communicator().run_agreed([&] {
    require(static_cast<std::int64_t>(X.extent(0)) == K.rows() &&
                static_cast<std::int64_t>(X.extent(1)) >= wanted,
            "blockspan::eigenpairs_near", "X is ", X.extent(0), " x ", X.extent(1), " for ",
            options.pairs, " pairs of ", K.rows(), " rows");
    require_range(factors, exchanged ? 1 / sigma : sigma);
  });
  ExactReport report;
  if (refuses_mass(exec, M, exchanged, report)) return report;
  auto out = X;
  {
    Pencil<Scalar, Exec> pencil(exec, K, M, factors, options, report);
    auto const pairs = Near<Scalar, Exec>(pencil, exchanged ? 1 / sigma : sigma).solve();
    describe(pencil, pairs);
    if (pairs.size() > 0)
      Kokkos::deep_copy(exec, blocks::column_range(X, 0, static_cast<int>(pairs.size())), pairs.X);
    if (report.converged() && static_cast<std::int64_t>(pairs.size()) < wanted)
      say_too_few(report, pairs.size(), factors.rows(), factors.massless_rows());
  }
  if (exchanged) exchange(exec, report, out);
  exec.fence("Blockspan::eigenpairs_near");
  return report;
}

template <class Scalar, class Exec>
ExactReport inside(Exec const& exec, LinearOperator<Scalar, Exec> const& K,
                   LinearOperator<Scalar, Exec> const* M, operators::PencilFactors& factors,
                   double a, double b, Block<Scalar, Exec>& X, ExactOptions const& options) {
  bool const exchanged = options.form == Spectral::buckling;
  K.row_space().communicator().run_agreed([&] {
    for (double const end : {a, b})
      require_range(factors, !std::isfinite(end) ? 0 : exchanged ? 1 / end : end);
  });
  ExactReport report;
  if (refuses_mass(exec, M, exchanged, report)) {
    X = allocate<Block<Scalar, Exec>>(exec, "Blockspan::exact::pairs", K.rows(), 0);
    return report;
  }
  {
    Pencil<Scalar, Exec> pencil(exec, K, M, factors, options, report);
    Interval<Scalar, Exec> interval(pencil);
    auto const pairs = exchanged ? interval.solve(1 / b, 1 / a) : interval.solve(a, b);
    describe(pencil, pairs);
    X = pairs.size() > 0 ? pairs.X : pencil.new_block("pairs", 0);
  }
  if (exchanged) exchange(exec, report, X);
  exec.fence("Blockspan::eigenpairs_in");
  return report;
}

}  // namespace blockspan::exact
