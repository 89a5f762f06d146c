#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <vector>

#include <blockspan/multigrid/detail/arrays.hpp>
#include <blockspan/multigrid/options.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/detail/product_and_dot.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/lapack.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/replay.hpp>

namespace blockspan::detail {

/// What some steps of conjugate gradients from a random vector of the range of A see of M^-1 A.
/// On ranks all of them together.
struct ProbeResult {
  double smallest = 0, largest = 0;  ///< Ritz values; zeros: no step was possible
  bool definite = true;              ///< r^H M^-1 r and p^H A p were positive
  bool hermitian = true;             ///< x^H A y = conj(y^H A x)
};

/// The numbers of a step, in device memory.
template <class Scalar>
struct ProbeNumbers {
  Scalar next, curvature, before;  ///< r^H z, p^H A p, and r^H z a step ago (0 at first)
  std::int64_t steps;
};

/// p := z + next / before p; no p at first.
template <class Scalar>
struct ProbeDirection {
  ProbeNumbers<Scalar> const* numbers;
  Scalar const* z;
  Scalar* p;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    real_t<Scalar> const before = real_part(numbers->before);
    p[i] = before > 0 ? z[i] + real_part(numbers->next) / before * p[i] : z[i];
  }
};

/// r := r - next / curvature q. Index 0, which is there on a rank without rows too, keeps the
/// numbers of the step.
template <class Scalar>
struct ProbeResidual {
  ProbeNumbers<Scalar>* numbers;
  Scalar* history;
  Scalar const* q;
  Scalar* r;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Scalar const next = numbers->next, curvature = numbers->curvature;
    if (i == 0) {
      history[2 * numbers->steps] = numbers->before = next;
      history[2 * numbers->steps + 1] = curvature;
      ++numbers->steps;
    }
    if (i < rows && real_part(curvature) > 0) r[i] -= real_part(next) / real_part(curvature) * q[i];
  }
};

/// The numbers of the steps stay where they are made: the host waits once, at the end. Steps that
/// only enqueue are replayed (a cycle of one column takes longer to launch than to run).
template <class Scalar, class Exec>
class OperatorProbe {
 public:
  using Operator = LinearOperator<Scalar, Exec>;

  OperatorProbe(Exec const& exec, Operator const& A, Operator const& M, std::uint64_t seed)
      : exec_(exec),
        A_(A),
        M_(M),
        seed_(seed),
        columns_(allocate<Vector>(exec, "Blockspan::multigrid_probe", 5 * padded() + most_dots)),
        numbers_(Kokkos::view_alloc(exec, "Blockspan::multigrid_probe")),
        x_(column(0)),
        r_(column(1)),
        z_(column(2)),
        p_(column(3)),
        q_(column(4)),
        workspace_(A.row_space()) {}

  bool hermitian() {
    blockspan::fill_random(exec_, x_, seed_);
    blockspan::fill_random(exec_, p_, seed_, 1);
    product_and_dot(exec_, A_, x_, r_, dot(0), workspace_);
    product_and_dot(exec_, A_, p_, q_, dot(0), workspace_);
    blockspan::column_dots(exec_, x_, q_, dot(0), workspace_);
    blockspan::column_dots(exec_, p_, r_, dot(1), workspace_);
    blockspan::column_dots(exec_, q_, q_, dot(2), workspace_);
    blockspan::column_dots(exec_, x_, x_, dot(3), workspace_);
    auto const dots = dots_on_host();
    auto const difference = Kokkos::abs(dots(0) - conjugate(dots(1)));
    // x and p have about n / 3 for their squared norms
    double const size = std::sqrt(real_part(dots(2)) * real_part(dots(3)));
    return !(difference > 1e5 * unit_roundoff<Scalar> * size);
  }

  /// steps: at most 8.
  ProbeResult run(int steps) {
    ProbeResult result;
    result.hermitian = hermitian();
    if (!result.hermitian) return result;
    blockspan::fill_random(exec_, x_, seed_, 2);
    A_.apply(exec_, x_, r_);
    auto const& space = workspace_.rows();
    bool const enqueues = A_.replayable() && M_.replayable() &&
                          (!space.distributed() || space.device_sums() != nullptr);
    Replay<Exec> replay;
    for (int i = 0; i < steps; ++i)
      if (enqueues)
        replay(exec_, [&] { step(); });
      else
        step();
    auto const dots = dots_on_host();
    std::vector<double> diagonal, subdiagonal;
    double alpha = 1, rz = 0, first = 0;
    for (int step = 0; step < steps; ++step) {
      double const next = real_part(dots(2 * step)), curvature = real_part(dots(2 * step + 1));
      if (step == 0) first = next;
      if (next < 0) result.definite = false;
      if (!(next > 1e-24 * first)) break;
      if (curvature < 0) result.definite = false;
      if (!(curvature > 0)) break;
      double const beta = step > 0 ? next / rz : 0;
      rz = next;
      if (step > 0) subdiagonal.push_back(std::sqrt(beta) / alpha);
      diagonal.push_back(curvature / rz + (step > 0 ? beta / alpha : 0));
      alpha = rz / curvature;
    }
    ritz_values(diagonal, subdiagonal, result);
    return result;
  }

 private:
  using Vector = Array<Scalar, Exec>;
  using Numbers = Kokkos::View<ProbeNumbers<Scalar>, typename Vector::device_type>;
  static constexpr int most_dots = 16;

  void step() {
    ProbeNumbers<Scalar>* const numbers = numbers_.data();
    char const* const label = "Blockspan::multigrid_probe";
    std::int64_t const rows = A_.rows();
    M_.apply(exec_, r_, z_);
    blockspan::column_dots(exec_, r_, z_, Vector(&numbers->next, 1), workspace_);
    each(exec_, label, rows, ProbeDirection<Scalar>{numbers, z_.data(), p_.data()});
    product_and_dot(exec_, A_, p_, q_, Vector(&numbers->curvature, 1), workspace_);
    each(exec_, label, std::max<std::int64_t>(rows, 1),
         ProbeResidual<Scalar>{numbers, dot(0).data(), q_.data(), r_.data(), rows});
  }

  /// Columns begin where vectors of 16 bytes are aligned.
  std::int64_t padded() const { return ceil_div(A_.rows(), 16) * 16; }
  Block<Scalar, Exec> column(std::int64_t k) const {
    return Block<Scalar, Exec>(columns_.data() + k * padded(), static_cast<std::size_t>(A_.rows()),
                               1);
  }
  Vector dot(int k) const { return Vector(columns_.data() + 5 * padded() + k, 1); }
  auto dots_on_host() const {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                               Vector(columns_.data() + 5 * padded(), most_dots));
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
  Vector columns_;  ///< and then the dots
  Numbers numbers_;
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
