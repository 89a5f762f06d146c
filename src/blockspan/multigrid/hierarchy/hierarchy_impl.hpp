#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include <Kokkos_Timer.hpp>

#include <blockspan/multigrid/coarsest/invert_last_impl.hpp>
#include <blockspan/multigrid/cycle/probe.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>
#include <blockspan/multigrid/hierarchy/level_reports.hpp>
#include <blockspan/multigrid/setup/keep_near_null.hpp>
#include <blockspan/multigrid/setup/near_null_impl.hpp>
#include <blockspan/multigrid/setup/strength.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/interruption.hpp>

namespace blockspan::levels {

template <class Scalar, class Exec>
Hierarchy<Scalar, Exec>::Hierarchy(Exec const& exec, Matrix const& A, Options const& options)
    : options_(options) {
  SetupMemory<Scalar, Exec> const memory(A.nnz(), A.numRows());
  take_first(exec, A);
  if (!measure(exec, levels[0], 0)) return;
  auto& first = levels[0];
  if (options_.prolongators.empty())
    first.near_null = near_null_vectors<Scalar, Exec>(exec, options_, *first.op, &first.A,
                                                      first.spectrum.factors, first.spectrum.upper);
  charge(exec, &MultigridSeconds::near_null);
  int const block_size = static_cast<int>(
      options_.coordinates.extent(0) > 0 ? options_.coordinates.extent(1) : options_.block_size);
  first.nodes = equal_nodes(exec, A.numRows(), block_size);
  descend(exec);
}

template <class Scalar, class Exec>
Hierarchy<Scalar, Exec>::Hierarchy(Exec const& exec, Matrix const& A, Options const& options,
                                   HierarchyStart<Scalar, Exec> const& start)
    : options_(options), cut_rows_(start.cut_rows) {
  SetupMemory<Scalar, Exec> const memory(A.nnz(), A.numRows());
  take_first(exec, A);
  if (!measure(exec, levels[0], 0)) return;
  levels[0].near_null = start.near_null;
  levels[0].nodes = start.nodes;
  if (!is_part())
    descend(exec);
  else if ((complete_ = coarsen(exec, 0)))
    append(exec, levels[0]);
}

template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::take_first(Exec const& exec, Matrix const& A) {
  fingerprint_ = summarize(exec, pattern_ref<Exec>(A)).fingerprint;
  in_order_ = is_in_order(exec, pattern_ref<Exec>(A));
  levels.emplace_back();
  take(exec, A);
  charge(exec, &MultigridSeconds::plans);
}

/// All levels below the first, which is measured and has its near-null vectors and nodes.
template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::descend(Exec const& exec) {
  report.near_null = static_cast<int>(levels[0].near_null.extent(1));
  bool const given = !options_.prolongators.empty();
  while (!is_last(levels.size() - 1)) {
    if (given) use_given(exec, levels.size() - 1);
    if (!given && !coarsen(exec, levels.size() - 1)) break;
    append(exec, levels.back());
    if (!measure(exec, levels.back(), levels.size() - 1)) return;
  }
  invert_last(exec);
  finish();
  complete_ = report.usable();
}

/// The time since the last call was spent on this. Waits.
template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::charge(Exec const& exec, double MultigridSeconds::*phase) {
  exec.fence("Blockspan::multigrid_charge");
  auto const now = Clock::now();
  report.phases.*phase += std::chrono::duration<double>(now - charged_).count();
  InterruptionCheck::step();
  charged_ = now;
}

/// Level 0 becomes A, or a copy of it in order.
template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::take(Exec const& exec, Matrix const& A) {
  auto& level = levels[0];
  bool const first = !level.op;
  if (in_order_) {
    bool const same = !first && level.A.values.data() == A.values.data() &&
                      level.A.graph.entries.data() == A.graph.entries.data();
    level.A = A;
    if (same) return;
    ++generation;
    level.op = operator_of(exec, A);
    return;
  }
  auto const n = A.numRows();
  if (first) {
    identity_ = diagonal_pattern(exec, n);
    ordered_ = multiply_patterns(exec, pattern_ref<Exec>(A), identity_.ref());
    level.A = matrix_of<Scalar, Exec>(ordered_, new_array<Scalar>(exec, ordered_.entries()));
    ++generation;
  }
  auto const ones = scratch<Scalar>(exec, n);
  Kokkos::deep_copy(exec, ones, Scalar(1));
  Array<Scalar, Exec> const values = level.A.values;
  multiply_values<Exec, Scalar>(exec, matrix_ref<Exec>(A), {identity_.ref(), ones.data()}, ordered_,
                                values);
  exec.fence("Blockspan::multigrid_take");
  if (first)  // the operator takes its bounds from the values
    level.op = operator_of(exec, level.A);
}

/// The spectrum of a level; false where A is of no use here.
template <class Scalar, class Exec>
bool Hierarchy<Scalar, Exec>::measure(Exec const& exec, Level& level, std::size_t number) {
  level.report.rows = level.A.numRows();
  level.report.nonzeros = static_cast<std::int64_t>(level.A.nnz());
  if (is_inverted(number)) return true;
  ChebyshevOptions const options{.seed = options_.seed};
  level.spectrum = chebyshev_setup<Scalar, Exec>(exec, *level.op, level.A, options);
  level.report.upper = level.spectrum.upper;
  charge(exec, &MultigridSeconds::spectrum);
  if (level.spectrum.usable() || is_zero(level.spectrum)) return true;
  std::string const fault = level.spectrum.fault;
  auto const& W = level.spectrum.factors;
  bool const bad_input = !level.spectrum.estimate.finite ||
                         measure_rows(exec, level.ref(), W.data()).indefinite_row >= 0;
  if (number == 0 && bad_input) fail("blockspan::multigrid", fault);
  // Ritz values mean nothing where A is not Hermitian
  if (number == 0 &&
      !OperatorProbe<Scalar, Exec>(exec, *level.op, *level.op, options_.seed).hermitian()) {
    reject(MultigridStatus::not_hermitian,
           "the matrix is not Hermitian: chebyshev and multigrid do not apply");
    return false;
  }
  reject_indefinite(report, number, fault);
  return false;
}

template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::reject(MultigridStatus status, std::string message) {
  report.status = status;
  report.message = std::move(message);
}

template <class Scalar, class Exec>
bool Hierarchy<Scalar, Exec>::is_last(std::size_t number) const {
  if (!options_.prolongators.empty()) return number == options_.prolongators.size();
  return static_cast<int>(number) + 1 == options_.max_levels ||
         levels[number].A.numRows() <= options_.coarse_rows;
}

/// The caller's prolongator in place of a tentative one that is not smoothed.
template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::use_given(Exec const& exec, std::size_t number) {
  Kokkos::Timer timer;
  auto& level = levels[number];
  auto const& P = options_.prolongators[number];
  constexpr auto where = "blockspan::multigrid";
  require(P.numRows() == level.A.numRows(), where, "the prolongator of level ", number, " has ",
          P.numRows(), " rows, the level has ", level.A.numRows());
  Pattern<Exec> const pattern{P.numRows(), P.numCols(), new_array<int>(exec, P.numRows() + 1),
                              new_array<int>(exec, static_cast<std::int64_t>(P.nnz()))};
  Kokkos::deep_copy(exec, pattern.offsets, P.graph.row_map);
  Kokkos::deep_copy(exec, pattern.indices, P.graph.entries);
  require(is_in_order(exec, pattern.ref()), where, "the prolongator of level ", number,
          " has rows whose columns do not ascend");
  level.T.pattern = pattern;
  level.T.values = P.values;
  level.report.smoothed = false;
  form_patterns(exec, level, options_.fill_guard);
  form_prolongator(exec, level);
  form_values(exec, level);
  level.report.nodes = level.report.rows;
  level.report.aggregates = P.numCols();
  level.report.prolongator_nonzeros = level.prolongator.entries();
  level.report.seconds = timer.seconds();
}

/// Everything on the way to the next level; false: there is none.
template <class Scalar, class Exec>
bool Hierarchy<Scalar, Exec>::coarsen(Exec const& exec, std::size_t number) {
  Kokkos::Timer timer;
  auto& level = levels[number];
  auto& told = level.report;
  told.theta = std::ldexp(options_.theta, -static_cast<int>(number));
  told.nodes = level.nodes.count;
  if (level.like.begin == nullptr)
    level.like = like_rows(exec, level.pattern(), level.nodes.groups());
  auto const strong = strong_graph(exec, level.ref(), level.spectrum.factors.data(), level.nodes,
                                   level.like, told.theta);
  auto aggregates = aggregate(exec, strong);
  std::int64_t const q = static_cast<std::int64_t>(level.near_null.extent(1));
  for (int more = 0; more < 2 && 3 * aggregates.count * q > told.rows; ++more)
    if (q > 1) aggregates = aggregate_again(exec, strong, aggregates);
  charge(exec, &MultigridSeconds::graph);
  told.rounds = aggregates.rounds;
  told.aggregates = aggregates.count;
  told.largest = aggregates.largest;
  told.left_out = aggregates.left_out;
  bool const too_many = static_cast<double>(told.aggregates) > 0.8 * told.nodes;
  if (aggregates.count > 0 && !too_many) {
    level.T = make_tentative<Scalar>(exec, level.near_null, level.nodes, aggregates);
    if (level.T.pattern.columns <= 0.85 * static_cast<double>(told.rows)) {
      level.filtered = filter(exec, level.pattern(), level.nodes, strong.edges);
      charge(exec, &MultigridSeconds::tentative);
      for (;;) {
        form_patterns(exec, level, options_.fill_guard);
        form_prolongator(exec, level);
        form_values(exec, level);
        auto const spent = strike_spent<Exec, Scalar>(
            exec, level.ref(), {level.prolongator.ref(), level.P.data()},
            {level.restrictor.pattern.ref(), level.R.data()}, {level.coarse.ref(), level.C.data()},
            level.T.origin, most_rows_of_node, level.T.kept);
        told.spent += spent;
        if (spent == 0) break;
        form_tentative(exec, level.T);
      }
      told.prolongator_nonzeros = level.prolongator.entries();
      told.seconds = timer.seconds();
      return level.T.pattern.columns > 0;
    }
  }
  told.seconds = timer.seconds();
  if (number == 0) {
    std::string const why = told.left_out > told.nodes / 2 || aggregates.count == 0
                                ? "rows have no neighbours that matter"
                                : "too few rows can be put together";
    reject(MultigridStatus::no_coarsening, why + ": jacobi does as well");
  } else {
    report.notes.push_back("level " + std::to_string(number) + " cannot be coarsened further");
  }
  told.aggregates = 0;
  return false;
}

template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::form_patterns(Exec const& exec, Level& level, double fill_guard) {
  // T and R that are made here have the same columns in all rows of a node, and products those of
  // their left factor
  bool const made = options_.prolongators.empty();
  auto const nodes = level.nodes.groups(), aggregates = level.T.nodes.groups();
  if (!made) level.like = like_rows(exec, level.pattern(), nodes);
  level.like_tentative = made ? nodes : like_rows(exec, level.T.pattern.ref(), nodes);
  auto const form = [&](Pattern<Exec> const& P, LikeRows const& like_P) {
    level.prolongator = P;
    level.like_prolongator = like_P;
    level.restrictor = transposed(exec, P);
    auto const R = level.restrictor.pattern.ref();
    level.like_coarse = made ? aggregates : like_rows(exec, R, aggregates);
    level.product = multiply_patterns(exec, level.pattern(), P.ref(), level.like, like_P);
    InterruptionCheck::step();
    level.coarse = multiply_patterns(exec, R, level.product.ref(), level.like_coarse, level.like);
  };
  auto& smoothed = level.report.smoothed;
  if (smoothed) {
    auto const S = level.filtered.pattern.ref();
    bool const same = level.filtered.whole && S.entries == level.pattern().entries;
    level.like_filtered = same ? level.like : like_rows(exec, S, nodes);
    form(multiply_patterns(exec, S, level.T.pattern.ref(), level.like_filtered,
                           level.like_tentative),
         level.like_filtered);
    smoothed = static_cast<double>(level.coarse.entries()) <=
               fill_guard * static_cast<double>(level.A.nnz());
  }
  if (!smoothed) form(level.T.pattern, level.like_tentative);
  level.P = smoothed ? new_array<Scalar>(exec, level.prolongator.entries()) : level.T.values;
  level.R = new_array<Scalar>(exec, level.prolongator.entries());
  level.C = new_array<Scalar>(exec, level.coarse.entries());
  charge(exec, &MultigridSeconds::patterns);
}

/// P and R.
template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::form_prolongator(Exec const& exec, Level& level) {
  auto const& filtered = level.filtered;
  MatrixRef<Scalar, int, int> const T{level.T.pattern.ref(), level.T.values.data()};
  if (level.report.smoothed) {
    if (level.S.extent(0) == 0) level.S = new_array<Scalar>(exec, filtered.pattern.entries());
    gather(exec, filtered.source, level.A.values.data(), level.S);
    auto upper = level.spectrum.upper;
    auto weights = level.spectrum.factors;
    if (!filtered.whole) {
      auto const F = matrix_of<Scalar, Exec>(filtered.pattern, level.S);
      if (!level.filtered_op)
        level.filtered_op = std::make_shared<typename Level::Operator const>(
            exec, F, SpmmPlanOptions{.columns = 1});
      auto const spectrum = chebyshev_setup<Scalar, Exec>(exec, *level.filtered_op, F,
                                                          ChebyshevOptions{.seed = options_.seed});
      upper = spectrum.upper;
      weights = spectrum.factors;
      charge(exec, &MultigridSeconds::spectrum);
    }
    double const factor = upper > 0 ? options_.omega / upper : 0;
    auto const S = filtered.pattern.ref();
    each_by_lanes(exec, "Blockspan::multigrid_smooth", S.rows, lanes_for(S.entries, S.rows),
                  SmoothRows<Scalar>{S, weights.data(), factor, level.S.data()});
    multiply_values<Exec, Scalar>(exec, {S, level.S.data()}, T, level.prolongator, level.P,
                                  level.like_filtered, level.like_tentative);
    if (is_part())
      keep_near_null<Exec, Scalar>(exec, cut_rows_, level.near_null, level.T, level.prolongator,
                                   level.P);
    exec.fence("Blockspan::multigrid_smoothed");  // the weights may be freed
  }
  gather_conjugates<Exec, Scalar>(exec, level.restrictor.places, level.P, level.R);
}

/// The next level's matrix.
template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::form_values(Exec const& exec, Level& level) {
  auto const AP = scratch<Scalar>(exec, level.product.entries()),
             C = scratch<Scalar>(exec, level.coarse.entries());
  MatrixRef<Scalar, int, int> const P{level.prolongator.ref(), level.P.data()};
  multiply_values<Exec, Scalar>(exec, level.ref(), P, level.product, AP, level.like,
                                level.like_prolongator);
  multiply_values<Exec, Scalar>(exec, {level.restrictor.pattern.ref(), level.R.data()},
                                {level.product.ref(), AP.data()}, level.coarse, C,
                                level.like_coarse, level.like);
  auto const coarse = level.coarse.ref();
  each_by_lanes(exec, "Blockspan::multigrid_hermitian", coarse.rows,
                lanes_for(coarse.entries, coarse.rows),
                HermitianRows<Scalar>{coarse, C.data(), level.C.data()});
  charge(exec, &MultigridSeconds::values);
}

template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::append(Exec const& exec, Level const& fine) {
  Level next;
  next.A = matrix_of<Scalar, Exec>(fine.coarse, fine.C);
  next.nodes = fine.T.nodes;
  next.like = fine.like_coarse;
  next.near_null = fine.T.near_null;
  levels.push_back(std::move(next));
  auto& last = levels.back();
  if (!is_part() && !is_inverted(levels.size() - 1)) last.op = operator_of(exec, last.A);
  charge(exec, &MultigridSeconds::plans);
}

template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::finish() {
  report.levels.clear();
  for (auto const& level : levels) report.levels.push_back(level.report);
  auto const entries = static_cast<double>(levels.back().A.nnz());
  sum_up_levels(report, options_.degree,
                report.exact_last ? static_cast<double>(inverse.nnz()) : 7 * entries);
  if (report.complexity > (report.near_null > 1 ? 2.0 : 3.0)) {
    std::ostringstream note;
    note.precision(2);
    note << "complexity " << report.complexity << ": fewer near-null vectors or larger aggregates";
    report.notes.push_back(note.str());
  }
}

template <class Scalar, class Exec>
void Hierarchy<Scalar, Exec>::refresh(Exec const& exec, Matrix const& A, bool keep_prolongators) {
  require(A.numRows() == levels[0].A.numRows() &&
              summarize(exec, pattern_ref<Exec>(A)).fingerprint == fingerprint_,
          "blockspan::Multigrid::refresh", "the matrix has another pattern");
  if (!complete_) {
    int const before = generation;
    *this = Hierarchy(exec, A, options_);
    generation += before;
    return;
  }
  SetupMemory<Scalar, Exec> const memory(A.nnz(), A.numRows());
  complete_ = false;
  if (report.status != MultigridStatus::no_coarsening) reject(MultigridStatus::unknown, "");
  report.notes.clear();
  report.phases = {};
  charged_ = Clock::now();
  take(exec, A);
  charge(exec, &MultigridSeconds::plans);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (!measure(exec, levels[l], l)) return;
    if (l + 1 == levels.size()) break;
    if (!keep_prolongators) form_prolongator(exec, levels[l]);
    form_values(exec, levels[l]);
    if (is_part()) return void(complete_ = true);
  }
  invert_last(exec);
  finish();
  complete_ = report.usable();
}

}  // namespace blockspan::levels
