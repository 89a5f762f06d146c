#pragma once

#include <algorithm>
#include <memory>
#include <sstream>
#include <type_traits>

#include <blockspan/multigrid/hierarchy/multigrid_state.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/multivector/convert.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/sparse/validate.hpp>

namespace blockspan {

namespace levels {

/// Unknowns per node: from the coordinates, else the option block_size, else found in the pattern.
template <class Scalar, class Exec>
int unknowns_of_node(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                     MultigridOptions<Scalar, Exec> const& options) {
  if (options.coordinates.extent(0) > 0) return static_cast<int>(options.coordinates.extent(1));
  if (options.block_size > 0 || options.coordinates.extent(1) > 0 || !options.prolongators.empty())
    return std::max(options.block_size, 1);
  int const found = blockspan::find_block_size(exec, A);
  return A.numRows() % found == 0 ? found : 1;
}

template <class Scalar, class Exec>
CrsMatrix<double_t<Scalar>, Exec> widened(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  if constexpr (std::is_same_v<Scalar, double_t<Scalar>>)
    return A;
  else
    return convert_values<double_t<Scalar>>(exec, A);
}

/// The options for the setup, in double precision.
template <class Scalar, class Exec>
MultigridOptions<double_t<Scalar>, Exec> widened(Exec const& exec,
                                                 MultigridOptions<Scalar, Exec> const& options,
                                                 int columns) {
  using Wide = double_t<Scalar>;
  MultigridOptions<Wide, Exec> wide;
  if constexpr (std::is_same_v<Scalar, Wide>) {
    wide = options;
  } else {
    auto const copy = [&]<class Target, class View>(View const& from, Target*) {
      Block<Target, Exec> const to = allocate<Block<Target, Exec>>(exec, "Blockspan::multigrid",
                                                                   from.extent(0), from.extent(1));
      convert_block(exec, from, to);
      return ConstBlock<Target, Exec>(to);
    };
    wide.near_null = copy(options.near_null, static_cast<Wide*>(nullptr));
    wide.coordinates = copy(options.coordinates, static_cast<double*>(nullptr));
    for (auto const& P : options.prolongators) wide.prolongators.push_back(widened(exec, P));
    wide.block_size = options.block_size;
    wide.adaptive = options.adaptive;
    wide.pulses = options.pulses;
    wide.theta = options.theta;
    wide.coarse_rows = options.coarse_rows;
    wide.max_levels = options.max_levels;
    wide.degree = options.degree;
    wide.seed = options.seed;
  }
  wide.columns = columns;
  return wide;
}

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
  in("degree", degree, 1, 4);
  in("coarse_rows", coarse_rows, 1, 10000);
  in("max_levels", max_levels, 1, 50);
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
Multigrid<Scalar, Exec>::Multigrid(Exec const& exec, Matrix const& A, Options const& asked) {
  constexpr auto where = "blockspan::multigrid";
  require(A.numRows() == A.numCols(), where, "the matrix must be square (", A.numRows(), " x ",
          A.numCols(), ")");
  if (auto const valid = validate(exec, A, {.finite = true}); !valid) fail(where, valid.fault);
  asked.validate(A.numRows());
  for (auto const& P : asked.prolongators)
    if (auto const valid = validate(exec, P, {.finite = true}); !valid)
      fail(where, "a prolongator: ", valid.fault);
  using State = levels::MultigridState<Scalar, Exec, Levels>;
  auto options = asked;
  options.block_size = levels::unknowns_of_node(exec, A, asked);
  state_ = std::make_unique<State>(options, levels::near_null_hint(asked, options.block_size),
                                   A.numRows(), RowSpace());
  // where the cycle has matrices of its own, the setup multiplies only single columns
  int const columns = State::cycles_in_single(options) ? 1 : options.columns;
  auto const wide = levels::widened(exec, A);
  state_->set_up(
      exec,
      [&](Options const& of) {
        return std::make_unique<Levels>(exec, wide, levels::widened(exec, of, columns));
      },
      *this);
}

template <class Scalar, class Exec>
bool Multigrid<Scalar, Exec>::use_working_precision(Exec const& exec) {
  return state_->use_working_precision(exec);
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
auto Multigrid<Scalar, Exec>::hierarchy() const -> Levels const& {
  return *state_->levels;
}

template <class Scalar, class Exec>
OperatorFacts<Scalar, Exec> Multigrid<Scalar, Exec>::facts() const {
  auto const& report = state_->report;
  std::ostringstream name;
  name << "multigrid of " << report.levels.size() << " levels, degree " << state_->options.degree
       << (report.single ? ", single precision" : "");
  return {.name = name.str(), .nearly_exact = report.strong(), .replayable = true};
}

template <class Scalar, class Exec>
void Multigrid<Scalar, Exec>::apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                                    Block<Scalar, Exec> const& Y) const {
  state_->apply("blockspan::Multigrid", exec, X, Y);
}

template <class Scalar, class Exec>
void Multigrid<Scalar, Exec>::refresh(Exec const& exec, Matrix const& A) {
  refresh(exec, A, false);
}

template <class Scalar, class Exec>
void Multigrid<Scalar, Exec>::refresh(Exec const& exec, Matrix const& A, bool keep_prolongators) {
  state_->forbid();
  constexpr auto where = "blockspan::Multigrid::refresh";
  if (auto const valid = validate(exec, A, {.finite = true}); !valid) fail(where, valid.fault);
  state_->refresh(exec, levels::widened(exec, A), keep_prolongators);
}

}  // namespace blockspan
