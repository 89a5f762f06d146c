// LOBPCG and CG against closed forms, for all scalars of the build.
#include "problems.hpp"

namespace c_test {

template <class Scalar>
class CSolves : public testing::Test {
 protected:
  Context context;
};
TYPED_TEST_SUITE(CSolves, Scalars);

/// The relative error of values against f(j), j from 1.
template <class Exact>
double relative_error(std::vector<double> const& values, Exact const& exact) {
  double worst = 0;
  for (std::size_t j = 0; j < values.size(); ++j) {
    double const truth = exact(static_cast<std::int64_t>(j) + 1);
    worst = std::max(worst, std::abs(values[j] - truth) / truth);
  }
  return worst;
}

TYPED_TEST(CSolves, SmallestPairsOfALine) {
  // in single precision four digits of 6e-5 ||A||, the lowest of 200, are not to be had
  constexpr bool single = std::is_same_v<typename Traits<TypeParam>::Real, float>;
  constexpr std::int64_t n = single ? 60 : 200;
  auto const A = laplacian<TypeParam>(n);
  auto const op = A.as_operator(this->context);
  for (bool const by_columns : {true, false}) {
    auto X =
        by_columns ? Columns<TypeParam>::by_columns(n, 8, 3) : Columns<TypeParam>::by_rows(n, 8, 3);
    auto const gaps = X.marks() - static_cast<std::size_t>(8 * n);
    std::vector<double> values(4), errors(4);
    std::vector<std::int32_t> statuses(4, -1);
    auto summary = empty_summary();
    auto options = lobpcg_options(4);
    options.path = BLOCKSPAN_PATH_ITERATIVE;
    if (single) options.criterion = BLOCKSPAN_BACKWARD;
    auto const x = X.block();
    ok(blockspan_lobpcg(op, nullptr, &x, &options, values.data(), errors.data(), statuses.data(),
                        &summary));
    EXPECT_STREQ(blockspan_status_name(summary.status), "converged");
    EXPECT_EQ(summary.converged, 4);
    EXPECT_GT(summary.iterations, 3);
    EXPECT_GT(summary.operator_applications, 3);
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(statuses[static_cast<std::size_t>(j)], BLOCKSPAN_CONVERGED);
      EXPECT_NEAR(values[static_cast<std::size_t>(j)], line_eigenvalue(j + 1, n),
                  accuracy<TypeParam>(1e-9));
    }
    // A x = lambda x, with unit vectors that stand where they should
    auto LX = X;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < 4; ++j)
        LX(i, j) *=
            static_cast<typename Traits<TypeParam>::Real>(values[static_cast<std::size_t>(j)]);
    auto four = X, lfour = LX;
    four.columns = lfour.columns = 4;
    EXPECT_LT(largest_residual(A, four, lfour), accuracy<TypeParam>(1e-6));
    double norm = 0;
    for (std::int64_t i = 0; i < n; ++i) norm += std::norm(X(i, 0));
    EXPECT_NEAR(norm, 1, 1e-5);
    EXPECT_GE(X.marks(), gaps);
  }
}

TYPED_TEST(CSolves, LargestPairsAndAPencil) {
  constexpr std::int64_t n = 120;
  auto const A = laplacian<TypeParam>(n);
  auto const M = line_mass<TypeParam>(n);
  auto const a = A.as_operator(this->context), m = M.as_operator(this->context);
  auto X = Columns<TypeParam>::by_columns(n, 8);
  auto const x = X.block();
  std::vector<double> values(3);
  auto options = lobpcg_options(3);
  ok(blockspan_lobpcg(a, m, &x, &options, values.data(), nullptr, nullptr, nullptr));
  EXPECT_LT(relative_error(values, [](auto j) { return pencil_eigenvalue(j, n); }),
            10 * accuracy<TypeParam>(1e-8));
  options.which = BLOCKSPAN_LARGEST;
  ok(blockspan_lobpcg(a, m, &x, &options, values.data(), nullptr, nullptr, nullptr));
  EXPECT_LT(relative_error(values, [](auto j) { return pencil_eigenvalue(n + 1 - j, n); }),
            accuracy<TypeParam>(1e-8));
}

TYPED_TEST(CSolves, PairsBesideConstraintsAndFromAGuess) {
  constexpr std::int64_t n = 100;
  auto const A = laplacian<TypeParam>(n);
  auto const op = A.as_operator(this->context);
  auto X = Columns<TypeParam>::by_columns(n, 8);
  auto const x = X.block();
  std::vector<double> values(2);
  auto options = lobpcg_options(2);
  options.path = BLOCKSPAN_PATH_ITERATIVE;
  auto first = empty_summary(), again = empty_summary();
  ok(blockspan_lobpcg(op, nullptr, &x, &options, values.data(), nullptr, nullptr, &first));
  auto guess = X;
  auto const g = guess.block();
  options.guess_columns = 8;
  ok(blockspan_lobpcg(op, nullptr, &g, &options, values.data(), nullptr, nullptr, &again));
  EXPECT_LT(again.iterations, first.iterations);
  auto found = x;
  found.columns = 2;
  options.guess_columns = 0;
  options.constraints = &found;
  auto Y = Columns<TypeParam>::by_rows(n, 8);
  auto const y = Y.block();
  ok(blockspan_lobpcg(op, nullptr, &y, &options, values.data(), nullptr, nullptr, nullptr));
  for (int j = 0; j < 2; ++j)
    EXPECT_NEAR(values[static_cast<std::size_t>(j)], line_eigenvalue(j + 3, n),
                accuracy<TypeParam>(1e-8));
}

TYPED_TEST(CSolves, SystemsOfAnyLayoutWithEveryPreconditioner) {
  constexpr std::int64_t side = 20, n = side * side;
  auto const A = laplacian<TypeParam>(side, side);
  auto const op = A.as_operator(this->context);
  auto const layouts = {Columns<TypeParam>::by_columns(n, 5, 2), Columns<TypeParam>::by_rows(n, 5),
                        Columns<TypeParam>(n, 5, 11, 2)};
  for (std::string const words : {"none", "jacobi", "block-jacobi:2", "chebyshev:3", "multigrid"}) {
    Operator M;
    ok(blockspan_preconditioner(op, words.c_str(), nullptr, &M));
    EXPECT_EQ(static_cast<blockspan_operator>(M) == nullptr, words == "none");
    for (auto layout : layouts) {
      auto B = layout, X = layout;
      B.fill(7);
      X.fill(100);
      auto const b = B.block(), x = X.block();
      auto options = cg_options();
      options.preconditioner = M;
      std::vector<double> residuals(5);
      std::vector<std::int32_t> statuses(5, -1), iterations(5);
      auto summary = empty_summary();
      ok(blockspan_solve_spd(op, &b, &x, &options, residuals.data(), statuses.data(),
                             iterations.data(), &summary));
      EXPECT_EQ(summary.status, BLOCKSPAN_CONVERGED) << words;
      EXPECT_EQ(summary.converged, 5);
      EXPECT_LT(largest_residual(A, X, B), 20 * accuracy<TypeParam>(1e-8)) << words;
      EXPECT_GE(X.marks(), X.gaps());
      EXPECT_LE(residuals[4], 1e-5);
      EXPECT_GE(iterations[0], 1);
    }
  }
}

TYPED_TEST(CSolves, SystemsInPlace) {
  auto const A = laplacian<TypeParam>(20, 20);
  auto const op = A.as_operator(this->context);
  for (bool const by_rows : {true, false}) {
    auto B = by_rows ? Columns<TypeParam>::by_rows(400, 5) : Columns<TypeParam>::by_columns(400, 5);
    auto X = B.fill(3), both = X;
    auto const b = B.block(), x = X.block(), y = both.block();
    auto const o = cg_options();
    ok(blockspan_solve_spd(op, &b, &x, &o, nullptr, nullptr, nullptr, nullptr));
    ok(blockspan_solve_spd(op, &y, &y, &o, nullptr, nullptr, nullptr, nullptr));
    EXPECT_EQ(X.memory, both.memory);
    EXPECT_LT(largest_residual(A, both, B), accuracy<TypeParam>(1e-6));
  }
}

TYPED_TEST(CSolves, ASingularSystemWithItsNullVector) {
  constexpr std::int64_t side = 12, n = side * side;
  auto const A = laplacian<TypeParam>(side, side, true);
  auto const op = A.as_operator(this->context);
  Columns<TypeParam> ones = Columns<TypeParam>::by_columns(n, 1), B = ones, X = ones;
  for (std::int64_t i = 0; i < n; ++i)
    ones(i, 0) = Csr<TypeParam>::conjugate(Traits<TypeParam>::unit(0.7 * static_cast<double>(i)));
  B.fill(3);
  auto const null_space = ones.block(), b = B.block(), x = X.block();
  auto options = cg_options();
  options.null_space = &null_space;
  auto summary = empty_summary();
  ok(blockspan_solve_spd(op, &b, &x, &options, nullptr, nullptr, nullptr, &summary));
  EXPECT_EQ(summary.status, BLOCKSPAN_CONVERGED);
  TypeParam along = 0;
  for (std::int64_t i = 0; i < n; ++i) along += Csr<TypeParam>::conjugate(ones(i, 0)) * X(i, 0);
  EXPECT_LT(std::abs(along), accuracy<TypeParam>(1e-8) * n);
}

TYPED_TEST(CSolves, ACallbackIsAnOperatorLikeAnyOther) {
  constexpr std::int64_t n = 80;
  auto const A = laplacian<TypeParam>(n);
  struct Counted {
    Csr<TypeParam> const* A;
    int calls;
    bool by_columns;
  };
  auto const multiply = [](void* user, blockspan_block const* X, blockspan_block const* Y) {
    auto& counted = *static_cast<Counted*>(user);
    ++counted.calls;
    if ((counted.by_columns ? X->row_stride : X->column_stride) != 1) return 9;
    auto const* const x = static_cast<TypeParam const*>(X->data);
    auto* const y = static_cast<TypeParam*>(Y->data);
    auto const& M = *counted.A;
    for (std::int64_t i = 0; i < X->rows; ++i)
      for (std::int64_t j = 0; j < X->columns; ++j) {
        TypeParam sum = 0;
        for (auto e = M.offsets[i]; e < M.offsets[i + 1]; ++e)
          sum += M.values[static_cast<std::size_t>(e)] *
                 x[M.indices[static_cast<std::size_t>(e)] * X->row_stride + j * X->column_stride];
        y[i * Y->row_stride + j * Y->column_stride] = sum;
      }
    return 0;
  };
  for (bool const by_columns : {false, true}) {
    Counted counted{&A, 0, by_columns};
    Operator op;
    ok(blockspan_operator_callback(this->context, Traits<TypeParam>::number, nullptr, n, multiply,
                                   &counted, by_columns, "stencil", &op));
    auto X = Columns<TypeParam>::by_columns(n, 6);
    auto const x = X.block();
    std::vector<double> values(2);
    auto options = lobpcg_options(2);
    ok(blockspan_lobpcg(op, nullptr, &x, &options, values.data(), nullptr, nullptr, nullptr));
    EXPECT_NEAR(values[1], line_eigenvalue(2, n), accuracy<TypeParam>(1e-8));
    EXPECT_GT(counted.calls, 1);
  }
}

}  // namespace c_test
