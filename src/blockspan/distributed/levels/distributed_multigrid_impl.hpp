#pragma once

#include <memory>
#include <sstream>
#include <utility>

#include <blockspan/distributed/levels/distributed_multigrid_state.hpp>
#include <blockspan/multigrid/cycle/probe.hpp>
#include <blockspan/operators/entries/check_blocks.hpp>

namespace blockspan {

template <class Scalar, class Exec>
DistributedMultigrid<Scalar, Exec>::DistributedMultigrid(
    Exec const& exec, std::shared_ptr<Matrix const> A, Options const& options,
    DistributedMultigridOptions const& on_ranks)
    : rows_(A->row_space()) {
  if (rows_.communicator().size() == 1) {
    alone_ = std::make_unique<Multigrid<Scalar, Exec>>(exec, A->whole(), options);
    return;
  }
  using State = distributed::DistributedMultigridState<Scalar, Exec>;
  state_ = std::make_unique<State>(exec, std::move(A), options, on_ranks);
  auto& state = *state_;
  if (!state.report.usable() || !options.probe || state.first->partition().global_rows() == 0)
    return;
  Kokkos::Timer timer;
  levels::OperatorProbe<Scalar, Exec> probe(exec, *state.product, *this, options.seed);
  levels::judge(probe.run(8), levels::near_null_hint(options, state.options.block_size),
                state.report);
  state.report.phases.probe = timer.seconds();
  state.report.seconds += timer.seconds();
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
  return alone_ ? alone_->rows() : state_->first->local_rows();
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
       << ", " << state_->steps.size() << " of them on ranks"
       << (report().single ? ", single precision" : "");
  return {.name = name.str(),
          .row_space = rows_,
          .replayable = rows_.communicator().device() != nullptr};
}

template <class Scalar, class Exec>
void DistributedMultigrid<Scalar, Exec>::apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                                               Block<Scalar, Exec> const& Y) const {
  if (alone_) return alone_->apply(exec, X, Y);
  constexpr auto where = "blockspan::DistributedMultigrid";
  operators::require_blocks(where, rows(), blocks::block_ref<Exec>(X), blocks::block_ref<Exec>(Y));
  require(report().usable(), where, report().message);
  require(state_->ready, where, "a refresh failed: refresh again");
  if (X.extent(1) > 0) state_->apply(exec, X, Y);
}

template <class Scalar, class Exec>
void DistributedMultigrid<Scalar, Exec>::refresh(Exec const& exec, std::shared_ptr<Matrix const> A,
                                                 bool keep_prolongators) {
  if (alone_) return alone_->refresh(exec, A->whole(), keep_prolongators);
  using State = distributed::DistributedMultigridState<Scalar, Exec>;
  state_->ready = false;
  state_->require_pattern(exec, *A);
  if (!state_->refresh(exec, A, keep_prolongators))
    state_ = std::make_unique<State>(exec, A, state_->options, state_->on_ranks);
}

}  // namespace blockspan
