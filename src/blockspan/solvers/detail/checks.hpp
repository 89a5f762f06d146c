#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/detail/start_block.hpp>

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
    std::vector<Real> norms(image_.extent(1));
    Kokkos::View<Real*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const target(
        norms.data(), norms.size());
    blockspan::column_norms(problem_.exec, image_, target, problem_.workspace);
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

/// The least Ritz value of B on a Krylov space of about twenty random steps (Lanczos with full
/// orthogonalization): finds a mildly indefinite B, near which the iteration itself never comes.
template <class Scalar, class Exec>
bool lanczos_finds_negative(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec> const& basis) {
  using Real = real_t<Scalar>;
  int const most = std::min<std::int64_t>({20, 3 * basis.m - 1, problem.rows() - 1});
  auto const V = [&](int first, int count) { return basis.columns(basis.s, first, count); };
  auto const BV = [&](int first, int count) { return basis.columns(basis.bs, first, count); };
  problem.randomize(V(0, 1));
  blockspan::orthonormalize(problem.exec, V(0, 1), problem.workspace);
  int steps = 0;
  for (bool grows = true; grows && steps < most;) {
    problem.apply_b(V(steps, 1), BV(steps, 1));
    Kokkos::deep_copy(problem.exec, V(steps + 1, 1), BV(steps, 1));
    ++steps;
    for (int pass = 0; pass < 2; ++pass)
      blockspan::project_out(problem.exec, V(0, steps), V(0, steps), V(steps, 1),
                             problem.workspace);
    grows = blockspan::orthonormalize(problem.exec, V(steps, 1), problem.workspace).rank == 1;
  }
  auto const T = small_matrix<Scalar>(steps, steps);
  blockspan::gram(problem.exec, V(0, steps), BV(0, steps), T, problem.workspace);
  if (!all_finite(T)) return false;
  symmetrize(T, Real(1));
  std::vector<Real> ritz;
  if (lapack::hermitian_eigen(T, ritz) != 0) return false;
  return ritz[0] < -Thresholds<Real>::indefinite * problem.norm_b;
}

/// Norms, scales, and the checks of the operators before the first iteration, on one random
/// orthonormal block; an answer that is not finite is asked for once more.
template <class Scalar, class Exec>
std::optional<Status> check_operators(Problem<Scalar, Exec>& problem,
                                      Basis<Scalar, Exec> const& basis, bool check_hermitian) {
  using Real = real_t<Scalar>;
  using Image = SampledImage<Scalar, Exec>;
  problem.randomize(basis.x());
  blockspan::orthonormalize(problem.exec, basis.x(), problem.workspace);
  // The two images use the operators as they came: set_norms below chooses the scales.
  auto const sample = [&](bool mass) {
    auto const image = mass ? basis.bx() : basis.ax();
    for (int attempt = 0;; ++attempt) {
      mass ? problem.apply_b(basis.x(), image) : problem.apply_a(basis.x(), image);
      Image const sampled(problem, basis.x(), image);
      if (sampled.finite() || attempt == 1) return sampled;
    }
  };
  Image const a = sample(false);
  if (!a.finite()) return Status::operator_not_finite;
  Real const norm_a = problem.a().norm_bound().value_or(a.norm());
  Real norm_b = 1, skew = check_hermitian ? a.skew(norm_a) : Real(0);
  if (problem.generalized()) {
    Image const b = sample(true);
    if (!b.finite()) return Status::operator_not_finite;
    norm_b = problem.b()->norm_bound().value_or(b.norm());
    if (check_hermitian) skew = std::max(skew, b.skew(norm_b));
  }
  if (!std::isfinite(norm_a) || !std::isfinite(norm_b)) return Status::operator_not_finite;
  problem.set_norms(norm_a, norm_b);
  if (!(skew <= Thresholds<Real>::skew)) return Status::operator_not_hermitian;
  if (problem.generalized() && lanczos_finds_negative(problem, basis))
    return Status::mass_not_positive_definite;
  return std::nullopt;
}

}  // namespace blockspan::detail
