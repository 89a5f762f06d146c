#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/multivector/workspace.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/solvers/detail/column_kernels.hpp>
#include <blockspan/solvers/detail/deflation.hpp>
#include <blockspan/solvers/detail/device_numbers.hpp>
#include <blockspan/solvers/detail/eigensolver.hpp>
#include <blockspan/solvers/detail/phase_timer.hpp>
#include <blockspan/solvers/detail/thresholds.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/support/lapack.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// The problem as the solver sees it: A and B rescaled by powers of two when their norms are
/// extreme (squares of numbers near 1e-200 vanish), calls counted and timed. The sign that turns
/// largest pairs into smallest ones is applied to the small matrices and in the residual, never
/// here.
template <class Scalar, class Exec>
class Problem {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Operator = LinearOperator<Scalar, Exec>;

  Problem(Exec const& exec_, Operator const& A, Operator const* B,
          LobpcgOptions<Scalar, Exec> const& options)
      : exec(exec_),
        sign(options.which == Which::largest ? Real(-1) : Real(1)),
        eigen(small_eigensolver<Scalar>(exec_)),
        a_(A),
        b_(B),
        t_(options.preconditioner),
        seed_(options.seed),
        time_phases_(options.time_phases) {
    auto const* const jacobi = dynamic_cast<JacobiPreconditioner<Scalar, Exec> const*>(t_);
    if (jacobi) weights_ = jacobi->factors().data();
  }

  std::int64_t rows() const { return a_.rows(); }
  bool generalized() const { return b_ != nullptr; }
  bool preconditioned() const { return t_ != nullptr; }
  void drop_preconditioner() {
    t_ = nullptr;
    weights_ = nullptr;
  }
  /// True if T R is R times `weights` (null: R itself), so that the residual pass can write it.
  bool steps_with_residuals() const { return deflation.empty() && (!t_ || weights_); }
  Real const* weights() const { return weights_; }
  Operator const& a() const { return a_; }
  Operator const* b() const { return b_; }

  /// Times a phase until the end of the scope.
  PhaseTimer<Exec> time(double& phase) const { return {time_phases_ ? &exec : nullptr, phase}; }

  void apply_a(View const& X, View const& Y) {
    auto const timer = time(seconds.operator_a);
    apply(a_, X, Y, counters.operator_applications, counters.operator_columns);
    if (scale_a_ != Real(1)) scale(Y, scale_a_);
  }
  void apply_b(View const& X, View const& Y) {
    auto const timer = time(seconds.operator_b);
    apply(*b_, X, Y, counters.mass_applications, counters.mass_columns);
    if (scale_b_ != Real(1)) scale(Y, scale_b_);
  }
  void apply_t(View const& X, View const& Y) {
    auto const timer = time(seconds.preconditioner);
    apply(*t_, X, Y, counters.preconditioner_applications, counters.preconditioner_columns);
  }

  /// Takes norms of the operators as they are; chooses the scales and norm_a, norm_b that go with
  /// them.
  void set_norms(Real a, Real b) {
    int const exponent_a = extreme_exponent(a);
    int exponent_b = generalized() ? extreme_exponent(b) : 0;
    exponent_b += exponent_b % 2;  // its square root scales X and must be exact
    scale_a_ = std::ldexp(Real(1), -exponent_a);
    scale_b_ = std::ldexp(Real(1), -exponent_b);
    norm_a = a > 0 ? a * scale_a_ : Real(1);
    norm_b = b > 0 ? b * scale_b_ : Real(1);
    zero_a_ = !(a > 0);
  }

  /// From the solver's Ritz value to an eigenvalue of the caller's problem. In two steps, since
  /// neither scale nor their quotient need be representable alone.
  Real eigenvalue(Real theta) const { return sign * theta / scale_a_ * scale_b_; }
  /// |eigenvalue(theta)|
  Real original_size(Real theta) const { return std::abs(theta) / scale_a_ * scale_b_; }
  Real original_norm_a() const { return zero_a_ ? Real(0) : norm_a / scale_a_; }
  Real original_norm_b() const { return norm_b / scale_b_; }
  Real scale_a() const { return scale_a_; }
  Real scale_b() const { return scale_b_; }
  Real vector_scale() const { return std::sqrt(scale_b_); }

  /// What changes during a solve. A preconditioner that was dropped stays dropped.
  template <class Archive>
  void visit(Archive& archive) {
    bool with_t = preconditioned();
    archive(norm_a), archive(norm_b), archive(scale_a_), archive(scale_b_), archive(zero_a_);
    archive(counters), archive(seconds), archive(next_random_), archive(seed_), archive(with_t);
    if (!with_t) drop_preconditioner();
    deflation.visit(archive, exec);
  }

  /// Fills V with random columns that this solve has not used yet.
  void randomize(View const& V) {
    blockspan::fill_random(exec, V, seed_, next_random_);
    next_random_ += static_cast<std::int64_t>(V.extent(1));
  }

  /// B-orthonormal basis of span V in its leading columns; returns how many. BV = B V on entry and
  /// return (not read without B).
  int orthonormalize(View const& V, View const& BV) {
    auto const report = generalized() ? blockspan::orthonormalize(exec, V, BV, workspace)
                                      : blockspan::orthonormalize(exec, V, workspace);
    counters.factor_fallbacks += report.used_svqb ? 1 : 0;
    return report.rank;
  }

  /// V := V without what lies in the span of the deflated vectors, in the inner product of B.
  void constrain(View const& V) { deflation.project(exec, V, workspace); }

  /// Multiplies all columns by one factor.
  void scale(View const& X, Real factor) { scale_each(X, std::vector<Real>(X.extent(1), factor)); }
  void scale_each(View const& X, std::vector<Real> const& factors) {
    Kokkos::View<Real const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const f(
        factors.data(), factors.size());
    blockspan::scale_columns(exec, f, X);
  }

  /// A copy of a few numbers on the device, valid until the next call; `values` must live until the
  /// next fence.
  Real const* on_device(std::vector<Real> const& values) { return numbers_(exec, values); }

  using SmallOnDevice =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::Device<Exec, typename Exec::memory_space>,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// A copy of a small matrix on the device, valid until the next call; the caller fences before
  /// it.
  SmallOnDevice small_on_device(SmallMatrix<Scalar> const& C) {
    std::size_t const count = C.extent(0) * C.extent(1);
    if (packed_.extent(0) < count) {
      entries_ = allocate<Entries>(exec, "Blockspan::lobpcg::coefficients", count);
      packed_ = allocate_mirror(entries_);
    }
    for (std::size_t j = 0; j < C.extent(1); ++j)
      for (std::size_t i = 0; i < C.extent(0); ++i) packed_(j * C.extent(0) + i) = C(i, j);
    std::pair<std::size_t, std::size_t> const used(0, count);
    Kokkos::deep_copy(exec, Kokkos::subview(entries_, used), Kokkos::subview(packed_, used));
    return SmallOnDevice(entries_.data(), C.extent(0), C.extent(1));
  }

  /// Per column the largest magnitude, NaN or infinite if an entry is.
  std::vector<Real> largest_entries(View const& X) {
    return fold(exec, "Blockspan::lobpcg::largest", LargestTerms<Scalar>{block_ref<Exec>(X)},
                X.extent(0), X.extent(1));
  }

  Exec exec;
  Real sign;
  Real norm_a = 1, norm_b = 1;  ///< of the rescaled operators
  LobpcgCounters counters;
  LobpcgSeconds seconds;
  Workspace<Exec> workspace;
  ColumnFolder<Exec, Real> fold;
  Deflation<Scalar, Exec> deflation;
  Eigensolver<Scalar> eigen;  ///< of small matrices

 private:
  using Entries = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;

  void apply(Operator const& op, View const& X, View const& Y, std::int64_t& calls,
             std::int64_t& columns) {
    if (X.extent(1) == 0) return;
    op.apply(exec, X, Y);
    ++calls;
    columns += static_cast<std::int64_t>(X.extent(1));
  }
  static int extreme_exponent(Real norm) {
    if (!(norm > 0) || !std::isfinite(norm)) return 0;
    int const exponent = std::ilogb(norm);
    return std::abs(exponent) > Thresholds<Real>::range ? exponent : 0;
  }

  Operator const& a_;
  Operator const* b_;
  Operator const* t_;
  Real const* weights_ = nullptr;  ///< of a Jacobi preconditioner
  Real scale_a_ = 1, scale_b_ = 1;
  bool zero_a_ = false;
  DeviceNumbers<Real, Exec> numbers_;
  Entries entries_;
  typename Entries::host_mirror_type packed_;
  std::uint64_t seed_;
  bool time_phases_;
  std::int64_t next_random_ = 0;
};

}  // namespace blockspan::detail
