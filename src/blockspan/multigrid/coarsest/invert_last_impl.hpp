#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include <Kokkos_Timer.hpp>

#include <blockspan/multigrid/coarsest/dense_inverse.hpp>
#include <blockspan/multigrid/coarsest/invert_by_blocks.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>
#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::levels {

/// A last level of more rows, which could not be coarsened, is smoothed instead of inverted.
inline constexpr std::int64_t most_inverted_rows = 4000;
/// The same of one that is singular, or nearly so.
inline constexpr std::int64_t most_singular_rows = 1500;

template <class Scalar, class Exec>
bool Hierarchy<Scalar, Exec>::fits_inverse(std::int64_t rows) const {
  return rows <= std::max<std::int64_t>(options_.coarse_rows, most_inverted_rows);
}

/// Nobody smooths there, and whether the matrix is definite its inverse says.
template <class Scalar, class Exec>
bool Hierarchy<Scalar, Exec>::is_inverted(std::size_t number) const {
  return number > 0 && !inverse_given_up_ && is_last(number) &&
         fits_inverse(levels[number].A.numRows());
}

template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::invert_last(Exec const& exec) {
  Kokkos::Timer timer;
  auto const& last = levels.back().A;
  auto const n = static_cast<std::int64_t>(last.numRows());
  auto const smooth_instead = [&](char const* why) {
    report.exact_last = false;
    report.notes.push_back("the last level has " + std::to_string(n) + " rows" + why +
                           ": it is smoothed, not inverted");
  };
  report.exact_last = fits_inverse(n) && !inverse_given_up_;
  if (!report.exact_last) return smooth_instead(inverse_given_up_ ? " and is singular" : "");
  if (n == 0) return;
  if (inverse.numRows() != n)
    inverse = matrix_of<Scalar, Exec>(full_pattern(exec, static_cast<int>(n)),
                                      new_array<Scalar>(exec, n * n));
  report.null_vectors = 0;
  bool inverted = false;
  if constexpr (!runs_on_host_v<Exec>)
    inverted = BlockInverse<Scalar, Exec>(exec, static_cast<int>(n))
                   .run(levels.back().ref(), 1e-11 * static_cast<double>(n), inverse.values);
  if (!inverted && !invert_on_host(exec, last)) {
    inverse = {};
    inverse_given_up_ = true;
    smooth_instead(" and is singular");
    std::size_t const number = levels.size() - 1;
    if (number > 0) levels[number].op = operator_of(exec, last);
    if (number > 0) measure(exec, levels[number], number);
  }
  charge(exec, &MultigridSeconds::inverse);
  levels.back().report.seconds = timer.seconds();
}

/// By LAPACK: what knows what to do where the matrix is singular, or nearly so. False: that would
/// take too long.
template <class Scalar, class Exec>
bool Hierarchy<Scalar, Exec>::invert_on_host(Exec const& exec, Matrix const& last) {
  auto const n = static_cast<std::int64_t>(last.numRows());
  auto const host = to_host(last);
  Kokkos::DefaultHostExecutionSpace const cpu;
  auto const dense = allocate_zeros<SmallMatrix<Scalar>>(cpu, "Blockspan::multigrid", n, n);
  cpu.fence("Blockspan::multigrid_inverse");
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = host.offsets(i); k < host.offsets(i + 1); ++k)
      dense(i, host.indices(k)) = host.values(k);
  auto const result = invert_on_range(
      dense, levels.size() == 1,
      static_cast<std::size_t>(std::max<std::int64_t>(options_.coarse_rows, most_singular_rows)));
  if (result.too_large) return false;
  report.null_vectors = result.null_vectors;
  if (!result.finite || result.lowest < -1e-9) {
    std::ostringstream message;
    message
        << "level " << levels.size() - 1 << " has "
        << (result.finite ? "the eigenvalue " : "entries that are not finite")
        << (result.finite ? result.lowest : 0)
        << " times its largest: not positive semidefinite; chebyshev and multigrid do not apply";
    reject(MultigridStatus::indefinite, message.str());
    return true;
  }
  // Hermitian: its columns are its rows, conjugated
  auto const rows =
      allocate<Kokkos::View<Scalar*, Kokkos::HostSpace>>(cpu, "Blockspan::multigrid", n * n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) rows(i * n + j) = result.inverse(i, j);
  Kokkos::deep_copy(exec, inverse.values, rows);
  exec.fence("Blockspan::multigrid_inverse");
  return true;
}

}  // namespace blockspan::levels
