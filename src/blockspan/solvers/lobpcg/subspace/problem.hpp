#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/solvers/common/problem.hpp>
#include <blockspan/solvers/dense/eigensolver.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/solvers/lobpcg/accuracy/certain_digits.hpp>
#include <blockspan/solvers/lobpcg/accuracy/mass_norm.hpp>
#include <blockspan/solvers/lobpcg/subspace/deflation.hpp>
#include <blockspan/solvers/lobpcg/thresholds.hpp>
#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::eigen {

/// The problem as the solver sees it: A and B rescaled by powers of two when their norms are
/// extreme (squares of values near 1e-200 vanish), calls counted and timed. The sign that turns
/// largest pairs into smallest ones is applied to the small matrices and in the residual, never
/// here.
template <class Scalar, class Exec>
class Problem : public SolverProblem<Scalar, Exec> {
  using Base = SolverProblem<Scalar, Exec>;
  using Base::a_, Base::facts_of_a_, Base::facts_of_t_, Base::t_, Base::weights_;

 public:
  using RowValues = Kokkos::View<real_t<Scalar>*, typename Exec::memory_space>;  ///< n of them
  using Base::exec, Base::workspace, Base::rows, Base::ranks, Base::preconditioned, Base::time,
      Base::fold;
  using typename Base::Facts;
  using typename Base::Operator;
  using typename Base::Real;
  using typename Base::View;

  Problem(Exec const& exec_, Operator const& A, Operator const* B,
          LobpcgOptions<Scalar, Exec> const& options)
      : Base(exec_, A, options.preconditioner, options.time_phases),
        sign(options.which == Which::largest ? Real(-1) : Real(1)),
        eigen(small_eigensolver<Scalar>(exec_)),
        b_(B),
        facts_of_b_(B ? operators::facts_of(*B) : Facts{}),
        seed_(options.seed) {
    if (generalized()) find_unused_rows();
  }

  bool generalized() const { return b_ != nullptr; }
  void drop_preconditioner() {
    t_ = nullptr;
    weights_ = nullptr;
  }
  /// True if T R is R times `weights` (null: R itself), so that the residual pass can write it.
  bool steps_with_residuals() const { return deflation.empty() && (!t_ || weights_); }
  Operator const* b() const { return b_; }
  Facts const& facts_of_b() const { return facts_of_b_; }

  /// Rows of all ranks that are zero in A and in B: any lambda goes with them. Random and given
  /// columns are zero there, and stay so.
  std::int64_t unused_rows() const { return unused_; }
  std::int64_t used_rows() const { return this->global_rows() - unused_; }
  bool is_used(std::size_t row) const { return used_.empty() || used_[row]; }

  void apply_a(View const& X, View const& Y) {
    auto const timer = time(seconds.operator_a);
    apply_scaled(a_, exponent_a_, X, Y, counters.operator_applications, counters.operator_columns);
  }
  void apply_b(View const& X, View const& Y) {
    auto const timer = time(seconds.operator_b);
    apply_scaled(*b_, exponent_b_, X, Y, counters.mass_applications, counters.mass_columns);
  }
  void apply_t(View const& X, View const& Y) {
    auto const timer = time(seconds.preconditioner);
    apply(*t_, X, Y, counters.preconditioner_applications, counters.preconditioner_columns);
    leave_out_unused(Y);
  }

  /// Row weights of the rescaled A: times the power of two that was taken out.
  void rescale_weights() {
    auto const given = facts_of_t_.row_weights;
    if (!t_ || !given.data() || exponent_a_ == 0) return;
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), given);
    std::vector<Real> scaled;
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      Real const value = std::ldexp(host(i), exponent_a_);
      scaled.push_back(std::isnormal(value) ? value : Real(1));
    }
    rescaled_weights_ = to_device<RowValues>(exec, "Blockspan::lobpcg::jacobi", scaled);
    weights_ = rescaled_weights_.data();
  }

  /// Takes norms of the operators as they are; chooses the scales and norm_a, norm_b that go with
  /// them.
  void set_norms(Real a, Real b) {
    exponent_a_ = extreme_exponent(a);
    exponent_b_ = generalized() ? extreme_exponent(b) : 0;
    exponent_b_ += exponent_b_ % 2;  // its square root scales X and must be exact
    norm_a = a > 0 ? std::ldexp(a, -exponent_a_) : Real(1);
    norm_b = b > 0 ? std::ldexp(b, -exponent_b_) : Real(1);
    zero_a_ = !(a > 0);
    rescale_weights();
  }

  /// The operators' bounds of their norms; 1 for the identity.
  std::pair<std::optional<Real>, std::optional<Real>> norm_bounds() const {
    return {facts_of_a_.norm_bound, b_ ? facts_of_b_.norm_bound : std::optional(Real(1))};
  }
  /// set_norms by the operators' own bounds; false, and nothing is done, unless both are finite.
  bool take_known_norms() {
    auto const [a, b] = norm_bounds();
    bool const known = a && b && std::isfinite(*a) && std::isfinite(*b);
    if (known) set_norms(*a, *b);
    return known;
  }

  /// From the solver's Ritz value to an eigenvalue of the caller's problem.
  Real eigenvalue(Real theta) const { return std::ldexp(sign * theta, exponent_a_ - exponent_b_); }
  /// The Ritz value of an eigenvalue.
  Real scaled_eigenvalue(Real value) const {
    return std::ldexp(sign * value, exponent_b_ - exponent_a_);
  }
  /// |eigenvalue(theta)|
  Real original_size(Real theta) const {
    return std::ldexp(std::abs(theta), exponent_a_ - exponent_b_);
  }
  /// A bound of the error of eigenvalue(theta) from one of theta's: what the format cannot hold of
  /// small values counts, and one that overflows has none.
  Real original_bound(Real theta, Real bound) const {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    Real const value = original_size(theta);
    if (!std::isfinite(value)) return infinity;
    bool const denormal = theta != 0 && value < std::numeric_limits<Real>::min();
    auto const exact = std::ldexp(static_cast<long double>(bound), exponent_a_ - exponent_b_);
    return rounded_up<Real>(exact) + (denormal ? std::numeric_limits<Real>::denorm_min() : Real(0));
  }
  Real original_norm_a() const { return zero_a_ ? Real(0) : std::ldexp(norm_a, exponent_a_); }
  Real original_norm_b() const { return std::ldexp(norm_b, exponent_b_); }
  /// A value of the caller's A, or B, in the solver's scale.
  Real scaled_by_a(Real value) const { return std::ldexp(value, -exponent_a_); }
  Real scaled_by_b(Real value) const { return std::ldexp(value, -exponent_b_); }
  Real vector_scale() const { return std::ldexp(Real(1), -exponent_b_ / 2); }
  /// No power of two is taken out of A or B.
  bool unscaled() const { return exponent_a_ == 0 && exponent_b_ == 0; }

  std::int64_t terms_per_row() const {
    return std::max(*facts_of_a_.terms_per_row,
                    generalized() ? *facts_of_b_.terms_per_row : std::int64_t(1));
  }
  /// Whether sign A is known to have no eigenvalue below zero, but for rounding.
  bool semidefinite() const {
    auto const bound = facts_of_a_.eigenvalue_lower_bound;
    Real const slack = 8 * static_cast<Real>(*facts_of_a_.terms_per_row + 4) * Thresholds<Real>::u;
    return sign > 0 && bound && *bound >= -slack * original_norm_a();
  }

  /// No eigenvalue is further below zero than this, in the solver's scale, where A is
  /// semidefinite() up to the rounding of its entries.
  Real below_zero() const {
    Real const weight = mass.factor * mass.largest_weight;
    return std::max(Real(0), -scaled_by_a(facts_of_a_.eigenvalue_lower_bound.value_or(Real(0)))) *
           weight * weight;
  }

  MassNorm<Real, RowValues> mass;
  bool knows_mass_diagonal() const { return knows_mass_; }
  Real const* mass_weights() const { return mass.weights.data(); }  ///< 1 / b_ii, or null

  /// Reads the diagonal of B. A status where it proves that B is not positive definite.
  std::optional<Status> take_mass_diagonal();
  /// A lift for `lifted`, where some rows have far less mass for their stiffness than others
  /// (penalties, masses near zero); 0: none has.
  Real possible_lift() const;
  /// `lifted` with the diagonal of B + lift A; `mass` is known.
  void take_lifted_diagonal(Real lift);
  /// Another norm of B^-1 for what `mass` leaves to rounding, as far as it was measured.
  std::optional<MassNorm<Real, RowValues>> lifted;
  /// `mass` becomes `lifted`; false where there is none.
  bool lift_mass();

  /// Whether B, with its diagonal scaled to one, is singular as far as Lanczos showed.
  bool mass_is_singular() const {
    Real const noise = 10 * static_cast<Real>(this->global_rows()) * Thresholds<Real>::u;
    return mass.measured && !(mass.factor * mass.factor * noise < 1);
  }

  /// `factor` of `mass`, as found by Lanczos.
  void set_mass_norm(Real factor);

  /// Weights of the rows that bound what rounding does to a column x of X: with p = |A| 1 the error
  /// of x^H A x is at most some u sum_i p_i |x_i|^2, and that of A x in the norm of D^-1 at most
  /// some u (sum_i q_i |x_i|^2)^1/2, q = |A| (D^-1 p) (Cauchy and Schwarz). They know the grading
  /// of A, which ||A|| ||x||^2 does not. A row without entries has no size of its own and gets the
  /// least p of the others: else an x on such rows would be expected to be exact. Null where an
  /// operator does not know its entries.
  struct RoundingWeights {
    RowValues energy, dual;
    bool asked = false, known = false;
  };
  RoundingWeights const& rounding_of_a() { return rounding_weights(a_, exponent_a_, rounding_a_); }
  RoundingWeights const& rounding_of_b() { return rounding_weights(*b_, exponent_b_, rounding_b_); }

  std::string trouble;  ///< what is wrong with the operators, in words

  /// What changes during a solve. A preconditioner that was dropped stays dropped.
  template <class Archive>
  void visit(Archive& archive) {
    bool with_t = preconditioned();
    archive(norm_a), archive(norm_b), archive(exponent_a_), archive(exponent_b_), archive(zero_a_);
    archive(counters), archive(seconds), archive(next_random_), archive(seed_), archive(with_t);
    archive(mass.factor), archive(mass.measured), archive(mass.lift);
    Real lift = lifted ? lifted->lift : Real(0), factor = lifted ? lifted->factor : Real(0);
    archive(lift), archive(factor);
    if (lift > 0 && !lifted) lifted.emplace(), lifted->lift = lift, lifted->factor = factor;
    rescale_weights();
    if (!with_t) drop_preconditioner();
    deflation.visit(archive, exec);
  }

  /// Fills V with random columns that this solve has not used yet. Eigenvectors of the largest
  /// values have their weight where masses are smallest, in which random unit columns have almost
  /// no component if B is graded.
  void randomize(View const& V) {
    blockspan::fill_random(exec, V, seed_, next_random_, workspace.rows().first_row());
    next_random_ += static_cast<std::int64_t>(V.extent(1));
    constexpr Real graded = 1e6;
    if (sign < 0 && knows_mass_ && norm_b * mass.largest_weight * mass.largest_weight > graded)
      operators::scale_rows<Exec, Scalar>(exec, mass.roots.data(), block_ref<Exec>(V),
                                          block_ref<Exec>(V));
    leave_out_unused(V);
  }
  /// The next random columns will be those of `mark` again.
  std::int64_t random_mark() const { return next_random_; }
  void rewind_random(std::int64_t mark) { next_random_ = mark; }
  /// V := given columns.
  void take_given(View const& V, ConstBlock<Scalar, Exec> const& given) {
    Kokkos::deep_copy(exec, V, given);
    leave_out_unused(V);
  }

  /// B-orthonormal basis of span V in its leading columns; returns how many. BV = B V on entry and
  /// return (not read without B).
  int orthonormalize(View const& V, View const& BV) {
    auto const report = generalized() ? blockspan::orthonormalize(exec, V, BV, workspace)
                                      : blockspan::orthonormalize(exec, V, workspace);
    counters.factor_fallbacks += report.used_svqb ? 1 : 0;
    return report.rank;
  }

  /// A status if v^H B v is not finite, or negative beyond rounding, for a column v of V: B is then
  /// indefinite. null_columns gets those with v^H B v = 0, to rounding.
  std::optional<Status> trouble_of_mass(View const& V, View const& BV,
                                        std::vector<int>* null_columns = nullptr);

  /// V := V without what lies in the span of the deflated vectors, in the inner product of B.
  void constrain(View const& V) { deflation.project(exec, V, workspace); }

  /// Multiplies all columns by one factor.
  void scale(View const& X, Real factor) { scale_each(X, std::vector<Real>(X.extent(1), factor)); }
  void scale_each(View const& X, std::vector<Real> const& factors) {
    blockspan::scale_columns(exec, host_values(factors), X);
  }

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
    return fold("Blockspan::lobpcg::largest", LargestTerms<Scalar>{block_ref<Exec>(X)},
                X.extent(1));
  }

  Real sign;
  Real norm_a = 1, norm_b = 1;  ///< of the rescaled operators
  LobpcgCounters counters;
  LobpcgSeconds seconds;
  Deflation<Scalar, Exec> deflation;
  Eigensolver<Scalar> eigen;  ///< of small matrices

 private:
  using Entries = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;

  RoundingWeights const& rounding_weights(Operator const& op, int exponent,
                                          RoundingWeights& weights) {
    if (weights.asked) return weights;
    weights.asked = true;
    auto const n = static_cast<std::size_t>(rows());
    auto const numbers = [&] {
      return allocate<RowValues>(exec, "Blockspan::lobpcg::rounding", n);
    };
    RowValues const x = numbers();
    weights.energy = numbers(), weights.dual = numbers();
    // half of the scale goes to x, half to the image: all of it may be out of range
    Real const scale = std::ldexp(Real(1), -exponent / 2), left = std::ldexp(scale, -exponent % 2);
    auto const column_of = [&](RowValues const& y) {
      return BlockRef<Real>{y.data(), rows(), 1, 1, rows()};
    };
    auto const multiply_into = [&](RowValues const& y) {
      OperatorValues<Real const, Exec> const from(x.data(), n);
      OperatorValues<Real, Exec> const to(y.data(), n);
      bool const known = op.entries().apply_magnitudes(exec, from, to);
      if (known && left != Real(1))
        for_each_entry(exec, "Blockspan::lobpcg::rounding", column_of(y),
                       WeighRows<Real>{y.data(), nullptr, left, column_of(y)});
      return known;
    };
    Kokkos::deep_copy(exec, x, scale);
    if (!(weights.known = multiply_into(weights.energy))) return weights;
    auto const column = column_of(x);
    Real* const p = weights.energy.data();
    auto const largest = fold("Blockspan::lobpcg::rounding", LargestReciprocal<Real>{p}, 1);
    if (largest[0] > 0)
      for_each_entry(exec, "Blockspan::lobpcg::rounding", column,
                     FillZeros<Real>{p, 1 / largest[0]});
    for_each_entry(exec, "Blockspan::lobpcg::rounding", column,
                   WeighRows<Real>{p, mass_weights(), scale, column});
    multiply_into(weights.dual);
    return weights;
  }

  void find_unused_rows();
  /// V := V without the unused rows.
  void leave_out_unused(View const& V) {
    if (unused_ > 0)
      operators::scale_rows<Exec, Scalar>(exec, used_weights_.data(), block_ref<Exec>(V),
                                          block_ref<Exec>(V));
  }

  void apply(Operator const& op, View const& X, View const& Y, std::int64_t& calls,
             std::int64_t& columns) {
    if (X.extent(1) == 0) return;
    op.apply(exec, X, Y);
    ++calls;
    columns += static_cast<std::int64_t>(X.extent(1));
  }
  /// Y := 2^-exponent Op X. The scale goes to a copy of X, where neither it nor the product over-
  /// or underflows, as far as that has the range.
  void apply_scaled(Operator const& op, int exponent, View const& X, View const& Y,
                    std::int64_t& calls, std::int64_t& columns) {
    if (exponent == 0 || X.extent(1) == 0) return apply(op, X, Y, calls, columns);
    constexpr int most = std::numeric_limits<Real>::max_exponent * 7 / 8;
    int const before = std::clamp(-exponent, -most, most), after = -exponent - before;
    if (scaled_x_.extent(0) != X.extent(0) || scaled_x_.extent(1) < X.extent(1))
      scaled_x_ = allocate<View>(exec, "Blockspan::lobpcg::scaled", X.extent(0), X.extent(1));
    View const copy = column_range(scaled_x_, 0, static_cast<int>(X.extent(1)));
    Kokkos::deep_copy(exec, copy, X);
    scale(copy, std::ldexp(Real(1), before));
    apply(op, copy, Y, calls, columns);
    if (after != 0) scale(Y, std::ldexp(Real(1), after));
  }
  static int extreme_exponent(Real norm) {
    if (!(norm > 0) || !std::isfinite(norm)) return 0;
    int const exponent = std::ilogb(norm);
    return std::abs(exponent) > Thresholds<Real>::range ? exponent : 0;
  }

  Operator const* b_;
  Facts facts_of_b_;
  int exponent_a_ = 0, exponent_b_ = 0;  ///< powers of two that are taken out of A and B
  bool zero_a_ = false, knows_mass_ = false;
  std::int64_t unused_ = 0;  ///< rows, of all ranks
  std::vector<bool> used_;   ///< this rank's; empty: all
  RowValues used_weights_;   ///< one, and zero where not used
  View scaled_x_;
  RowValues rescaled_weights_;
  RoundingWeights rounding_a_, rounding_b_;
  Entries entries_;
  typename Entries::host_mirror_type packed_;
  std::uint64_t seed_;
  std::int64_t next_random_ = 0;
};

}  // namespace blockspan::eigen

#include <blockspan/solvers/lobpcg/subspace/problem_mass.hpp>
