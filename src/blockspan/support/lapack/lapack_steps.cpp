#include <algorithm>
#include <cstddef>
#include <vector>

#include <blockspan/support/interruption.hpp>
#include <blockspan/support/lapack/lapack_calls.hpp>
#include <blockspan/support/lapack/lapack_steps.hpp>

using Cf = Kokkos::complex<float>;
using Cd = Kokkos::complex<double>;

extern "C" {
#define BLOCKSPAN_LAPACK_BOTH(S, R, p, h, u)                                                       \
  void p##potrf_(char const*, int const*, S*, int const*, int*);                                   \
  void p##trsm_(char const*, char const*, char const*, char const*, int const*, int const*,        \
                S const*, S const*, int const*, S*, int const*);                                   \
  void p##h##rk_(char const*, char const*, int const*, int const*, R const*, S const*, int const*, \
                 R const*, S*, int const*);                                                        \
  void p##h##r2k_(char const*, char const*, int const*, int const*, S const*, S const*,            \
                  int const*, S const*, int const*, R const*, S*, int const*);                     \
  void p##h##mm_(char const*, char const*, int const*, int const*, S const*, S const*, int const*, \
                 S const*, int const*, S const*, S*, int const*);                                  \
  void p##h##gst_(int const*, char const*, int const*, S*, int const*, S const*, int const*,       \
                  int*);                                                                           \
  void p##latrd_(char const*, int const*, int const*, S*, int const*, R*, S*, S*, int const*);     \
  void p##h##td2_(char const*, int const*, S*, int const*, R*, R*, S*, int*);                      \
  void p##stemr_(char const*, char const*, int const*, R*, R*, R const*, R const*, int const*,     \
                 int const*, int*, R*, S*, int const*, int const*, int*, int*, R*, int const*,     \
                 int*, int const*, int*);                                                          \
  void p##u##mtr_(char const*, char const*, char const*, int const*, int const*, S const*,         \
                  int const*, S const*, S*, int const*, S*, int const*, int*);
BLOCKSPAN_LAPACK_BOTH(float, float, s, sy, or)
BLOCKSPAN_LAPACK_BOTH(double, double, d, sy, or)
BLOCKSPAN_LAPACK_BOTH(Cf, float, c, he, un)
BLOCKSPAN_LAPACK_BOTH(Cd, double, z, he, un)
#undef BLOCKSPAN_LAPACK_BOTH
}

namespace blockspan::lapack {
namespace {

/// Columns of a step, of factorizations and of the reduction to tridiagonal form.
constexpr int step_columns = 128, reduced_columns = 32;

template <class Scalar>
constexpr char const* adjoint = is_complex_v<Scalar> ? "C" : "T";

template <class Scalar>
void solve_triangle(char const* side, char const* transform, int m, int n, Scalar const* L,
                    Scalar* X, int ld_l, int ld_x) {
  Scalar const one(1);
  of_type<Scalar>(strsm_, dtrsm_, ctrsm_, ztrsm_)(side, "L", transform, "N", &m, &n, &one, L, &ld_l,
                                                  X, &ld_x);
}

/// G := its tridiagonal form Q^H G Q, with the reflectors of Q below it.
template <class Scalar>
void reduce_to_tridiagonal(SmallMatrix<Scalar> const& G, std::vector<real_t<Scalar>>& diagonal,
                           std::vector<real_t<Scalar>>& below, std::vector<Scalar>& factors) {
  using Real = real_t<Scalar>;
  int const n = rows(G), ld = leading_dimension(G), width = reduced_columns;
  std::vector<Scalar> panel(static_cast<std::size_t>(n) * reduced_columns);
  Scalar const minus(-1);
  Real const one(1);
  int first = 0;
  for (; n - first > 4 * width; first += width) {
    InterruptionCheck::step();
    int const left = n - first, rest = left - width;
    of_type<Scalar>(slatrd_, dlatrd_, clatrd_, zlatrd_)("L", &left, &width, &G(first, first), &ld,
                                                        &below[first], &factors[first],
                                                        panel.data(), &left);
    of_type<Scalar>(ssyr2k_, dsyr2k_, cher2k_, zher2k_)(
        "L", "N", &rest, &width, &minus, &G(first + width, first), &ld, &panel[width], &left, &one,
        &G(first + width, first + width), &ld);
    for (int j = first; j < first + width; ++j) {
      diagonal[j] = real_part(G(j, j));
      G(j + 1, j) = Scalar(below[j]);  // latrd leaves the unit entry of the reflector there
    }
  }
  int const left = n - first;
  int info = 0;
  of_type<Scalar>(ssytd2_, dsytd2_, chetd2_, zhetd2_)(
      "L", &left, &G(first, first), &ld, &diagonal[first], &below[first], &factors[first], &info);
}

}  // namespace

template <class Scalar>
int cholesky_by_steps(SmallMatrix<Scalar> const& G) {
  using Real = real_t<Scalar>;
  int const n = rows(G), ld = leading_dimension(G);
  Real const minus(-1), one(1);
  for (int first = 0; first < n; first += step_columns) {
    InterruptionCheck::step();
    int const width = std::min(step_columns, n - first), next = first + width, rest = n - next;
    int info = 0;
    of_type<Scalar>(spotrf_, dpotrf_, cpotrf_, zpotrf_)("L", &width, &G(first, first), &ld, &info);
    if (info != 0) return first + info;
    if (rest == 0) break;
    solve_triangle("R", adjoint<Scalar>, rest, width, &G(first, first), &G(next, first), ld, ld);
    of_type<Scalar>(ssyrk_, dsyrk_, cherk_, zherk_)(
        "L", "N", &rest, &width, &minus, &G(next, first), &ld, &one, &G(next, next), &ld);
  }
  return 0;
}

template <class Scalar>
void reduce_to_standard_by_steps(SmallMatrix<Scalar> const& A, SmallMatrix<Scalar> const& L) {
  int const n = rows(A), ld_a = leading_dimension(A), ld_l = leading_dimension(L), type = 1;
  Scalar const half(-0.5), minus(-1), one(1);
  real_t<Scalar> const real_one(1);
  for (int first = 0; first < n; first += step_columns) {
    InterruptionCheck::step();
    int const width = std::min(step_columns, n - first), next = first + width, rest = n - next;
    int info = 0;
    of_type<Scalar>(ssygst_, dsygst_, chegst_, zhegst_)(&type, "L", &width, &A(first, first), &ld_a,
                                                        &L(first, first), &ld_l, &info);
    if (rest == 0) break;
    Scalar* const below = &A(next, first);
    // A_21 L_11^-H - L_21 A_11, half of the second term before the update of A_22 and half after
    auto const subtract_half = [&] {
      of_type<Scalar>(ssymm_, dsymm_, chemm_, zhemm_)("R", "L", &rest, &width, &half,
                                                      &A(first, first), &ld_a, &L(next, first),
                                                      &ld_l, &one, below, &ld_a);
    };
    solve_triangle("R", adjoint<Scalar>, rest, width, &L(first, first), below, ld_l, ld_a);
    subtract_half();
    of_type<Scalar>(ssyr2k_, dsyr2k_, cher2k_, zher2k_)("L", "N", &rest, &width, &minus, below,
                                                        &ld_a, &L(next, first), &ld_l, &real_one,
                                                        &A(next, next), &ld_a);
    subtract_half();
    solve_triangle("L", "N", rest, width, &L(next, next), below, ld_l, ld_a);
  }
}

template <class Scalar>
int hermitian_eigen_lowest_by_steps(SmallMatrix<Scalar> const& G, int count,
                                    std::vector<real_t<Scalar>>& eigenvalues,
                                    SmallMatrix<Scalar> const& vectors) {
  using Real = real_t<Scalar>;
  int const n = rows(G), ld = leading_dimension(G), ldz = leading_dimension(vectors), first = 1;
  auto const size = static_cast<std::size_t>(n);
  std::vector<Real> diagonal(size), below(size);
  std::vector<Scalar> factors(size);
  reduce_to_tridiagonal(G, diagonal, below, factors);

  Real const none = 0;
  std::vector<Real> work(18 * size);
  std::vector<int> integer_work(10 * size), support(2 * size);
  int const length = 18 * n, integers = 10 * n;
  int found = 0, info = 0, try_accuracy = 1;
  InterruptionCheck::step();
  of_type<Scalar>(sstemr_, dstemr_, cstemr_, zstemr_)(
      "V", "I", &n, diagonal.data(), below.data(), &none, &none, &first, &count, &found,
      eigenvalues.data(), vectors.data(), &ldz, &count, support.data(), &try_accuracy, work.data(),
      &length, integer_work.data(), &integers, &info);
  if (info != 0) return info;

  InterruptionCheck::step();
  std::vector<Scalar> room(static_cast<std::size_t>(std::max(1, count)) * 64);
  int const room_size = static_cast<int>(room.size());
  of_type<Scalar>(sormtr_, dormtr_, cunmtr_, zunmtr_)("L", "L", "N", &n, &count, G.data(), &ld,
                                                      factors.data(), vectors.data(), &ldz,
                                                      room.data(), &room_size, &info);
  return info != 0 ? info : found == count ? 0 : n + 1;
}

#define BLOCKSPAN_INSTANTIATE(S)                                                           \
  template int cholesky_by_steps(SmallMatrix<S> const&);                                   \
  template void reduce_to_standard_by_steps(SmallMatrix<S> const&, SmallMatrix<S> const&); \
  template int hermitian_eigen_lowest_by_steps(SmallMatrix<S> const&, int,                 \
                                               std::vector<real_t<S>>&, SmallMatrix<S> const&);
BLOCKSPAN_INSTANTIATE(float)
BLOCKSPAN_INSTANTIATE(double)
BLOCKSPAN_INSTANTIATE(Cf)
BLOCKSPAN_INSTANTIATE(Cd)
#undef BLOCKSPAN_INSTANTIATE

}  // namespace blockspan::lapack
