#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include <blockspan/solvers/lobpcg/solver.hpp>

namespace blockspan::eigen {

/// History, monitor and checkpoint, once an iteration.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::record() {
  if (flow_.measured_iteration == flow_.iteration) return std::nullopt;
  flow_.measured_iteration = flow_.iteration;
  auto values = locked_theta_, errors = locked_errors_;
  values.insert(values.end(), space_.theta.begin(), space_.theta.end());
  for (Real& value : values) value = problem_.eigenvalue(value);
  errors.insert(errors.end(), norms_.backward.begin(), norms_.backward.end());
  int const front = locked(), shown = front + flow_.wanted;
  history_.push_back({flow_.iteration,
                      flow_.last_active,
                      {values.begin(), values.begin() + shown},
                      {errors.begin(), errors.begin() + shown}});
  bool const go_on =
      !options_.monitor ||
      options_.monitor({flow_.iteration, front + converged(), options_.wanted, flow_.last_active,
                        front, values, errors, problem_.seconds, checkpoint_fault_});
  Request const asked = agree(go_on);
  late_ = asked == Request::end_by_time;  // judge() ends it, unless all pairs are there
  if (asked == Request::stop) return Status::stopped_by_monitor;
  if (asked == Request::checkpoint) write_checkpoint();
  return std::nullopt;
}

/// The request agreed by all ranks, in one gather: their clocks and monitors may differ.
template <class Scalar, class Exec>
auto LobpcgSolver<Scalar, Exec>::agree(bool go_on) const -> Request {
  Request mine = Request::none;
  if (!options_.checkpoint.empty() &&
      seconds_since(last_checkpoint_) >= options_.checkpoint_seconds)
    mine = Request::checkpoint;
  if (seconds_since(begin_) > options_.time_limit) mine = Request::end_by_time;
  if (!go_on) mine = Request::stop;
  return agreement_.largest(mine);
}

/// A solve that ended so goes on from its checkpoint.
template <class Scalar, class Exec>
bool LobpcgSolver<Scalar, Exec>::may_continue(Status status) {
  return status == Status::max_iterations || status == Status::time_limit ||
         status == Status::stopped_by_monitor;
}

/// All state that the next iteration depends on, after X has been measured.
template <class Scalar, class Exec>
template <class Archive>
void LobpcgSolver<Scalar, Exec>::visit(Archive& archive) {
  int width = space_.m();
  archive(width);
  if constexpr (Archive::reads)
    archive.require_between("the width of the block", std::int64_t(key_.columns),
                            std::int64_t(width), problem_.global_rows());
  if (width != space_.m())
    space_.replace_basis({problem_.exec, problem_.rows(), width, problem_.generalized()});
  archive(constraints_), archive(flow_), archive(space_.theta), archive(locked_theta_);
  archive(locked_errors_), archive(history_), archive(stagnation_), archive(probe_);
  archive(goals_);
  if constexpr (Archive::reads) require_sound(archive);
  if (int const left = flow_.guesses - flow_.next_guess; left > 0)
    archive.block(problem_.exec, column_range(x_, flow_.next_guess, left));
  problem_.visit(archive);
  if constexpr (Archive::reads)
    archive.require_between("the number of locked vectors", static_cast<int>(locked_theta_.size()),
                            locked(), static_cast<int>(locked_theta_.size()));
  space_.basis.visit(archive, problem_.exec);
}

/// Sizes and indices in the state.
template <class Scalar, class Exec>
void LobpcgSolver<Scalar, Exec>::require_sound(CheckpointReader const& reader) const {
  int const m = space_.m(), locked = static_cast<int>(locked_theta_.size());
  auto const has = [&](char const* what, std::size_t size, int count) {
    reader.require_between(what, std::int64_t(count), static_cast<std::int64_t>(size),
                           std::int64_t(count));
  };
  reader.require_between("the number of constraints", 0, constraints_, key_.constraints);
  reader.require_between("the columns of the start", 0, flow_.guesses,
                         static_cast<int>(x_.extent(1)));
  reader.require_between("the next column of the start", 0, flow_.next_guess, flow_.guesses);
  reader.require_between("the number of iterations", 0, flow_.iteration,
                         std::numeric_limits<int>::max() / 2);
  reader.require_between("the number of active columns", 0, flow_.last_active, m);
  has("the number of Ritz values", space_.theta.size(), m);
  has("the number of goals", goals_.size(), goals_.empty() ? 0 : flow_.wanted);
  has("the number of locked errors", locked_errors_.size(), locked);
  // who goes on has a pair left to find
  reader.require_between("the number of locked pairs", 0, locked,
                         in_batches() ? key_.wanted - 1 : 0);
  reader.require_between("the pairs of a batch", 1, flow_.wanted,
                         std::min(m, key_.wanted - locked));
  reader.require_between("settled (0 or 1)", 0, static_cast<int>(flow_.settled), 0);
}

/// A full disk or a lack of memory loses the checkpoint, not the solve; on ranks only where all of
/// them learn of it.
template <class Scalar, class Exec>
void LobpcgSolver<Scalar, Exec>::write_checkpoint() {
  if (options_.checkpoint.empty()) return;
  checkpoint_fault_.clear();
  try {
    CheckpointWriter writer(options_.checkpoint, problem_.workspace.rows());
    double const seconds = seconds_before_ + seconds_since(begin_);
    writer(key_), writer(seconds);
    visit(writer);
    writer.commit();
  } catch (Error const& error) {
    if (!problem_.ranks().all_threw(error)) throw;
    checkpoint_fault_ = error.what();
  } catch (std::bad_alloc const&) {
    if (problem_.ranks().size() > 1) throw;
    checkpoint_fault_ = "out of memory";
  }
  last_checkpoint_ = std::chrono::steady_clock::now();
}

template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::resume() {
  CheckpointReader reader(options_.resume, problem_.workspace.rows());
  CheckpointKey then;
  reader(then);
  problem_.ranks().run_agreed([&] { then.require_same(key_, options_.resume); });
  reader(seconds_before_);
  visit(reader);
  reader.finish();
  late_ = agree(true) == Request::end_by_time;
  if (problem_.generalized()) {
    if (auto const trouble = problem_.take_mass_diagonal()) return trouble;
    problem_.mass.words = "as before the break";
    if (problem_.lifted) problem_.take_lifted_diagonal(problem_.lifted->lift);
    if (problem_.mass.lift > 0) {
      Real const factor = problem_.mass.factor;
      problem_.take_lifted_diagonal(problem_.mass.lift);
      problem_.lift_mass();
      problem_.mass.factor = factor;
    }
  }
  return std::nullopt;
}

/// The report, with residuals from the operators themselves whatever the status.
template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> LobpcgSolver<Scalar, Exec>::finish(Status status) {
  Report report;
  report.status = status;
  report.iterations = flow_.iteration;
  if (auto const found = in_batches() ? finish_batches() : finish_block())
    report_found(*found, report);
  else
    report_nothing(problem_, options_, report);
  report.history = std::move(history_);
  report.fault = fault_;
  report.checkpoint_fault = checkpoint_fault_;
  problem_.exec.fence("Blockspan::lobpcg: done");
  problem_.seconds.total = seconds_before_ + seconds_since(begin_);
  report.counters = problem_.counters;
  report.seconds = problem_.seconds;
  return report;
}

/// What is known of measured pairs. A solve has converged where all of them have: bounds are final
/// only now.
template <class Scalar, class Exec>
void LobpcgSolver<Scalar, Exec>::report_found(Found const& found, Report& report) {
  auto const& [X, BX, theta, norms, products] = found;
  auto const sizes = sharp_rounding(problem_, X, theta, norms);
  MeasuredCouplings<Scalar> const couplings(problem_, products, norms, sizes);
  int const known = std::min(options_.wanted, static_cast<int>(theta.size()));
  auto const G = small_matrix<Scalar>(known, known);
  blockspan::gram(problem_.exec, column_range(X, 0, known),
                  column_range(problem_.generalized() ? BX : X, 0, known), G, problem_.workspace);
  report.orthogonality_loss = defect_from_diagonal(G);
  auto quality = pair_qualities(problem_, theta, norms, sizes, known, couplings);
  allow_for_missed(problem_, options_, theta, norms, quality);
  report_pairs(problem_, theta, norms, quality, options_, report);
  if (options_.certify)
    report.certificate = certify(problem_, known, theta, norms, couplings,
                                 report.orthogonality_loss, sizes, options_);
  if (options_.criterion == Criterion::backward) allow_for_missed(report);
  allow_for_missed_zeros(problem_, theta, norms, report);
  if (report.status == Status::converged &&
      !std::all_of(report.pair_status.begin(), report.pair_status.end(), is_done))
    report.status = Status::attainable_limit;
}

/// X with exact images, as it is reported: Rayleigh quotients and the couplings of the vectors.
template <class Scalar, class Exec>
auto LobpcgSolver<Scalar, Exec>::measure_exact() -> Found {
  auto const& basis = space_.basis;
  auto const R = basis.a_spare(basis.m);
  auto const measured = [&] { return residuals(problem_, basis.x_and_images(), space_.theta, R); };
  norms_ = measured();
  auto const products = small_matrix<Scalar>(basis.m, basis.m);
  blockspan::gram(problem_.exec, basis.x(), R, products, problem_.workspace);
  correct_quotients(products, space_.theta);
  norms_ = measured();
  return {basis.x(), basis.bx(), space_.theta, norms_, products};
}

/// X measured with exact images, and delivered with its guards. Nothing if it has no finite images.
template <class Scalar, class Exec>
auto LobpcgSolver<Scalar, Exec>::finish_block() -> std::optional<Found> {
  if (!found_) {
    if (!flow_.exact && space_.refresh(true)) return std::nullopt;
    found_ = measure_exact();
  }
  deliver(space_.basis.s, std::min(space_.m(), static_cast<int>(x_.extent(1))));
  return found_;
}

/// The locked pairs, and what the block holds of those still missing.
template <class Scalar, class Exec>
auto LobpcgSolver<Scalar, Exec>::finish_batches() -> std::optional<Found> {
  if (!flow_.settled) {
    int const missing = std::min(options_.wanted - locked(), space_.m());
    if (missing > 0 && !space_.refresh(false)) lock_columns(space_, missing);
    if (locked() == 0 || settle(space_, constraints_, locked_theta_, settled_)) return std::nullopt;
  }
  Kokkos::deep_copy(problem_.exec, x_, Scalar(0));
  auto const products = measure_locked(space_, constraints_, locked_theta_, settled_);
  auto const X = problem_.deflation.y(constraints_, locked());
  deliver(X, locked());
  return Found{X, problem_.deflation.by(constraints_, locked()), locked_theta_, settled_, products};
}

/// Copies vectors to the caller, in the scale of the caller's B.
template <class Scalar, class Exec>
void LobpcgSolver<Scalar, Exec>::deliver(View const& vectors, int count) {
  auto const from = column_range(vectors, 0, count), to = column_range(x_, 0, count);
  Kokkos::deep_copy(problem_.exec, to, from);
  if (problem_.vector_scale() != Real(1)) problem_.scale(to, problem_.vector_scale());
}

}  // namespace blockspan::eigen
