#include "solvers/cg_solve.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "support/extended.hpp"

namespace blockspan::test {

template <class Scalar>
TestMatrix<Scalar> hermitian_grid(int N) {
  auto A = grid7<Scalar>(N);
  if constexpr (is_complex_v<Scalar>) {
    using Real = real_t<Scalar>;
    for (int i = 0; i < A.order(); ++i)
      for (auto& entry : A.rows[i]) {
        if (entry.column == i) continue;
        int const low = std::min(i, entry.column), high = std::max(i, entry.column);
        double const phase = 0.7 * std::sin(1.0 + low * 0.37 + high * 0.11);
        Scalar const z(static_cast<Real>(-std::cos(phase)), static_cast<Real>(-std::sin(phase)));
        entry.value = i == low ? z : blockspan::conjugate(z);
      }
  }
  return A;
}

template <class Scalar>
TestMatrix<Scalar> graded_grid(int N) {
  auto A = hermitian_grid<Scalar>(N);
  auto const d = [](int i) { return 1 + 0.5 * std::sin(0.3 * i) * std::sin(0.3 * i); };
  for (int i = 0; i < A.order(); ++i)
    for (auto& e : A.rows[i]) e.value *= static_cast<real_t<Scalar>>(d(i) * d(e.column));
  return A;
}

template <class Scalar, class Exec>
JacobiPreconditioner<Scalar, Exec> library_jacobi(TestMatrix<Scalar> const& A) {
  typename JacobiPreconditioner<Scalar, Exec>::Factors const factors("Blockspan::test", A.order());
  auto const host = Kokkos::create_mirror_view(factors);
  for (int i = 0; i < A.order(); ++i)
    host(i) = static_cast<real_t<Scalar>>(1 / std::abs(wide(A.diagonal(i))));
  Kokkos::deep_copy(factors, host);
  return JacobiPreconditioner<Scalar, Exec>(factors);
}

template <class Scalar>
JudgedResiduals judge_residuals(TestMatrix<Scalar> const& A, HostBlock<Scalar> const& B,
                                HostBlock<Scalar> const& X) {
  JudgedResiduals result;
  std::size_t longest = 0;
  for (auto const& row : A.rows) longest = std::max(longest, row.size());
  for (std::int64_t j = 0; j < B.columns(); ++j) {
    long double sum = 0, size = 0, magnitudes = 0;
    for (int i = 0; i < A.order(); ++i) {
      std::complex<long double> r = wide(B(i, j));
      long double terms = std::abs(r);
      size += std::norm(r);
      for (auto const& e : A.rows[i]) {
        auto const term = wide(e.value) * wide(X(e.column, j));
        r -= term;
        terms += std::abs(term);
      }
      sum += std::norm(r);
      magnitudes += terms * terms;
    }
    auto const m = static_cast<std::int64_t>(longest) + 3;
    result.value.push_back(std::sqrt(sum) / std::sqrt(size));
    result.rounding.push_back(gamma_bound<Scalar>(m) * std::sqrt(magnitudes) / std::sqrt(size));
  }
  return result;
}

template <class Scalar, class Exec>
void check_columns(CgSolved<Scalar>& solved, CgOptions<Scalar, Exec> const& options) {
  for (std::size_t j = 0; j < solved.report.columns.size(); ++j) {
    auto const& column = solved.report.columns[j];
    auto const value = solved.residual.value[j], rounding = solved.residual.rounding[j];
    solved.most_iterations = std::max(solved.most_iterations, column.iterations);
    if (column.status == Status::zero_rhs) {
      EXPECT_EQ(column.residual, 0);
      for (std::int64_t i = 0; i < solved.X.rows(); ++i)
        EXPECT_EQ(solved.X(i, static_cast<std::int64_t>(j)), Scalar(0));
    } else if (column.status != Status::nonfinite_rhs) {
      EXPECT_LE(std::abs(value - column.residual), rounding + 1e-5L * value) << "column " << j;
      ASSERT_FALSE(column.cycle_residuals.empty());
    }
    if (column.status != Status::converged) continue;
    double const tolerance = options.tolerances.empty() ? options.tolerance : options.tolerances[j];
    bool const absolute = options.absolute_tolerance > 0 || !options.absolute_tolerances.empty();
    // the claim counts the rounding errors of its own residual
    long double const norms = 4 * std::numeric_limits<real_t<Scalar>>::epsilon();
    EXPECT_TRUE(absolute || value <= tolerance * (1 + norms)) << "column " << j << ": " << value;
  }
}

template <class Scalar, class Exec>
CgSolved<Scalar> solve(CgCase<Scalar, Exec> const& c) {
  Exec const exec;
  TestOperator<Scalar, Exec> const A(exec, c.A, c.tell_norm), foreign(exec, jacobi_matrix(c.A));
  auto const jacobi = library_jacobi<Scalar, Exec>(c.A);
  bool const guess = c.guess.rows() > 0;
  auto const B = make_block(exec, c.storage, c.B);
  auto const X = make_block(
      exec, c.storage,
      guess ? c.guess : HostBlock<Scalar>(c.B.rows(), c.B.columns(), not_a_number<Scalar>()));
  CgOptions<Scalar, Exec> options;
  options.use_guess = guess;
  if (c.preconditioner == Preconditioner::jacobi) options.preconditioner = &jacobi;
  if (c.preconditioner == Preconditioner::foreign) options.preconditioner = &foreign;
  options.method = c.method;
  if (c.change) c.change(options);
  CgSolved<Scalar> solved;
  solved.report = solve_spd<Scalar, Exec>(exec, A, B.const_view(), X.view, options);
  solved.X = X.values();
  EXPECT_TRUE(B.surroundings_intact() && X.surroundings_intact());
  EXPECT_TRUE(same_bits(B.values(), c.B));
  auto const& counters = solved.report.counters;
  EXPECT_EQ(counters.operator_applications, A.calls);
  EXPECT_EQ(counters.operator_columns, A.columns);
  EXPECT_EQ(counters.preconditioner_applications, foreign.calls);
  EXPECT_EQ(counters.preconditioner_columns, foreign.columns);
  solved.residual = judge_residuals(c.A, c.B, solved.X);
  check_columns(solved, options);
  return solved;
}

#define INSTANTIATE(Scalar)                                                                     \
  template TestMatrix<Scalar> hermitian_grid<Scalar>(int);                                      \
  template TestMatrix<Scalar> graded_grid<Scalar>(int);                                         \
  template JudgedResiduals judge_residuals(TestMatrix<Scalar> const&, HostBlock<Scalar> const&, \
                                           HostBlock<Scalar> const&);
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(Scalar, Exec)                                                 \
  template JacobiPreconditioner<Scalar, Exec> library_jacobi<Scalar, Exec>(       \
      TestMatrix<Scalar> const&);                                                 \
  template void check_columns(CgSolved<Scalar>&, CgOptions<Scalar, Exec> const&); \
  template CgSolved<Scalar> solve(CgCase<Scalar, Exec> const&);
BLOCKSPAN_TEST_EACH(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
