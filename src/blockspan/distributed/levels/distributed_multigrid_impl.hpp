#pragma once

#include <memory>
#include <span>
#include <sstream>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/distributed/levels/many_ranks.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy_impl.hpp>
#include <blockspan/multigrid/hierarchy/multigrid_state.hpp>
#include <blockspan/operators/block_jacobi.hpp>

namespace blockspan {

namespace distributed {

/// The vectors of this rank; on a rank without rows, which may omit them, a view with the columns
/// of the others. Throws Error, on all ranks, if the counts of columns differ otherwise.
template <class View>
View columns_of_all(Communicator const& ranks, char const* name, std::int64_t rows,
                    View const& given) {
  auto const mine = static_cast<std::int64_t>(given.extent(1)), most = ranks.largest(mine);
  ranks.run_agreed([&] {
    require(mine == most || (mine == 0 && rows == 0), "blockspan::multigrid", name, " has ", mine,
            " columns, on another rank ", most);
  });
  return mine == most ? given : View(given.data(), 0, static_cast<std::size_t>(most));
}

/// Throws Error, on all ranks, if their options differ: some would wait in a collective.
template <class Scalar, class Exec>
void require_same_options(Communicator const& ranks, MultigridOptions<Scalar, Exec> const& options,
                          DistributedMultigridOptions const& on_ranks) {
  struct Shared {
    int block_size, adaptive, coarse_rows, max_levels, degree;
    bool pulses, probe;
    MultigridPrecision precision;
    double theta;
    std::int64_t rows_gathered;
    bool operator==(Shared const&) const = default;
  };
  Shared const mine{options.block_size,    options.adaptive,  options.coarse_rows,
                    options.max_levels,    options.degree,    options.pulses,
                    options.probe,         options.precision, options.theta,
                    on_ranks.rows_gathered};
  auto const all = ranks.gather(mine);
  ranks.run_agreed([&] {
    require(all[0] == mine, "blockspan::multigrid", "the options are not those of rank 0");
  });
}

/// Throws Error, on all ranks, if an option does not match the local rows of A.
template <class Scalar, class Exec>
void require_options(DistributedMatrix<Scalar, Exec> const& A,
                     MultigridOptions<Scalar, Exec> const& options) {
  constexpr auto where = "blockspan::multigrid";
  std::int64_t const n = A.local_rows(), from = A.row_space().first_row();
  std::int64_t const global = A.partition().global_rows();
  auto const d = static_cast<std::int64_t>(options.coordinates.extent(1));
  A.row_space().communicator().run_agreed([&] {
    auto plain = options;
    plain.near_null = {}, plain.coordinates = {}, plain.block_size = 0;
    plain.validate(n);
    require(options.prolongators.empty(), where,
            "on ranks there are no hierarchies made elsewhere");
    require(options.near_null.extent(1) == 0 ||
                options.near_null.extent(0) == static_cast<std::size_t>(n),
            where, "near_null has ", options.near_null.extent(0), " rows, this rank has ", n);
    require(options.near_null.extent(1) <= 16, where, "near_null has ", options.near_null.extent(1),
            " vectors, where 16 at most are taken");
    require(options.block_size >= 0 && options.block_size <= 16, where, "block_size is ",
            options.block_size, ", not between 0 and 16");
    if (d == 0) return;
    std::int64_t const nodes = n == 0 ? 0 : (from + n - 1) / d - from / d + 1;
    require((d == 2 || d == 3) && global % d == 0, where, "coordinates has ", d,
            " columns, the matrix ", global, " rows");
    require(options.coordinates.extent(0) == static_cast<std::size_t>(nodes), where,
            "coordinates has ", options.coordinates.extent(0), " nodes, ", nodes,
            " have rows here");
  });
}

/// Unknowns per node: from the coordinates, else the option block_size, else found in the rows of
/// the rank with the most.
template <class Scalar, class Exec>
int unknowns_of_node(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                     MultigridOptions<Scalar, Exec> const& options) {
  if (options.coordinates.extent(1) > 0) return static_cast<int>(options.coordinates.extent(1));
  if (options.block_size > 0) return options.block_size;
  auto const& ranks = A.row_space().communicator();
  int const found = operators::block_size_of_ranks(
      ranks, A.local_rows(), [&] { return find_block_size(exec, A.diagonal_block(exec)); });
  return A.partition().global_rows() % found == 0 ? found : 1;
}

}  // namespace distributed

template <class Scalar, class Exec>
DistributedMultigrid<Scalar, Exec>::DistributedMultigrid(
    Exec const& exec, std::shared_ptr<Matrix const> const A, Options const& asked,
    DistributedMultigridOptions const& on_ranks)
    : rows_(A->row_space()) {
  if (rows_.communicator().size() == 1) {
    alone_ = std::make_unique<Multigrid<Scalar, Exec>>(exec, A->whole(), asked);
    return;
  }
  auto options = asked;
  auto const& ranks = rows_.communicator();
  distributed::require_same_options(ranks, asked, on_ranks);
  options.near_null =
      distributed::columns_of_all(ranks, "near_null", A->local_rows(), asked.near_null);
  options.coordinates =
      distributed::columns_of_all(ranks, "coordinates", A->local_rows(), asked.coordinates);
  distributed::require_options(*A, options);
  options.block_size = distributed::unknowns_of_node(exec, *A, options);
  state_ = std::make_unique<State>(options, levels::near_null_hint(asked, options.block_size),
                                   A->local_rows(), rows_);
  state_->set_up(
      exec,
      [&](auto const& of) {
        return std::make_unique<Levels>(
            exec, A, of, distributed::ManyRanks<Scalar, Exec>(on_ranks.rows_gathered));
      },
      *this);
}

template <class Scalar, class Exec>
DistributedMultigrid<Scalar, Exec>::DistributedMultigrid(DistributedMultigrid&&) noexcept = default;
template <class Scalar, class Exec>
DistributedMultigrid<Scalar, Exec>& DistributedMultigrid<Scalar, Exec>::operator=(
    DistributedMultigrid&&) noexcept = default;
template <class Scalar, class Exec>
DistributedMultigrid<Scalar, Exec>::~DistributedMultigrid() = default;

template <class Scalar, class Exec>
std::int64_t DistributedMultigrid<Scalar, Exec>::rows() const {
  return alone_ ? alone_->rows() : state_->rows;
}
template <class Scalar, class Exec>
MultigridReport const& DistributedMultigrid<Scalar, Exec>::report() const {
  return alone_ ? alone_->report() : state_->report;
}
template <class Scalar, class Exec>
OperatorFacts<Scalar, Exec> DistributedMultigrid<Scalar, Exec>::facts() const {
  if (alone_) {
    auto facts = alone_->facts();
    facts.row_space = rows_;
    return facts;
  }
  std::ostringstream name;
  name << "multigrid of " << report().levels.size() << " levels, degree " << state_->options.degree
       << ", " << state_->levels->levels.size() - 1 << " of them on ranks"
       << (report().single ? ", single precision" : "");
  return {.name = name.str(),
          .row_space = rows_,
          .nearly_exact = report().strong(),
          .replayable = rows_.communicator().device() != nullptr};
}

template <class Scalar, class Exec>
void DistributedMultigrid<Scalar, Exec>::apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                                               Block<Scalar, Exec> const& Y) const {
  if (alone_) return alone_->apply(exec, X, Y);
  state_->apply("blockspan::DistributedMultigrid", exec, X, Y);
}

template <class Scalar, class Exec>
void DistributedMultigrid<Scalar, Exec>::refresh(Exec const& exec, std::shared_ptr<Matrix const> A,
                                                 bool keep_prolongators) {
  if (alone_) return alone_->refresh(exec, A->whole(), keep_prolongators);
  state_->refresh(exec, A, keep_prolongators);
}

}  // namespace blockspan
