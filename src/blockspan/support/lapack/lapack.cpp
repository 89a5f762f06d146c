#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <blockspan/support/error.hpp>
#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/lapack/lapack_calls.hpp>
#include <blockspan/support/lapack/lapack_steps.hpp>

#include <sys/mman.h>

using Cf = Kokkos::complex<float>;
using Cd = Kokkos::complex<double>;

extern "C" {
#define BLOCKSPAN_LAPACK_BOTH(S, p)                                                               \
  void p##potrf_(char const*, int const*, S*, int const*, int*);                                  \
  void p##trtri_(char const*, char const*, int const*, S*, int const*, int*);                     \
  void p##lauum_(char const*, int const*, S*, int const*, int*);                                  \
  void p##trsm_(char const*, char const*, char const*, char const*, int const*, int const*,       \
                S const*, S const*, int const*, S*, int const*);                                  \
  void p##gemm_(char const*, char const*, int const*, int const*, int const*, S const*, S const*, \
                int const*, S const*, int const*, S const*, S*, int const*);
BLOCKSPAN_LAPACK_BOTH(float, s)
BLOCKSPAN_LAPACK_BOTH(double, d)
BLOCKSPAN_LAPACK_BOTH(Cf, c)
BLOCKSPAN_LAPACK_BOTH(Cd, z)
#undef BLOCKSPAN_LAPACK_BOTH

#define BLOCKSPAN_LAPACK_REAL(S, p)                                                                \
  void p##syevd_(char const*, char const*, int const*, S*, int const*, S*, S*, int const*, int*,   \
                 int const*, int*);                                                                \
  void p##syevr_(char const*, char const*, char const*, int const*, S*, int const*, S const*,      \
                 S const*, int const*, int const*, S const*, int*, S*, S*, int const*, int*, S*,   \
                 int const*, int*, int const*, int*);                                              \
  void p##sygst_(int const*, char const*, int const*, S*, int const*, S const*, int const*, int*); \
  void p##geqp3_(int const*, int const*, S*, int const*, int*, S*, S*, int const*, int*);          \
  void p##orgqr_(int const*, int const*, int const*, S*, int const*, S const*, S*, int const*,     \
                 int*);
BLOCKSPAN_LAPACK_REAL(float, s)
BLOCKSPAN_LAPACK_REAL(double, d)
#undef BLOCKSPAN_LAPACK_REAL

#define BLOCKSPAN_LAPACK_COMPLEX(S, R, p)                                                          \
  void p##heevd_(char const*, char const*, int const*, S*, int const*, R*, S*, int const*, R*,     \
                 int const*, int*, int const*, int*);                                              \
  void p##heevr_(char const*, char const*, char const*, int const*, S*, int const*, R const*,      \
                 R const*, int const*, int const*, R const*, int*, R*, S*, int const*, int*, S*,   \
                 int const*, R*, int const*, int*, int const*, int*);                              \
  void p##hegst_(int const*, char const*, int const*, S*, int const*, S const*, int const*, int*); \
  void p##geqp3_(int const*, int const*, S*, int const*, int*, S*, S*, int const*, R*, int*);      \
  void p##ungqr_(int const*, int const*, int const*, S*, int const*, S const*, S*, int const*,     \
                 int*);
BLOCKSPAN_LAPACK_COMPLEX(Cf, float, c)
BLOCKSPAN_LAPACK_COMPLEX(Cd, double, z)
#undef BLOCKSPAN_LAPACK_COMPLEX
}

namespace blockspan::lapack {

void require_room() {
  thread_local bool has_room = openblas_get_num_threads == nullptr;
  if (has_room) return;
  constexpr std::size_t buffers = std::size_t{129} << 20;
  void* const room =
      ::mmap(nullptr, buffers, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    fail(ErrorKind::out_of_memory, "OpenBLAS",
         "out of memory: 128 MiB that it takes for buffers are not free (ulimit -v?)");
  ::munmap(room, buffers);
  // Makes OpenBLAS allocate its buffers now: calls with small matrices may defer that.
  double one[] = {1, 0, 0, 1};
  int const n = 2;
  int info = 0;
  dpotrf_("L", &n, one, &n, &info);
  has_room = true;
}

namespace {

template <class Scalar>
void require_square(char const* where, SmallMatrix<Scalar> const& A) {
  require(A.extent(0) == A.extent(1), where, "a square matrix is needed, this one is ", A.extent(0),
          " x ", A.extent(1));
}

template <class Scalar>
bool all_finite(SmallMatrix<Scalar> const& A) {
  for (int j = 0; j < columns(A); ++j)
    for (int i = 0; i < rows(A); ++i)
      if (!is_finite(A(i, j))) return false;
  return true;
}

/// Whether the largest entry is far enough from overflow and underflow that sums of squares are
/// safe.
template <class Scalar>
bool squares_are_normal(SmallMatrix<Scalar> const& A) {
  using Real = real_t<Scalar>;
  Real const least = std::pow(std::numeric_limits<Real>::min(), Real(0.25));
  Real largest = 0;
  for (int j = 0; j < columns(A); ++j)
    for (int i = j; i < rows(A); ++i) largest = std::max(largest, Kokkos::abs(A(i, j)));
  return largest > least && largest < 1 / least;
}

/// The length of a work array as LAPACK reports it, in the first entry.
template <class Scalar>
int work_size(Scalar const& reported) {
  return std::max(1, static_cast<int>(real_part(reported)));
}

/// Calls call(work, its length, real work, its length, integer work, its length) twice: with
/// lengths of -1, for which LAPACK reports the required ones, then with memory. Returns `info`,
/// which the call sets.
template <class Scalar, class Call>
int with_work(int const& info, Call const& call) {
  using Real = real_t<Scalar>;
  Scalar size(1);
  Real real_size = 1;
  int integers = 1;
  call(&size, -1, &real_size, -1, &integers, -1);
  if (info != 0) return info;
  std::vector<Scalar> work(static_cast<std::size_t>(work_size(size)));
  std::vector<Real> real_work(static_cast<std::size_t>(work_size(real_size)));
  std::vector<int> integer_work(static_cast<std::size_t>(integers));
  call(work.data(), static_cast<int>(work.size()), real_work.data(),
       static_cast<int>(real_work.size()), integer_work.data(), integers);
  return info;
}

/// geqp3, whose complex versions take a real work array.
template <class Scalar>
void call_geqp3(int m, int k, Scalar* A, int ld, int* pivots, Scalar* tau, Scalar* work, int lwork,
                real_t<Scalar>* rwork, int* info) {
  auto const geqp3 = of_type<Scalar>(sgeqp3_, dgeqp3_, cgeqp3_, zgeqp3_);
  if constexpr (is_complex_v<Scalar>)
    geqp3(&m, &k, A, &ld, pivots, tau, work, &lwork, rwork, info);
  else
    geqp3(&m, &k, A, &ld, pivots, tau, work, &lwork, info);
}

}  // namespace

template <class Scalar>
int cholesky(SmallMatrix<Scalar> const& G) {
  require_square("lapack::cholesky", G);
  int const n = rows(G), ld = leading_dimension(G);
  if (n == 0) return 0;
  OneThread const one_thread;
  int info = 0;
  if (n >= least_order_of_steps)
    info = cholesky_by_steps(G);
  else
    of_type<Scalar>(spotrf_, dpotrf_, cpotrf_, zpotrf_)("L", &n, G.data(), &ld, &info);
  // Some factorizations do not report a NaN.
  for (int j = 0; j < n && info == 0; ++j)
    if (!(real_part(G(j, j)) > 0) || !std::isfinite(real_part(G(j, j)))) info = j + 1;
  for (int j = 1; j < n; ++j)
    for (int i = 0; i < j; ++i) G(i, j) = Scalar(0);
  return info;
}

template <class Scalar>
int hermitian_eigen(SmallMatrix<Scalar> const& G, std::vector<real_t<Scalar>>& eigenvalues) {
  require_square("lapack::hermitian_eigen", G);
  eigenvalues.resize(G.extent(0));
  if (G.extent(0) == 0) return 0;
  if (!all_finite(G)) return -4;  // LAPACK's index of the argument; with a NaN it may not return
  OneThread const one_thread;
  int const n = rows(G), ld = leading_dimension(G);
  int info = 0;
  return with_work<Scalar>(info, [&](Scalar* work, int lwork, real_t<Scalar>* rwork, int lrwork,
                                     int* iwork, int liwork) {
    if constexpr (is_complex_v<Scalar>)
      of_type<Scalar>(nullptr, nullptr, cheevd_, zheevd_)("V", "L", &n, G.data(), &ld,
                                                          eigenvalues.data(), work, &lwork, rwork,
                                                          &lrwork, iwork, &liwork, &info);
    else
      of_type<Scalar>(ssyevd_, dsyevd_, nullptr, nullptr)(
          "V", "L", &n, G.data(), &ld, eigenvalues.data(), work, &lwork, iwork, &liwork, &info);
  });
}

template <class Scalar>
int hermitian_eigen_lowest(SmallMatrix<Scalar> const& G, int count,
                           std::vector<real_t<Scalar>>& eigenvalues,
                           SmallMatrix<Scalar> const& vectors) {
  using Real = real_t<Scalar>;
  constexpr char const* where = "lapack::hermitian_eigen_lowest";
  require_square(where, G);
  require(count >= 0 && count <= rows(G) && rows(vectors) == rows(G) && columns(vectors) == count,
          where, "sizes clash: ", count, " pairs of order ", rows(G), " into ", rows(vectors),
          " x ", columns(vectors));
  eigenvalues.resize(G.extent(0));
  if (count == 0) return 0;
  if (!all_finite(G)) return -4;
  OneThread const one_thread;
  if (rows(G) >= least_order_of_steps && squares_are_normal(G)) {
    int const info = hermitian_eigen_lowest_by_steps(G, count, eigenvalues, vectors);
    eigenvalues.resize(static_cast<std::size_t>(count));
    return info;
  }
  int const n = rows(G), ld = leading_dimension(G), ldz = leading_dimension(vectors), first = 1;
  Real const none = 0;
  std::vector<int> support(static_cast<std::size_t>(2 * n));
  int found = 0, info = 0;
  with_work<Scalar>(info,
                    [&](Scalar* work, int lwork, Real* rwork, int lrwork, int* iwork, int liwork) {
                      if constexpr (is_complex_v<Scalar>)
                        of_type<Scalar>(nullptr, nullptr, cheevr_, zheevr_)(
                            "V", "I", "L", &n, G.data(), &ld, &none, &none, &first, &count, &none,
                            &found, eigenvalues.data(), vectors.data(), &ldz, support.data(), work,
                            &lwork, rwork, &lrwork, iwork, &liwork, &info);
                      else
                        of_type<Scalar>(ssyevr_, dsyevr_, nullptr, nullptr)(
                            "V", "I", "L", &n, G.data(), &ld, &none, &none, &first, &count, &none,
                            &found, eigenvalues.data(), vectors.data(), &ldz, support.data(), work,
                            &lwork, iwork, &liwork, &info);
                    });
  eigenvalues.resize(static_cast<std::size_t>(count));
  return info != 0 ? info : found == count ? 0 : n + 1;
}

template <class Scalar>
void reduce_to_standard(SmallMatrix<Scalar> const& A, SmallMatrix<Scalar> const& L) {
  require(A.extent(0) == A.extent(1) && L.extent(0) == A.extent(0) && L.extent(1) == A.extent(0),
          "lapack::reduce_to_standard", "sizes clash: A is ", A.extent(0), " x ", A.extent(1),
          ", L is ", L.extent(0), " x ", L.extent(1));
  int const n = rows(A), ld_a = leading_dimension(A), ld_l = leading_dimension(L), type = 1;
  if (n == 0) return;
  OneThread const one_thread;
  if (n >= least_order_of_steps) return reduce_to_standard_by_steps(A, L);
  int info = 0;
  of_type<Scalar>(ssygst_, dsygst_, chegst_, zhegst_)(&type, "L", &n, A.data(), &ld_a, L.data(),
                                                      &ld_l, &info);
}

template <class Scalar>
void solve_lower(Transform transform, SmallMatrix<Scalar> const& L, SmallMatrix<Scalar> const& X) {
  require(L.extent(0) == L.extent(1) && X.extent(0) == L.extent(0), "lapack::solve_lower",
          "sizes clash: L is ", L.extent(0), " x ", L.extent(1), ", X is ", X.extent(0), " x ",
          X.extent(1));
  int const m = rows(X), n = columns(X), ld = leading_dimension(L), ld_x = leading_dimension(X);
  if (m == 0 || n == 0) return;
  OneThread const one_thread;
  Scalar const one(1);
  char const* const adjoint = is_complex_v<Scalar> ? "C" : "T";
  of_type<Scalar>(strsm_, dtrsm_, ctrsm_, ztrsm_)(
      "L", "L", transform == Transform::adjoint ? adjoint : "N", "N", &m, &n, &one, L.data(), &ld,
      X.data(), &ld_x);
}

template <class Scalar>
int invert_lower_triangle(SmallMatrix<Scalar> const& L) {
  require_square("lapack::invert_lower_triangle", L);
  int const n = rows(L), ld = leading_dimension(L);
  if (n == 0) return 0;
  OneThread const one_thread;
  int info = 0;
  of_type<Scalar>(strtri_, dtrtri_, ctrtri_, ztrtri_)("L", "N", &n, L.data(), &ld, &info);
  return info;
}

template <class Scalar>
void square_lower_triangle(SmallMatrix<Scalar> const& L) {
  require_square("lapack::square_lower_triangle", L);
  int const n = rows(L), ld = leading_dimension(L);
  if (n == 0) return;
  OneThread const one_thread;
  int info = 0;
  of_type<Scalar>(slauum_, dlauum_, clauum_, zlauum_)("L", &n, L.data(), &ld, &info);
}

template <class Scalar>
int qr_pivoted(SmallMatrix<Scalar> const& Z, std::vector<real_t<Scalar>>& diagonal) {
  int const m = rows(Z), k = columns(Z), ld = leading_dimension(Z), query = -1;
  require(m >= k, "lapack::qr_pivoted", "as many rows as columns are needed, Z is ", m, " x ", k);
  diagonal.resize(static_cast<std::size_t>(k));
  if (k == 0) return 0;
  OneThread const one_thread;
  auto const ungqr = of_type<Scalar>(sorgqr_, dorgqr_, cungqr_, zungqr_);
  std::vector<int> pivots(static_cast<std::size_t>(k));
  std::vector<Scalar> tau(static_cast<std::size_t>(k));
  std::vector<real_t<Scalar>> rwork(static_cast<std::size_t>(2 * k));
  int info = 0;
  Scalar size_factor, size_form;
  call_geqp3(m, k, Z.data(), ld, pivots.data(), tau.data(), &size_factor, query, rwork.data(),
             &info);
  if (info != 0) return info;
  ungqr(&m, &k, &k, Z.data(), &ld, tau.data(), &size_form, &query, &info);
  if (info != 0) return info;
  int const lwork = std::max(work_size(size_factor), work_size(size_form));
  std::vector<Scalar> work(static_cast<std::size_t>(lwork));
  call_geqp3(m, k, Z.data(), ld, pivots.data(), tau.data(), work.data(), lwork, rwork.data(),
             &info);
  if (info != 0) return info;
  for (int j = 0; j < k; ++j) diagonal[static_cast<std::size_t>(j)] = Kokkos::abs(Z(j, j));
  ungqr(&m, &k, &k, Z.data(), &ld, tau.data(), work.data(), &lwork, &info);
  return info;
}

template <class Scalar>
void multiply(Transform a, Transform b, Scalar alpha, SmallMatrix<Scalar> const& A,
              SmallMatrix<Scalar> const& B, Scalar beta, SmallMatrix<Scalar> const& C) {
  bool const flip_a = a == Transform::adjoint, flip_b = b == Transform::adjoint;
  int const m = flip_a ? columns(A) : rows(A), inner = flip_a ? rows(A) : columns(A);
  int const inner_b = flip_b ? columns(B) : rows(B), n = flip_b ? rows(B) : columns(B);
  require(inner == inner_b && rows(C) == m && columns(C) == n, "lapack::multiply",
          "sizes clash: op(A) is ", m, " x ", inner, ", op(B) is ", inner_b, " x ", n, ", C is ",
          rows(C), " x ", columns(C));
  if (m == 0 || n == 0) return;
  if (inner == 0 && beta == Scalar(0)) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) C(i, j) = Scalar(0);
    return;
  }
  OneThread const one_thread;
  char const* const adjoint = is_complex_v<Scalar> ? "C" : "T";
  int const ld_a = leading_dimension(A), ld_b = leading_dimension(B), ld_c = leading_dimension(C);
  of_type<Scalar>(sgemm_, dgemm_, cgemm_, zgemm_)(flip_a ? adjoint : "N", flip_b ? adjoint : "N",
                                                  &m, &n, &inner, &alpha, A.data(), &ld_a, B.data(),
                                                  &ld_b, &beta, C.data(), &ld_c);
}

template <class Scalar>
void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, Scalar const& alpha,
          Scalar const* A, int lda, Scalar const* B, int ldb, Scalar const& beta, Scalar* C,
          int ldc) {
  of_type<Scalar>(sgemm_, dgemm_, cgemm_, zgemm_)(transpose_a ? "T" : "N", transpose_b ? "T" : "N",
                                                  &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C,
                                                  &ldc);
}

#define BLOCKSPAN_INSTANTIATE(S)                                                                   \
  template int cholesky(SmallMatrix<S> const&);                                                    \
  template int hermitian_eigen(SmallMatrix<S> const&, std::vector<real_t<S>>&);                    \
  template int hermitian_eigen_lowest(SmallMatrix<S> const&, int, std::vector<real_t<S>>&,         \
                                      SmallMatrix<S> const&);                                      \
  template void reduce_to_standard(SmallMatrix<S> const&, SmallMatrix<S> const&);                  \
  template void solve_lower(Transform, SmallMatrix<S> const&, SmallMatrix<S> const&);              \
  template int invert_lower_triangle(SmallMatrix<S> const&);                                       \
  template void square_lower_triangle(SmallMatrix<S> const&);                                      \
  template int qr_pivoted(SmallMatrix<S> const&, std::vector<real_t<S>>&);                         \
  template void multiply(Transform, Transform, S, SmallMatrix<S> const&, SmallMatrix<S> const&, S, \
                         SmallMatrix<S> const&);                                                   \
  template void gemm(bool, bool, int, int, int, S const&, S const*, int, S const*, int, S const&,  \
                     S*, int);
BLOCKSPAN_INSTANTIATE(float)
BLOCKSPAN_INSTANTIATE(double)
BLOCKSPAN_INSTANTIATE(Cf)
BLOCKSPAN_INSTANTIATE(Cd)
#undef BLOCKSPAN_INSTANTIATE

}  // namespace blockspan::lapack
