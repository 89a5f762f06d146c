// Multigrid on ranks: its levels against a product of whole matrices, the map against what a
// preconditioner must be, and its iterations against those of one rank.
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/distributed/levels/coarse_rows.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/sparse/coordinates.hpp>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"

namespace blockspan::test {
namespace {

using Scalar = double;
using Vectors = Block<Scalar, Exec>;
using Options = MultigridOptions<Scalar, Exec>;
using Matrix = DistributedMatrix<Scalar, Exec>;

Options working(Options options = {}) {
  options.precision = MultigridPrecision::working;
  return options;
}

class MultigridOnRanks : public ::testing::Test {
 public:
  Exec const exec;

  std::shared_ptr<Matrix const> spread(std::string const& spec, bool odd = false) const {
    auto const A = generate<Scalar>(exec, spec);
    RowPartition const partition(odd_cuts(A.numRows()));
    return distribute(exec, world(), A, odd ? &partition : nullptr);
  }

  Vectors random(std::int64_t rows, int columns, std::uint64_t seed) const {
    Vectors const X("X", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
    fill_random(exec, X, seed);
    return X;
  }

  double dot(Vectors const& x, Vectors const& y) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.extent(0); ++i) sum += x(i, 0) * y(i, 0);
    return world().sum(sum);
  }

  CgOptions<Scalar, Exec> cg_options(LinearOperator<Scalar, Exec> const& M) const {
    CgOptions<Scalar, Exec> options;
    options.method = CgMethod::pseudo_block;
    options.preconditioner = &M;
    return options;
  }

  /// Steps to 1e-8 for one right-hand side, on ranks and on one.
  std::pair<int, int> iterations(std::string const& spec, Options const& one_options,
                                 Options const& options, std::int64_t rows_gathered) const {
    auto const A = generate<Scalar>(exec, spec);
    auto const matrix = distribute(exec, world(), A);
    auto const op = distributed_operator(exec, matrix);
    DistributedMultigrid<Scalar, Exec> const M(exec, matrix, options, {rows_gathered});
    EXPECT_TRUE(M.report().usable()) << M.report().message;
    auto const B = random(A.numRows(), 1, 5);
    auto const b = local_rows(op.row_space(), B);
    Vectors const x("x", b.extent(0), 1);
    auto const all = solve_spd(exec, op, b, x, cg_options(M));
    EXPECT_TRUE(all.converged()) << spec;
    auto const one = multigrid(exec, A, one_options);
    Vectors const X("X", B.extent(0), 1);
    auto const alone = solve_spd(exec, matrix_operator(exec, A), B, X, cg_options(one));
    return {all.iterations, alone.iterations};
  }
};

// Lanczos' estimate is above the row sums here.
TEST_F(MultigridOnRanks, BoundsTheSpectrumAsOneRankDoes) {
  auto const A = generate<Scalar>(exec, "laplace5:40x40");
  auto const one = multigrid(exec, A);
  EXPECT_NEAR(one.report().levels[0].upper, 2, 1e-12);
  DistributedMultigrid<Scalar, Exec> const M(exec, spread("laplace5:40x40"), {}, {1});
  EXPECT_EQ(M.report().levels[0].upper, one.report().levels[0].upper);
}

// The entries across ranks by exchanged rows, against sums over whole matrices.
TEST_F(MultigridOnRanks, CoarseRowsAreThoseOfTheWholeProduct) {
  auto const A = generate<Scalar>(exec, "p1:7");
  RowPartition const partition(odd_cuts(A.numRows()));
  auto const matrix = distribute(exec, world(), A, &partition);
  // P: rows 3 c to 3 c + 2 of a rank are its coarse row c; values tell where they are from
  std::vector<std::int64_t> first_coarse = {0}, aggregate(static_cast<std::size_t>(A.numRows()));
  for (int r = 0; r < world().size(); ++r) {
    for (auto i = partition.first(r); i < partition.last(r); ++i)
      aggregate[static_cast<std::size_t>(i)] = first_coarse.back() + (i - partition.first(r)) / 3;
    first_coarse.push_back(first_coarse.back() + (partition.rows(r) + 2) / 3);
  }
  auto const weight = [](std::int64_t i) { return 1 + 0.01 * static_cast<double>(i % 17); };
  auto const me = static_cast<std::size_t>(world().rank());
  std::int64_t const from = first_coarse[me], coarse = first_coarse[me + 1] - from;
  LocalRows<Scalar> P;
  for (auto i = partition.first(world().rank()); i < partition.last(world().rank()); ++i) {
    P.columns.push_back(aggregate[static_cast<std::size_t>(i)]);
    P.values.push_back(weight(i));
    P.offsets.push_back(static_cast<std::int64_t>(P.columns.size()));
  }
  auto const halo_P = blockspan::distributed::rows_of_halo(world(), matrix->halo(), P);
  auto const across =
      blockspan::distributed::coarse_entries_across(*matrix, P, halo_P, from, coarse);

  std::vector<std::map<std::int64_t, long double>> expected(static_cast<std::size_t>(coarse));
  for (auto i = partition.first(world().rank()); i < partition.last(world().rank()); ++i)
    for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k) {
      std::int64_t const j = A.graph.entries(k);
      if (j >= partition.first(world().rank()) && j < partition.last(world().rank())) continue;
      expected[static_cast<std::size_t>(aggregate[static_cast<std::size_t>(i)] - from)]
              [aggregate[static_cast<std::size_t>(j)]] +=
          static_cast<long double>(weight(i)) * A.values(k) * weight(j);
    }
  ASSERT_EQ(across.offsets.size(), expected.size() + 1);
  std::int64_t found = 0;
  for (std::size_t c = 0; c < expected.size(); ++c) {
    ASSERT_EQ(across.offsets[c + 1] - across.offsets[c],
              static_cast<std::int64_t>(expected[c].size()))
        << "row " << c;
    for (auto const& [column, value] : expected[c]) {
      auto const k = static_cast<std::size_t>(found++);
      EXPECT_EQ(across.columns[k], column);
      // at most 27 terms, each no larger than the largest entry
      EXPECT_NEAR(across.values[k], static_cast<double>(value),
                  60 * 1.1e-16 * matrix->norm_bound());
    }
  }
  EXPECT_EQ(world().sum(found) > 0, world().size() > 1);
}

// x^H M^-1 y = y^H M^-1 x and x^H M^-1 x > 0, linear, the same in every call, on all ranks: cuts in
// the middle of nodes, a rank without rows, several levels on ranks and none.
TEST_F(MultigridOnRanks, IsAHermitianPositiveDefiniteMap) {
  for (auto const* spec : {"laplace7:16", "elasticity:8", "p1:10"})
    for (std::int64_t const gathered : {std::int64_t{20}, std::int64_t{1000000}})
      for (bool const odd : {false, true}) {
        SCOPED_TRACE(std::string(spec) + (odd ? ", odd cuts" : "") +
                     (gathered > 20 ? ", gathered" : ""));
        auto const A = spread(spec, odd);
        DistributedMultigrid<Scalar, Exec> const M(exec, A, working({.coarse_rows = 50}),
                                                   {gathered});
        ASSERT_TRUE(M.report().usable()) << M.report().message;
        auto const n = A->local_rows();
        auto const x = random(n, 1, 10 + world().rank()), y = random(n, 1, 90 + world().rank());
        Vectors const mx("mx", x.extent(0), 1), my("my", x.extent(0), 1),
            again("again", x.extent(0), 1);
        M.apply(exec, x, mx), M.apply(exec, y, my), M.apply(exec, x, again);
        double const size = std::sqrt(dot(x, mx) * dot(y, my));
        EXPECT_GT(dot(x, mx), 0);
        EXPECT_GT(dot(y, my), 0);
        EXPECT_NEAR(dot(x, my), dot(y, mx), 1e-11 * size);
        EXPECT_EQ(entries(mx), entries(again));
      }
}

// Solvers hand over columns of wider blocks; where all levels are gathered no other copy is made.
TEST_F(MultigridOnRanks, ServesColumnsOfAWiderBlock) {
  for (std::int64_t const gathered : {std::int64_t{20}, std::int64_t{1000000}}) {
    auto const A = spread("laplace7:16", true);
    DistributedMultigrid<Scalar, Exec> const M(exec, A, working({.coarse_rows = 50}), {gathered});
    auto const n = A->local_rows();
    auto const wide = random(n, 7, 10 + world().rank()), result = random(n, 7, 50);
    Vectors const x("x", wide.extent(0), 3), y("y", wide.extent(0), 3);
    std::pair<int, int> const columns(2, 5);
    auto const X = Kokkos::subview(wide, Kokkos::ALL, columns);
    auto const Y = Kokkos::subview(result, Kokkos::ALL, columns);
    Kokkos::deep_copy(exec, x, X);
    M.apply(exec, x, y), M.apply(exec, X, Y);
    for (std::int64_t i = 0; i < n; ++i)
      for (int j = 0; j < 3; ++j) ASSERT_EQ(Y(i, j), y(i, j)) << "row " << i << ", " << gathered;
  }
}

TEST_F(MultigridOnRanks, TakesHardlyMoreStepsThanOnOneRank) {
  for (auto const* spec : {"laplace7:32", "laplace27:20", "p1:20"}) {
    auto const [all, one] = iterations(spec, {}, working(), 2000);
    EXPECT_LE(all, std::ceil(1.2 * one)) << spec << ": " << one << " on one rank";
  }
}

// Rows of a node on two ranks, and rigid bodies of coordinates that both have.
TEST_F(MultigridOnRanks, KeepsRigidBodiesWhereNodesAreCut) {
  std::string const spec = "elasticity:14";
  auto const A = generate<Scalar>(exec, spec);
  auto const matrix = distribute(exec, world(), A);
  auto const whole = generate_coordinates<double>(exec, parse_generator_spec(spec));
  auto const first = matrix->row_space().first_row(), n = matrix->local_rows();
  std::pair<std::int64_t, std::int64_t> const nodes(first / 3,
                                                    n == 0 ? first / 3 : (first + n - 1) / 3 + 1);
  Vectors const local("coordinates", static_cast<std::size_t>(nodes.second - nodes.first), 3);
  Kokkos::deep_copy(local, Kokkos::subview(whole, nodes, Kokkos::ALL));
  Options on_one;
  on_one.coordinates = whole;
  auto on_ranks = working();
  on_ranks.coordinates = local;
  auto const [all, one] = iterations(spec, on_one, on_ranks, 1500);
  EXPECT_LE(all, std::ceil(1.2 * one)) << one << " on one rank";
}

// Rigid bodies that nobody gives, found by all ranks together.
TEST_F(MultigridOnRanks, FindsNearNullVectorsAsOnOneRank) {
  for (auto const* spec : {"elasticity:12", "laplace7:20"}) {
    auto const [all, one] = iterations(spec, {.adaptive = 6}, working({.adaptive = 6}), 1000);
    EXPECT_LE(all, std::ceil(1.2 * one)) << spec << ": " << one << " on one rank";
  }
}

/// Steps for A = D^H L D, L: a grid, D: phases, with D^H 1 as the near-null vector.
template <class Value>
int steps_with_phases(Exec const& exec, bool with_phases) {
  auto const A = generate<Value>(exec, "laplace7:20");
  auto const phase = [&](std::int64_t i) {
    if constexpr (is_complex_v<Value>)
      if (with_phases) return Value(std::cos(0.7 * double(i)), std::sin(0.7 * double(i)));
    return Value(1);
  };
  auto const conj = [](Value const& value) { return conjugate(value); };
  for (int i = 0; i < A.numRows(); ++i)
    for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
      A.values(k) *= conj(phase(i)) * phase(A.graph.entries(k));
  auto const matrix = distribute(exec, world(), A);
  auto const op = distributed_operator(exec, matrix);
  auto const first = op.row_space().first_row();
  Block<Value, Exec> const B("B", static_cast<std::size_t>(op.rows()), 1), b("b", B.extent(0), 1),
      x("x", B.extent(0), 1);
  for (std::int64_t i = 0; i < op.rows(); ++i) {
    B(i, 0) = conj(phase(first + i));
    b(i, 0) = B(i, 0) * Value(std::sin(1.3 * static_cast<double>(first + i)));
  }
  MultigridOptions<Value, Exec> options;
  options.precision = MultigridPrecision::working;
  options.near_null = B;
  options.coarse_rows = 50;
  DistributedMultigrid<Value, Exec> const M(exec, matrix, options, {100});
  CgOptions<Value, Exec> cg;
  cg.method = CgMethod::pseudo_block;
  cg.preconditioner = &M;
  auto const report = solve_spd(exec, op, b, x, cg);
  EXPECT_TRUE(report.converged());
  return report.iterations;
}

// D is unitary, so that every step of the setup and of the solve is the same but for phases.
TEST_F(MultigridOnRanks, DoesNotSeePhases) {
  [&]<class Value>(Value) {
    if constexpr (has_scalar<Value>)
      EXPECT_NEAR(steps_with_phases<Value>(exec, true), steps_with_phases<Value>(exec, false), 1);
    else
      GTEST_SKIP() << "needs complex_double in Blockspan_SCALARS";
  }(Kokkos::complex<double>());
}

TEST_F(MultigridOnRanks, PreconditionsLobpcg) {
  auto const matrix = spread("laplace7:18x17x16");
  auto const op = distributed_operator(exec, matrix);
  DistributedMultigrid<Scalar, Exec> const M(exec, matrix, working(), {200});
  Vectors const X("X", static_cast<std::size_t>(op.rows()), 6);
  LobpcgOptions<Scalar, Exec> options;
  options.wanted = 4;
  options.path = SolvePath::iterative;
  options.preconditioner = &M;
  auto const report = lobpcg(exec, op, X, options);
  ASSERT_TRUE(report.converged());
  EXPECT_LE(report.iterations, 40);
  double const pi = std::acos(-1.0);
  auto const line = [&](int points, int k) { return 2 - 2 * std::cos(k * pi / (points + 1)); };
  EXPECT_NEAR(report.eigenvalues[0], line(18, 1) + line(17, 1) + line(16, 1),
              1e-4 * report.eigenvalues[0]);
}

/// Cycles in single precision, where there is such; sizes far beyond its range.
TEST_F(MultigridOnRanks, CyclesInSinglePrecisionTakeAsManySteps) {
  for (double const size : {1.0, 1e-60, 1e60})
    for (bool const odd : {false, true}) {
      auto const A = generate<Scalar>(exec, "laplace7:18x17x16");
      for (std::size_t k = 0; k < A.values.extent(0); ++k) A.values(k) *= size;
      RowPartition const partition(odd_cuts(A.numRows()));
      auto const matrix = distribute(exec, world(), A, odd ? &partition : nullptr);
      auto const op = distributed_operator(exec, matrix);
      auto const steps = [&](Options options) {
        options.coarse_rows = 50;
        DistributedMultigrid<Scalar, Exec> const M(exec, matrix, options, {200});
        EXPECT_TRUE(M.report().usable()) << M.report().message;
        EXPECT_EQ(M.report().single,
                  has_scalar<float> && options.precision == MultigridPrecision::single);
        auto const b = local_rows(op.row_space(), random(A.numRows(), 3, 5));
        for (std::size_t i = 0; i < b.extent(0); ++i) b(i, 1) *= 1e80, b(i, 2) *= 1e-80;
        Vectors const x("x", b.extent(0), 3), y("y", b.extent(0), 3), z("z", b.extent(0), 3);
        auto const report = solve_spd(exec, op, b, x, cg_options(M));
        EXPECT_TRUE(report.converged()) << size;
        M.apply(exec, b, y), M.apply(exec, b, z);
        EXPECT_EQ(entries(y), entries(z));
        return report.iterations;
      };
      EXPECT_NEAR(steps({}), steps(working()), 1) << size;
    }
}

TEST_F(MultigridOnRanks, CyclesInSinglePrecisionAreHermitian) {
  auto const matrix = spread("laplace7:18x17x16", true);
  auto const n = matrix->partition().global_rows();
  DistributedMultigrid<Scalar, Exec> const M(exec, matrix, {.coarse_rows = 50}, {200});
  auto const x = local_rows(matrix->row_space(), random(n, 1, 1)),
             y = local_rows(matrix->row_space(), random(n, 1, 2));
  Vectors const Mx("Mx", x.extent(0), 1), My("My", x.extent(0), 1);
  M.apply(exec, x, Mx), M.apply(exec, y, My);
  double const size = std::sqrt(dot(x, x) * dot(My, My));
  EXPECT_NEAR(dot(x, My), dot(y, Mx), 1e-5 * size);
  EXPECT_GT(dot(x, Mx), 0);
}

// The Laplacian of a grid: constants are null vectors, in the gathered levels too.
TEST_F(MultigridOnRanks, StaysUsableWhereTheMatrixIsSingular) {
  auto const A = generate<Scalar>(exec, "laplace7:16");
  for (int i = 0; i < A.numRows(); ++i) {
    auto const first = A.graph.row_map(i), last = A.graph.row_map(i + 1);
    for (auto k = first; k < last; ++k)
      if (A.graph.entries(k) == i) A.values(k) = static_cast<double>(last - first - 1);
  }
  auto const matrix = distribute(exec, world(), A);
  DistributedMultigrid<Scalar, Exec> const M(exec, matrix, working({.coarse_rows = 50}), {100});
  ASSERT_TRUE(M.report().usable()) << M.report().message;
  EXPECT_NE(M.report().status, MultigridStatus::weak) << M.report().message;
  auto const op = distributed_operator(exec, matrix);
  auto const ones = random(op.rows(), 1, 1);
  Kokkos::deep_copy(ones, 1.0);
  Vectors const b("b", ones.extent(0), 1), x("x", ones.extent(0), 1);
  op.apply(exec, random(op.rows(), 1, 3 + world().rank()), b);  // in the range
  auto options = cg_options(M);
  options.null_space = ones;
  auto const report = solve_spd(exec, op, b, x, options);
  EXPECT_TRUE(report.converged());
  EXPECT_LE(report.iterations, 25);
}

TEST_F(MultigridOnRanks, RefusesWhatItCannotDoOnAllRanks) {
  auto const A = spread("laplace7:8");
  auto const with = [&](Options const& options) {
    return message_of([&] { DistributedMultigrid<Scalar, Exec>(exec, A, options); });
  };
  if (world().size() > 1) {
    EXPECT_NE(with(working({.prolongators = {CrsMatrix<Scalar, Exec>()}})).find("elsewhere"),
              std::string::npos);
  }
  EXPECT_NE(with(working({.theta = 2})).find("theta"), std::string::npos);
  auto options = working();
  // one rank has other rows than it should: all hear of it
  options.near_null =
      Vectors("B", static_cast<std::size_t>(A->local_rows() + (world().rank() == 0 ? 1 : 0)), 1);
  EXPECT_NE(with(options).find("near_null has"), std::string::npos);
}

TEST_F(MultigridOnRanks, SaysThatAMatrixIsIndefinite) {
  auto const A = generate<Scalar>(exec, "laplace7:10");
  for (int i = 0; i < A.numRows(); ++i)
    for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
      if (A.graph.entries(k) == i) A.values(k) -= 1;
  DistributedMultigrid<Scalar, Exec> const M(exec, distribute(exec, world(), A), working(), {100});
  EXPECT_EQ(M.report().status, MultigridStatus::indefinite);
  EXPECT_FALSE(M.report().usable());
}

// Entries of opposite signs between equal rows of two ranks: the probe's vectors differ there.
TEST_F(MultigridOnRanks, SeesThatEntriesBetweenRanksAreNotHermitian) {
  if (world().size() == 1) GTEST_SKIP() << "for several ranks";
  auto const grid = generate<double>(exec, "laplace5:20");
  std::int64_t const n = grid.numRows(), rank = world().rank();
  for (double const sign : {-1.0, 1.0}) {
    LocalRows<double> rows;
    for (int i = 0; i < n; ++i) {
      auto const add = [&](auto j, double a) {
        rows.columns.push_back(j), rows.values.push_back(a);
      };
      if (rank == 1) add(i, 0.1 * sign);
      for (auto k = grid.graph.row_map(i); k < grid.graph.row_map(i + 1); ++k)
        add(rank * n + grid.graph.entries(k), grid.values(k) + (grid.graph.entries(k) == i));
      if (rank == 0) add(n + i, 0.1);
      rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
    }
    std::vector<std::int64_t> cuts;
    for (int r = 0; r <= world().size(); ++r) cuts.push_back(r * n);
    auto const A = std::make_shared<Matrix const>(exec, world(), RowPartition(cuts), rows);
    DistributedMultigrid<double, Exec> const M(exec, A, {.coarse_rows = 50}, {100});
    EXPECT_EQ(M.report().status == MultigridStatus::not_hermitian, sign < 0);
  }
}

}  // namespace
}  // namespace blockspan::test
