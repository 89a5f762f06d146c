#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <vector>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/entries/product_and_dot.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::levels {

/// Properties of M^-1 A that some steps of conjugate gradients show, from a random vector in the
/// range of A. On several ranks, for the whole operator.
struct ProbeResult {
  double smallest = 0, largest = 0;  ///< Ritz values; zeros: no step was possible
  bool definite = true;              ///< no p^H A p was negative by more than rounding
  bool cycle_definite = true;        ///< no r^H M^-1 r was negative
  bool hermitian = true;             ///< x^H A y = conj(y^H A x)
};

/// p := z + next / before p; p := z in the first step.
template <class Scalar>
struct ProbeDirection {
  Scalar const* z;
  Scalar* p;
  Scalar const *next, *before;  ///< r^H z of this step and the previous one; null in the first

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (before == nullptr)
      p[i] = z[i];
    else
      p[i] = z[i] + (real_part(*before) > 0 ? real_part(*next) / real_part(*before) : 0) * p[i];
  }
};

/// r := r - next / curvature q.
template <class Scalar>
struct ProbeResidual {
  Scalar const* q;
  Scalar* r;
  Scalar const *next, *curvature;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (real_part(*curvature) > 0) r[i] -= real_part(*next) / real_part(*curvature) * q[i];
  }
};

/// Evaluates the scalars of conjugate gradients for M^-1 A.
class ProbeSteps {
 public:
  static constexpr int most = 8;
  static constexpr double good = 0.25;  ///< smallest Ritz value above which a hierarchy is good

  /// rounding: bound of the rounding errors of p^H A p / p^H p.
  explicit ProbeSteps(double rounding) : rounding_(rounding) {}

  /// Adds r^H M^-1 r, p^H A p and p^H p of a step; false: further steps give no information.
  bool take(double next, double curvature, double square, ProbeResult& result) {
    bool const is_first = diagonal_.empty();
    if (is_first) first_ = next;
    if (next < 0) result.cycle_definite = false;
    if (!(next > 1e-24 * first_)) return false;
    if (curvature < -rounding_ * square) result.definite = false;
    if (!(curvature > 0)) return false;
    double const beta = is_first ? 0 : next / rz_;
    if (!is_first) subdiagonal_.push_back(std::sqrt(beta) / alpha_);
    diagonal_.push_back(curvature / next + (is_first ? 0 : beta / alpha_));
    rz_ = next;
    alpha_ = next / curvature;
    return !is_settled(result);
  }

  void ritz_values(ProbeResult& result) const {
    std::size_t const m = diagonal_.size();
    if (m == 0) return;
    SmallMatrix<double> const T("Blockspan::multigrid_probe", m, m);
    for (std::size_t j = 0; j < m; ++j) {
      T(j, j) = diagonal_[j];
      if (j + 1 < m) T(j + 1, j) = T(j, j + 1) = subdiagonal_[j];
    }
    std::vector<double> values;
    if (lapack::hermitian_eigen(T, values) != 0) return;
    result.smallest = values.front();
    result.largest = values.back();
  }

 private:
  /// True if the error is at most the bound after eight steps with all eigenvalues in [good, 1]:
  /// the remaining steps would only resolve components that the random error hardly has.
  bool is_settled(ProbeResult& result) const {
    double const root = std::sqrt(1 / good), rate = (root - 1) / (root + 1);
    if (rz_ > std::pow(rate, 2 * most) * first_) return false;
    ritz_values(result);
    return result.smallest > good;
  }

  double rounding_, alpha_ = 1, rz_ = 0, first_ = 0;
  std::vector<double> diagonal_, subdiagonal_;
};

/// The scalars of the steps stay in memory of Exec. A host reads them after each step, for a device
/// not before a good hierarchy can be settled: there a fence costs a tenth of a step.
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
        x_(column(0)),
        r_(column(1)),
        z_(column(2)),
        p_(column(3)),
        q_(column(4)),
        workspace_(A.row_space()) {}

  bool hermitian() {
    fill(x_, 0);
    fill(p_, 1);
    product_and_dot(exec_, A_, x_, r_, dot(0), workspace_);
    product_and_dot(exec_, A_, p_, q_, dot(0), workspace_);
    blockspan::column_dots(exec_, x_, q_, dot(0), workspace_);
    blockspan::column_dots(exec_, p_, r_, dot(1), workspace_);
    // the square of A p may leave the range of numbers
    double const unit = sparse::factor_below_one<double>(A_.facts().norm_bound.value_or(1));
    auto const q = q_;
    each(
        exec_, "Blockspan::multigrid_probe", A_.rows(),
        KOKKOS_LAMBDA(std::int64_t i) { q(i, 0) *= unit; });
    blockspan::column_dots(exec_, q_, q_, dot(2), workspace_);
    blockspan::column_dots(exec_, x_, x_, dot(3), workspace_);
    auto const dots = dots_on_host();
    auto const difference = Kokkos::abs(dots(0) - conjugate(dots(1)));
    // the squared norms of x and p are about n / 3
    double const size = std::sqrt(real_part(dots(2)) * real_part(dots(3))) / unit;
    return !(difference > 1e5 * unit_roundoff<Scalar> * size);
  }

  ProbeResult run() {
    ProbeResult result;
    result.hermitian = hermitian();
    if (!result.hermitian) return result;
    fill(x_, 2);
    A_.apply(exec_, x_, r_);
    ProbeSteps steps(10 * unit_roundoff<Scalar> * A_.facts().norm_bound.value_or(0));
    auto const take = [&](auto const& dots, int step) {
      return steps.take(real_part(dots(3 * step)), real_part(dots(3 * step + 1)),
                        real_part(dots(3 * step + 2)), result);
    };
    bool more = true;
    for (int queued = 0, taken = 0; more && taken < ProbeSteps::most;) {
      while (queued < std::max(first_steps, taken + 1)) queue(queued++);
      auto const dots = dots_on_host();
      while (more && taken < queued) more = take(dots, taken++);
    }
    steps.ritz_values(result);
    return result;
  }

 private:
  using Vector = Array<Scalar, Exec>;

  /// The same vectors for any number of ranks: if they were the same on each, entries between rows
  /// of equal numbers on two ranks would not be seen.
  void fill(Block<Scalar, Exec> const& x, int column) {
    blockspan::fill_random(exec_, x, seed_, column, A_.row_space().first_row());
  }

  static constexpr int first_steps = runs_on_host_v<Exec> ? 1 : 4;  ///< before the first read
  static constexpr int most_dots = 3 * ProbeSteps::most;

  /// Enqueues a step of conjugate gradients with its dots.
  void queue(int step) {
    auto const next = dot(3 * step), curvature = dot(3 * step + 1);
    M_.apply(exec_, r_, z_);
    blockspan::column_dots(exec_, r_, z_, next, workspace_);
    each(exec_, "Blockspan::multigrid_probe", A_.rows(),
         ProbeDirection<Scalar>{z_.data(), p_.data(), next.data(),
                                step > 0 ? next.data() - 3 : nullptr});
    product_and_dot(exec_, A_, p_, q_, curvature, workspace_);
    blockspan::column_dots(exec_, p_, p_, dot(3 * step + 2), workspace_);
    each(exec_, "Blockspan::multigrid_probe", A_.rows(),
         ProbeResidual<Scalar>{q_.data(), r_.data(), next.data(), curvature.data()});
  }

  /// Columns begin at multiples of 16 elements, aligned for vectors of 16 bytes.
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

  Exec exec_;
  Operator const &A_, &M_;
  std::uint64_t seed_;
  Vector columns_;  ///< five columns, then the dots
  Block<Scalar, Exec> x_, r_, z_, p_, q_;
  Workspace<Exec> workspace_;
};

/// A probe of A, for which all of its ranks have the memory: else an Error on all of them.
template <class Scalar, class Exec>
auto make_probe(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                LinearOperator<Scalar, Exec> const& M, std::uint64_t seed) {
  Communicator const ranks = A.row_space().communicator();
  return ranks.run_agreed(
      [&] { return std::make_unique<OperatorProbe<Scalar, Exec>>(exec, A, M, seed); });
}

/// Options that may help where smooth errors remain. options: as given by the user; block_size: of
/// a node, given or found.
template <class Scalar, class Exec>
std::string near_null_hint(MultigridOptions<Scalar, Exec> const& options, int block_size) {
  if (!options.prolongators.empty()) return "the prolongators given miss them";
  if (options.near_null.extent(1) > 0) return "the near-null vectors given miss them";
  if (options.coordinates.extent(1) > 0)
    return "the rigid bodies of the coordinates miss them: give near_null";
  std::string const ways =
      options.adaptive > 0 ? "coordinates or near_null" : "coordinates, near_null or adaptive";
  bool const may_be_nodes = options.block_size == 0 && block_size == 1;
  return "near-null vectors missing? give " + (may_be_nodes ? "block_size, " + ways : ways);
}

/// Expected products with A per digit of conjugate gradients, from the Ritz values of the probe.
inline double expected_work(MultigridReport const& report) {
  if (!(report.smallest > 0)) return std::numeric_limits<double>::infinity();
  return std::sqrt(report.largest / report.smallest) * (1 + report.products);
}

/// The verdict of the probe, written to `report`. hint: see near_null_hint.
inline void judge(ProbeResult const& probe, std::string const& hint, MultigridReport& report) {
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
  } else if (!probe.cycle_definite) {
    report.status = MultigridStatus::indefinite;
    message << "the cycle is not positive definite: the matrix is indefinite, or too "
               "ill-conditioned for multigrid";
  } else if (report.status == MultigridStatus::no_coarsening || !(probe.smallest > 0)) {
    return;
  } else if (probe.smallest < 0.15) {
    report.status = MultigridStatus::weak;
    message << "smooth errors are left (Ritz value " << probe.smallest
            << " after 8 steps): " << hint;
  } else {
    report.status =
        probe.smallest > ProbeSteps::good ? MultigridStatus::good : MultigridStatus::fair;
  }
  report.message = message.str();
  if (probe.smallest > 0)
    report.predicted_iterations = static_cast<int>(
        std::ceil(0.5 * std::sqrt(probe.largest / probe.smallest) * std::log(2e8)));
}

}  // namespace blockspan::levels
