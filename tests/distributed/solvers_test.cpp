// Solvers on rows that are spread over ranks: the steps of one rank, bit by bit, where cuts are at
// chunks and the kernel is one; else the same answer.
#include <cmath>
#include <functional>
#include <numbers>

#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

/// The rank that has whole matrices, and solves with them for comparison.
bool alone() { return world().rank() == 0; }

template <class Config>
class DistributedSolve : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  using Operator = LinearOperator<Value, Exec>;
  Exec const exec;

  /// A matrix whole, on rank 0 only, and in parts, as operators whose bits are the same.
  struct Pair {
    Pair(Exec const& exec, std::string const& spec, RowPartition const* like = nullptr)
        : A(alone() ? generate<Value>(exec, spec) : CrsMatrix<Value, Exec>()),
          one(exec, A, whole_rows()),
          matrix(distribute(exec, world(), A, like)),
          all(distributed_operator(exec, matrix, {.same_bits = like == nullptr})) {}
    std::int64_t rows() const { return matrix->partition().global_rows(); }
    CrsMatrix<Value, Exec> A;
    MatrixOperator<Value, Exec> one;
    std::shared_ptr<DistributedMatrix<Value, Exec> const> matrix;
    DistributedOperator<Value, Exec> all;
  };

  Block<Value, Exec> random(std::int64_t rows, int columns) const {
    Block<Value, Exec> const X("X", static_cast<std::size_t>(rows),
                               static_cast<std::size_t>(columns));
    fill_random(exec, X, 3);
    return X;
  }

  using CgOpts = CgOptions<Value, Exec>;
  void expect_same_cg(Pair const& pair, int columns, CgMethod method, Operator const* whole_m,
                      Operator const* local_m, std::function<void(CgOpts&)> const& prepare = {}) {
    auto const B = random(pair.rows(), columns);
    Block<Value, Exec> const X("X", B.extent(0), B.extent(1));
    auto const space = pair.all.row_space();
    auto const b = local_rows(space, B), x = local_rows(space, X);
    CgOpts options;
    options.tolerance = 1e-9;
    options.keep_history = true;
    options.method = method;
    if (prepare) prepare(options);
    auto const run = [&](Operator const& A, Operator const* M, auto const& rhs, auto const& to) {
      options.preconditioner = M;
      return solve_spd(exec, A, rhs, to, options);
    };
    auto const all = run(pair.all, local_m, b, x);
    auto const found = entries(whole_block(space, x));
    expect_equal_on_ranks(all.history.back().residuals);
    if (!alone()) return;
    auto const one = run(pair.one, whole_m, B, X);
    EXPECT_TRUE(one.converged());
    EXPECT_EQ(all.status, one.status) << to_string(all.status);
    EXPECT_EQ(all.iterations, one.iterations);
    ASSERT_EQ(all.history.size(), one.history.size());
    for (std::size_t i = 0; i < one.history.size(); ++i)
      ASSERT_EQ(all.history[i].residuals, one.history[i].residuals) << "iteration " << i;
    for (int j = 0; j < columns; ++j) {
      EXPECT_EQ(all.columns[j].residual, one.columns[j].residual);
      EXPECT_EQ(all.columns[j].backward_error, one.columns[j].backward_error);
    }
    EXPECT_EQ(found, entries(X));
  }

  using EigOptions = LobpcgOptions<Value, Exec>;
  void expect_same_pairs(Operator const& A, Operator const* B, Operator const& a, Operator const* b,
                         Operator const* whole_t, Operator const* local_t,
                         std::function<void(EigOptions&)> const& prepare = {}) {
    int const wanted = 4, columns = 6;
    Block<Value, Exec> const X("X", static_cast<std::size_t>(A.rows()), columns),
        x("x", static_cast<std::size_t>(a.rows()), columns);
    EigOptions options;
    options.wanted = wanted;
    options.path = SolvePath::iterative;
    options.criterion = Criterion::backward;
    options.tolerance = 1e-9;
    options.certify = true;
    if (prepare) prepare(options);
    auto const run = [&](Operator const& P, Operator const* Q, Operator const* T, auto const& V) {
      options.preconditioner = T;
      return Q ? lobpcg(exec, P, *Q, V, options) : lobpcg(exec, P, V, options);
    };
    auto const all = run(a, b, local_t, x);
    auto const found = entries(whole_block(a.row_space(), x));
    expect_equal_on_ranks(all.eigenvalues);
    expect_equal_on_ranks(all.error_bounds);
    if (!alone()) return;
    auto const one = run(A, B, whole_t, X);
    EXPECT_TRUE(one.converged()) << to_string(one.status);
    EXPECT_EQ(all.status, one.status) << to_string(all.status);
    EXPECT_EQ(all.iterations, one.iterations);
    EXPECT_EQ(all.eigenvalues, one.eigenvalues);
    EXPECT_EQ(all.backward_errors, one.backward_errors);
    EXPECT_EQ(all.error_bounds, one.error_bounds);
    ASSERT_EQ(all.history.size(), one.history.size());
    for (std::size_t i = 0; i < one.history.size(); ++i)
      ASSERT_EQ(all.history[i].eigenvalues, one.history[i].eigenvalues) << "iteration " << i;
    EXPECT_EQ(all.certificate.radius, one.certificate.radius);
    EXPECT_EQ(found, entries(X));
  }

  void expect_equal_on_ranks(std::vector<double> const& mine) const {
    auto first = mine;
    world().broadcast(first, 0);
    EXPECT_EQ(mine, first);
  }
};
TYPED_TEST_SUITE(DistributedSolve, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(DistributedSolve, CgHasTheBitsOfOneRank) {
  typename TestFixture::Pair const pair(this->exec, "laplace7:24x22x20");  // 11 chunks
  for (int const columns : {1, 5})
    this->expect_same_cg(pair, columns, CgMethod::pseudo_block, nullptr, nullptr,
                         [](auto& options) { options.method = CgMethod::pseudo_block; });
}

TYPED_TEST(DistributedSolve, CgWithJacobiAndOneReductionHasTheBitsOfOneRank) {
  typename TestFixture::Pair const pair(this->exec, "elasticity:12");
  auto const M = jacobi(this->exec, pair.A);
  auto const m = jacobi(this->exec, pair.matrix->diagonal_block(this->exec));
  for (bool const single : {false, true})
    this->expect_same_cg(pair, 3, CgMethod::pseudo_block, &M, &m, [&](auto& options) {
      options.method = CgMethod::pseudo_block;
      options.single_reduction = single;
    });
}

TYPED_TEST(DistributedSolve, BlockCgHasTheBitsOfOneRank) {
  typename TestFixture::Pair const pair(this->exec, "elasticity:12");
  auto const M = jacobi(this->exec, pair.A);
  auto const m = jacobi(this->exec, pair.matrix->diagonal_block(this->exec));
  this->expect_same_cg(pair, 4, CgMethod::block, nullptr, nullptr);
  this->expect_same_cg(pair, 4, CgMethod::block, &M, &m);
}

TYPED_TEST(DistributedSolve, CgWithChebyshevHasTheBitsOfOneRank) {
  using S = typename TypeParam::Scalar;
  typename TestFixture::Pair const pair(this->exec, "laplace7:22x20x18");
  auto const M = chebyshev<S, Exec>(this->exec, pair.one, jacobi(this->exec, pair.A).factors());
  auto const m = chebyshev<S, Exec>(
      this->exec, pair.all, jacobi(this->exec, pair.matrix->diagonal_block(this->exec)).factors());
  if (alone()) {
    EXPECT_EQ(m.upper(), M.upper());
  }
  this->expect_same_cg(pair, 3, CgMethod::automatic, &M, &m);
}

TYPED_TEST(DistributedSolve, CgSolvesASingularSystem) {
  using S = typename TypeParam::Scalar;
  typename TestFixture::Pair const pair(this->exec, "elasticity:8:free");
  auto const space = pair.all.row_space();
  auto const v = local_rows(space, this->random(pair.rows(), 2));
  Block<S, Exec> const b("b", v.extent(0), 2), x("x", v.extent(0), 2),
      image("image", v.extent(0), 2);
  pair.all.apply(this->exec, v, b);
  CgOptions<S, Exec> options;
  options.method = CgMethod::pseudo_block;
  options.tolerance = 1e-7;
  auto const all = solve_spd(this->exec, pair.all, b, x, options);
  EXPECT_TRUE(all.converged()) << to_string(all.status);
  pair.all.apply(this->exec, x, image);
  double error = 0, size = 0;
  for (std::size_t e = 0; e < b.size(); ++e) {
    error += std::pow(Kokkos::abs(S(image.data()[e] - b.data()[e])), 2);
    size += std::pow(Kokkos::abs(b.data()[e]), 2);
  }
  EXPECT_LE(world().sum(error), 1e-13 * world().sum(size));
}

TYPED_TEST(DistributedSolve, LobpcgHasTheBitsOfOneRank) {
  typename TestFixture::Pair const pair(this->exec, "laplace7:24x22x20");
  auto const T = jacobi(this->exec, pair.A);
  auto const t = jacobi(this->exec, pair.matrix->diagonal_block(this->exec));
  this->expect_same_pairs(pair.one, nullptr, pair.all, nullptr, nullptr, nullptr);
  this->expect_same_pairs(pair.one, nullptr, pair.all, nullptr, &T, &t, [](auto& options) {
    options.criterion = Criterion::digits;
    options.wanted = 6;
    options.block = 3;  // in batches: locking and settling
  });
}

TYPED_TEST(DistributedSolve, LobpcgOfAPencilHasTheBitsOfOneRank) {
  using S = typename TypeParam::Scalar;
  typename TestFixture::Pair const K(this->exec, "elasticity:12"),
      M(this->exec, "elasticity-mass:12", &K.matrix->partition());
  auto const T = chebyshev<S, Exec>(this->exec, K.one, jacobi(this->exec, K.A).factors(),
                                    {.degree = 4, .ratio = 30});
  auto const t = chebyshev<S, Exec>(
      this->exec, K.all, jacobi(this->exec, K.matrix->diagonal_block(this->exec)).factors(),
      {.degree = 4, .ratio = 30});
  this->expect_same_pairs(K.one, &M.one, K.all, &M.all, &T, &t,
                          [](auto& options) { options.criterion = Criterion::digits; });
}

TYPED_TEST(DistributedSolve, OddPartsGiveTheSamePairsInAboutAsManyIterations) {
  using S = typename TypeParam::Scalar;
  int const edge = 16;
  auto const A = generate<S>(this->exec, "laplace7:16");
  auto const one = matrix_operator(this->exec, A);
  auto const cuts = odd_cuts(A.numRows());
  auto const rank = static_cast<std::size_t>(world().rank());
  auto const matrix = distribute(this->exec, world(), rows_of(A, cuts[rank], cuts[rank + 1]));
  auto const op = distributed_operator(this->exec, matrix);
  auto const T = jacobi(this->exec, A), t = jacobi(this->exec, matrix->diagonal_block(this->exec));
  LobpcgOptions<S, Exec> options;
  options.wanted = 4;
  options.path = SolvePath::iterative;
  Block<S, Exec> const X("X", A.numRows(), 8), x("x", static_cast<std::size_t>(op.rows()), 8);
  options.preconditioner = &T;
  auto const alone = lobpcg(this->exec, one, X, options);
  options.preconditioner = &t;
  auto const found = lobpcg(this->exec, op, x, options);
  ASSERT_TRUE(found.converged()) << to_string(found.status);
  auto const axis = [&](int k) { return 2 - 2 * std::cos(k * std::numbers::pi / (edge + 1)); };
  double const expected[] = {3 * axis(1), axis(2) + 2 * axis(1), axis(2) + 2 * axis(1),
                             axis(2) + 2 * axis(1)};
  for (int j = 0; j < 4; ++j)
    EXPECT_LE(std::abs(found.eigenvalues[j] - expected[j]), found.error_bounds[j]);
  EXPECT_LE(std::abs(found.iterations - alone.iterations), 1 + alone.iterations / 50);
  // all ranks have the same bits
  auto values = found.eigenvalues;
  world().broadcast(values, 0);
  EXPECT_EQ(values, found.eigenvalues);
}

TYPED_TEST(DistributedSolve, AMonitorOfOneRankStopsAll) {
  using S = typename TypeParam::Scalar;
  typename TestFixture::Pair const pair(this->exec, "laplace7:16");
  int const last = world().size() - 1;
  auto const B = this->random(pair.rows(), 2);
  auto const b = local_rows(pair.all.row_space(), B);
  Block<S, Exec> const x("x", b.extent(0), 2), V("V", b.extent(0), 6);
  for (auto const method : {CgMethod::pseudo_block, CgMethod::block}) {
    CgOptions<S, Exec> options;
    options.method = method;
    if (world().rank() == last)
      options.monitor = [](CgProgress<double> const& now) { return now.iteration < 3; };
    auto const report = solve_spd(this->exec, pair.all, b, x, options);
    EXPECT_EQ(report.status, Status::stopped_by_monitor) << to_string(report.status);
    EXPECT_EQ(report.iterations, 3);
  }
  LobpcgOptions<S, Exec> options;
  options.wanted = 3;
  if (world().rank() == last) options.monitor = [](auto const& now) { return now.iteration < 2; };
  auto const report = lobpcg(this->exec, pair.all, V, options);
  EXPECT_EQ(report.status, Status::stopped_by_monitor) << to_string(report.status);
  EXPECT_EQ(report.iterations, 2);
}

TYPED_TEST(DistributedSolve, TheClockOfOneRankStopsAll) {
  using S = typename TypeParam::Scalar;
  typename TestFixture::Pair const pair(this->exec, "laplace7:16");
  auto const B = this->random(pair.rows(), 2);
  auto const b = local_rows(pair.all.row_space(), B);
  Block<S, Exec> const x("x", b.extent(0), 2), V("V", b.extent(0), 6);
  CgOptions<S, Exec> options;
  options.method = CgMethod::pseudo_block;
  if (world().rank() == 0) options.time_limit = 0;
  EXPECT_EQ(solve_spd(this->exec, pair.all, b, x, options).status, Status::time_limit);
  LobpcgOptions<S, Exec> eig;
  eig.wanted = 3;
  if (world().rank() == 0) eig.time_limit = 0;
  EXPECT_EQ(lobpcg(this->exec, pair.all, V, eig).status, Status::time_limit);
}

TYPED_TEST(DistributedSolve, ABadBlockOnOneRankIsAnErrorOnAll) {
  using S = typename TypeParam::Scalar;
  typename TestFixture::Pair const pair(this->exec, "laplace7:16");
  int const bad = world().size() - 1;
  auto const n = static_cast<std::size_t>(pair.all.rows());
  Block<S, Exec> const b("b", n, 2), x("x", n + (world().rank() == bad ? 1 : 0), 2);
  auto const wrong = ::testing::HasSubstr("X");
  EXPECT_THAT(message_of([&] { solve_spd(this->exec, pair.all, b, x, {}); }), wrong);
  EXPECT_THAT(message_of([&] { lobpcg(this->exec, pair.all, x, {.wanted = 2}); }), wrong);
}

// Five blocks do not fit, so that there is no iteration; with a mass, with constraints, and with
// rows cut anywhere.
TYPED_TEST(DistributedSolve, SmallProblemsAreSolvedDenselyAsOnOneRank) {
  using S = typename TypeParam::Scalar;
  using Both = typename TestFixture::Pair;
  for (std::string const mass : {"", "p1-mass:4"})
    for (int const constraints : {0, 2})
      for (bool const odd : {false, true}) {
        RowPartition const cuts(odd_cuts(48));
        Both const a(this->exec, mass.empty() ? "laplace7:4x4x3" : "p1:4", odd ? &cuts : nullptr);
        Both const b(this->exec, mass.empty() ? "laplace7:4x4x3" : mass, &a.matrix->partition());
        auto const space = a.all.row_space();
        auto const X = this->random(48, 12), C = this->random(48, constraints);
        auto const x = local_rows(space, X);
        LobpcgOptions<S, Exec> options;
        options.wanted = 4;
        options.constraints = local_rows(space, C);
        auto const all = mass.empty() ? lobpcg(this->exec, a.all, x, options)
                                      : lobpcg(this->exec, a.all, b.all, x, options);
        EXPECT_EQ(all.path, "dense");
        EXPECT_TRUE(all.converged()) << all.trouble;
        EXPECT_EQ(
            world().gather(all.eigenvalues.at(3)),
            std::vector<double>(static_cast<std::size_t>(world().size()), all.eigenvalues.at(3)));
        auto const vectors = whole_block(space, x);
        if (!alone()) continue;
        options.constraints = C;
        auto const one = mass.empty() ? lobpcg(this->exec, a.one, X, options)
                                      : lobpcg(this->exec, a.one, b.one, X, options);
        for (std::size_t j = 0; j < 4; ++j) {
          EXPECT_NEAR(all.eigenvalues[j], one.eigenvalues[j], 1e-13 * one.norm_a);
          EXPECT_EQ(all.pair_status[j], one.pair_status[j]);
        }
        if (constraints > 0) continue;  // their inner products depend on the cuts
        EXPECT_EQ(all.eigenvalues, one.eigenvalues);
        for (std::size_t i = 0; i < 48; ++i)
          for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(vectors(i, j), X(i, j));
      }
}

TYPED_TEST(DistributedSolve, AMassOfOtherCutsIsRefused) {
  using S = typename TypeParam::Scalar;
  if (world().size() == 1) GTEST_SKIP() << "one rank has one cut";
  typename TestFixture::Pair const pair(this->exec, "laplace7:16");
  RowSpace const other(world(), pair.all.row_space().cuts(), 0);  // the same rows, but other sums
  auto const B = function_operator<S, Exec>(
      pair.all.rows(),
      [](auto const& instance, auto const& X, auto const& Y) { Kokkos::deep_copy(instance, Y, X); },
      "identity", other);
  Block<S, Exec> const x("x", static_cast<std::size_t>(pair.all.rows()), 4);
  EXPECT_THAT(message_of([&] { lobpcg(this->exec, pair.all, B, x, {.wanted = 2}); }),
              ::testing::HasSubstr("not spread over the ranks alike"));
}

}  // namespace
}  // namespace blockspan::test
