#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/solvers/cg/thresholds.hpp>
#include <blockspan/solvers/common/problem.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::krylov {

/// What a product has summed in the same pass (LinearOperator::apply_dots), as one node of the rows
/// of this rank: x.y, then 1 in place of x.x, so that a sum over ranks counts them, then y.(w y).
template <class Scalar, class Exec>
struct ProductDots {
  using Real = real_t<Scalar>;
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  static constexpr std::int64_t count = 1;

  ProductDots(Exec const& exec, int columns)
      : x_dot_y(allocate<decltype(x_dot_y)>(exec, "Blockspan::cg::dots", columns)),
        y_dot_y(allocate<decltype(y_dot_y)>(exec, "Blockspan::cg::dots", columns)) {}

  Kokkos::View<Scalar*, Device> x_dot_y;
  Kokkos::View<Real*, Device> y_dot_y;

  KOKKOS_FUNCTION Real operator()(int q, std::int64_t j, std::int64_t) const {
    return q == 0 ? real_part(x_dot_y(j)) : q == 1 ? Real(1) : y_dot_y(j);
  }
};

/// Adds what a solve within a solve has cost. inner: in another precision, its products apart.
inline void add_counters(CgCounters& all, CgCounters const& some, bool inner) {
  (inner ? all.inner_operator_applications : all.operator_applications) +=
      some.operator_applications;
  (inner ? all.inner_operator_columns : all.operator_columns) += some.operator_columns;
  (inner ? all.inner_preconditioner_applications : all.preconditioner_applications) +=
      some.preconditioner_applications;
  (inner ? all.inner_preconditioner_columns : all.preconditioner_columns) +=
      some.preconditioner_columns;
  all.synchronizations += some.synchronizations;
  all.compactions += some.compactions;
  all.replayed += some.replayed;
  all.reorthogonalizations += some.reorthogonalizations;
}

/// d_i |x_i|^2
template <class Scalar>
struct DiagonalEnergy {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> X;
  Real const* diagonal;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = diagonal[i] * squared_magnitude(X(i, j));
  }
};

/// Sums of squares of the scaled columns of X.
template <class Scalar>
struct ScaledSquares {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> X;
  Real const* factors;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = squared_magnitude(Scalar(X(i, j) * factors[j]));
  }
};

/// The exponent of a power of two near a positive value whose inverse is finite too.
template <class Real>
int exponent_near(Real value) {
  constexpr int range = std::numeric_limits<Real>::max_exponent - 3;
  return std::clamp(std::ilogb(value), -range, range);
}

/// The operators as the solver sees them: calls counted and timed, Jacobi as weights of the rows.
template <class Scalar, class Exec>
class CgProblem : public SolverProblem<Scalar, Exec> {
  using Base = SolverProblem<Scalar, Exec>;
  using Base::a_, Base::facts_of_a_, Base::facts_of_t_, Base::t_, Base::weights_;

 public:
  using Base::exec, Base::workspace, Base::rows, Base::time, Base::new_block;
  using typename Base::Operator;
  using typename Base::Real;
  using typename Base::View;

  CgProblem(Exec const& exec_, Operator const& A, CgOptions<Scalar, Exec> const& options)
      : Base(exec_, A, options.preconditioner, options.time_phases) {}

  /// M^-1 is more than row weights.
  bool general() const { return t_ != nullptr && weights_ == nullptr; }

  void apply_a(View const& X, View const& Y) {
    enqueue_a(X, Y);
    count_a(X);
  }
  void apply_m(View const& X, View const& Y) {
    enqueue_m(X, Y);
    count_m(X);
  }

  /// The same in two parts, for what is enqueued once and counted whenever it is replayed.
  void enqueue_a(View const& X, View const& Y) {
    auto const timer = time(seconds.product);
    (X.extent(1) == 1 ? single_.next(exec, a_) : a_).apply(exec, X, Y);
  }
  /// Whether the product also sums x.y and y.(w y): see LinearOperator::apply_dots.
  bool enqueue_a_dots(View const& X, View const& Y, ProductDots<Scalar, Exec> const& dots,
                      bool squares) {
    if (!workspace.rows().one_partial_per_rank()) return false;
    auto const timer = time(seconds.product);
    OperatorValues<Real const, Exec> const weights(
        weights_, weights_ ? static_cast<std::size_t>(rows()) : std::size_t{0});
    return a_.apply_dots(
        exec, X, Y, weights, OperatorValues<Scalar, Exec>(dots.x_dot_y.data(), X.extent(1)),
        OperatorValues<Real, Exec>(dots.y_dot_y.data(), squares ? X.extent(1) : 0));
  }
  void enqueue_m(View const& X, View const& Y) {
    auto const timer = time(seconds.preconditioner);
    t_->apply(exec, X, Y);
    if (exponent_m_ == 0) return;
    std::vector<Real> const factors(Y.extent(1), std::ldexp(Real(1), -exponent_m_));
    blockspan::scale_columns(exec, host_values(factors), Y);
  }
  void count_a(View const& X) {
    ++counters.operator_applications;
    counters.operator_columns += static_cast<std::int64_t>(X.extent(1));
  }
  void count_m(View const& X) {
    if (!general()) return;  // Jacobi: a pass of this solver's own
    ++counters.preconditioner_applications;
    counters.preconditioner_columns += static_cast<std::int64_t>(X.extent(1));
  }
  /// Whether steps may be recorded and replayed.
  bool replayable() const {
    bool const in_stream = !Base::distributed() || workspace.rows().device_sums() != nullptr;
    return !Base::time_phases_ && in_stream && facts_of_a_.replayable &&
           (!general() || (facts_of_t_.replayable && exponent_m_ == 0));
  }

  /// Takes a power of two out of M^-1, which changes no iterate, where r^H M^-1 r is an extreme
  /// `gamma` for an r of length about one: products of what M^-1 makes of residuals would over- or
  /// underflow. In the first call of a solve only. True: it did.
  bool rescale_preconditioner(Real gamma);

  /// Whether A is Hermitian as far as two random vectors show: one product, in the first call.
  bool hermitian() {
    if (!hermitian_) hermitian_ = looks_hermitian();
    return *hermitian_;
  }

  /// The host waits for values.
  void synchronize(char const* why) {
    exec.fence(why);
    ++counters.synchronizations;
  }

  template <class Terms>
  std::vector<Real> fold(char const* label, Terms const& terms, std::int64_t columns) {
    ++counters.synchronizations;
    return Base::fold(label, terms, columns);
  }

  /// ||x|| of every column, also where squares over- or underflow, which takes two passes more.
  std::vector<Real> norms(View const& X) {
    auto result = Base::norms(X);
    Real const most = std::ldexp(Real(1), std::numeric_limits<Real>::max_exponent / 4);
    auto const fits = [&](Real norm) { return norm >= 1 / most && norm <= most; };
    if (std::all_of(result.begin(), result.end(), fits)) return result;
    auto const x = block_ref<Exec>(X);
    auto const largest = fold("Blockspan::cg::largest", LargestTerms<Scalar>{x}, x.columns);
    std::vector<Real> factors;
    for (Real const entry : largest)
      factors.push_back(
          entry > 0 && std::isfinite(entry) ? std::ldexp(Real(1), -exponent_near(entry)) : Real(1));
    auto const squares =
        fold("Blockspan::cg::sizes", ScaledSquares<Scalar>{x, this->on_device(factors)}, x.columns);
    for (std::size_t j = 0; j < result.size(); ++j) result[j] = std::sqrt(squares[j]) / factors[j];
    return result;
  }

  /// ||A||: the operator's bound, or the largest ||A p|| / ||p|| seen.
  Real norm_a() const { return facts_of_a_.norm_bound.value_or(seen_norm_); }
  void note_norm(Real ratio) {
    if (ratio > seen_norm_) seen_norm_ = ratio;
  }
  bool knows_norm() const { return facts_of_a_.norm_bound.has_value(); }

  /// Rounding errors of b - A x in parts of ||A|| ||x|| + ||b||: those of rows of up to 64 terms,
  /// with high probability (Higham and Mary 2019, doi:10.1137/18M1226312). Longer rows and
  /// operators that know nothing of theirs hide smaller terms behind that norm.
  Real rounding() const {
    auto const terms = static_cast<Real>(std::min<std::int64_t>(*facts_of_a_.terms_per_row, 64));
    return 2 * std::sqrt(terms + 4) * unit_roundoff<Scalar>;
  }
  /// R -= A X in twice the precision, no call of apply(). False: A does not know its entries.
  bool subtract_accurately(View const& X, View const& R) {
    auto const timer = time(seconds.product);
    return a_.entries().subtract_accurately(exec, X, R);
  }

  /// ||D^-1/2 x|| of every column with the diagonal D of A, where A knows it: images of A in the
  /// scale of its rows, so that the small ones of a graded A count. scratch: a block for D^-1/2 X.
  std::vector<Real> norms_by_rows(View const& X, View const& scratch) {
    know_diagonal();
    if (row_scales_.extent(0) == 0) return norms(X);
    operators::scale_rows<Exec, Scalar>(exec, row_scales_.data(), block_ref<Exec>(X),
                                        block_ref<Exec>(scratch));
    return norms(scratch);
  }

  /// x^H |D| x: of a semidefinite A the size of the terms of x^H A x, but for the length of rows.
  /// Zero where A does not know its diagonal.
  Real diagonal_energy(View const& x) {
    know_diagonal();
    if (diagonal_.extent(0) == 0) return 0;
    return this->fold("Blockspan::cg::diagonal_energy",
                      DiagonalEnergy<Scalar>{block_ref<Exec>(x), diagonal_.data()}, 1)[0];
  }

  CgCounters counters;
  CgSeconds seconds;

 private:
  using RowValues = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;

  void rescale_weights();

  void know_diagonal() {
    if (std::exchange(looked_at_diagonal_, true)) return;
    auto sizes = a_.entries().diagonal(exec), scales = sizes;
    for (Real& size : sizes) size = std::abs(size);
    for (Real& scale : scales) scale = scale != 0 ? 1 / std::sqrt(std::abs(scale)) : Real(1);
    diagonal_ = to_device<RowValues>(exec, "Blockspan::cg::diagonal", sizes);
    row_scales_ = to_device<RowValues>(exec, "Blockspan::cg::row_scales", scales);
  }

  /// |u^H A v - conj(v^H A u)| against what entries would give that differ from their mirrors by
  /// CgThresholds::skew.
  bool looks_hermitian() {
    View const U = new_block("Blockspan::cg::probe", 2),
               image = new_block("Blockspan::cg::probe", 2);
    blockspan::fill_random(exec, U, 1, 0, workspace.rows().first_row());
    apply_a(U, image);
    // in any units of A
    auto const largest =
        fold("Blockspan::cg::largest", LargestTerms<Scalar>{block_ref<Exec>(image)}, 2);
    Real const size = std::max(largest[0], largest[1]);
    if (!(size > 0) || !std::isfinite(size)) return true;  // shows nothing
    std::vector<Real> const factors(2, std::ldexp(Real(1), -exponent_near(size)));
    blockspan::scale_columns(exec, host_values(factors), image);
    Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace> const K("K", 2, 2), G("G", 2, 2);
    blockspan::gram(exec, U, image, K, workspace);
    blockspan::gram(exec, image, image, G, workspace);
    counters.synchronizations += 2;
    Scalar const skew = K(0, 1) - conjugate(K(1, 0));
    Real const length = std::sqrt(std::max(real_part(G(0, 0)), real_part(G(1, 1))));
    return !(Kokkos::abs(skew) > CgThresholds<Real>::skew * length);
  }

  operators::ManyProducts<Scalar, Exec> single_;
  std::optional<bool> hermitian_;
  bool looked_at_diagonal_ = false;
  RowValues diagonal_, row_scales_, rescaled_weights_;
  Real seen_norm_ = 0;
  int exponent_m_ = 0;  ///< a power of two that is taken out of M^-1
  bool saw_preconditioner_ = false;
};

template <class Scalar, class Exec>
bool CgProblem<Scalar, Exec>::rescale_preconditioner(Real gamma) {
  using Limits = std::numeric_limits<Real>;
  if (std::exchange(saw_preconditioner_, true) || !Base::preconditioned()) return false;
  if (!(gamma > 0) || !std::isfinite(gamma)) return false;
  int const exponent = exponent_near(gamma);
  if (std::abs(exponent) <= Limits::max_exponent / 4) return false;
  exponent_m_ = exponent;
  if (weights_ != nullptr) rescale_weights();
  return true;
}

/// Weights beyond the range become its ends: those rows are nothing beside the others.
template <class Scalar, class Exec>
void CgProblem<Scalar, Exec>::rescale_weights() {
  using Limits = std::numeric_limits<Real>;
  auto const host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), facts_of_t_.row_weights);
  std::vector<Real> scaled;
  for (std::size_t i = 0; i < host.extent(0); ++i) {
    Real const value = std::ldexp(host(i), -exponent_m_);
    scaled.push_back(host(i) > 0 ? std::clamp(value, Limits::min(), Limits::max()) : value);
  }
  rescaled_weights_ = to_device<RowValues>(exec, "Blockspan::cg::jacobi", scaled);
  weights_ = rescaled_weights_.data();
}

/// The four blocks of n x k that both methods work in, as memory without a fixed width: the rows of
/// a narrower block are contiguous. `spare` is free between iterations; columns are gathered into
/// it.
template <class Scalar, class Exec>
class CgBlocks {
 public:
  using View = Block<Scalar, Exec>;

  CgBlocks(Exec const& exec, std::int64_t rows, int columns) : rows_(rows) {
    for (auto& memory : memory_)
      memory = allocate<Memory>(exec, "Blockspan::cg::block", rows * columns);
  }

  View correction(int columns) const { return view(0, columns); }  ///< E
  View direction(int columns) const { return view(1, columns); }   ///< P, S
  View spare(int columns) const { return view(2, columns); }       ///< Q, Z
  View residual(int columns) const { return view(3, columns); }    ///< R, T

  void swap_correction() { std::swap(memory_[0], memory_[2]); }
  void swap_direction() { std::swap(memory_[1], memory_[2]); }
  void swap_residual() { std::swap(memory_[3], memory_[2]); }

 private:
  using Memory = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;

  View view(int which, int columns) const { return View(memory_[which].data(), rows_, columns); }

  std::int64_t rows_;
  Memory memory_[4];
};

}  // namespace blockspan::krylov
