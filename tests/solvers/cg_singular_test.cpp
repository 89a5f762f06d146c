// Singular systems: what is outside the range of A is found, and the rest is solved.
#include <cmath>
#include <string>

#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/graph.hpp>

#include "solvers/cg_solve.hpp"
#include "solvers/singular_graph.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

/// As solvers keep blocks.
template <class Exec>
Block<double, Exec> packed_block(Exec const& exec, HostBlock<double> const& values) {
  Block<double, Exec> const X("N", values.rows(), values.columns());
  auto const host = Kokkos::create_mirror_view(X);
  for (std::int64_t i = 0; i < values.rows(); ++i)
    for (std::int64_t j = 0; j < values.columns(); ++j) host(i, j) = values(i, j);
  Kokkos::deep_copy(exec, X, host);
  exec.fence();
  return X;
}

/// A solve whose residuals are those of what the null space leaves of B.
template <class Exec>
struct Rest {
  CgReport<double> report;
  HostBlock<double> X;
};
template <class Exec>
Rest<Exec> solve_with_null_space(TestMatrix<double> const& A, HostBlock<double> const& B,
                                 Block<double, Exec> const& N, CgMethod method) {
  Exec const exec;
  TestOperator<double, Exec> const op(exec, A);
  auto const jacobi = library_jacobi<double, Exec>(A);
  auto const right = make_block(exec, Storage::left, B);
  auto const X = make_block(exec, Storage::left, HostBlock<double>(B.rows(), B.columns(), 3.0));
  CgOptions<double, Exec> options;
  options.method = method;
  options.preconditioner = &jacobi;
  options.null_space = N;
  auto report = solve_spd<double, Exec>(exec, op, right.view, X.view, options);
  return {std::move(report), X.values()};
}

template <class Config>
class CgSingular : public ::testing::Test {};
TYPED_TEST_SUITE(CgSingular, Backends, ConfigNames);

/// The 1-D Neumann matrix: singular, the constant vector is its kernel.
TestMatrix<double> neumann(int n) {
  TestMatrix<double> A(n);
  for (int i = 0; i < n; ++i) {
    A.add(i, i, i == 0 || i == n - 1 ? 1.0 : 2.0);
    if (i > 0) A.add(i, i - 1, -1.0);
    if (i < n - 1) A.add(i, i + 1, -1.0);
  }
  return A;
}

TYPED_TEST(CgSingular, AConsistentSingularSystemIsSolved) {
  auto const A = neumann(200);
  auto B = random_block<double>(200, 4, 1);
  for (int j = 0; j < 4; ++j) {
    double mean = 0;
    for (int i = 0; i < 200; ++i) mean += B(i, j) / 200;
    for (int i = 0; i < 200; ++i) B(i, j) -= mean;
  }
  for (CgMethod const method : every_method)
    EXPECT_TRUE((
        solve<double, TypeParam>({A, B, method, Preconditioner::none, {}, {}}).report.converged()));
}

TYPED_TEST(CgSingular, AnInconsistentSingularSystemIsNotSolved) {
  auto const A = neumann(200);
  auto const B = random_block<double>(200, 4, 1);
  for (CgMethod const method : every_method) {
    auto const solved = solve<double, TypeParam>({A, B, method, Preconditioner::none, {}, {}});
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(solved.report.columns[j].status, Status::inconsistent);
      double largest = 0, sum = 0, squares = 0;
      for (int i = 0; i < 200; ++i) {
        largest = std::max(largest, std::abs(solved.X(i, j)));
        sum += B(i, j), squares += B(i, j) * B(i, j);
      }
      EXPECT_LT(largest, 1e6);
      double const outside = std::abs(sum) / std::sqrt(200 * squares);
      EXPECT_NEAR(solved.report.columns[j].outside, outside, 1e-6 * outside);
    }
    EXPECT_EQ(solved.report.null_vectors, 1);
    EXPECT_LE(solved.report.iterations, 1000);  // a consistent one takes 200
  }
}

/// Every third column is consistent, the others are not.
template <class Scalar, class Exec>
void expect_verdicts(SingularGraph<Scalar> const& graph, int columns, CgMethod method,
                     Preconditioner preconditioner, bool single_reduction) {
  auto B = random_block<Scalar>(graph.A.order(), columns, 1);
  for (int j = 0; j < columns; j += 3) graph.make_consistent(B, j);
  auto const change = [&](auto& options) { options.single_reduction = single_reduction; };
  auto const solved = solve<Scalar, Exec>({graph.A, B, method, preconditioner, change, {}});
  for (int j = 0; j < columns; ++j) {
    auto const& column = solved.report.columns[j];
    EXPECT_EQ(column.status, j % 3 == 0 ? Status::converged : Status::inconsistent) << j;
    if (j % 3 == 0) continue;
    double const outside = graph.outside(B, j);
    EXPECT_LE(column.outside, outside * 1.001) << j;
    EXPECT_GE(column.outside, graph.components == 1 ? outside * 0.999 : 1e-5) << j;
  }
  EXPECT_LE(solved.report.iterations, 1500);
}

TYPED_TEST(CgSingular, ColumnsOutsideTheRangeAreToldFromThoseWithin) {
  for (int const components : {1, 3}) {
    auto const graph = random_graph<double>(320, components, 1);
    auto const plain = random_graph<double>(310, components, 0.2);
    for (int const columns : {1, 2, 7, 20})
      for (CgMethod const method : {CgMethod::pseudo_block, CgMethod::block})
        for (bool const single : {false, true}) {
          if (single && method == CgMethod::block) continue;
          expect_verdicts<double, TypeParam>(graph, columns, method, Preconditioner::jacobi,
                                             single);
          if (columns > 2) continue;
          expect_verdicts<double, TypeParam>(graph, columns, method, Preconditioner::foreign,
                                             false);
          expect_verdicts<double, TypeParam>(plain, columns, method, Preconditioner::none, single);
        }
  }
}

TYPED_TEST(CgSingular, NullVectorsWithPhasesAreFound) {
  using Complex = Kokkos::complex<double>;
  if constexpr (has_scalar<Complex>) {
    auto const graph = random_graph<Complex>(300, 2, 0.5);
    for (CgMethod const method : {CgMethod::pseudo_block, CgMethod::block})
      for (int const columns : {1, 4})
        expect_verdicts<Complex, TypeParam>(graph, columns, method, Preconditioner::jacobi, false);
  }
}

TYPED_TEST(CgSingular, ATinyPartOutsideTheRangeCountsAgainstTheTolerance) {
  auto const graph = random_graph<double>(400, 1, 0);
  // 58: a null vector found early, with errors as large as the smallest parts
  for (std::uint64_t const seed : {1, 58}) {
    auto B = random_block<double>(400, 4, seed);
    double const parts[] = {1e-11, 1e-9, 1e-6, 1e-4};
    for (int j = 0; j < 4; ++j) {
      graph.make_consistent(B, j);
      double size = 0, length = 0;
      for (int i = 0; i < 400; ++i)
        size += B(i, j) * B(i, j), length += graph.null(i, 0) * graph.null(i, 0);
      for (int i = 0; i < 400; ++i)
        B(i, j) += parts[j] * std::sqrt(size / length) * graph.null(i, 0);
    }
    for (CgMethod const method : every_method) {
      auto const solved =
          solve<double, TypeParam>({graph.A, B, method, Preconditioner::jacobi, {}, {}});
      for (int j = 0; j < 4; ++j) {
        auto const& column = solved.report.columns[j];
        EXPECT_EQ(column.status, j < 2 ? Status::converged : Status::inconsistent) << j;
        if (j < 2) continue;
        EXPECT_NEAR(column.outside, parts[j], 1e-2 * parts[j]) << j << ", seed " << seed;
      }
    }
  }
}

TYPED_TEST(CgSingular, TheConstantVectorIsTriedBeforeTheFirstIteration) {
  TypeParam const exec;
  auto const A = graph_laplacian<double>(exec, generate<double>(exec, "laplace7:9x8x7"));
  auto const op = matrix_operator(exec, A, 3);
  EXPECT_TRUE(op.annihilates_constants(exec));
  EXPECT_FALSE(
      matrix_operator(exec, generate<double>(exec, "laplace7:4")).annihilates_constants(exec));
  auto values = random_block<double>(504, 3, 1);
  double mean = 0;
  for (int i = 0; i < 504; ++i) mean += values(i, 1) / 504;
  for (int i = 0; i < 504; ++i) values(i, 1) -= mean;
  auto const B = make_block(exec, Storage::right, values);
  for (CgMethod const method : every_method) {
    auto const X = make_block(exec, Storage::right, HostBlock<double>(504, 3, 1.0));
    CgOptions<double, TypeParam> options;
    options.method = method;
    auto const report = solve_spd<double, TypeParam>(exec, op, B.view, X.view, options);
    EXPECT_EQ(report.columns[0].status, Status::inconsistent);
    EXPECT_EQ(report.columns[0].iterations, 0);
    EXPECT_EQ(report.columns[1].status, Status::converged);
    EXPECT_EQ(report.columns[1].outside, 0);
    EXPECT_EQ(report.columns[2].status, Status::inconsistent);
    for (int i = 0; i < 504; ++i) EXPECT_EQ(X.values()(i, 0), 0);
  }
}

TYPED_TEST(CgSingular, GivenTheNullSpaceTheRestIsSolved) {
  TypeParam const exec;
  constexpr int n = 300, columns = 5;
  auto const graph = random_graph<double>(n, 3, 0.5);
  auto B = random_block<double>(n, columns, 1);
  graph.make_consistent(B, 1);
  for (int i = 0; i < n; ++i) B(i, 4) = graph.null(i, 2);  // nothing but null vectors
  HostBlock<double> null(n, 4);
  for (int i = 0; i < n; ++i) {
    for (int c = 0; c < 3; ++c) null(i, c) = 1e200 * graph.null(i, c);
    null(i, 3) = null(i, 0) + null(i, 1);  // no direction of its own
  }
  auto const N = packed_block(exec, null);
  auto rest = B;
  for (int j = 0; j < columns; ++j) graph.make_consistent(rest, j);
  for (CgMethod const method : every_method)
    for (bool const guess : {false, true}) {
      auto const start = guess ? random_block<double>(n, columns, 3) : HostBlock<double>();
      auto const solved =
          solve<double, TypeParam>({graph.A, rest, method, Preconditioner::jacobi,
                                    [&](auto& options) { options.null_space = N; }, start});
      EXPECT_TRUE(solved.report.converged());
      EXPECT_EQ(solved.report.null_vectors, 3);
      auto const whole = solve_with_null_space<TypeParam>(graph.A, B, N, method);
      for (int j = 0; j < columns; ++j) {
        EXPECT_NEAR(whole.report.columns[j].outside, graph.outside(B, j), 1e-12) << j;
        EXPECT_EQ(whole.report.columns[j].status, Status::converged) << j;
        for (int c = 0; c < 3; ++c) {  // the solution is the shortest one
          double dot = 0, length = 0, size = 0;
          for (int i = 0; i < n; ++i) {
            dot += graph.null(i, c) * whole.X(i, j);
            length += graph.null(i, c) * graph.null(i, c), size += whole.X(i, j) * whole.X(i, j);
          }
          EXPECT_LE(std::abs(dot), 1e-12 * std::sqrt(length * size)) << j;
        }
      }
      auto const judged = judge_residuals(graph.A, rest, whole.X);
      for (int j = 0; j + 1 < columns; ++j) EXPECT_LE(judged.value[j], 1.001e-8) << j;
      for (int i = 0; i < n; ++i) EXPECT_EQ(whole.X(i, columns - 1), 0);
    }
}

TYPED_TEST(CgSingular, VectorsThatAreNoNullSpaceAreRefused) {
  TypeParam const exec;
  TestOperator<double, TypeParam> const A(exec, grid7<double>(4));
  Block<double, TypeParam> const B("B", 64, 2), X("X", 64, 2), ones("N", 64, 1), low("N", 60, 1),
      infinite("N", 64, 1);
  Kokkos::deep_copy(ones, 1.0);
  Kokkos::deep_copy(infinite, HUGE_VAL);
  auto const bad = [&](auto const& N, std::string const& words) {
    CgOptions<double, TypeParam> options;
    options.null_space = N;
    EXPECT_THAT(message_of([&] { solve_spd<double, TypeParam>(exec, A, B, X, options); }),
                HasSubstr(words));
  };
  bad(ones, "does not map these vectors to zero");
  bad(low, "null_space has 60 rows, A has order 64");
  bad(infinite, "row 0, column 0 of the vectors (both from 0) is infinite");
}

/// H diag(eigenvalues) H with the reflection H = I - 2 v v^T / v^T v: dense, eigenvectors known.
TestMatrix<double> reflected(std::vector<double> const& eigenvalues) {
  int const n = static_cast<int>(eigenvalues.size());
  std::vector<long double> v;
  long double length = 0;
  for (int i = 0; i < n; ++i) v.push_back(1 + 0.5 * noise(i, 3)), length += v[i] * v[i];
  TestMatrix<double> A(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      long double sum = 0;
      for (int k = 0; k < n; ++k)
        sum += ((i == k) - 2 * v[i] * v[k] / length) * eigenvalues[k] *
               ((j == k) - 2 * v[j] * v[k] / length);
      A.add(i, j, static_cast<double>(sum));
    }
  return A;
}

TYPED_TEST(CgSingular, AnAlmostSingularMatrixIsNotCalledSingular) {
  for (double const least : {1e-10, 1e-12}) {
    std::vector<double> eigenvalues{least};
    for (int i = 0; i < 59; ++i) eigenvalues.push_back(0.01 + i / 60.0);
    auto const A = reflected(eigenvalues);
    for (int const columns : {1, 4}) {
      auto const B = random_block<double>(60, columns, 1);
      for (CgMethod const method : every_method)
        for (auto const preconditioner : {Preconditioner::none, Preconditioner::jacobi}) {
          auto const solved = solve<double, TypeParam>({A, B, method, preconditioner, {}, {}});
          for (auto const& column : solved.report.columns) {
            EXPECT_NE(column.status, Status::inconsistent) << least;
            EXPECT_NE(column.status, Status::singular) << least;
            EXPECT_EQ(column.outside, 0) << least;
          }
        }
    }
  }
}

}  // namespace
}  // namespace blockspan::test
