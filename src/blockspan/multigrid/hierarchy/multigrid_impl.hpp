#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <type_traits>
#include <utility>

#include <blockspan/multigrid/cycle/cycle.hpp>
#include <blockspan/multigrid/cycle/narrow_blocks.hpp>
#include <blockspan/multigrid/cycle/probe.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/multivector/convert.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/entries/check_blocks.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/sparse/validate.hpp>

namespace blockspan {

namespace levels {

/// The option block_size, or what the pattern shows.
template <class Scalar, class Exec>
int unknowns_of_node(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                     MultigridOptions<Scalar, Exec> const& options) {
  bool const said = options.coordinates.extent(1) > 0 || !options.prolongators.empty();
  if (options.block_size > 0 || said) return std::max(options.block_size, 1);
  int const found = blockspan::find_block_size(exec, A);
  return A.numRows() % found == 0 ? found : 1;
}

template <class Scalar, class Exec>
struct MultigridState {
  using Wide = double_t<Scalar>;
  static constexpr bool has_single = contains_v<single_t<Scalar>, SpmmScalars>;
  using Single = std::conditional_t<has_single, single_t<Scalar>, Scalar>;
  static constexpr bool is_wide = std::is_same_v<Scalar, Wide>;

  std::int64_t rows = 0;
  MultigridOptions<Scalar, Exec> options;
  std::unique_ptr<Hierarchy<Wide, Exec>> hierarchy;
  int generation = 0;                            ///< of the hierarchy that `working` has seen
  std::unique_ptr<Cycle<Scalar, Exec>> working;  ///< one of the two
  std::unique_ptr<Cycle<Single, Exec>> single;
  double factor = 1;  ///< of the matrices of `single`
  MultigridReport report;
  std::string hint;    ///< see near_null_hint
  bool ready = false;  ///< a setup or refresh came to its end

  NarrowBlocks<Scalar, Single, Exec> narrow;

  static MultigridOptions<Wide, Exec> widened(Exec const& exec,
                                              MultigridOptions<Scalar, Exec> const& options) {
    MultigridOptions<Wide, Exec> wide;
    auto const copy = [&]<class Target, class View>(View const& from, Target*) {
      Block<Target, Exec> const to = allocate<Block<Target, Exec>>(exec, "Blockspan::multigrid",
                                                                   from.extent(0), from.extent(1));
      convert_block(exec, from, to);
      return ConstBlock<Target, Exec>(to);
    };
    if constexpr (is_wide) {
      wide.near_null = options.near_null;
      wide.coordinates = options.coordinates;
    } else {
      wide.near_null = copy(options.near_null, static_cast<Wide*>(nullptr));
      wide.coordinates = copy(options.coordinates, static_cast<double*>(nullptr));
    }
    for (auto const& P : options.prolongators) wide.prolongators.push_back(widened(exec, P));
    wide.block_size = options.block_size;
    wide.adaptive = options.adaptive;
    wide.theta = options.theta;
    wide.omega = options.omega;
    wide.coarse_rows = options.coarse_rows;
    wide.max_levels = options.max_levels;
    wide.fill_guard = options.fill_guard;
    wide.degree = options.degree;
    // where the cycle has matrices of its own, the setup multiplies single columns only
    wide.columns = cycles_in_single(options) ? 1 : options.columns;
    wide.seed = options.seed;
    return wide;
  }

  static bool cycles_in_single(MultigridOptions<Scalar, Exec> const& options) {
    return is_wide && has_single && options.precision == MultigridPrecision::single;
  }

  static CrsMatrix<Wide, Exec> widened(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
    if constexpr (is_wide)
      return A;
    else
      return convert_values<Wide>(exec, A);
  }

  /// Of level 0: brings its norm into [1/2, 1).
  double range_factor(Exec const& exec) const {
    if (!is_wide) return 1;
    double const norm = max_row_sum(exec, hierarchy->levels[0].ref());
    return norm > 0 && std::isfinite(norm) ? std::ldexp(1.0, -std::ilogb(norm) - 1) : 1;
  }

  /// The cycle over a hierarchy that is new, or has new values.
  void renew(Exec const& exec) {
    bool const first = !working && !single;
    bool const replaced = generation != hierarchy->generation;
    generation = hierarchy->generation;
    // an inverse alone is cheap, and rounded to single precision it may lose its definiteness
    if (cycles_in_single(options) && hierarchy->levels.size() > 1) {
      factor = range_factor(exec);
      auto const& first_level = hierarchy->levels[0].A;
      KeptArrays<Single, Exec> const arrays(first_level.nnz() + 8 * first_level.numRows());
      if (first)
        single = std::make_unique<Cycle<Single, Exec>>(exec, *hierarchy, options.degree,
                                                       options.columns, factor);
      else
        single->refresh(exec, *hierarchy, factor);
      return;
    }
    if (first)
      working = std::make_unique<Cycle<Scalar, Exec>>(exec, *hierarchy, options.degree,
                                                      options.columns, 1);
    else if constexpr (is_wide)
      if (replaced) working->replace_first(exec, *hierarchy);
    if (!first) working->refresh(exec, *hierarchy, 1);
  }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const {
    if (working) return working->apply(exec, X, Y);
    if constexpr (is_wide) narrow.apply(exec, *single, factor, X, Y);
  }
};

}  // namespace levels

template <class Scalar, class Exec>
void MultigridOptions<Scalar, Exec>::validate(std::int64_t rows) const {
  constexpr auto where = "blockspan::multigrid";
  auto const in = [&](char const* name, double value, double least, double most) {
    require(value >= least && value <= most, where, "the option ", name, " is ", value,
            ", not between ", least, " and ", most);
  };
  in("block_size", block_size, 0, 16);
  in("adaptive", adaptive, 0, 16);
  in("theta", theta, 0, 0.999);
  in("omega", omega, 0.01, 1.99);
  in("degree", degree, 1, 4);
  in("coarse_rows", coarse_rows, 1, 10000);
  in("max_levels", max_levels, 1, 50);
  in("fill_guard", fill_guard, 0.01, 1000);
  in("columns", columns, 1, 10000);
  auto const given = static_cast<std::int64_t>(near_null.extent(0));
  require(near_null.extent(1) <= 16, where, "near_null has ", near_null.extent(1),
          " vectors, where 16 at most are taken");
  require(near_null.extent(1) == 0 || given == rows, where, "near_null has ", given,
          " rows, the matrix has ", rows);
  auto const nodes = static_cast<std::int64_t>(coordinates.extent(0));
  auto const d = static_cast<std::int64_t>(coordinates.extent(1));
  require(d == 0 || d == 2 || d == 3, where, "coordinates has ", d,
          " columns; there are nodes x 2 and nodes x 3");
  require(d == 0 || nodes * d == rows, where, "coordinates has ", nodes, " nodes with ", d,
          " unknowns each, the matrix has ", rows, " rows");
  require(d == 0 || block_size <= 1 || block_size == d, where, "block_size is ", block_size,
          ", coordinates has ", d, " columns for as many unknowns of a node");
  require(block_size == 0 || rows % block_size == 0, where, "block_size is ", block_size,
          ", which does not divide the ", rows, " rows");
}

template <class Scalar, class Exec>
Multigrid<Scalar, Exec>::Multigrid(Exec const& exec, Matrix const& A, Options const& options)
    : state_(std::make_unique<levels::MultigridState<Scalar, Exec>>()) {
  constexpr auto where = "blockspan::multigrid";
  require(A.numRows() == A.numCols(), where, "the matrix must be square (", A.numRows(), " x ",
          A.numCols(), ")");
  if (auto const valid = validate(exec, A, {.finite = true}); !valid) fail(where, valid.fault);
  options.validate(A.numRows());
  for (auto const& P : options.prolongators)
    if (auto const valid = validate(exec, P, {.finite = true}); !valid)
      fail(where, "a prolongator: ", valid.fault);
  auto& state = *state_;
  state.rows = A.numRows();
  state.options = options;
  state.options.block_size = levels::unknowns_of_node(exec, A, options);
  state.hint = levels::near_null_hint(options, state.options.block_size);
  state.hierarchy = std::make_unique<levels::Hierarchy<levels::double_t<Scalar>, Exec>>(
      exec, state.widened(exec, A), state.widened(exec, state.options));
  state.report = state.hierarchy->report;
  state.report.seconds = state.report.phases.sum();
  if (!state.report.usable()) return;
  form_cycle(exec);
  if (options.probe && state.rows > 0) probe(exec);
}

template <class Scalar, class Exec>
void Multigrid<Scalar, Exec>::form_cycle(Exec const& exec) {
  auto& state = *state_;
  Kokkos::Timer timer;
  state.renew(exec);
  exec.fence("Blockspan::multigrid_cycle");
  state.ready = true;
  state.report.single = state.single != nullptr || sizeof(real_t<Scalar>) == 4;
  state.report.phases.cycle = timer.seconds();
  state.report.seconds = state.report.phases.sum();
}

/// With the matrix in double precision; solvers in single precision go without.
template <class Scalar, class Exec>
void Multigrid<Scalar, Exec>::probe(Exec const& exec) {
  if constexpr (levels::MultigridState<Scalar, Exec>::is_wide) {
    Kokkos::Timer timer;
    levels::OperatorProbe<Scalar, Exec> probe(exec, *state_->hierarchy->levels[0].op, *this,
                                              state_->options.seed);
    auto seen = probe.run(8);
    if (!seen.cycle_definite && use_working_precision(exec)) seen = probe.run(8);
    levels::judge(seen, state_->hint, state_->report);
    state_->report.phases.probe = timer.seconds();
    state_->report.seconds = state_->report.phases.sum();
  }
}

template <class Scalar, class Exec>
bool Multigrid<Scalar, Exec>::use_working_precision(Exec const& exec) {
  if (!state_->single || !state_->report.usable()) return false;
  state_->options.precision = MultigridPrecision::working;
  state_->single.reset();
  form_cycle(exec);
  state_->report.notes.push_back(
      "the cycle is in the working precision: in single precision it was not positive definite");
  return true;
}

template <class Scalar, class Exec>
Multigrid<Scalar, Exec>::Multigrid(Multigrid&&) noexcept = default;
template <class Scalar, class Exec>
Multigrid<Scalar, Exec>& Multigrid<Scalar, Exec>::operator=(Multigrid&&) noexcept = default;
template <class Scalar, class Exec>
Multigrid<Scalar, Exec>::~Multigrid() = default;

template <class Scalar, class Exec>
std::int64_t Multigrid<Scalar, Exec>::rows() const {
  return state_->rows;
}

template <class Scalar, class Exec>
MultigridReport const& Multigrid<Scalar, Exec>::report() const {
  return state_->report;
}

template <class Scalar, class Exec>
auto Multigrid<Scalar, Exec>::hierarchy() const -> levels::Hierarchy<Wide, Exec> const& {
  return *state_->hierarchy;
}

template <class Scalar, class Exec>
OperatorFacts<Scalar, Exec> Multigrid<Scalar, Exec>::facts() const {
  auto const& report = state_->report;
  std::ostringstream name;
  name << "multigrid of " << report.levels.size() << " levels, degree " << state_->options.degree
       << (report.single ? ", single precision" : "");
  return {.name = name.str(), .replayable = true};
}

template <class Scalar, class Exec>
void Multigrid<Scalar, Exec>::apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                                    Block<Scalar, Exec> const& Y) const {
  constexpr auto where = "blockspan::Multigrid";
  operators::require_blocks(where, state_->rows, blocks::block_ref<Exec>(X),
                            blocks::block_ref<Exec>(Y));
  require(state_->report.usable(), where, state_->report.message);
  require(state_->ready, where, "a refresh failed: refresh again");
  if (X.extent(0) == 0 || X.extent(1) == 0) return;
  state_->apply(exec, X, Y);
}

template <class Scalar, class Exec>
void Multigrid<Scalar, Exec>::refresh(Exec const& exec, Matrix const& A) {
  refresh(exec, A, false);
}

template <class Scalar, class Exec>
void Multigrid<Scalar, Exec>::refresh(Exec const& exec, Matrix const& A, bool keep_prolongators) {
  auto& state = *state_;
  state.ready = false;
  constexpr auto where = "blockspan::Multigrid::refresh";
  if (auto const valid = validate(exec, A, {.finite = true}); !valid) fail(where, valid.fault);
  if (!state.hierarchy->is_complete()) state.working.reset(), state.single.reset();
  bool const exact = state.hierarchy->report.exact_last;
  state.hierarchy->refresh(exec, state.widened(exec, A), keep_prolongators);
  // the last level has become singular: what solved it is of another kind
  if (exact != state.hierarchy->report.exact_last) state.working.reset(), state.single.reset();
  state.report = state.hierarchy->report;
  if (state.report.usable()) form_cycle(exec);
}

}  // namespace blockspan
