#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include <Kokkos_Timer.hpp>

#include <blockspan/multigrid/coarsest/dense_inverse.hpp>
#include <blockspan/multigrid/coarsest/invert_by_blocks.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>
#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::levels {

/// A last level with more rows, which could not be coarsened, is smoothed instead of inverted.
inline constexpr std::int64_t most_inverted_rows = 4000;
/// The same limit for a last level that is singular, or nearly so.
inline constexpr std::int64_t most_singular_rows = 1500;
/// The same limit if all coarse columns are null vectors: 0.2 s of eigenvalues.
inline constexpr int most_rows_of_null_vectors = 1000;

template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> OrderedMatrix<Scalar, Exec>::of(Exec const& exec, Arena<Exec>& arena,
                                                        CrsMatrix<Scalar, Exec> const& A) {
  if (first_) in_order_ = is_in_order(exec, pattern_ref<Exec>(A));
  if (in_order_) return first_ = false, A;
  auto const n = A.numRows();
  if (first_) {
    identity_ = diagonal_pattern(exec, arena, n);
    ordered_ = multiply_patterns(exec, arena, pattern_ref<Exec>(A), identity_.ref());
    values_ = kept_array<Scalar>(exec, arena, ordered_.entries());
    first_ = false;
  }
  auto const ones = scratch_array<Scalar>(exec, arena, n);
  Kokkos::deep_copy(exec, ones, Scalar(1));
  multiply_values<Exec, Scalar>(exec, arena, matrix_ref<Exec>(A), {identity_.ref(), ones.data()},
                                ordered_, values_);
  exec.fence("Blockspan::multigrid_take");
  return matrix_of<Scalar, Exec>(ordered_, values_);
}

template <class Scalar, class Exec>
void OneRank<Scalar, Exec>::require_pattern(Exec const& exec, Levels const& all,
                                            Matrix const& A) const {
  auto const& first = all.levels[0];
  require(
      A.numRows() == first.A.numRows() &&
          (ordered_.in_order() ? first.op->plan().verify(exec, A)
                               : summarize(exec, pattern_ref<Exec>(A)).fingerprint == fingerprint_),
      "blockspan::Multigrid::refresh", "the matrix has another pattern");
}

template <class Scalar, class Exec>
void OneRank<Scalar, Exec>::take(Exec const& exec, Setup& setup, Levels& all, Matrix const& A) {
  auto& first = all.levels[0];
  auto const before = first.A;
  first.A = ordered_.of(exec, setup.arena, A);
  if (!first.op && !ordered_.in_order())
    fingerprint_ = summarize(exec, pattern_ref<Exec>(A)).fingerprint;
  if (first.op && first.A.values.data() == before.values.data() &&
      first.A.graph.entries.data() == before.graph.entries.data()) {
    // the values may be others; cycles keep the operator that they have, whose bounds they never
    // ask
    first.op = std::make_shared<Operator<Scalar> const>(first.op->with_current_bounds(exec));
    return;
  }
  ++all.generation;
  make_operator(exec, all, 0);  // its bounds depend on the values
}

template <class Scalar, class Exec>
void OneRank<Scalar, Exec>::make_operator(Exec const& exec, Levels& all, std::size_t number) const {
  auto& level = all.levels[number];
  if (is_solved(all, number)) return;
  level.op = std::make_shared<Operator<Scalar> const>(
      exec, level.A, SpmmPlanOptions{.columns = all.options.columns});
}

template <class Scalar, class Exec>
void OneRank<Scalar, Exec>::count(Level& level) const {
  level.report.rows = level.A.numRows();
  level.report.nonzeros = static_cast<std::int64_t>(level.A.nnz());
}

template <class Scalar, class Exec>
ChebyshevSetup<Scalar, Exec> OneRank<Scalar, Exec>::spectrum(Exec const& exec, Setup& setup,
                                                             Level const& level) const {
  return level_spectrum(exec, setup, *level.op, level.A);
}

template <class Scalar, class Exec>
bool OneRank<Scalar, Exec>::is_last(Levels const& all, std::size_t number) const {
  auto const& options = all.options;
  if (!options.prolongators.empty()) return number == options.prolongators.size();
  return static_cast<int>(number) + 1 == options.max_levels ||
         all.levels[number].A.numRows() <= options.coarse_rows;
}

template <class Scalar, class Exec>
bool OneRank<Scalar, Exec>::fits_inverse(Levels const& all, std::int64_t rows) {
  return rows <= std::max<std::int64_t>(all.options.coarse_rows, most_inverted_rows);
}

template <class Scalar, class Exec>
bool OneRank<Scalar, Exec>::is_solved(Levels const& all, std::size_t number) const {
  return number > 0 && !inverse_given_up_ && is_last(all, number) &&
         fits_inverse(all, all.levels[number].A.numRows());
}

template <class Scalar, class Exec>
bool OneRank<Scalar, Exec>::coarsen(Exec const& exec, Setup& setup, Levels& all) const {
  std::size_t const number = all.levels.size() - 1;
  auto& level = all.levels[number];
  if (!all.options.prolongators.empty()) {
    level.use_given(exec, setup, level.spectrum, number);
    return true;
  }
  if (level.coarsen(exec, setup, level.spectrum, number)) return true;
  auto& report = level.report;
  if (report.spent > 0) return false;
  if (number == 0) {
    std::string const why = report.left_out > report.nodes / 2 || report.aggregates == 0
                                ? "rows have no neighbours that matter"
                                : "too few rows can be put together";
    reject(all.report, MultigridStatus::no_coarsening, why + ": jacobi does as well");
  } else {
    all.report.notes.push_back("level " + std::to_string(number) + " cannot be coarsened further");
  }
  report.aggregates = 0;
  return false;
}

template <class Scalar, class Exec>
bool OneRank<Scalar, Exec>::refresh(Exec const& exec, Setup& setup, Levels& all,
                                    std::size_t number) const {
  auto& level = all.levels[number];
  level.refresh(exec, setup, level.spectrum);
  return true;
}

template <class Scalar, class Exec>
void OneRank<Scalar, Exec>::solve_last(Exec const& exec, Setup& setup, Levels& all) {
  Kokkos::Timer timer;
  auto& report = all.report;
  std::size_t const number = all.levels.size() - 1;
  auto& last = all.levels[number];
  auto const n = static_cast<std::int64_t>(last.A.numRows());
  auto const smooth_instead = [&](char const* why) {
    report.exact_last = false;
    report.notes.push_back("the last level has " + std::to_string(n) + " rows" + why +
                           ": it is smoothed, not inverted");
  };
  report.exact_last = fits_inverse(all, n) && !inverse_given_up_;
  if (!report.exact_last) return smooth_instead(inverse_given_up_ ? " and is singular" : "");
  // all of its coarse columns are null vectors: an inverse would find the same null vectors
  if (last.report.spent > 0 && n > std::max(all.options.coarse_rows, most_rows_of_null_vectors)) {
    report.exact_last = false;
    return smooth_instead(" and falls into components no larger than an aggregate");
  }
  if (n == 0) return;
  if (inverse_.numRows() != n)
    inverse_ = matrix_of<Scalar, Exec>(full_pattern(exec, setup.arena, static_cast<int>(n)),
                                       kept_array<Scalar>(exec, setup.arena, n * n));
  report.null_vectors = 0;
  bool inverted = false;
  if constexpr (!runs_on_host_v<Exec>)
    inverted = BlockInverse<Scalar, Exec>(exec, setup.arena, static_cast<int>(n))
                   .run(last.ref(), 1e-11 * static_cast<double>(n), inverse_.values);
  if (!inverted && !invert_on_host(exec, all)) {
    inverse_ = {};
    inverse_given_up_ = true;
    smooth_instead(" and is singular");
    if (number > 0) make_operator(exec, all, number);
    if (number > 0) all.measure(exec, setup, number);
  }
  setup.charge(exec, &MultigridSeconds::inverse);
  last.report.seconds = timer.seconds();
}

/// By LAPACK, which can invert on the range if the matrix is singular, or nearly so. False: that
/// would take too long.
template <class Scalar, class Exec>
bool OneRank<Scalar, Exec>::invert_on_host(Exec const& exec, Levels& all) {
  auto const& last = all.levels.back().A;
  auto const n = static_cast<std::int64_t>(last.numRows());
  auto const host = to_host(last);
  Kokkos::DefaultHostExecutionSpace const cpu;
  auto const dense = allocate_zeros<SmallMatrix<Scalar>>(cpu, "Blockspan::multigrid", n, n);
  cpu.fence("Blockspan::multigrid_inverse");
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = host.offsets(i); k < host.offsets(i + 1); ++k)
      dense(i, host.indices(k)) = host.values(k);
  auto const result = invert_on_range(dense, all.levels.size() == 1,
                                      static_cast<std::size_t>(std::max<std::int64_t>(
                                          all.options.coarse_rows, most_singular_rows)));
  if (result.too_large) return false;
  all.report.null_vectors = result.null_vectors;
  if (!result.finite || result.lowest < -1e-9) {
    std::ostringstream message;
    message << "level " << all.levels.size() - 1 << " has ";
    if (result.finite)
      message << "the eigenvalue " << result.lowest
              << " times its largest: not positive semidefinite";
    else
      message << "entries that are not finite";
    message << "; chebyshev and multigrid do not apply";
    reject(all.report, MultigridStatus::indefinite, message.str());
    return true;
  }
  // Hermitian: a row is the conjugate of a column, which is contiguous
  auto const rows =
      allocate<Kokkos::View<Scalar*, Kokkos::HostSpace>>(cpu, "Blockspan::multigrid", n * n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) rows(i * n + j) = conjugate(result.inverse(j, i));
  Kokkos::deep_copy(exec, inverse_.values, rows);
  exec.fence("Blockspan::multigrid_inverse");
  return true;
}

template <class Scalar, class Exec>
void OneRank<Scalar, Exec>::report_last(Levels& all) const {
  all.report.levels.push_back(all.levels.back().report);
}

template <class Scalar, class Exec>
double OneRank<Scalar, Exec>::work_of_last(Levels const& all) const {
  return all.report.exact_last ? static_cast<double>(inverse_.nnz())
                               : 7 * static_cast<double>(all.levels.back().A.nnz());
}

}  // namespace blockspan::levels
