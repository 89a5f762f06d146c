#pragma once

#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/scalar.hpp>

namespace blockspan {

/// A small dense matrix of a solver, on the host, column-major as LAPACK requires.
template <class Scalar>
using SmallMatrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// Thin wrappers of LAPACK and BLAS for matrices of a few hundred rows: O(n^3). All run on the
/// calling thread only (one BLAS thread: the same bits on every run). Scalar: float, double,
/// complex of both. Arguments may be views with a leading dimension larger than their rows; zero
/// sizes are legal. Inconsistent sizes throw Error, and all but gemm call require_room() first.
namespace lapack {

/// Throws OutOfMemory where OpenBLAS could not allocate its buffers, normally 128 MiB: it would
/// retry forever. Checked once a thread, before its first call; OpenBLAS keeps its buffers. Does
/// nothing with another BLAS.
void require_room();

/// Cholesky factor of the Hermitian n x n matrix G = L L^H; only the lower triangle is read.
/// On success the lower triangle of G is L, the strict upper triangle is zero, and the return value
/// is 0; otherwise the order of the leading minor that is not positive definite, or not finite (G
/// is destroyed).
template <class Scalar>
int cholesky(SmallMatrix<Scalar> const& G);

/// All eigenvalues (ascending) and orthonormal eigenvectors of the Hermitian n x n matrix G (divide
/// and conquer); only the lower triangle is used. On return G holds the eigenvectors in its
/// columns. Returns 0; the LAPACK info if it failed; -4 if G has an entry that is not finite.
template <class Scalar>
int hermitian_eigen(SmallMatrix<Scalar> const& G, std::vector<real_t<Scalar>>& eigenvalues);

/// The `count` lowest eigenvalues (ascending) and orthonormal eigenvectors of the Hermitian n x n
/// matrix G, by relatively robust representations; only the lower triangle is used, and G is
/// destroyed. vectors: n x count. For a few pairs of a large matrix far cheaper than
/// hermitian_eigen. Returns as hermitian_eigen.
template <class Scalar>
int hermitian_eigen_lowest(SmallMatrix<Scalar> const& G, int count,
                           std::vector<real_t<Scalar>>& eigenvalues,
                           SmallMatrix<Scalar> const& vectors);

/// A := L^-1 A L^-H, the matrix of the standard problem of the pencil (A, L L^H); only the lower
/// triangle of A is read and written. L: lower triangular with a nonzero diagonal.
template <class Scalar>
void reduce_to_standard(SmallMatrix<Scalar> const& A, SmallMatrix<Scalar> const& L);

/// Inverse of the lower triangular L, in place; the strict upper triangle is neither read nor
/// written. Returns 0, or the index, from 1, of a diagonal entry that is exactly zero.
template <class Scalar>
int invert_lower_triangle(SmallMatrix<Scalar> const& L);

/// The lower triangle of L^H L in place of the lower triangular L; the strict upper triangle is
/// neither read nor written.
template <class Scalar>
void square_lower_triangle(SmallMatrix<Scalar> const& L);

/// QR with column pivoting of the m x k matrix Z (m >= k): Z P = Q R. On return Z holds the k
/// orthonormal columns of Q, and `diagonal` |R_11| >= |R_22| >= ...: columns of Q whose |R_kk| is
/// negligible against |R_11| are not in the range of Z.
template <class Scalar>
int qr_pivoted(SmallMatrix<Scalar> const& Z, std::vector<real_t<Scalar>>& diagonal);

enum class Transform { none, adjoint };

/// X := op(L)^-1 X for the lower triangular n x n L with a nonzero diagonal; X: n x k.
template <class Scalar>
void solve_lower(Transform transform, SmallMatrix<Scalar> const& L, SmallMatrix<Scalar> const& X);

/// C = alpha op(A) op(B) + beta C; beta = 0 never reads C.
template <class Scalar>
void multiply(Transform a, Transform b, Scalar alpha, SmallMatrix<Scalar> const& A,
              SmallMatrix<Scalar> const& B, Scalar beta, SmallMatrix<Scalar> const& C);

/// The same with the interface of xGEMM, for matrices of any size: C (m x n) = alpha op(A) op(B) +
/// beta C, column-major with leading dimensions, op a transpose where requested. Unlike the others
/// it leaves the number of threads to the BLAS.
template <class Scalar>
void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, Scalar const& alpha,
          Scalar const* A, int lda, Scalar const* B, int ldb, Scalar const& beta, Scalar* C,
          int ldc);

}  // namespace lapack
}  // namespace blockspan
