#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/accuracy/pair_quality.hpp>
#include <blockspan/solvers/lobpcg/subspace/subspace.hpp>

namespace blockspan::eigen {

/// Iterations that a search for missed pairs may take after `iteration` of them.
inline int search_length(int iteration, int least = 10) { return std::max(least, iteration / 5); }

/// Whether the lowest guard, column `guard`, lies above value j by ten times the norm of its
/// residual. Where the guards began as random columns an eigenvector below it is as likely in them
/// as its own, and a preconditioned step damps it less: with g guards the chance that the block
/// holds less than a share tau of it falls like tau^(g - 1) (Halko, Martinsson and Tropp 2011,
/// doi:10.1137/090771806, section 10).
template <class Real>
bool guards_are_apart(std::vector<Real> const& theta, Residuals<Real> const& norms, int guard,
                      int j) {
  return theta[guard] - theta[j] > 10 * norms.r[guard] / norms.bx[guard];
}

/// The search for pairs that the iteration missed: guards are iterated for a while, and a wanted
/// Ritz value that falls shows a missed pair. Residuals cannot show them (exact eigenvectors of the
/// wrong eigenvalues have none), so guards that a start may have left without them are replaced by
/// random vectors orthogonal to the wanted ones. It lowers the risk, it is no proof.
template <class Scalar, class Exec>
class Probe {
 public:
  using Real = real_t<Scalar>;
  static constexpr int most = 4;
  static constexpr int soonest = 3;  ///< iterations

  bool running() const { return running_; }
  /// Whether its guards are those of the iteration, and the wanted columns that they are not apart
  /// from go on with them.
  bool keeps_guards() const { return running_ && !replaced_; }
  bool replaced_guards() const { return replaced_; }
  bool wanted() const { return !passed_ && count_ < most; }
  /// Whether continuing the search cannot find anything.
  bool over(int iteration, std::vector<Real> const& theta, Residuals<Real> const& norms) const {
    return running_ && (iteration >= end_ || fallen(theta) || (!replaced_ && apart(theta, norms)) ||
                        (iteration >= begun_ + soonest && settled(theta, norms)));
  }

  /// Begins with the guards as they are. worst: the largest backward error of the wanted columns;
  /// quality: of their values. Ends after `least` iterations, or a fifth of those so far if they
  /// are more, and at iteration `limit` at the latest.
  void begin(Subspace<Scalar, Exec> const& space, int wanted, int iteration, int least, int limit,
             Real worst, std::vector<PairQuality<Real>> const& quality) {
    auto const& problem = space.problem;
    Real const size = std::max(Real(1), space.largest_x * space.largest_x) * problem.norm_a;
    Real const coarse = (std::sqrt(Real(wanted)) * worst + Thresholds<Real>::probe_fall) * size;
    Real const of_ritz_values = 20 * Thresholds<Real>::u * size;  // their rounding
    allowances_.clear();
    for (int j = 0; j < wanted; ++j)
      allowances_.push_back(std::min(coarse, quality[j].bound + of_ritz_values));
    before_.assign(space.theta.begin(), space.theta.begin() + wanted);
    running_ = true;
    ++count_;
    begun_ = iteration;
    end_ = std::min(limit, iteration + search_length(iteration, least));
  }

  /// New guards for a search that has begun; the images of the wanted columns must be exact.
  std::optional<Status> replace_guards(Subspace<Scalar, Exec>& space, int wanted) {
    auto& problem = space.problem;
    replaced_ = true;
    ++problem.counters.probes;
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
  /// Whether the last search without a finding was long enough.
  bool conclusive() const { return settled_; }

  template <class Archive>
  void visit(Archive& archive) {
    archive(running_), archive(passed_), archive(settled_), archive(replaced_);
    archive(count_);
    archive(begun_), archive(end_);
    archive(allowances_), archive(before_);
  }

 private:
  bool apart(std::vector<Real> const& theta, Residuals<Real> const& norms) const {
    int const guard = static_cast<int>(before_.size());
    return guard < static_cast<int>(theta.size()) &&
           guards_are_apart(theta, norms, guard, guard - 1);
  }

  /// Whether the lowest guard is apart or, of a value that is multiple, or nearly, has two digits.
  bool settled(std::vector<Real> const& theta, Residuals<Real> const& norms) const {
    std::size_t const guard = before_.size();
    if (guard >= theta.size()) return false;
    Real const size = std::max(std::abs(theta[guard]), theta[guard] - theta[0]);
    return apart(theta, norms) || size / 100 > 10 * norms.r[guard] / norms.bx[guard];
  }

  bool fallen(std::vector<Real> const& theta) const {
    for (std::size_t j = 0; j < std::min(before_.size(), theta.size()); ++j)
      if (theta[j] < before_[j] - allowances_[j]) return true;
    return false;
  }

  bool running_ = false, passed_ = false, settled_ = false, replaced_ = false;
  int count_ = 0, begun_ = 0, end_ = 0;
  std::vector<Real> allowances_;  ///< a value may fall by so much
  std::vector<Real> before_;
};

}  // namespace blockspan::eigen
