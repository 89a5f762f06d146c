#pragma once

#include <cmath>
#include <sstream>
#include <vector>

#include <blockspan/multigrid/detail/arrays.hpp>
#include <blockspan/multigrid/options.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/lapack.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// What some steps of conjugate gradients from a random vector of the range of A see of M^-1 A.
/// On ranks all of them together.
struct ProbeResult {
  double smallest = 0, largest = 0;  ///< Ritz values; zeros: no step was possible
  bool definite = true;              ///< r^H M^-1 r and p^H A p were positive
  bool hermitian = true;             ///< x^H A y = conj(y^H A x)
};

template <class Scalar, class Exec>
class OperatorProbe {
 public:
  using Operator = LinearOperator<Scalar, Exec>;

  OperatorProbe(Exec const& exec, Operator const& A, Operator const& M, std::uint64_t seed)
      : exec_(exec),
        A_(A),
        M_(M),
        seed_(seed),
        columns_(
            allocate_zeros<Array<Scalar, Exec>>(exec, "Blockspan::multigrid_probe", 5 * padded())),
        x_(column(0)),
        r_(column(1)),
        z_(column(2)),
        p_(column(3)),
        q_(column(4)) {}

  bool hermitian() {
    blockspan::fill_random(exec_, x_, seed_);
    blockspan::fill_random(exec_, p_, seed_, 1);
    A_.apply(exec_, x_, r_);
    A_.apply(exec_, p_, q_);
    auto const difference = Kokkos::abs(dot(x_, q_) - conjugate(dot(p_, r_)));
    // x and p have about n / 3 for their squared norms
    double const size = std::sqrt(real_part(dot(q_, q_)) * real_part(dot(x_, x_)));
    return !(difference > 1e5 * unit_roundoff<Scalar> * size);
  }

  ProbeResult run(int steps) {
    ProbeResult result;
    result.hermitian = hermitian();
    if (!result.hermitian) return result;
    blockspan::fill_random(exec_, x_, seed_, 2);
    A_.apply(exec_, x_, r_);
    std::vector<double> diagonal, subdiagonal;
    double alpha = 1, beta = 0, rz = 0, first = 0;
    for (int step = 0; step < steps; ++step) {
      M_.apply(exec_, r_, z_);
      double const next = real_part(dot(r_, z_));
      if (step == 0) first = next;
      if (next < 0) result.definite = false;
      if (!(next > 1e-24 * first)) break;
      beta = step > 0 ? next / rz : 0;
      rz = next;
      step_direction(beta);
      A_.apply(exec_, p_, q_);
      double const curvature = real_part(dot(p_, q_));
      if (curvature < 0) result.definite = false;
      if (!(curvature > 0)) break;
      if (step > 0) subdiagonal.push_back(std::sqrt(beta) / alpha);
      diagonal.push_back(curvature / rz + (step > 0 ? beta / alpha : 0));
      alpha = rz / curvature;
      step_residual(alpha);
    }
    ritz_values(diagonal, subdiagonal, result);
    return result;
  }

  /// p := z + beta p.
  void step_direction(double beta) {
    auto const p = p_, z = z_;
    each(
        exec_, "Blockspan::multigrid_probe", A_.rows(),
        KOKKOS_LAMBDA(std::int64_t i) { p(i, 0) = z(i, 0) + beta * p(i, 0); });
  }
  /// r := r - alpha q.
  void step_residual(double alpha) {
    auto const r = r_, q = q_;
    each(
        exec_, "Blockspan::multigrid_probe", A_.rows(),
        KOKKOS_LAMBDA(std::int64_t i) { r(i, 0) -= alpha * q(i, 0); });
  }

 private:
  /// Columns begin where vectors of 16 bytes are aligned.
  std::int64_t padded() const { return ceil_div(A_.rows(), 16) * 16; }
  Block<Scalar, Exec> column(std::int64_t k) const {
    return Block<Scalar, Exec>(columns_.data() + k * padded(), static_cast<std::size_t>(A_.rows()),
                               1);
  }
  Scalar dot(Block<Scalar, Exec> const& x, Block<Scalar, Exec> const& y) {
    Scalar value;
    blockspan::column_dots(exec_, x, y, Kokkos::View<Scalar*, Kokkos::HostSpace>(&value, 1),
                           workspace_);
    return A_.row_space().communicator().sum(value);
  }
  static void ritz_values(std::vector<double> const& diagonal,
                          std::vector<double> const& subdiagonal, ProbeResult& result) {
    std::size_t const m = diagonal.size();
    if (m == 0) return;
    SmallMatrix<double> const T("Blockspan::multigrid_probe", m, m);
    for (std::size_t j = 0; j < m; ++j) {
      T(j, j) = diagonal[j];
      if (j + 1 < m) T(j + 1, j) = T(j, j + 1) = subdiagonal[j];
    }
    std::vector<double> values;
    if (lapack::hermitian_eigen(T, values) != 0) return;
    result.smallest = values.front();
    result.largest = values.back();
  }

  Exec exec_;
  Operator const &A_, &M_;
  std::uint64_t seed_;
  Array<Scalar, Exec> columns_;
  Block<Scalar, Exec> x_, r_, z_, p_, q_;
  Workspace<Exec> workspace_;
};

/// The verdict of eight steps.
inline void judge(ProbeResult const& probe, MultigridReport& report) {
  report.smallest = probe.smallest;
  report.largest = probe.largest;
  std::ostringstream message;
  message.precision(2);
  if (!probe.hermitian) {
    report.status = MultigridStatus::not_hermitian;
    message << "the matrix is not Hermitian: chebyshev and multigrid do not apply";
  } else if (!probe.definite) {
    report.status = MultigridStatus::indefinite;
    message << "the matrix is not positive semidefinite: a direction has negative energy; "
               "chebyshev and multigrid do not apply";
  } else if (report.status == MultigridStatus::no_coarsening || !(probe.smallest > 0)) {
    return;
  } else if (probe.smallest < 0.15) {
    report.status = MultigridStatus::weak;
    message << "smooth errors are left (Ritz value " << probe.smallest
            << " after 8 steps): near-null vectors missing? give block_size, coordinates or "
               "adaptive";
  } else {
    report.status = probe.smallest > 0.25 ? MultigridStatus::good : MultigridStatus::fair;
  }
  report.message = message.str();
  if (probe.smallest > 0)
    report.predicted_iterations = static_cast<int>(
        std::ceil(0.5 * std::sqrt(probe.largest / probe.smallest) * std::log(2e8)));
}

}  // namespace blockspan::detail
