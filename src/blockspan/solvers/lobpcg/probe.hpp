#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/start_block.hpp>

namespace blockspan::detail {

/// The search for pairs that the iteration missed. Residuals cannot show them (exact eigenvectors
/// of the wrong eigenvalues have none), so the guards are replaced by random vectors orthogonal to
/// the wanted ones and iterated for a while: a wanted Ritz value that falls tells of a missed pair.
/// It lowers the risk, it is no proof.
template <class Scalar, class Exec>
class Probe {
 public:
  using Real = real_t<Scalar>;
  static constexpr int most = 4;

  bool running() const { return running_; }
  bool wanted() const { return !passed_ && count_ < most; }
  bool due(int iteration) const { return running_ && iteration >= end_; }

  /// New guards; the images of the wanted columns must be exact. Ends at iteration `limit` at the
  /// latest.
  std::optional<Status> begin(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis,
                              Grams<Scalar, Exec>& grams, RayleighRitz<Scalar>& ritz,
                              std::vector<Real>& theta, int wanted, int iteration, int limit,
                              Real worst, Real largest_x) {
    Real const size = std::max(Real(1), largest_x * largest_x) * problem.norm_a;
    allowance_ = (std::sqrt(Real(wanted)) * worst + Thresholds<Real>::probe_fall) * size;
    before_.assign(theta.begin(), theta.begin() + wanted);
    running_ = true;
    ++count_;
    ++problem.counters.probes;
    end_ = std::min(limit, iteration + std::max(10, iteration / 5));
    return replace_guards(problem, basis, wanted)
               ? rotate_x(problem, basis, grams, ritz, theta)
               : refresh(problem, basis, grams, ritz, theta, false);
  }

  /// Ends the probe; true if nothing was missed.
  bool end(std::vector<Real> const& theta) {
    running_ = false;
    passed_ = true;
    for (std::size_t j = 0; j < before_.size(); ++j)
      if (theta[j] < before_[j] - allowance_) passed_ = false;
    return passed_;
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive(running_), archive(passed_), archive(count_), archive(end_), archive(allowance_);
    archive(before_);
  }

 private:
  /// False if the random columns did not survive their orthonormalization.
  static bool replace_guards(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis,
                             int wanted) {
    basis.p = basis.w = 0;
    int const guards = basis.m - wanted;
    auto const Q = basis.columns(basis.s, 0, wanted), BQ = basis.columns(basis.bs, 0, wanted);
    auto const V = basis.columns(basis.s, wanted, guards);
    auto const BV = basis.columns(basis.bs, wanted, guards);
    problem.randomize(V);
    for (int round = 0; round < 2; ++round) {
      for (int pass = 0; pass < 2 - round; ++pass) {
        problem.constrain(V);
        blockspan::project_out(problem.exec, Q, BQ, V, problem.workspace);
      }
      if (problem.generalized()) problem.apply_b(V, BV);
      if (problem.orthonormalize(V, BV) < guards) return false;
    }
    problem.apply_a(V, basis.columns(basis.as, wanted, guards));
    return true;
  }

  bool running_ = false, passed_ = false;
  int count_ = 0, end_ = 0;
  Real allowance_ = 0;
  std::vector<Real> before_;
};

}  // namespace blockspan::detail
