#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/detail/certify.hpp>
#include <blockspan/solvers/detail/checkpoint.hpp>
#include <blockspan/solvers/detail/constraints.hpp>
#include <blockspan/solvers/detail/report.hpp>
#include <blockspan/solvers/detail/small_dense.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// Where the block does not fit five times into the rows there is no basis [X W P] worth the name:
/// A and B are applied to the identity and the problem is solved by Cholesky of B and a Hermitian
/// eigensolver, LAPACK's or the device's. O(n^3) time and n^2 memory with n < 5 m.
template <class Scalar, class Exec>
class DensePath {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Matrix = SmallMatrix<Scalar>;

  DensePath(Problem<Scalar, Exec>& problem, LobpcgOptions<Scalar, Exec> const& options)
      : problem_(problem), options_(options), n_(static_cast<int>(problem.rows())) {}

  LobpcgReport<Real> solve(View const& X) {
    auto const begin = std::chrono::steady_clock::now();
    LobpcgReport<Real> report;
    report.path = "dense";
    if (auto const trouble = eigenpairs()) {
      report.status = *trouble;
      report_nothing(problem_, options_, report);
    } else {
      deliver(X, report);
    }
    problem_.seconds.total = seconds_since(begin);
    report.counters = problem_.counters;
    report.seconds = problem_.seconds;
    return report;
  }

 private:
  /// The operator's image of the identity on the host; a NaN is asked for once more.
  template <class Apply>
  bool image_of_identity(Apply const& apply, Matrix const& M) {
    auto const zeros = [&] {
      return allocate_zeros<View>(problem_.exec, "Blockspan::lobpcg::dense", n_, n_);
    };
    View const identity = zeros(), image = zeros();
    auto const host = allocate_mirror(identity);
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < n_; ++i) host(i, j) = Scalar(i == j ? 1 : 0);
    Kokkos::deep_copy(problem_.exec, identity, host);
    for (int attempt = 0; attempt < 2; ++attempt) {
      apply(identity, image);
      auto const result = allocate_mirror(image);
      Kokkos::deep_copy(problem_.exec, result, image);
      problem_.exec.fence("Blockspan::lobpcg: dense image");
      bool finite = true;
      for (int j = 0; j < n_; ++j)
        for (int i = 0; i < n_; ++i) {
          M(i, j) = result(i, j);
          finite = finite && std::isfinite(std::abs(real_part(M(i, j)))) &&
                   std::isfinite(std::abs(imaginary_part(M(i, j))));
        }
      if (finite) return true;
    }
    return false;
  }

  static Real imaginary_part(Scalar const& value) {
    if constexpr (is_complex_v<Scalar>)
      return value.imag();
    else
      return value - value;
  }

  Real infinity_norm(Matrix const& M) const {
    Real largest = 0;
    for (int i = 0; i < n_; ++i) {
      Real sum = 0;
      for (int j = 0; j < n_; ++j) sum += Kokkos::abs(M(i, j));
      largest = std::max(largest, sum);
    }
    return largest;
  }

  /// M := scale M, then symmetrized; false if it was not Hermitian.
  bool rescale(Matrix const& M, Real scale, Real norm, Real sign) {
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < n_; ++i) M(i, j) *= scale;
    bool const hermitian = !(skew_norm(M) > Thresholds<Real>::skew * norm);
    symmetrize(M, sign);
    return hermitian || !options_.check_hermitian;
  }

  std::optional<Status> eigenpairs() {
    Matrix const A = small_matrix<Scalar>(n_, n_);
    Matrix const L = small_matrix<Scalar>(n_, n_);
    auto const a = [&](View const& V, View const& W) { problem_.apply_a(V, W); };
    auto const b = [&](View const& V, View const& W) { problem_.apply_b(V, W); };
    bool const generalized = problem_.generalized();
    if (!image_of_identity(a, A)) return Status::operator_not_finite;
    if (generalized && !image_of_identity(b, L)) return Status::operator_not_finite;
    Real const norm_a = problem_.a().norm_bound().value_or(infinity_norm(A));
    Real const norm_b =
        generalized ? problem_.b()->norm_bound().value_or(infinity_norm(L)) : Real(1);
    if (!std::isfinite(norm_a) || !std::isfinite(norm_b)) return Status::operator_not_finite;
    problem_.set_norms(norm_a, norm_b);
    if (!rescale(A, problem_.scale_a(), problem_.norm_a, problem_.sign))
      return Status::operator_not_hermitian;
    if (generalized && !rescale(L, problem_.scale_b(), problem_.norm_b, Real(1)))
      return Status::operator_not_hermitian;
    int const constraints = static_cast<int>(options_.constraints.extent(1));
    problem_.deflation = Deflation<Scalar, Exec>(problem_.exec, n_, constraints, generalized);
    if (auto const trouble = take_constraints(problem_, options_.constraints)) return trouble;
    auto const timer = problem_.time(problem_.seconds.dense);
    if (problem_.deflation.empty()) return generalized ? solve_pencil(A, L) : solve_standard(A);

    Matrix const Z = complement();
    auto const trouble = generalized ? solve_pencil(restricted(A, Z), restricted(L, Z))
                                     : solve_standard(restricted(A, Z));
    if (trouble) return trouble;
    Matrix const lifted = small_matrix<Scalar>(n_, static_cast<int>(Z.extent(1)));
    product(Z, vectors_, lifted);
    vectors_ = lifted;
    return std::nullopt;
  }

  /// An orthonormal basis of all z with (B Y)^H z = 0, Y the constraints: the null vectors of Q
  /// Q^H, Q an orthonormal basis of B Y.
  Matrix complement() const {
    int const c = problem_.deflation.count();
    auto const by = problem_.deflation.by(0, c);
    auto const whole = contiguous(problem_.exec, by);
    Kokkos::deep_copy(problem_.exec, whole, by);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), whole);
    Matrix const Q = small_matrix<Scalar>(n_, c), projector = small_matrix<Scalar>(n_, n_);
    for (int j = 0; j < c; ++j)
      for (int i = 0; i < n_; ++i) Q(i, j) = host(i, j);
    std::vector<Real> ignored;
    lapack::qr_pivoted(Q, ignored);
    lapack::multiply(lapack::Transform::none, lapack::Transform::adjoint, Scalar(1), Q, Q,
                     Scalar(0), projector);
    problem_.eigen(projector, ignored);
    return part(projector, 0, n_, 0, n_ - c);
  }

  /// Z^H M Z, symmetrized.
  Matrix restricted(Matrix const& M, Matrix const& Z) const {
    int const order = static_cast<int>(Z.extent(1));
    Matrix const MZ = small_matrix<Scalar>(n_, order), R = small_matrix<Scalar>(order, order);
    product(M, Z, MZ);
    product(Z, MZ, R, lapack::Transform::adjoint);
    symmetrize(R, Real(1));
    return R;
  }

  std::optional<Status> solve_standard(Matrix const& A) {
    vectors_ = A;
    if (problem_.eigen(vectors_, theta_) != 0) return Status::basis_collapsed;
    return std::nullopt;
  }

  std::optional<Status> solve_pencil(Matrix const& A, Matrix const& L) {
    using lapack::Transform;
    if (lapack::cholesky(L) != 0 || lapack::invert_lower_triangle(L) != 0)
      return Status::mass_not_positive_definite;
    int const order = static_cast<int>(A.extent(0));
    Matrix const left = small_matrix<Scalar>(order, order);
    product(L, A, left);
    lapack::multiply(Transform::none, Transform::adjoint, Scalar(1), left, L, Scalar(0), A);
    symmetrize(A, Real(1));
    if (problem_.eigen(A, theta_) != 0) return Status::basis_collapsed;
    product(L, A, left, Transform::adjoint);
    vectors_ = left;
    return std::nullopt;
  }

  /// The wanted vectors to X, with residuals from A and B themselves.
  void deliver(View const& X, LobpcgReport<Real>& report) {
    int const k = options_.wanted;
    Basis<Scalar, Exec> const basis(problem_.exec, n_, k, problem_.generalized());
    auto const staging = allocate<View>(problem_.exec, "Blockspan::lobpcg::dense", n_, k);
    auto const host = allocate_mirror(staging);
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < k; ++j) host(i, j) = vectors_(i, j);
    Kokkos::deep_copy(problem_.exec, staging, host);
    Kokkos::deep_copy(problem_.exec, basis.x(), staging);
    problem_.apply_a(basis.x(), basis.ax());
    if (problem_.generalized()) problem_.apply_b(basis.x(), basis.bx());
    auto const norms = residuals(problem_, basis.x_and_images(), theta_, basis.a_spare(k));
    report_pairs(problem_, theta_, norms, options_, report);
    if (options_.certify) {
      std::vector<Real> const wanted(theta_.begin(), theta_.begin() + k);
      report.certificate = certify(problem_, basis.x(), basis.bx(), wanted, norms, options_);
    }
    report.status = Status::converged;
    for (Status& pair : report.pair_status)
      if (pair != Status::converged) report.status = pair = Status::attainable_limit;
    if (problem_.vector_scale() != Real(1)) problem_.scale(basis.x(), problem_.vector_scale());
    Kokkos::deep_copy(problem_.exec, Basis<Scalar, Exec>::columns(X, 0, k), basis.x());
    problem_.exec.fence("Blockspan::lobpcg: dense path done");
  }

  Problem<Scalar, Exec>& problem_;
  LobpcgOptions<Scalar, Exec> const& options_;
  int n_;
  Matrix vectors_;
  std::vector<Real> theta_;
};

}  // namespace blockspan::detail
