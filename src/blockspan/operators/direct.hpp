#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/convert.hpp>
#include <blockspan/operators/entries/check_blocks.hpp>
#include <blockspan/operators/factors/direct_factors.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/operators/pencil_factors.hpp>
#include <blockspan/operators/refreshable_operator.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

namespace operators {

/// A copy on the host, in double precision. Waits for the instance.
template <class Exec, class Matrix>
HostHermitian host_hermitian(Exec const& exec, Matrix const& A) {
  using Scalar = scalar_t<Matrix>;
  constexpr int parts = is_complex_v<Scalar> ? 2 : 1;
  auto const host = [&](auto const& view) {
    auto const mirror = allocate_mirror(view);
    Kokkos::deep_copy(exec, mirror, view);
    return mirror;
  };
  require(A.numRows() == A.numCols(), "blockspan::direct", "the matrix must be square (",
          A.numRows(), " x ", A.numCols(), ")");
  auto const offsets = host(A.graph.row_map);
  auto const columns = host(A.graph.entries);
  auto const values = host(A.values);
  exec.fence("Blockspan::direct");
  HostHermitian result{static_cast<int>(A.numRows()), parts, {}, {}, {}};
  result.offsets.assign(offsets.data(), offsets.data() + offsets.extent(0));
  if (result.offsets.empty()) result.offsets.push_back(0);
  result.columns.assign(columns.data(), columns.data() + columns.extent(0));
  result.values.resize(values.extent(0) * parts);
  for (std::size_t e = 0; e < values.extent(0); ++e) {
    result.values[e * parts] = real_part(values(e));
    if constexpr (parts == 2) result.values[e * parts + 1] = imaginary_part(values(e));
  }
  return result;
}

/// The factors of K - shift M by cuDSS on the device of the instance; null, with the reason in
/// `why`, where cuDSS is not available, refuses the matrix or lacks memory. k, m: the same matrices
/// on the host; K and M are kept by reference. Instantiated for CUDA.
template <class Scalar, class Exec>
std::unique_ptr<PencilFactors> cudss_pencil(Exec const& exec, HostHermitian k,
                                            std::optional<HostHermitian> m,
                                            LinearOperator<Scalar, Exec> const& K,
                                            LinearOperator<Scalar, Exec> const* M,
                                            PencilUse const& use, std::string& why);

/// A block on the host in double precision, column-major, as factors take it.
template <class Scalar>
using FactorColumns =
    Kokkos::View<std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>**,
                 Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// Y := solve(X), in place on a copy of X in FactorColumns, rounded. Waits for the instance.
template <class Scalar, class Exec, class Solve>
void apply_on_host(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                   Block<Scalar, Exec> const& Y, Solve const& solve) {
  using Host = FactorColumns<Scalar>;
  using Columns =
      Kokkos::View<typename Host::data_type, Kokkos::LayoutLeft, typename Exec::memory_space>;
  auto const columns = allocate<Columns>(exec, "Blockspan::DirectSolver", X.extent(0), X.extent(1));
  auto const host = allocate_mirror(columns);
  convert_block(exec, X, columns);
  Kokkos::deep_copy(exec, host, columns);
  exec.fence("Blockspan::DirectSolver");
  solve(Host(host.data(), host.extent(0), host.extent(1)));
  Kokkos::deep_copy(exec, columns, host);
  convert_block(exec, columns, Y);
  exec.fence("Blockspan::DirectSolver");
}

}  // namespace operators

/// Y = (A + shift M + delta D)^-1 X by a sparse factorization; report() has shift and delta. Works
/// on the host in double precision, whatever Scalar and Exec are: a product on a device copies X
/// there and Y back. A product waits for the instance, reads the factors once for every 64 columns
/// and allocates a copy of X. Equal runs with an equal number of BLAS threads give the same bits.
/// Copies share the factors.
template <class Scalar, class Exec>
class DirectSolver final : public RefreshableOperator<Scalar, Exec> {
 public:
  DirectSolver(std::shared_ptr<operators::DirectFactors> factors) : factors_(std::move(factors)) {}

  std::int64_t rows() const override { return factors_->rows(); }

  /// Throws Error if X or Y is not n x k, or where memory is short.
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    operators::require_blocks("blockspan::DirectSolver", rows(), blocks::block_ref<Exec>(X),
                              blocks::block_ref<Exec>(Y));
    operators::apply_on_host(exec, X, Y, [&](auto const& columns) { solve(columns); });
  }

  /// Overwrites every column by its solution, on the host.
  void solve(operators::FactorColumns<Scalar> const& columns) const {
    factors_->solve(reinterpret_cast<double*>(columns.data()),
                    static_cast<std::int64_t>(columns.extent(1)));
  }

  /// Finds the shifts of `preconditioner` anew and keeps the ordering. Waits for the instance.
  /// Throws Error as `direct`, and where the order or the pattern is another one.
  void refresh(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) override {
    factors_->refresh(operators::host_hermitian(exec, A));
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    return {.name = "direct (LDL^T by MUMPS, " + report().size() +
                    (support::on_cuda_v<Exec> ? ", on the host by copies)" : ")"),
            .nearly_exact = true};
  }

  DirectReport const& report() const { return factors_->report(); }

 private:
  std::shared_ptr<operators::DirectFactors> factors_;
};

/// Factors A + shift M, A and M Hermitian n x n (the lower triangle is read; columns in any order,
/// repeated entries add up); M: null for the identity.
///
/// Rows and columns are scaled first, by powers of two to a diagonal of about one, or, where the
/// diagonal is small against the rest, to rows of about one: units and penalties do not matter.
/// With `solve` a pivot that is null is pinned: that unknown of the solution is what elimination
/// leaves of the right-hand side there, zero for one in the range of A, which it solves. With
/// `definite` and `preconditioner` a matrix that is singular to working precision gets its diagonal
/// D raised by the first factor of 2^-35 and 2^-26 that leaves no negative pivot. With
/// `preconditioner` an indefinite one gets sigma M instead, sigma at most 1.03 times the least that
/// makes it positive definite, found by inertia (some fifteen factorizations). In a definite matrix
/// that is well conditioned once it is scaled, the least eigenvalues are far from zero compared
/// with the distances between them: it gets a negative sigma that moves them close to zero (at most
/// ten factorizations).
///
/// Waits for the instance. Throws Error if A is not square or has an entry that is not finite, M is
/// not of the same order, the factors are larger than the memory (with the bytes), A is not
/// positive (semi)definite where `definite` asks for it, or no sigma makes it so. Link
/// Blockspan::direct.
///
/// Sources: Amestoy, Duff, L'Excellent and Koster 2001, doi:10.1137/S0895479899358194 (MUMPS);
/// Schulze 2001, doi:10.1023/A:1021908421589 (the ordering); Sylvester's law of inertia.
template <class Exec, class Matrix>
DirectSolver<sparse::scalar_t<Matrix>, Exec> direct(
    Exec const& exec, Matrix const& A, DirectOptions const& options = {},
    std::type_identity_t<Matrix> const* M = nullptr) {
  auto const a = operators::host_hermitian(exec, A);
  operators::HostHermitian m;
  if (M != nullptr) m = operators::host_hermitian(exec, *M);
  return {std::make_shared<operators::DirectFactors>(a, M != nullptr ? &m : nullptr, options)};
}

/// Options of factored_pencil.
struct PencilOptions {
  FactorPlace factors = FactorPlace::automatic;
  std::int64_t memory_limit = 0;  ///< of the factors, in bytes; 0: the free memory
  bool scale_by_mass = false;     ///< scale by M, the definite one, not by K
  int columns = 8;                ///< of the blocks expected
  bool products = true;           ///< also make K and M operators; counts do not need them
};

/// K x = lambda M x as exact methods see it: products, and factors of K - sigma M for one sigma
/// after the other.
template <class Scalar, class Exec>
struct FactoredPencil {
  std::unique_ptr<LinearOperator<Scalar, Exec>> K, M;  ///< M null: the identity
  std::unique_ptr<operators::PencilFactors> factors;
  std::vector<std::string> notes;  ///< why the factors are not on the device
  double seconds = 0;              ///< of the analysis
};

namespace operators {

/// A plan with which exact methods have the same bits on any number of ranks: on hosts no row is
/// cut into segments.
template <class Exec>
SpmmPlanOptions pencil_plan(int columns) {
  SpmmPlanOptions plan{.columns = columns};
  if constexpr (support::runs_on_host_v<Exec>)
    plan.segment_length = std::numeric_limits<int>::max();
  return plan;
}

/// Sets pencil.factors, on the host or the device as the options say.
template <class Exec, class Matrix>
void add_factors(Exec const& exec, Matrix const& K, Matrix const* M, PencilOptions const& options,
                 bool on_device, FactoredPencil<sparse::scalar_t<Matrix>, Exec>& pencil) {
  PencilUse const use{options.scale_by_mass, options.memory_limit};
  auto const mass = [&]() -> std::optional<HostHermitian> {
    if (M == nullptr) return {};
    return host_hermitian(exec, *M);
  };
  if (on_device) {
    std::string why = "factors on a device need the backend CUDA";
    if constexpr (support::on_cuda_v<Exec>)
      pencil.factors = cudss_pencil<sparse::scalar_t<Matrix>, Exec>(
          exec, host_hermitian(exec, K), mass(), *pencil.K, pencil.M.get(), use, why);
    require(pencil.factors || options.factors == FactorPlace::automatic, "blockspan::exact", why);
    if (!pencil.factors) pencil.notes.push_back("The factors are on the host: " + why + ".");
  }
  if (!pencil.factors) pencil.factors = direct_pencil(host_hermitian(exec, K), mass(), use);
}

}  // namespace operators

/// K, M: n x n, M null for the identity; their products share the arrays. Analyses the pattern,
/// factors nothing. Waits for the instance. Throws Error where they are not square or of different
/// orders, an entry is not finite, a device is asked for and not available, or memory is short.
/// Link Blockspan::direct.
template <class Exec, class Matrix>
FactoredPencil<sparse::scalar_t<Matrix>, Exec> factored_pencil(
    Exec const& exec, Matrix const& K, std::type_identity_t<Matrix> const* M,
    PencilOptions const& options) {
  // devices are 2.5 to 3 times faster from 13,000 rows on; with fewer than this both take about a
  // second or less, and a host's bits are the same in every run
  constexpr std::int64_t least_rows_on_device = 10000;
  using Operator = MatrixOperator<sparse::scalar_t<Matrix>, Exec, sparse::offset_t<Matrix>>;
  bool const on_device = options.factors == FactorPlace::device ||
                         (support::on_cuda_v<Exec> && options.factors == FactorPlace::automatic &&
                          static_cast<std::int64_t>(K.numRows()) >= least_rows_on_device);
  FactoredPencil<sparse::scalar_t<Matrix>, Exec> pencil;
  if (options.products || on_device) {
    auto const plan = operators::pencil_plan<Exec>(options.columns);
    pencil.K = std::make_unique<Operator>(exec, K, plan);
    if (M != nullptr) pencil.M = std::make_unique<Operator>(exec, *M, plan);
  }
  auto const start = std::chrono::steady_clock::now();
  operators::add_factors(exec, K, M, options, on_device, pencil);
  pencil.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return pencil;
}

}  // namespace blockspan
