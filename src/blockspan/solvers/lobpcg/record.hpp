#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <blockspan/solvers/lobpcg/solver.hpp>

namespace blockspan::detail {

/// History, monitor and checkpoint, once an iteration.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::record() {
  if (flow_.measured_iteration == flow_.iteration) return std::nullopt;
  flow_.measured_iteration = flow_.iteration;
  auto values = locked_theta_, errors = locked_errors_;
  values.insert(values.end(), theta_.begin(), theta_.end());
  for (Real& value : values) value = problem_.eigenvalue(value);
  errors.insert(errors.end(), norms_.backward.begin(), norms_.backward.end());
  int const front = locked(), shown = front + flow_.wanted;
  history_.push_back({flow_.iteration,
                      flow_.last_active,
                      {values.begin(), values.begin() + shown},
                      {errors.begin(), errors.begin() + shown}});
  if (options_.monitor &&
      !options_.monitor({flow_.iteration, front + converged(), options_.wanted, flow_.last_active,
                         front, values, errors, problem_.seconds}))
    return Status::stopped_by_monitor;
  if (!options_.checkpoint.empty() &&
      seconds_since(last_checkpoint_) >= options_.checkpoint_seconds)
    write_checkpoint();
  return std::nullopt;
}

/// A solve that ended so goes on from its checkpoint.
template <class Scalar, class Exec>
bool LobpcgSolver<Scalar, Exec>::may_continue(Status status) {
  return status == Status::max_iterations || status == Status::time_limit ||
         status == Status::stopped_by_monitor;
}

/// Everything that the next iteration depends on, at the point where X has been measured.
template <class Scalar, class Exec>
template <class Archive>
void LobpcgSolver<Scalar, Exec>::visit(Archive& archive) {
  int columns = basis_.m;
  archive(columns);
  if (columns != basis_.m) {
    basis_ = Basis<Scalar, Exec>(problem_.exec, problem_.rows(), columns, problem_.generalized());
    grams_ = Grams<Scalar, Exec>(problem_.exec, 3 * columns);
    ritz_ = RayleighRitz<Scalar>(3 * columns, problem_.eigen);
  }
  archive(constraints_), archive(flow_), archive(theta_), archive(locked_theta_);
  archive(locked_errors_), archive(history_), archive(stagnation_), archive(probe_);
  if (int const left = flow_.guesses - flow_.next_guess; left > 0)
    archive.block(problem_.exec, basis_.columns(x_, flow_.next_guess, left));
  problem_.visit(archive);
  basis_.visit(archive, problem_.exec);
}

template <class Scalar, class Exec>
void LobpcgSolver<Scalar, Exec>::write_checkpoint() {
  if (options_.checkpoint.empty()) return;
  CheckpointWriter writer(options_.checkpoint);
  double const seconds = seconds_before_ + seconds_since(begin_);
  writer(key_), writer(seconds);
  visit(writer);
  writer.commit();
  last_checkpoint_ = std::chrono::steady_clock::now();
}

template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::resume() {
  CheckpointReader reader(options_.resume);
  CheckpointKey then;
  reader(then);
  then.require_same(key_, options_.resume);
  reader(seconds_before_);
  visit(reader);
  reader.finish();
  if (problem_.generalized()) {
    if (auto const trouble = problem_.take_mass_diagonal()) return trouble;
    problem_.mass_words = "as before the break";
  }
  return std::nullopt;
}

/// The report, with residuals from the operators themselves whatever the status.
template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> LobpcgSolver<Scalar, Exec>::finish(Status status) {
  Report report;
  report.status = status;
  report.iterations = flow_.iteration;
  auto const vectors = in_batches() ? finish_batches() : finish_block();
  if (vectors) {
    quality_ = pair_qualities(problem_, theta_, norms_,
                              sharp_rounding(problem_, measured_vectors(), theta_, norms_));
    report_pairs(problem_, theta_, norms_, quality_, options_, report);
    if (options_.certify)
      report.certificate = certify(problem_, vectors->X, vectors->BX, theta_, norms_, options_);
  } else {
    report_nothing(problem_, options_, report);
  }
  report.history = std::move(history_);
  report.fault = fault_;
  problem_.exec.fence("Blockspan::lobpcg: done");
  problem_.seconds.total = seconds_before_ + seconds_since(begin_);
  report.counters = problem_.counters;
  report.seconds = problem_.seconds;
  return report;
}

/// X measured with exact images, and delivered with its guards. Nothing if it has no finite images.
template <class Scalar, class Exec>
auto LobpcgSolver<Scalar, Exec>::finish_block() -> std::optional<Vectors> {
  if (!flow_.exact) {
    if (refresh(problem_, basis_, grams_, ritz_, theta_, true)) return std::nullopt;
    norms_ = residuals(problem_, basis_.x_and_images(), theta_, basis_.a_spare(basis_.m));
  }
  deliver(basis_.s, std::min(basis_.m, static_cast<int>(x_.extent(1))));
  return Vectors{basis_.columns(basis_.s, 0, options_.wanted),
                 {},
                 basis_.columns(basis_.bs, 0, options_.wanted)};
}

/// The locked pairs, and what the block holds of those still missing.
template <class Scalar, class Exec>
auto LobpcgSolver<Scalar, Exec>::finish_batches() -> std::optional<Vectors> {
  if (!flow_.settled) {
    int const missing = std::min(options_.wanted - locked(), basis_.m);
    if (missing > 0 && !refresh(problem_, basis_, grams_, ritz_, theta_, false))
      lock_columns(problem_, basis_, missing);
    if (locked() == 0 || settle(problem_, basis_, constraints_, locked_theta_, settled_))
      return std::nullopt;
  }
  theta_ = locked_theta_;
  norms_ = settled_;
  Kokkos::deep_copy(problem_.exec, x_, Scalar(0));
  Vectors const found{problem_.deflation.y(constraints_, locked()),
                      {},
                      problem_.deflation.by(constraints_, locked())};
  deliver(found.X, locked());
  return found;
}

/// Copies vectors to the caller, in the scale of the caller's B.
template <class Scalar, class Exec>
void LobpcgSolver<Scalar, Exec>::deliver(View const& vectors, int count) {
  auto const from = basis_.columns(vectors, 0, count), to = basis_.columns(x_, 0, count);
  Kokkos::deep_copy(problem_.exec, to, from);
  if (problem_.vector_scale() != Real(1)) problem_.scale(to, problem_.vector_scale());
}

}  // namespace blockspan::detail
