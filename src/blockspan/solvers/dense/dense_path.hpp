#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/dense/dense_pencil.hpp>
#include <blockspan/solvers/dense/dense_scaling.hpp>
#include <blockspan/solvers/lobpcg/accuracy/checks.hpp>
#include <blockspan/solvers/lobpcg/checkpoint.hpp>
#include <blockspan/solvers/lobpcg/report.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/interruption.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::eigen {

/// The pencil as dense matrices (A and B applied to the identity) for DensePencil: where the block
/// does not fit five times into the rows, so that there is no basis [X W P] worth the name, and
/// where iterating would cost more. O(n^3) time, 6 n^2 scalars on the host. Every rank has all rows
/// and solves; what rank 0 finds counts.
template <class Scalar, class Exec>
class DensePath {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Matrix = SmallMatrix<Scalar>;

  DensePath(Problem<Scalar, Exec>& problem, LobpcgOptions<Scalar, Exec> const& options)
      : problem_(problem),
        options_(options),
        n_(static_cast<int>(problem.global_rows())),
        local_(static_cast<int>(problem.rows())),
        first_(static_cast<int>(problem.workspace.rows().first_row())) {}

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
  /// The operator's image of the identity on the host, some columns at a time; once more where
  /// there is a NaN among them.
  template <class Apply>
  bool image_of_identity(Apply const& apply, Matrix const& M) {
    int const width = std::min(n_, 64);
    auto const block = [&] {
      return allocate_zeros<View>(problem_.exec, "Blockspan::lobpcg::dense", local_, width);
    };
    View const identity = block(), image = block();
    auto const host = allocate_mirror(identity), result = allocate_mirror(image);
    for (int first = 0; first < n_; first += width) {
      if (first > 0) InterruptionCheck::step();
      for (int i = 0; i < local_; ++i)
        for (int j = 0; j < width; ++j) host(i, j) = Scalar(first_ + i == first + j ? 1 : 0);
      Kokkos::deep_copy(problem_.exec, identity, host);
      bool finite = false;
      for (int attempt = 0; attempt < 2 && !finite; ++attempt) {
        apply(identity, image);
        Kokkos::deep_copy(problem_.exec, result, image);
        problem_.exec.fence("Blockspan::lobpcg: dense image");
        auto const whole = all_rows(problem_.workspace.rows(), result);
        finite = true;
        for (int j = 0; j < std::min(width, n_ - first); ++j)
          for (int i = 0; i < n_; ++i) {
            M(i, first + j) = whole(i, j);
            finite = finite && is_finite(whole(i, j));
          }
      }
      if (!finite) return false;
    }
    return true;
  }

  /// M := sign M, symmetrized; false if it was not Hermitian.
  bool take_hermitian(Matrix const& M, Real norm, Real sign) {
    bool const hermitian = !(skew_norm(M) > Thresholds<Real>::skew * norm);
    symmetrize(M, sign);
    return hermitian || !options_.check_hermitian;
  }

  /// The matrices as the operators give them, in the scale of known norms or, where these are not
  /// known, of their own.
  std::optional<Status> read_operators(Matrix const& A, Matrix const& B) {
    auto const a = [&](View const& V, View const& W) { problem_.apply_a(V, W); };
    auto const b = [&](View const& V, View const& W) { problem_.apply_b(V, W); };
    bool const generalized = problem_.generalized();
    auto const [bound_a, bound_b] = problem_.norm_bounds();
    bool known = problem_.take_known_norms();
    for (int pass = 0; pass < 2; ++pass) {
      if (!image_of_identity(a, A)) return Status::operator_not_finite;
      if (generalized && !image_of_identity(b, B)) return Status::operator_not_finite;
      if (known) return std::nullopt;
      Real const norm_a = bound_a.value_or(infinity_norm(A));
      Real const norm_b = generalized ? bound_b.value_or(infinity_norm(B)) : Real(1);
      if (!std::isfinite(norm_a) || !std::isfinite(norm_b)) return Status::operator_not_finite;
      problem_.set_norms(norm_a, norm_b);
      known = true;
      if (problem_.unscaled()) return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Status> eigenpairs() {
    bool const generalized = problem_.generalized();
    Matrix A = small_matrix<Scalar>(n_, n_);
    Matrix B = generalized ? small_matrix<Scalar>(n_, n_) : Matrix();
    if (auto const trouble = read_operators(A, B)) return trouble;
    if (!take_hermitian(A, problem_.norm_a, problem_.sign)) return Status::operator_not_hermitian;
    if (generalized && !take_hermitian(B, problem_.norm_b, Real(1)))
      return Status::operator_not_hermitian;
    int const constraints = static_cast<int>(options_.constraints.extent(1));
    problem_.deflation = Deflation<Scalar, Exec>(problem_.exec, local_, constraints, generalized);
    if (auto const trouble = take_constraints(problem_, options_.constraints)) return trouble;
    auto const timer = problem_.time(problem_.seconds.dense);
    if (problem_.unused_rows() > 0) leave_out_unused(A, B);
    if (auto const trouble = solve_constrained(A, B)) return trouble;
    if (problem_.unused_rows() > 0) put_back_unused();
    return std::nullopt;
  }

  std::optional<Status> solve_constrained(Matrix const& A, Matrix const& B) {
    if (problem_.deflation.empty()) return solve_pencil(A, B);
    Matrix const Z = complement();
    if (auto const trouble = solve_pencil(restricted(A, Z), B.extent(0) > 0 ? restricted(B, Z) : B))
      return trouble;
    Matrix const lifted = small_matrix<Scalar>(order_of(A), static_cast<int>(vectors_.extent(1)));
    product(Z, vectors_, lifted);
    vectors_ = lifted;
    return std::nullopt;
  }
  static int order_of(Matrix const& A) { return static_cast<int>(A.extent(0)); }

  /// A and B without the rows and columns that are zero in both.
  void leave_out_unused(Matrix& A, Matrix& B) {
    for (int i = 0; i < n_; ++i) {
      bool zero = true;
      for (int j = 0; j < n_ && zero; ++j) zero = A(i, j) == Scalar(0) && B(i, j) == Scalar(0);
      if (!zero) used_.push_back(i);
    }
    int const order = static_cast<int>(used_.size());
    for (Matrix* M : {&A, &B}) {
      Matrix const part = small_matrix<Scalar>(order, order);
      for (int j = 0; j < order; ++j)
        for (int i = 0; i < order; ++i) part(i, j) = (*M)(used_[i], used_[j]);
      *M = part;
    }
  }
  void put_back_unused() {
    int const columns = static_cast<int>(vectors_.extent(1));
    Matrix const all = small_matrix<Scalar>(n_, columns);
    Kokkos::deep_copy(all, Scalar(0));
    for (int j = 0; j < columns; ++j)
      for (std::size_t i = 0; i < used_.size(); ++i) all(used_[i], j) = vectors_(i, j);
    vectors_ = all;
  }

  /// An orthonormal basis of all z with (B Y)^H z = 0, Y the constraints.
  Matrix complement() const {
    int const c = problem_.deflation.count();
    auto const by = problem_.deflation.by(0, c);
    auto const local = contiguous(problem_.exec, by);
    Kokkos::deep_copy(problem_.exec, local, by);
    auto const host = all_rows(problem_.workspace.rows(),
                               Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), local));
    int const order = used_.empty() ? n_ : static_cast<int>(used_.size());
    Matrix const Q = small_matrix<Scalar>(order, c);
    for (int j = 0; j < c; ++j)
      for (int i = 0; i < order; ++i) Q(i, j) = host(used_.empty() ? i : used_[i], j);
    std::vector<Real> ignored;
    lapack::qr_pivoted(Q, ignored);
    return orthogonal_complement(Q, problem_.eigen);
  }

  /// Z^H M Z, symmetrized.
  Matrix restricted(Matrix const& M, Matrix const& Z) const {
    int const order = static_cast<int>(Z.extent(1));
    Matrix const MZ = small_matrix<Scalar>(order_of(M), order),
                 R = small_matrix<Scalar>(order, order);
    product(M, Z, MZ);
    product(Z, MZ, R, lapack::Transform::adjoint);
    symmetrize(R, Real(1));
    return R;
  }

  std::optional<Status> solve_pencil(Matrix const& A, Matrix const& B) {
    int const order = static_cast<int>(A.extent(0));
    if (B.extent(0) > 0) scale_symmetrically(A, B);
    bool const on_device = on_cuda_v<Exec> && order >= least_device_order;
    DensePencil<Scalar> pencil(A, B, on_device ? problem_.eigen : Eigensolver<Scalar>(),
                               options_.digits, options_.tolerance);
    if (auto const trouble = of_first_rank(pencil.solve(options_.wanted))) {
      if (*trouble == Status::mass_not_positive_definite)
        problem_.trouble = "the mass matrix has a negative eigenvalue";
      return trouble;
    }
    method_ = pencil.method();
    found_ = pencil.count();
    infinite_ = pencil.infinite() + pencil.undefined() > 0 || order < options_.wanted;
    loss_ = pencil.orthogonality_loss();
    describe_what_is_missing(pencil);
    theta_ = pencil.theta();
    for (std::size_t j = 0; j < theta_.size(); ++j)
      quality_.push_back({pencil.bounds()[j], pencil.bounds()[j], pencil.noise()[j], Real(0)});
    vectors_ = pencil.vectors();
    take_first_rank(order);
    for (std::size_t j = 0; j < vectors_.extent(1) && !exponents_.empty(); ++j)
      for (int i = 0; i < order; ++i) vectors_(i, j) *= std::ldexp(Real(1), exponents_[i]);
    return std::nullopt;
  }

  std::optional<Status> of_first_rank(std::optional<Status> status) const {
    problem_.ranks().broadcast(std::span(&status, 1), 0);
    return status;
  }
  /// Ranks that compute alike have the same values; others do not have to.
  void take_first_rank(int order) {
    auto const& ranks = problem_.ranks();
    if (ranks.size() == 1) return;
    ranks.broadcast(std::span(&found_, 1), 0);
    ranks.broadcast(std::span(&loss_, 1), 0);
    ranks.broadcast(std::span(&infinite_, 1), 0);
    ranks.broadcast(theta_, 0);
    ranks.broadcast(quality_, 0);
    int columns = static_cast<int>(vectors_.extent(1));
    ranks.broadcast(std::span(&columns, 1), 0);
    Matrix const vectors = small_matrix<Scalar>(order, columns);
    if (ranks.rank() == 0)
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < order; ++i) vectors(i, j) = vectors_(i, j);
    ranks.broadcast(std::span(vectors.data(), vectors.size()), 0);
    vectors_ = vectors;
  }

  /// A, B := S A S, S B S with powers of two S that bring the diagonal of A (of B, where A has
  /// none) near one, where it spreads over more than 2^20.
  void scale_symmetrically(Matrix const& A, Matrix const& B) {
    exponents_ = scaling_exponents(diagonal_of(A), diagonal_of(B), static_cast<int>(A.extent(0)));
    if (exponents_.empty()) return;
    for (Matrix const& M : {A, B})
      for (std::size_t j = 0; j < M.extent(1); ++j)
        for (std::size_t i = 0; i < M.extent(0); ++i)
          M(i, j) =
              std::ldexp(Real(1), exponents_[i]) * M(i, j) * std::ldexp(Real(1), exponents_[j]);
    scaling_ = scaling_in_words(exponents_);
  }
  static std::vector<Real> diagonal_of(Matrix const& M) {
    std::vector<Real> d;
    for (std::size_t i = 0; i < M.extent(0); ++i) d.push_back(real_part(M(i, i)));
    return d;
  }

  void describe_what_is_missing(DensePencil<Scalar> const& pencil) {
    std::ostringstream words;
    if (!infinite_ && found_ < options_.wanted) {
      words << "the eigenvalues from number " << found_ + 1
            << " on cannot be told apart: rounding moves them by more than their distance";
      problem_.trouble = words.str();
    }
    if (pencil.doubtful())
      problem_.trouble =
          "nothing is certain: the mass matrix is negative, if only to rounding, in a direction "
          "that "
          "the matrix hardly sees either";
    if (pencil.doubtful() || pencil.infinite() + pencil.undefined() == 0) return;
    words << "the mass matrix is singular: " << pencil.infinite()
          << (pencil.infinite() == 1 ? " eigenvalue is" : " eigenvalues are") << " infinite";
    if (pencil.undefined() > 0)
      words << ", and " << pencil.undefined()
            << (pencil.undefined() == 1 ? " vector is" : " vectors are")
            << " annihilated by both matrices";
    if (found_ < options_.wanted)
      words << ", so that " << (found_ > 0 ? "only " + std::to_string(found_) : "none")
            << " can be found";
    problem_.trouble = words.str();
  }

  /// The wanted vectors to X, with residuals from A and B themselves.
  void deliver(View const& X, LobpcgReport<Real>& report) {
    int const k = found_;
    report.status = k == options_.wanted ? Status::converged
                    : infinite_          ? Status::mass_singular
                                         : Status::attainable_limit;
    report.scaling = scaling_;
    if (k == 0) return report_nothing(problem_, options_, report);
    Basis<Scalar, Exec> const basis(problem_.exec, local_, k, problem_.generalized());
    auto const staging = allocate<View>(problem_.exec, "Blockspan::lobpcg::dense", local_, k);
    auto const host = allocate_mirror(staging);
    for (int i = 0; i < local_; ++i)
      for (int j = 0; j < k; ++j) host(i, j) = vectors_(first_ + i, j);
    Kokkos::deep_copy(problem_.exec, staging, host);
    Kokkos::deep_copy(problem_.exec, basis.x(), staging);
    problem_.apply_a(basis.x(), basis.ax());
    if (problem_.generalized()) problem_.apply_b(basis.x(), basis.bx());
    if (k < static_cast<int>(theta_.size()))
      report.next_eigenvalue = problem_.eigenvalue(theta_[k]);
    auto const all = theta_;
    theta_.resize(k);
    auto const norms = residuals(problem_, basis.x_and_images(), theta_, basis.a_spare(k));
    if (problem_.generalized()) problem_.mass.words = std::string("exact: ") + method_;
    if (!problem_.deflation.empty()) add_rounding_of_constraints(norms);
    widen_bounds(all, norms);
    report.orthogonality_loss = loss_;
    report_pairs(problem_, theta_, norms, quality_, options_, report);
    if (options_.certify) certify_pairs(norms, report);
    for (int j = 0; j < k; ++j) {
      Status& pair = report.pair_status[j];
      if (pair == Status::not_converged) pair = Status::attainable_limit;
      if (!is_done(pair) && report.status == Status::converged)
        report.status = Status::attainable_limit;
    }
    if (problem_.vector_scale() != Real(1)) problem_.scale(basis.x(), problem_.vector_scale());
    Kokkos::deep_copy(problem_.exec, column_range(X, 0, k), basis.x());
    problem_.exec.fence("Blockspan::lobpcg: dense path done");
  }

  /// Entries that become denormal count, and values whose intervals overlap may be in another
  /// order.
  void widen_bounds(std::vector<Real> const& theta, Residuals<Real> const& norms) {
    for (int j = 0; j < found_; ++j)
      quality_[j].bound += underflow_of_entries(problem_, theta_[j], norms, j);
    std::vector<Real> bounds;
    for (std::size_t j = 0; j < theta.size(); ++j) bounds.push_back(quality_[j].bound);
    widen_by_order(theta, bounds);
    for (std::size_t j = 0; j < theta.size(); ++j)
      quality_[j].bound = quality_[j].rounding = bounds[j];
  }

  /// What was solved is Z^H A Z and Z^H B Z to the rounding of these products and of Z, some
  /// sqrt(n) units of the norms. The lengths of the vectors stand for the norm of B^-1.
  void add_rounding_of_constraints(Residuals<Real> const& norms) {
    Real const of_products =
        3 * std::sqrt(static_cast<Real>(n_)) * Thresholds<Real>::u * norms.largest_x();
    for (std::size_t j = 0; j < theta_.size(); ++j) {
      Real const size = problem_.norm_a + std::abs(theta_[j]) * problem_.norm_b;
      Real const turned = problem_.deflation.angle() * norms.constrained[j] * norms.largest_x();
      Real const moved = of_products * size * norms.x[j] + 2 * turned;
      quality_[j].bound += moved;
      quality_[j].rounding += moved;
      quality_[j].noise += 2 * moved;
    }
  }

  void certify_pairs(Residuals<Real> const& norms, LobpcgReport<Real>& report) {
    report.certificate = certify(problem_, found_, theta_, norms, NoCoupling(), loss_,
                                 crude_rounding(problem_, theta_, norms), options_);
    auto& certificate = report.certificate;
    // No pair is missing here: the bounds hold for the eigenvalue of that index.
    for (std::size_t j = 0; j < certificate.radius.size(); ++j) {
      certificate.radius[j] = std::min(certificate.radius[j], report.error_bounds[j]);
      certificate.gap_radius[j] = report.error_bounds[j];
    }
  }

  Problem<Scalar, Exec>& problem_;
  LobpcgOptions<Scalar, Exec> const& options_;
  int n_, local_, first_;  ///< rows of all ranks, those of this one, and its first
  int found_ = 0;
  bool infinite_ = false;  ///< eigenvalues, or any
  Real loss_ = 0;          ///< of B-orthonormality
  char const* method_ = "";
  std::string scaling_;
  std::vector<int> exponents_;
  std::vector<int> used_;  ///< rows that are not zero in both matrices; empty: all
  Matrix vectors_;
  std::vector<Real> theta_;
  std::vector<PairQuality<Real>> quality_;
};

}  // namespace blockspan::eigen
