#include "solvers/truth.hpp"

#include "solvers/judge.hpp"
#include "solvers/solve.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

using Exec = AnyBackend;

template <class Scalar>
void solve_and_compare(std::string const& folder, Truth const& truth, double tolerance) {
  Exec const exec;
  auto const A = truth_matrix<Scalar>(folder, truth);
  bool const generalized = !truth.mass.empty();
  auto const B = generalized ? read_test_matrix<Scalar>(folder, truth.mass) : TestMatrix<Scalar>();
  TestOperator<Scalar, Exec> const a(exec, A), t(exec, jacobi_matrix(A));
  std::optional<TestOperator<Scalar, Exec>> b;
  if (generalized) b.emplace(exec, B);
  int const wanted = static_cast<int>(truth.eigenvalues.size());
  auto const X = block_for<Scalar, Exec>(A.order(), wanted);
  auto options = iteration_options<Scalar, Exec>(wanted);
  options.tolerance = tolerance;
  options.which = truth.which == "largest" ? Which::largest : Which::smallest;
  if (options.which == Which::smallest) options.preconditioner = &t;
  auto const report = generalized ? lobpcg(exec, a, *b, X, options) : lobpcg(exec, a, X, options);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_EQ(report.path, A.order() < 5 * static_cast<int>(X.extent(1)) ? "dense" : "iterative");
  EXPECT_EQ(report.counters.operator_applications, a.calls);
  EXPECT_EQ(report.counters.operator_columns, a.columns);
  auto const found = judge<Scalar, Exec>(A, generalized ? &B : nullptr, X, report.eigenvalues);
  long double residual = 0, size = 0;
  Vectors const x = fetch<Scalar, Exec>(X, wanted);
  Vectors const ax = apply(A, x), bx = generalized ? apply(B, x) : x;
  for (int j = 0; j < wanted; ++j) {
    std::vector<Extended> r(A.order());
    for (int i = 0; i < A.order(); ++i)
      r[i] = ax[j][i] - static_cast<long double>(report.eigenvalues[j]) * bx[j][i];
    residual = std::max(residual, generalized ? dual_norm(B, r) : found.residual[j]);
    size = std::max(size, found.size[j]);
    EXPECT_LE(found.backward[j], 1.01 * tolerance + 1e-15) << j;
  }
  EXPECT_LE(found.orthogonality,
            1e-12 * std::max(1.0L, generalized ? size * size * B.infinity_norm() * 1e-3L : 0));
  for (int j = 0; j < wanted; ++j) {
    long double const lambda = truth.eigenvalues[j];
    long double const bound = std::sqrt(static_cast<long double>(wanted)) * residual +
                              1e-14L * A.infinity_norm() * size * size +
                              50 * truth.attainable[j] * std::abs(lambda);
    EXPECT_LE(std::abs(report.eigenvalues[j] - lambda), bound)
        << "pair " << j << ": " << report.eigenvalues[j] << " for " << truth.eigenvalues[j];
  }
}

template <class Scalar>
void solve_where_compiled(std::string const& folder, Truth const& truth) {
  if constexpr (has_scalar<Scalar>)
    solve_and_compare<Scalar>(folder, truth, 1e-12);
  else
    GTEST_SKIP() << needs_complex;
}

class TruthFile : public ::testing::TestWithParam<char const*> {};

TEST_P(TruthFile, ItsEigenvaluesAreFound) {
  auto const folder = matrix_folder();
  if (!folder) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR does not name the folder of real matrices";
  auto const truth = find_truth(*folder, GetParam());
  if (read_matrix_market_header(*folder + "/" + truth.matrix + ".mtx.gz").field ==
      MatrixMarketField::complex)
    solve_where_compiled<Kokkos::complex<double>>(*folder, truth);
  else
    solve_where_compiled<double>(*folder, truth);
}

std::string name_of(::testing::TestParamInfo<char const*> const& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Short, TruthFile,
    ::testing::Values(
        "std:nos4 smallest", "std:bcsstk01 smallest", "std:bcsstk02 smallest",
        "std:494_bus smallest", "std:nos3 smallest", "std:gr_30_30 smallest",
        "std:bcsstk08 smallest", "std:bcsstk21 smallest", "std:Trefethen_2000 smallest",
        "std:mhd1280b smallest", "std:mhd3200b smallest", "std:Chem97ZtZ smallest",
        "std:Si2 smallest", "std:bcsstm21 smallest", "gen:bcsstk07/bcsstm07 smallest",
        "gen:bcsstk09/bcsstm09 smallest", "gen:bcsstk21/bcsstm21 smallest", "lap:3elt smallest",
        "lap:minnesota smallest", "std:ex5 smallest", "std:LF10 smallest",
        "std:Trefethen_20b smallest", "std:mesh1e1 smallest", "std:662_bus smallest",
        "std:nos5 smallest", "std:bcsstk07 smallest", "std:bcsstk09 smallest",
        "std:bcsstk10 smallest", "std:bcsstm07 smallest", "std:bcsstm08 smallest",
        "std:bcsstm09 smallest", "std:bcsstm24 smallest", "std:bcsstm26 smallest",
        "std:bcsstm10 smallest", "std:bcsstm12 smallest", "std:laser smallest",
        "std:bcsstk15 smallest", "std:1138_bus smallest", "gen:bcsstk08/bcsstm08 smallest",
        "lap:dwt_2680 smallest", "lap:nasa4704 smallest", "lap:G1 smallest", "std:Si2 largest",
        "lap:3elt largest", "std:Trefethen_2000 largest", "adj:karate largest", "adj:G1 largest",
        "std:gr_30_30 largest", "std:mhd1280b largest", "adj:minnesota largest"),
    name_of);
/// Problems of more than ten seconds on a slow core.
INSTANTIATE_TEST_SUITE_P(LongRun, TruthFile,
                         ::testing::Values("std:bcsstk13 smallest", "std:bcsstk26 smallest",
                                           "gen:bcsstk26/bcsstm26 smallest", "std:plat362 smallest",
                                           "std:hangGlider_2 smallest", "std:msc01050 smallest",
                                           "gen:bcsstk09/bcsstm09 largest"),
                         name_of);

}  // namespace
}  // namespace blockspan::test
