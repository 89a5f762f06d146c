#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/accuracy/pair_quality.hpp>
#include <blockspan/solvers/lobpcg/subspace/subspace.hpp>

namespace blockspan::eigen {

/// The search for pairs that the iteration missed. Residuals cannot show them (exact eigenvectors
/// of the wrong eigenvalues have none), so the guards are replaced by random vectors orthogonal to
/// the wanted ones and iterated for a while: a wanted Ritz value that falls shows a missed pair.
/// It lowers the risk, it is no proof.
template <class Scalar, class Exec>
class Probe {
 public:
  using Real = real_t<Scalar>;
  static constexpr int most = 4;
  static constexpr int least = 3;  ///< iterations

  bool running() const { return running_; }
  bool wanted() const { return !passed_ && count_ < most; }
  /// Whether more of the search would be in vain.
  bool over(int iteration, std::vector<Real> const& theta, Residuals<Real> const& norms) const {
    return running_ && (iteration >= end_ || fallen(theta) ||
                        (iteration >= begun_ + least && settled(theta, norms)));
  }

  /// New guards; the images of the wanted columns must be exact. worst: the largest backward error
  /// of these; quality: of their values. Ends after `length` iterations, or a fifth of those so far
  /// if they are more, and at iteration `limit` at the latest.
  std::optional<Status> begin(Subspace<Scalar, Exec>& space, int wanted, int iteration, int length,
                              int limit, Real worst,
                              std::vector<PairQuality<Real>> const& quality) {
    auto& problem = space.problem;
    Real const size = std::max(Real(1), space.largest_x * space.largest_x) * problem.norm_a;
    Real const coarse = (std::sqrt(Real(wanted)) * worst + Thresholds<Real>::probe_fall) * size;
    Real const of_ritz_values = 20 * Thresholds<Real>::u * size;  // their rounding
    allowances_.clear();
    for (int j = 0; j < wanted; ++j)
      allowances_.push_back(std::min(coarse, quality[j].bound + of_ritz_values));
    before_.assign(space.theta.begin(), space.theta.begin() + wanted);
    running_ = true;
    ++count_;
    ++problem.counters.probes;
    begun_ = iteration;
    end_ = std::min(limit, iteration + std::max(length, iteration / 5));
    space.drop_directions();
    auto const& basis = space.basis;
    auto const guards = [&](Block<Scalar, Exec> const& block) {
      return column_range(block, wanted, basis.m - wanted);
    };
    bool const replaced = random_orthonormal(
        problem, Images<Scalar, Exec>{guards(basis.s), guards(basis.as), guards(basis.bs)},
        {{column_range(basis.s, 0, wanted), column_range(basis.bs, 0, wanted)}});
    return replaced ? space.rotate_x() : space.refresh(false);
  }

  /// Ends the search.
  void end(std::vector<Real> const& theta, Residuals<Real> const& norms) {
    running_ = false;
    passed_ = !fallen(theta);
    settled_ = settled(theta, norms);
  }
  /// Whether the last one that found nothing was long enough to.
  bool conclusive() const { return settled_; }

  template <class Archive>
  void visit(Archive& archive) {
    archive(running_), archive(passed_), archive(settled_), archive(count_);
    archive(begun_), archive(end_);
    archive(allowances_), archive(before_);
  }

 private:
  /// Whether the lowest guard lies above the wanted values by ten times the norm of its residual.
  /// An eigenvector below it is as likely in the random guards as its own, and a preconditioned
  /// step damps it less. Of a value that is multiple, or nearly, two digits do.
  bool settled(std::vector<Real> const& theta, Residuals<Real> const& norms) const {
    std::size_t const guard = before_.size();
    if (guard >= theta.size()) return false;
    Real const size = std::max(std::abs(theta[guard]), theta[guard] - theta[0]);
    return std::max(theta[guard] - theta[guard - 1], size / 100) >
           10 * norms.r[guard] / norms.bx[guard];
  }

  bool fallen(std::vector<Real> const& theta) const {
    for (std::size_t j = 0; j < std::min(before_.size(), theta.size()); ++j)
      if (theta[j] < before_[j] - allowances_[j]) return true;
    return false;
  }

  bool running_ = false, passed_ = false, settled_ = false;
  int count_ = 0, begun_ = 0, end_ = 0;
  std::vector<Real> allowances_;  ///< a value may fall by so much
  std::vector<Real> before_;
};

}  // namespace blockspan::eigen
