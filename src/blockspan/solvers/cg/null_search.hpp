#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <blockspan/solvers/cg/group.hpp>
#include <blockspan/support/backend.hpp>

// The search for null vectors of A where residuals stagnate (singular systems; see solve_spd).

namespace blockspan::krylov {

/// E with A E = Q to these relative residuals, in at most `iterations`, which count as those of the
/// solve.
template <class Scalar, class Exec>
void solve_within(CgProblem<Scalar, Exec>& problem, CgControl<Scalar, Exec>& control,
                  Block<Scalar, Exec> const& Q, Block<Scalar, Exec> const& E,
                  std::vector<real_t<Scalar>> const& tolerances, int iterations, bool block) {
  using Real = real_t<Scalar>;
  int const columns = static_cast<int>(Q.extent(1));
  CgOptions<Scalar, Exec> options;
  options.preconditioner = control.options().preconditioner;
  options.tolerances = tolerances;
  options.max_iterations = iterations;
  options.max_cycles = 2;
  options.keep_history = false;
  options.time_limit = control.time_left();
  options.time_phases = control.options().time_phases;
  options.monitor = [&](CgProgress<Real> const& now) {
    return control.search_step(now.directions);
  };
  CgReport<Real> report;
  report.columns.resize(static_cast<std::size_t>(columns));
  CgProblem<Scalar, Exec> inner(problem.exec, problem.a(), options);
  CgControl<Scalar, Exec> inner_control(options, report, inner.workspace.rows().communicator());
  inner_control.forbid_search();
  CgTools<Scalar, Exec> tools(inner, inner_control, columns);
  CgGroup<Scalar, Exec>(inner, tools, block_ref<Exec>(Q), block_ref<Exec>(E), 0,
                        block && columns > 1)
      .solve();
  add_counters(problem.counters, inner.counters, false);
  problem.seconds.add(inner.seconds);
}

template <class Scalar, class Exec>
ImageSizes<real_t<Scalar>> refine_null_vectors(CgProblem<Scalar, Exec>& problem,
                                               CgControl<Scalar, Exec>& control,
                                               Block<Scalar, Exec> const& Z, bool block) {
  using Real = real_t<Scalar>;
  using Limits = CgThresholds<Real>;
  constexpr int most = 3;
  constexpr Real digits = Limits::pick(1e-8, 1e-4);  // more of them in the next round
  int const iterations = 3 * control.group_iterations() + 100;
  constexpr auto label = "Blockspan::cg::null_vectors";
  auto const Q = problem.new_block(label, Z.extent(1)), E = problem.new_block(label, Z.extent(1));
  std::vector<Real> first;
  for (int round = 0;; ++round) {
    auto sizes = image_sizes(problem, Z, Q, E);
    if (round == 0) first = sizes.length;
    std::vector<Real> tolerances;
    bool done = true;
    for (std::size_t c = 0; c < first.size(); ++c) {
      bool const nothing = sizes.length[c] <= Limits::no_part * first[c];
      bool const near = nothing || sizes.image[c] <= Limits::refined * sizes.rounding[c];
      done = done && near;
      Real const wanted = near ? Real(0.5) : sizes.rounding[c] / sizes.image[c];
      tolerances.push_back(std::clamp(wanted, digits, Real(0.5)));
    }
    if (done || round == most || control.stopped()) return sizes;
    solve_within(problem, control, Q, E, tolerances, iterations, block);
    for_each_entry(problem.exec, "Blockspan::cg::subtract", block_ref<Exec>(Z),
                   SubtractBlock<Scalar>{block_ref<Exec>(E), block_ref<Exec>(Z)});
  }
}

template <class Scalar, class Exec>
auto CgGroup<Scalar, Exec>::project_residuals() -> std::vector<Real> {
  int const width = static_cast<int>(open_.size());
  auto const R = tools_.blocks.residual(width);
  null_parts_ = null_space().parts(problem_, R);
  null_space().project_out(problem_, R);
  numbers_.assign(static_cast<std::size_t>(width), Real(1));
  ScaledSquares<Scalar> const terms{block_ref<Exec>(R), problem_.on_device(numbers_)};
  return problem_.fold("Blockspan::cg::sizes", terms, width);
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::note_parts() {
  if (!null_space().given())
    null_parts_ =
        null_space().parts(problem_, tools_.blocks.residual(static_cast<int>(open_.size())));
  for (std::size_t c = 0; c < open_.size(); ++c) {
    int const j = open_[c];
    auto& column = columns_[j];
    Real const part = null_parts_[c];
    if (null_space().given()) {
      Real const whole = std::hypot(part, norms_[j]);
      report(j).outside = part / whole;
      if (norms_[j] <= Limits::no_part * whole) {  // nothing is left to solve for
        column.goal = std::max(column.goal, norms_[j]);
        norms_[j] = whole;
      }
    } else if (column.residual <= column.best) {  // a huge residual has errors of its own
      Real const least = std::max(
          {Limits::no_part * norms_[j], column.noise, null_space().doubt() * column.residual});
      if (part <= least) continue;
      report(j).outside = std::min(Real(1), part / norms_[j]);
      if (null_space().certain() * part > column.goal) column.failure = Status::inconsistent;
    }
  }
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::search() {
  singular_suspected_ = false;
  bool const seen = std::exchange(stopped_by_null_part_, false);
  bool const known = std::all_of(open_.begin(), open_.end(), [&](int j) {
    return columns_[j].failure == Status::inconsistent;
  });
  if (known) return;
  bool found = false;
  if (control_.may_search() && !null_space().given() && searches_++ < 4) {
    std::vector<int> worse;
    for (int const j : open_)
      if (!(columns_[j].residual <= columns_[j].best)) worse.push_back(j);
    if (!worse.empty()) {
      solution_.restore(worse);
      verify();
    }
    if (seen || look_at_entries()) {
      note_parts();
      found = true;
    } else {
      found = find_null_vectors();
    }
    if (found) completed_ = 0;  // what follows is another problem
  }
  if (found) {  // the rest of b may be solved
    for (int const j : open_)
      if (columns_[j].failure == Status::singular) columns_[j].failure.reset();
    // Of columns with a small part outside the range the rest is solved first. Once: errors of
    // the vectors leave a part that the next cycle must see.
    null_space().project_out(problem_, tools_.blocks.residual(static_cast<int>(open_.size())));
  }
  if (block_ && !found)
    switch_to_pseudo_block(Status::singular, "A is singular to working precision");
}

template <class Scalar, class Exec>
bool CgGroup<Scalar, Exec>::find_null_vectors() {
  int const width = static_cast<int>(open_.size());
  auto const R = tools_.blocks.residual(width);
  auto const Z = problem_.new_block("Blockspan::cg::null_vectors", width);
  copy_block<Exec, Scalar>(problem_.exec, block_ref<Exec>(R), block_ref<Exec>(Z));
  auto const sizes = refine_null_vectors(problem_, control_, Z, block_);
  std::vector<Real> least;
  for (int const j : open_) least.push_back(Limits::no_part * columns_[j].residual);
  if (!keep_null_vectors(Z, sizes, least, true)) return false;
  note_parts();
  return true;
}

/// z^H A z is more accurate than A z and z: twice the digits separate null vectors from those of an
/// eigenvalue that is smaller than any rounding error.
template <class Scalar, class Exec>
bool CgGroup<Scalar, Exec>::vanishes(View const& Z) {
  constexpr Real least = Real(1e-6) * Limits::u;
  auto const width = Z.extent(1);
  auto const R = problem_.new_block("Blockspan::cg::null_vectors", width),
             flipped = problem_.new_block("Blockspan::cg::null_vectors", width);
  zero_block(problem_.exec, block_ref<Exec>(R));
  if (!problem_.subtract_accurately(Z, R)) return true;
  Kokkos::View<Scalar*, Kokkos::HostSpace> const energies("energies", width);
  blockspan::column_dots(problem_.exec, Z, R, energies, problem_.workspace);
  multiply_flipped(problem_, Z, flipped, R);
  auto const terms = problem_.fold("Blockspan::cg::sizes",
                                   ProductSizes<Scalar>{block_ref<Exec>(Z), block_ref<Exec>(R)},
                                   static_cast<std::int64_t>(width));
  for (std::size_t c = 0; c < width; ++c)
    if (Kokkos::abs(energies(c)) > least * terms[c]) return false;
  return true;
}

template <class Scalar, class Exec>
bool CgGroup<Scalar, Exec>::look_at_entries() {
  if (!control_.may_search() || null_space().given()) return false;
  int const steps = control_.group_iterations();
  if (tools_.last_entry_search >= 0 && steps < 2 * tools_.last_entry_search + 50) return false;
  tools_.last_entry_search = steps;
  std::int64_t const work = Limits::work_of_entry * *problem_.facts_of_a().work;
  std::int64_t const allowed =
      (steps + Limits::look) *
      (runs_on_host_v<Exec> ? work : std::max(work / 100, Limits::work_of_launches));
  auto const Z = problem_.a().entries().likely_null_vectors(problem_.exec, allowed);
  if (Z.extent(1) == 0 || static_cast<int>(Z.extent(1)) <= null_space().count()) return false;
  auto const like = [&] { return problem_.new_block("Blockspan::cg::null_vectors", Z.extent(1)); };
  auto const sizes = image_sizes(problem_, Z, like(), like());
  for (std::size_t c = 0; c < sizes.image.size(); ++c)
    if (!(sizes.image[c] <= Limits::refined * sizes.rounding[c])) null_space().blur();
  int const before = null_space().count();
  return keep_null_vectors(Z, sizes, std::vector<Real>(Z.extent(1), Real(0)), false) &&
         null_space().count() > before;
}

template <class Scalar, class Exec>
bool CgGroup<Scalar, Exec>::null_parts_appeared(int columns) {
  if (!look_at_entries()) return false;
  auto const R = tools_.blocks.residual(columns);
  auto const parts = null_space().parts(problem_, R);
  auto const lengths = problem_.norms(R);
  for (int c = 0; c < columns; ++c)
    stopped_by_null_part_ = stopped_by_null_part_ || parts[c] > std::sqrt(Limits::u) * lengths[c];
  return stopped_by_null_part_;
}

template <class Scalar, class Exec>
bool CgGroup<Scalar, Exec>::keep_null_vectors(View const& Z, ImageSizes<Real> const& sizes,
                                              std::vector<Real> const& least, bool of_residuals) {
  std::vector<int> kept;
  std::vector<Real> lengths;
  Real certain = 1;
  for (int c = 0; c < static_cast<int>(least.size()); ++c) {
    bool const small = !(sizes.length[c] > least[c]);
    if (small || !(sizes.image[c] <= Limits::null_image * sizes.rounding[c])) continue;
    kept.push_back(c);
    lengths.push_back(sizes.length[c]);
    if (sizes.image[c] > sizes.rounding[c])
      certain = std::min(certain, sizes.rounding[c] / sizes.image[c]);
  }
  if (kept.empty()) return false;
  auto const null = problem_.new_block("Blockspan::cg::null_vectors", kept.size());
  problem_.select_scaled(block_ref<Exec>(Z), kept, {}, null);
  problem_.synchronize("Blockspan::cg: numbers of the host");
  if (of_residuals && !vanishes(null)) null_space().blur();
  null_space().add(problem_, null, lengths, certain, of_residuals);
  return true;
}

}  // namespace blockspan::krylov
