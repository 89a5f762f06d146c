#pragma once

#include <string>
#include <utility>

#include <blockspan/multigrid/cycle/probe.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>

namespace blockspan::levels {

template <class Scalar, class Exec, class Ranks>
Hierarchy<Scalar, Exec, Ranks>::Hierarchy(Exec const& exec, Matrix const& A, Options const& asked,
                                          Ranks given, Start const* start)
    : options(asked), levels(1), ranks_(std::move(given)) {
  SetupRun<Scalar, Exec> setup(options, report.phases, Ranks::local_entries(A),
                               Ranks::local_rows(A));
  ranks_.take(exec, setup, *this, A);
  setup.charge(exec, &MultigridSeconds::plans);
  if (!measure(exec, setup, 0)) return;
  auto& first = levels[0];
  if (start) {
    first.near_null = start->near_null;
    first.nodes = start->nodes;
  } else {
    auto const space = first.op->row_space();
    auto const& spectrum = first.spectrum;
    if (options.prolongators.empty())
      first.near_null = near_null_vectors<Scalar, Exec>(
          exec, options, *first.op, space.distributed() ? nullptr : &first.A, spectrum.factors,
          is_zero(spectrum) ? real_t<Scalar>(1) : spectrum.upper);
    first.nodes = space.communicator().run_agreed([&] {
      return equal_nodes(exec, setup.arena, space.first_row(), first.A.numRows(),
                         options.block_size);
    });
    setup.charge(exec, &MultigridSeconds::near_null);
  }
  report.near_null = static_cast<int>(first.near_null.extent(1));
  descend(exec, setup);
}

/// All levels below the first, which has its spectrum, near-null vectors and nodes.
template <class Scalar, class Exec, class Ranks>
void Hierarchy<Scalar, Exec, Ranks>::descend(Exec const& exec, SetupRun<Scalar, Exec>& setup) {
  while (!ranks_.is_last(*this, levels.size() - 1)) {
    if (!ranks_.coarsen(exec, setup, *this)) break;
    append(exec, setup);
    if (!measure(exec, setup, levels.size() - 1)) return;
  }
  finish(exec, setup);
}

template <class Scalar, class Exec, class Ranks>
void Hierarchy<Scalar, Exec, Ranks>::append(Exec const& exec, SetupRun<Scalar, Exec>& setup) {
  Level next;
  auto const& fine = levels.back();
  next.A = fine.coarse_matrix();
  next.nodes = fine.T.nodes;
  next.supernodes = fine.coarse_supernodes;
  next.near_null = fine.T.near_null;
  levels.push_back(std::move(next));
  ranks_.make_operator(exec, *this, levels.size() - 1);
  setup.charge(exec, &MultigridSeconds::plans);
}

template <class Scalar, class Exec, class Ranks>
bool Hierarchy<Scalar, Exec, Ranks>::measure(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                             std::size_t number) {
  auto& level = levels[number];
  ranks_.count(level);
  if (ranks_.is_solved(*this, number)) return true;
  level.spectrum = ranks_.spectrum(exec, setup, level);
  level.report.upper = level.spectrum.upper;
  setup.charge(exec, &MultigridSeconds::spectrum);
  if (level.spectrum.usable() || is_zero(level.spectrum)) return true;
  std::string const fault = level.spectrum.fault;
  if (number == 0) {
    bool const indefinite = level.spectrum.indefinite_row >= 0;
    if (indefinite || !level.spectrum.estimate.finite)
      communicator().run_agreed([&] {
        fail(indefinite ? ErrorKind::not_definite : ErrorKind::input, "blockspan::multigrid",
             fault);
      });
    // Ritz values have no meaning if A is not Hermitian
    if (!make_probe<Scalar, Exec>(exec, *level.op, *level.op, options.seed)->hermitian()) {
      reject(report, MultigridStatus::not_hermitian,
             "the matrix is not Hermitian: chebyshev and multigrid do not apply");
      return false;
    }
  }
  reject(
      report, MultigridStatus::indefinite,
      "level " + std::to_string(number) + ": " + fault + "; chebyshev and multigrid do not apply");
  return false;
}

/// Solver of the last level, and the report of all levels.
template <class Scalar, class Exec, class Ranks>
void Hierarchy<Scalar, Exec, Ranks>::finish(Exec const& exec, SetupRun<Scalar, Exec>& setup) {
  ranks_.solve_last(exec, setup, *this);
  report.levels.clear();
  auto const all = communicator();
  for (std::size_t l = 0; l + 1 < levels.size(); ++l)
    report.levels.push_back(sum_over_ranks(all, levels[l].report));
  ranks_.report_last(*this);
  if (!report.levels.empty()) sum_up_levels(report, options.degree, ranks_.work_of_last(*this));
  complete_ = report.usable();
}

template <class Scalar, class Exec, class Ranks>
bool Hierarchy<Scalar, Exec, Ranks>::refresh(Exec const& exec, Matrix const& A,
                                             bool keep_prolongators) {
  ranks_.require_pattern(exec, *this, A);
  if (complete_ && renew(exec, A, keep_prolongators)) return true;
  int const before = generation;
  *this = Hierarchy(exec, A, options, ranks_.fresh());
  generation += before;
  return false;
}

/// False: these values require a new setup.
template <class Scalar, class Exec, class Ranks>
bool Hierarchy<Scalar, Exec, Ranks>::renew(Exec const& exec, Matrix const& A,
                                           bool keep_prolongators) {
  complete_ = false;
  if (report.status != MultigridStatus::no_coarsening) reject(report, MultigridStatus::unknown, "");
  report.notes.clear();
  report.phases = {};
  SetupRun<Scalar, Exec> setup(options, report.phases, Ranks::local_entries(A),
                               Ranks::local_rows(A), keep_prolongators);
  ranks_.take(exec, setup, *this, A);
  setup.charge(exec, &MultigridSeconds::plans);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (!measure(exec, setup, l)) return true;
    if (l + 1 == levels.size()) break;
    if (!ranks_.refresh(exec, setup, *this, l)) return false;
  }
  finish(exec, setup);
  return true;
}

}  // namespace blockspan::levels
