#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/mass_norm.hpp>

namespace blockspan::detail {

/// Op V for a random orthonormal V, rescaled by a power of two so that extreme values do no harm.
template <class Scalar, class Exec>
class SampledImage {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;

  SampledImage(Problem<Scalar, Exec>& problem, View const& V, View const& image)
      : problem_(problem), v_(V), image_(image) {
    Real largest = 0;
    for (Real const entry : problem.largest_entries(image)) {
      if (!std::isfinite(entry)) finite_ = false;
      largest = std::max(largest, entry);
    }
    if (!finite_ || !(largest >= std::numeric_limits<Real>::min())) return;
    factor_ = std::ldexp(Real(1), -std::ilogb(largest));
    problem.scale(image, factor_);
  }

  bool finite() const { return finite_; }

  /// Twice the largest ||Op v||: an estimate of ||Op||.
  Real norm() const {
    auto const norms = problem_.norms(image_);
    return 2 * *std::max_element(norms.begin(), norms.end()) / factor_;
  }

  /// ||V^H Op V - (V^H Op V)^H||_F / norm.
  Real skew(Real norm) const {
    int const m = static_cast<int>(v_.extent(1));
    auto const M = small_matrix<Scalar>(m, m);
    blockspan::gram(problem_.exec, v_, image_, M, problem_.workspace);
    return norm > 0 ? skew_norm(M) / (norm * factor_) : Real(0);
  }

 private:
  Problem<Scalar, Exec>& problem_;
  View v_, image_;
  Real factor_ = 1;
  bool finite_ = true;
};

/// Norms, scales, and the checks of the operators before the first iteration, on one random
/// orthonormal block; an answer that is not finite is asked for once more.
template <class Scalar, class Exec>
std::optional<Status> check_operators(Problem<Scalar, Exec>& problem,
                                      Basis<Scalar, Exec> const& basis, bool check_hermitian) {
  using Real = real_t<Scalar>;
  using Image = SampledImage<Scalar, Exec>;
  // A single vector sees no skew part of a real operator.
  int const probes = std::max(basis.m, std::min<int>(2, static_cast<int>(problem.rows())));
  auto const V = basis.columns(basis.s, 0, probes);
  problem.randomize(V);
  blockspan::orthonormalize(problem.exec, V, problem.workspace);
  // Known norms give the scales at once; else the two images use the operators as they came.
  auto const [bound_a, bound_b] = problem.norm_bounds();
  bool const known = problem.take_known_norms();
  auto const sample = [&](bool mass) {
    auto const image = basis.columns(mass ? basis.bs : basis.as, 0, probes);
    for (int attempt = 0;; ++attempt) {
      mass ? problem.apply_b(V, image) : problem.apply_a(V, image);
      Image const sampled(problem, V, image);
      if (sampled.finite() || attempt == 1) return sampled;
    }
  };
  Image const a = sample(false);
  if (!a.finite()) return Status::operator_not_finite;
  Real const norm_a = known ? problem.norm_a : bound_a.value_or(a.norm());
  Real norm_b = 1, skew = check_hermitian ? a.skew(norm_a) : Real(0);
  if (problem.generalized()) {
    Image const b = sample(true);
    if (!b.finite()) return Status::operator_not_finite;
    norm_b = known ? problem.norm_b : bound_b.value_or(b.norm());
    if (check_hermitian) skew = std::max(skew, b.skew(norm_b));
  }
  if (!std::isfinite(norm_a) || !std::isfinite(norm_b)) return Status::operator_not_finite;
  if (!known) problem.set_norms(norm_a, norm_b);
  if (!(skew <= Thresholds<Real>::skew)) return Status::operator_not_hermitian;
  return problem.generalized() ? measure_mass(problem, basis) : std::nullopt;
}

}  // namespace blockspan::detail
