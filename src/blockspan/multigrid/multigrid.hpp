#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/multigrid/setup/expand_blocks.hpp>
#include <blockspan/operators/refreshable_operator.hpp>

namespace blockspan {

namespace levels {
template <class Scalar, class Exec>
class OneRank;
template <class Scalar, class Exec, class Ranks>
class Hierarchy;
template <class Scalar, class Exec, class Levels>
class MultigridState;
}  // namespace levels

/// Y = M^-1 X by one V cycle of smoothed aggregation: a preconditioner for a Hermitian positive
/// (semi-)definite matrix A whose iteration counts hardly grow under mesh refinement. Linear, the
/// same operator in every call, Hermitian positive definite, also where A is singular (null vectors
/// are found in the setup); every step is a product of a sparse matrix and the whole block.
/// README.md in this folder describes how levels are built, and which properties of a problem they
/// use.
///
/// Setup: on `exec`, in double precision, deterministic. The last level (options.coarse_rows) is
/// inverted on `exec`, or, on hosts and where that is not safe, by LAPACK on the host. O(nonzeros)
/// with a constant of 20 to 90 multiplications, mostly sparse products; memory for P, its adjoint,
/// and patterns and values of the products (about three times A for a 7-point Laplacian), kept for
/// refresh.
///
/// An application costs 2 degree products with A of each level, and those with the prolongators:
/// report().products counts them. Blocks may have any width; a wider one than before allocates.
///
/// Sources: Vanek, Mandel and Brezina 1996, doi:10.1007/BF02238511 (smoothed aggregation, filtered
/// matrices); Adams, Brezina, Hu and Tuminaro 2003, doi:10.1016/S0021-9991(03)00194-3 (polynomial
/// smoothers); Bell, Dalton and Olson 2012, doi:10.1137/110838844 (a setup in parallel).
template <class Scalar, class Exec>
class Multigrid final : public RefreshableOperator<Scalar, Exec> {
 public:
  using Options = MultigridOptions<Scalar, Exec>;
  using Matrix = CrsMatrix<Scalar, Exec>;

  /// A: n x n, as find_asymmetry accepts; columns may be unsorted and may repeat. A and the arrays
  /// of `options` remain in use: values of A may only change with refresh. Fences the instance.
  /// Throws Error if A is not square, an option is out of range or does not match A, a near-null
  /// vector is zero or not finite, a diagonal entry is negative, or zero in a row with other
  /// entries, an entry is not finite, a level has more than 2^31 - 1 entries, or memory is short.
  /// report().status is the quality of the hierarchy.
  Multigrid(Exec const& exec, Matrix const& A, Options const& options = {});
  Multigrid(Multigrid&&) noexcept;
  Multigrid& operator=(Multigrid&&) noexcept;
  ~Multigrid() override;

  std::int64_t rows() const override;

  /// One product at a time: the memory of an object is for one instance and one thread. Throws
  /// Error if X or Y is not n x k, where memory is short, and if the report is not usable().
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override;

  /// Recomputes the values of all levels, and keeps aggregates, tentative prolongators and
  /// patterns. Does not probe: the status is then unknown, unless it excludes the use as a
  /// preconditioner.
  void refresh(Exec const& exec, Matrix const& A) override;

  /// The same; with keep_prolongators the values of prolongators are kept too, which halves the
  /// work: for matrices that change little, as in nonlinear iterations.
  void refresh(Exec const& exec, Matrix const& A, bool keep_prolongators);

  /// Rebuilds a cycle in single precision in the solver's precision: for a solver that finds it not
  /// positive definite, which happens for coefficient contrasts above 1e6. Returns false, without
  /// effect, if the cycle was not in single precision. Fences the instance.
  bool use_working_precision(Exec const& exec);

  OperatorFacts<Scalar, Exec> facts() const override;

  MultigridReport const& report() const;

  /// Implementation: the levels of the setup, in double precision (hierarchy/hierarchy.hpp).
  using Wide = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;
  using Levels = levels::Hierarchy<Wide, Exec, levels::OneRank<Wide, Exec>>;
  Levels const& hierarchy() const;

 private:
  std::unique_ptr<levels::MultigridState<Scalar, Exec, Levels>> state_;
};

/// The multigrid preconditioner of A, a CrsMatrix; see the class.
template <class Exec, class Matrix>
requires(!sparse::has_blocks_v<Matrix>)
    Multigrid<typename Matrix::non_const_value_type, Exec> multigrid(
        Exec const& exec, Matrix const& A,
        MultigridOptions<typename Matrix::non_const_value_type, Exec> const& options = {}) {
  return {exec, A, options};
}

/// The same for a BsrMatrix, whose blocks are the nodes (they set block_size): it is copied to a
/// CrsMatrix, which is kept. Throws Error as the class, and if the blocks are larger than 16.
template <class Exec, class Matrix>
requires sparse::has_blocks_v<Matrix> Multigrid<typename Matrix::non_const_value_type, Exec>
multigrid(Exec const& exec, Matrix const& A,
          MultigridOptions<typename Matrix::non_const_value_type, Exec> options = {}) {
  options.block_size = static_cast<int>(A.blockDim());
  return {exec, levels::expand_blocks(exec, A), options};
}

}  // namespace blockspan
