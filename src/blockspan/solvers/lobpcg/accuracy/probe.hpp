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

  bool running() const { return running_; }
  bool wanted() const { return !passed_ && count_ < most; }
  bool due(int iteration) const { return running_ && iteration >= end_; }

  /// New guards; the images of the wanted columns must be exact. worst: the largest backward error
  /// of these; quality: of their values. Ends at iteration `limit` at the latest.
  std::optional<Status> begin(Subspace<Scalar, Exec>& space, int wanted, int iteration, int limit,
                              Real worst, std::vector<PairQuality<Real>> const& quality) {
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
    end_ = std::min(limit, iteration + std::max(10, iteration / 5));
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

  /// Ends the probe; true if nothing was missed.
  bool end(std::vector<Real> const& theta) {
    running_ = false;
    passed_ = true;
    for (std::size_t j = 0; j < std::min(before_.size(), theta.size()); ++j)
      if (theta[j] < before_[j] - allowances_[j]) passed_ = false;
    return passed_;
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive(running_), archive(passed_), archive(count_), archive(end_);
    archive(allowances_), archive(before_);
  }

 private:
  bool running_ = false, passed_ = false;
  int count_ = 0, end_ = 0;
  std::vector<Real> allowances_;  ///< a value may fall by so much
  std::vector<Real> before_;
};

}  // namespace blockspan::eigen
