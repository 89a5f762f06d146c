#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/solvers/cg/block/block_orthonormalize.hpp>
#include <blockspan/solvers/cg/control.hpp>
#include <blockspan/solvers/cg/curvature_watch.hpp>
#include <blockspan/solvers/cg/judge_curvature.hpp>
#include <blockspan/solvers/cg/solution.hpp>

namespace blockspan::krylov {

/// One cycle of block conjugate gradients, A E = R for the columns of the cycle together. The
/// residual block is W Sigma, W^H M^-1 W = I, S the search directions. T holds W times a small
/// triangular factor's inverse F, so that W itself is never written. Columns that reach their goal
/// are frozen: their E no longer changes, their directions go on serving the others.
template <class Scalar, class Exec>
class BlockCg {
 public:
  using Real = real_t<Scalar>;
  using Limits = CgThresholds<Real>;
  using Small = SmallMatrix<Scalar>;
  using Cycle = CgCycle<Real>;

  BlockCg(CgProblem<Scalar, Exec>& problem, CgBlocks<Scalar, Exec>& blocks, int most)
      : problem_(problem), passes_(problem, blocks, most), scratch_(most) {
    for (Small* const M :
         {&k_, &xi_, &g_, &h_, &f_, &zeta_, &back_, &sigma_, &moved_, &step_, &lengths_})
      *M = small_matrix<Scalar>(most, most);
  }

  void run(Cycle& cycle, std::vector<Real> const& norms, CgControl<Scalar, Exec>& control,
           CgSolution<Scalar, Exec>& solution) {
    cycle_ = &cycle;
    control_ = &control;
    q_ = rank_ = static_cast<int>(cycle.columns.size());
    cycle.outcome.assign(q_, Status::not_converged);
    live_.assign(q_, true);
    residuals_.assign(q_, Real(0));
    largest_condition_ = 1;
    watch_.start(live_.size());
    stale_ = false;
    passes_.set_width(q_);
    if (!start()) return;
    int steps = 1;
    while (step(norms, steps)) ++steps;
    // Of an indefinite A the block has found no minimum, and mixed good columns with bad ones. A
    // first step that was given up has left E = 0.
    bool const given_up = cycle.end == CycleEnd::broken && steps == 1;
    if (cycle.end != CycleEnd::indefinite && !given_up)
      solution.add(passes_.e(), cycle.columns, cycle.scales);
  }

  bool preconditioner_not_finite() const { return preconditioner_not_finite_; }
  /// Behind CycleEnd::indefinite or singular: d^H A d / (||A|| ||d||^2).
  Real curvature() const { return curvature_; }

 private:
  Small square(Small const& M) const { return part(M, 0, rank_, 0, rank_); }
  Small sigma() const { return part(sigma_, 0, rank_, 0, q_); }

  void end(CycleEnd how) { cycle_->end = how; }
  void fail(Status why) {
    for (Status& outcome : cycle_->outcome)
      if (outcome == Status::not_converged) outcome = why;
    end(CycleEnd::broken);
  }

  /// W, S and Sigma from R; columns of unit length in the M^-1 norm first, so that the units of A
  /// and B do not decide what is dropped. False: there is nothing to iterate on.
  bool start() {
    passes_.precondition(q_);
    auto const G = square(g_);
    passes_.gram(q_, G);
    if (problem_.rescale_preconditioner(real_part(G(0, 0)))) return start();
    std::vector<Real> inverse(q_);
    for (int j = 0; j < q_; ++j) {
      Real const squared = real_part(G(j, j));
      if (!std::isfinite(squared)) {
        preconditioner_not_finite_ = problem_.preconditioned();
        fail(Status::operator_not_finite);
        return false;
      }
      if (!(squared > 0)) {
        fail(Status::preconditioner_not_spd);
        return false;
      }
      inverse[j] = 1 / std::sqrt(squared);
    }
    for (int j = 0; j < q_; ++j)
      for (int i = 0; i < q_; ++i) G(i, j) *= inverse[i] * inverse[j];
    symmetrize(G, Real(1));
    if (!nonnegative(G)) {
      fail(Status::preconditioner_not_spd);
      return false;
    }
    int const r = orthonormalize_residual(passes_, G, inverse, Real(1), square(zeta_), scratch_);
    drop_to(r);
    if (r == 0) {
      fail(Status::preconditioner_not_spd);
      return false;
    }
    copy_small(part(zeta_, 0, r, 0, q_), sigma());
    first_size_ = squared_norm(sigma());
    passes_.start(r);
    set_identity(square(lengths_));
    factored_ = false;
    return true;
  }

  /// Whether a Gram matrix has no eigenvalue that is negative beyond rounding.
  bool nonnegative(Small const& G) {
    auto const vectors = square(k_);
    copy_small(G, vectors);
    std::vector<Real> lambda;
    return lapack::hermitian_eigen(vectors, lambda) == 0 &&
           lambda.front() >= -Limits::indefinite * lambda.back();
  }

  /// One step of the method. False: the cycle has ended.
  bool step(std::vector<Real> const& norms, int steps) {
    int const r = rank_;
    auto const F = square(f_), C = part(step_, 0, r, 0, q_);
    problem_.apply_a(passes_.s(r), passes_.q(r));                        // Q = A S
    if (!take_curvature(steps == 1)) return false;                       // K = S^H Q, Xi = K^-1
    passes_.step_residual(r, factored_ ? &F : nullptr, square(moved_));  // T = T F - Q Xi
    if (!take_residual(C)) return false;  // G = T^H M^-1 T, C = Xi Sigma
    bool const last = is_last(norms, steps);
    if (!last && !factor_residual()) return false;  // T = W zeta
    if (last || rank_ == 0) {
      if (!last) end(CycleEnd::exhausted);
      passes_.step_correction(C);  // E = E + S C
      return false;
    }
    step_directions(C);  // E = E + S C, S = M^-1 W + S zeta^H, Sigma = zeta Sigma
    return block_pays(steps);
  }

  /// K = S^H Q and Xi = K^-1. False: the cycle has ended.
  bool take_curvature(bool first) {
    auto const K = square(k_);
    passes_.gram_of_product(rank_, K);
    if (first && !problem_.knows_norm()) problem_.note_norm(passes_.norm_seen(rank_));
    if (first)  // S is M^-1 W: of length 1 in the norm of M
      for (int i = 0; i < rank_; ++i) watch_.note(real_part(K(i, i)));
    if (rank_ == 1 && flat(real_part(K(0, 0))) && judge(passes_.s(1))) return false;
    if (!invert_curvature(K, first)) return false;
    if (!nearly_flat()) return true;
    end(CycleEnd::singular);
    return false;
  }

  /// G = T^H M^-1 T, the residuals of the columns, and the coefficients C = Xi Sigma of E. False:
  /// the cycle has ended.
  bool take_residual(Small const& C) {
    auto const G = square(g_), H = square(h_);
    passes_.grams(rank_, G, H);
    if (all_finite(G)) {
      measure(G, H, C);
      return true;
    }
    preconditioner_not_finite_ = problem_.preconditioned() && all_finite(H);
    fail(Status::operator_not_finite);
    return false;
  }

  /// Reports this step to the control, freezes the columns at their goals, and decides whether the
  /// cycle ends with it.
  bool is_last(std::vector<Real> const& norms, int steps) {
    auto const stop = control_->step(*cycle_, residuals_, live_, norms, rank_);
    stale_ = watch_.stale(residuals_, live_);
    freeze();
    bool const all = std::find(live_.begin(), live_.end(), true) == live_.end();
    bool const last = all || stop || steps >= cycle_->limit;
    bool const lost = squared_norm(sigma()) > Limits::lost * Limits::lost * first_size_;
    bool const outside = !last && (lost || (stale_ && cycle_->outside && cycle_->outside(rank_)));
    if (last || outside)
      end(all ? CycleEnd::finished : outside ? CycleEnd::singular : CycleEnd::stopped);
    return last || outside;
  }

  /// Whether S has a direction of negligible curvature, relative to its length in the norm of M,
  /// while residuals stagnate. trace(K^-1 N) is at most r times the inverse of the least quotient.
  bool nearly_flat() {
    Real trace = 0;
    for (int j = 0; j < rank_; ++j)
      for (int i = 0; i < rank_; ++i) trace += real_part(Scalar(xi_(i, j) * lengths_(j, i)));
    bool const flat = trace * Limits::flat * watch_.largest() >= static_cast<Real>(rank_);
    return flat && stale_ && control_->may_search();
  }

  /// N = S^H M S of the next S: I + zeta N zeta^H, because W^H S = 0.
  void measure_lengths(Small const& zeta) {
    int const before = static_cast<int>(zeta.extent(1));
    auto const half = part(moved_, 0, rank_, 0, before), next = square(h_);
    product(zeta, part(lengths_, 0, before, 0, before), half);
    lapack::multiply(lapack::Transform::none, lapack::Transform::adjoint, Scalar(1), half, zeta,
                     Scalar(0), next);
    for (int i = 0; i < rank_; ++i) next(i, i) += Scalar(1);
    copy_small(next, square(lengths_));
  }

  /// Whether the one direction that is left shows that A is singular. Several of them do so by a K
  /// that is not positive definite, one may stay above rounding errors for long.
  bool flat(Real curvature) {
    bool found = false;
    for (int j = 0; j < q_; ++j) {
      if (!live_[j]) continue;
      Real const gamma = squared_magnitude(sigma_(0, j));
      watch_.direction(j, gamma);
      found = watch_.flat(j, curvature * gamma, cycle_->goals[j]) || found;
    }
    return found && control_->may_search();
  }

  /// Xi = K^-1 (and its negative in moved_), or the end of the cycle.
  bool invert_curvature(Small const& K, bool first) {
    auto const timer = problem_.time(problem_.seconds.dense);
    if (!all_finite(K)) {
      fail(Status::operator_not_finite);
      return false;
    }
    // directions near null vectors leave of K what rounding makes of it
    if (first && largest_skew(K) > Limits::skew * largest_entry(K) && !problem_.hermitian()) {
      fail(Status::operator_not_hermitian);
      return false;
    }
    symmetrize(K, Real(1));
    auto const L = square(back_), Xi = square(xi_), minus = square(moved_);
    copy_small(K, L);
    if (lapack::cholesky(L) != 0 || lapack::invert_lower_triangle(L) != 0) {
      explain_curvature(K);
      return false;
    }
    lapack::multiply(lapack::Transform::adjoint, lapack::Transform::none, Scalar(1), L, L,
                     Scalar(0), Xi);
    for (int j = 0; j < rank_; ++j)
      for (int i = 0; i < rank_; ++i) minus(i, j) = -Xi(i, j);
    return true;
  }

  /// K is not positive definite: the direction of its least curvature shows why.
  void explain_curvature(Small const& K) {
    std::vector<Real> scale(rank_), lambda;
    for (int i = 0; i < rank_; ++i) {
      Real const size = std::abs(real_part(K(i, i)));
      scale[i] = size > 0 ? 1 / std::sqrt(size) : Real(1);
    }
    for (int j = 0; j < rank_; ++j)
      for (int i = 0; i < rank_; ++i) K(i, j) *= scale[i] * scale[j];
    end(CycleEnd::conjugacy_lost);
    if (lapack::hermitian_eigen(K, lambda) != 0) return;
    auto const v = part(K, 0, rank_, 0, 1);
    for (int i = 0; i < rank_; ++i) v(i, 0) *= scale[i];
    normalize_columns(v);
    judge(passes_.direction(rank_, v));
  }

  /// Ends the cycle if the direction shows that A is indefinite or singular; whether it does.
  bool judge(typename CgProblem<Scalar, Exec>::View const& d) {
    auto const verdict = CurvatureJudge<Scalar, Exec>(problem_)(d);
    curvature_ = verdict.curvature;
    if (verdict.status == Status::operator_not_finite)
      fail(Status::operator_not_finite);
    else if (verdict.status)
      end(*verdict.status == Status::singular ? CycleEnd::singular : CycleEnd::indefinite);
    return verdict.status.has_value();
  }

  /// Sigma without the columns that are frozen.
  Small sigma_of_live() {
    auto const result = part(back_, 0, rank_, 0, q_);
    for (int j = 0; j < q_; ++j)
      for (int i = 0; i < rank_; ++i) result(i, j) = live_[j] ? sigma_(i, j) : Scalar(0);
    return result;
  }

  /// ||T sigma_j|| of all columns from H = T^H T, and the coefficients Xi Sigma' of their E.
  void measure(Small const& G, Small const& H, Small const& correction) {
    auto const timer = problem_.time(problem_.seconds.dense);
    symmetrize(G, Real(1));
    product(square(xi_), sigma_of_live(), correction);
    for (int j = 0; j < q_; ++j) {
      if (!live_[j]) continue;
      Real sum = 0;
      for (int b = 0; b < rank_; ++b) {
        Scalar row(0);
        for (int a = 0; a < rank_; ++a) row += conjugate(sigma_(a, j)) * H(a, b);
        sum += real_part(row * sigma_(b, j));
      }
      residuals_[j] = std::sqrt(std::max(Real(0), sum));
    }
  }

  void freeze() {
    for (int j = 0; j < q_; ++j)
      if (live_[j] && residuals_[j] <= cycle_->goals[j]) {
        live_[j] = false;
        cycle_->outcome[j] = Status::converged;
      }
  }

  /// E = E + S C, S = M^-1 W + S zeta^H, Sigma = zeta Sigma.
  void step_directions(Small const& C) {
    int const before = static_cast<int>(C.extent(0));
    auto const zeta = part(zeta_, 0, rank_, 0, before), back = part(back_, 0, before, 0, rank_);
    copy_adjoint(zeta, back);
    auto const F = square(f_);
    if (!factored_) set_identity(F);
    passes_.step(C, F, back);
    measure_lengths(zeta);
    auto const next = part(moved_, 0, rank_, 0, q_);
    product(zeta, part(sigma_, 0, before, 0, q_), next);
    copy_small(next, sigma());
  }

  /// T = W zeta, by Cholesky where the one-step Gram matrix allows it. False: M^-1 is not definite.
  bool factor_residual() {
    auto const G = square(g_), vectors = square(back_);
    std::vector<Real> lambda;
    {
      auto const timer = problem_.time(problem_.seconds.dense);
      copy_small(G, vectors);
      lapack::hermitian_eigen(vectors, lambda);
      Real const least = lambda.front(), largest = lambda.back();
      if (least < -Limits::indefinite * largest) {
        fail(Status::preconditioner_not_spd);
        return false;
      }
      if (least > 0) largest_condition_ = std::max(largest_condition_, largest / least);
      auto& report = control_->report();
      report.largest_condition = std::max(report.largest_condition, largest_condition_);
      factored_ = least > 0 && largest < Limits::condition * least && factor(G);
    }
    if (factored_) return true;
    ++problem_.counters.reorthogonalizations;
    Real longest = 0;
    for (int i = 0; i < rank_; ++i) longest = std::max(longest, real_part(G(i, i)));
    // ||(Q Xi)_i||^2 = 1 + ||t_i||^2, because t_i is orthogonal to W
    Real const scale = 1 + std::sqrt(1 + longest);
    drop_to(orthonormalize_residual(passes_, G, std::vector<Real>(rank_, Real(1)), scale,
                                    square(zeta_), scratch_));
    return true;
  }

  /// G = L L^H: zeta = L^H, F = L^-H.
  bool factor(Small const& G) {
    auto const L = square(back_), zeta = square(zeta_), F = square(f_);
    copy_small(G, L);
    if (lapack::cholesky(L) != 0) return false;
    copy_adjoint(L, zeta);
    if (lapack::invert_lower_triangle(L) != 0) return false;
    copy_adjoint(L, F);
    return true;
  }

  /// Where all columns see the same contraction, a wide block costs arithmetic and gains nothing.
  bool block_pays(int steps) {
    constexpr int trial = 20, narrow = 8;
    bool const may = cycle_->first && control_->options().method == CgMethod::automatic;
    if (!may || steps != trial || rank_ < narrow) return true;
    Real const expected =
        4 * std::sqrt(static_cast<Real>(rank_) / static_cast<Real>(problem_.global_rows()));
    Real const least = 1 + std::min(Limits::no_gain * expected, Limits::no_gain_at_most);
    if (largest_condition_ >= least) return true;
    end(CycleEnd::no_gain);
    return false;
  }

  void drop_to(int rank) {
    problem_.counters.directions_dropped += rank_ - rank;
    rank_ = rank;
    int& smallest = problem_.counters.smallest_block;
    smallest = smallest == 0 ? rank : std::min(smallest, rank);
  }

  CgProblem<Scalar, Exec>& problem_;
  BlockPasses<Scalar, Exec> passes_;
  SmallScratch<Scalar> scratch_;
  Cycle* cycle_ = nullptr;
  CgControl<Scalar, Exec>* control_ = nullptr;
  int q_ = 0;              ///< columns of the cycle
  int rank_ = 0;           ///< directions, columns of W and S
  bool factored_ = false;  ///< T F is W (else T is)
  std::vector<bool> live_;
  std::vector<Real> residuals_;
  CurvatureWatch<Real> watch_;  ///< of curvature: in steps with one direction
  bool stale_ = false;
  Small k_, xi_, g_, h_, f_, zeta_, back_, sigma_, moved_, step_, lengths_;
  bool preconditioner_not_finite_ = false;
  Real curvature_ = 0, largest_condition_ = 1, first_size_ = 0;
};

}  // namespace blockspan::krylov
