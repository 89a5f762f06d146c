// Refreshed multigrid on ranks: against a new one of the same values, bit by bit, and against its
// iterations where the new one has other aggregates.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"

namespace blockspan::test {
namespace {

using Scalar = double;
using Vectors = Block<Scalar, Exec>;
using Options = MultigridOptions<Scalar, Exec>;
using Whole = CrsMatrix<Scalar, Exec>;
using Matrix = DistributedMatrix<Scalar, Exec>;
using Multigrids = DistributedMultigrid<Scalar, Exec>;

/// Off-diagonal entries times 1 + size * a number of [-1, 1] that the pair of rows has, and on
/// the diagonal what keeps A definite (Gershgorin).
Whole perturbed(Whole const& A, double size, double seed) {
  Whole const B("B", A);
  auto const number = [&](int i, int j) {
    return size * std::sin(seed + 12.9898 * std::max(i, j) + 78.233 * std::min(i, j));
  };
  for (int i = 0; i < A.numRows(); ++i) {
    double added = 0;
    for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
      if (int const j = A.graph.entries(k); j != i) {
        B.values(k) = A.values(k) * (1 + number(i, j));
        added += size * std::abs(A.values(k));
      }
    for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
      if (A.graph.entries(k) == i) B.values(k) = A.values(k) + added;
  }
  return B;
}

/// M times random columns, the local rows.
template <class Value>
auto image(Exec const& exec, DistributedMultigrid<Value, Exec> const& M, std::size_t columns = 3) {
  Block<Value, Exec> const x("x", static_cast<std::size_t>(M.rows()), columns),
      y("y", x.extent(0), columns);
  fill_random(exec, x, 7, 0, M.row_space().first_row());
  M.apply(exec, x, y);
  return entries(y);
}

class RefreshOnRanks : public ::testing::Test {
 public:
  Exec const exec;

  std::shared_ptr<Matrix const> spread(Whole const& A, bool odd = false) const {
    RowPartition const partition(odd_cuts(A.numRows()));
    return distribute(exec, world(), A, odd ? &partition : nullptr);
  }

  std::vector<Scalar> applied(Multigrids const& M) const { return image<Scalar>(exec, M); }

  int iterations(std::shared_ptr<Matrix const> const& A, Multigrids const& M) const {
    auto const op = distributed_operator(exec, A);
    Vectors const b("b", static_cast<std::size_t>(op.rows()), 1), x("x", b.extent(0), 1);
    fill_random(exec, b, 5, 0, op.row_space().first_row());
    CgOptions<Scalar, Exec> options;
    options.method = CgMethod::pseudo_block;
    options.preconditioner = &M;
    auto const report = solve_spd(exec, op, b, x, options);
    EXPECT_TRUE(report.converged());
    return report.iterations;
  }
};

// Values that no two ties have in common, then others so near that a new setup finds the same
// aggregates: prolongators, coarse matrices, bounds and the inverse must be those of a new one.
TEST_F(RefreshOnRanks, GivesTheBitsOfANewOne) {
  for (auto const* spec : {"laplace7:14", "elasticity:7", "p1:10"})
    for (std::int64_t const gathered : {std::int64_t{20}, std::int64_t{1000000}})
      for (bool const odd : {false, true})
        for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single}) {
          SCOPED_TRACE(std::string(spec) + (odd ? ", odd cuts" : "") +
                       (gathered > 20 ? ", gathered" : "") +
                       (precision == MultigridPrecision::single ? ", single" : ""));
          auto const A = perturbed(generate<Scalar>(exec, std::string(spec)), 0.3, 1);
          auto const a = spread(A, odd), b = spread(perturbed(A, 1e-6, 2), odd);
          Options const options{.coarse_rows = 50, .precision = precision};
          Multigrids M(exec, a, options, {gathered});
          Multigrids const of_b(exec, b, options, {gathered});
          auto const first = applied(M), second = applied(of_b);
          M.refresh(exec, b);
          EXPECT_EQ(applied(M), second);
          EXPECT_TRUE(world().any(first != second));
          ASSERT_EQ(M.report().levels.size(), of_b.report().levels.size());
          for (std::size_t l = 0; l < M.report().levels.size(); ++l)
            EXPECT_EQ(M.report().levels[l].upper, of_b.report().levels[l].upper) << "level " << l;
          EXPECT_EQ(M.report().status, MultigridStatus::unknown);
          EXPECT_EQ(M.report().single, of_b.report().single);
          M.refresh(exec, a);
          EXPECT_EQ(applied(M), first);
          M.refresh(exec, a);
          EXPECT_EQ(applied(M), first);
        }
}

// After some cycles with one column hosts copy the values of the levels: to the same bits, and a
// refresh gives the copies up.
TEST_F(RefreshOnRanks, GivesUpTheCopiesOfManyCyclesWithOneColumn) {
  auto const A = perturbed(generate<Scalar>(exec, std::string("laplace7:14")), 0.3, 1);
  auto const a = spread(A, true), b = spread(perturbed(A, 1e-6, 2), true);
  Options const options{.coarse_rows = 50};
  Multigrids M(exec, a, options, {20});
  Multigrids const of_b(exec, b, options, {20});
  auto const many = LinearOperator<Scalar, Exec>::many_products;
  auto const first = image<Scalar>(exec, M, 1);
  for (int i = 0; i < many; ++i) EXPECT_EQ(image<Scalar>(exec, M, 1), first) << i;
  M.refresh(exec, b);
  auto const second = image<Scalar>(exec, of_b, 1);
  for (int i = 0; i < many; ++i) EXPECT_EQ(image<Scalar>(exec, M, 1), second) << i;
}

/// M refreshed with B = A (1 + 1e-6), entry by entry with phases of row and column, and a new one.
template <class Value>
void refresh_with_phases(Exec const& exec, CrsMatrix<double, Exec> const& real) {
  auto const with_phases = [&](CrsMatrix<double, Exec> const& from) {
    auto const phase = [](int i) {
      return Value(std::cos(0.7 * double(i)), std::sin(0.7 * double(i)));
    };
    auto A = generate<Value>(exec, "laplace7:14");
    for (int i = 0; i < A.numRows(); ++i)
      for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
        A.values(k) = conjugate(phase(i)) * from.values(k) * phase(A.graph.entries(k));
    return distribute(exec, world(), A);
  };
  auto const a = with_phases(real), b = with_phases(perturbed(real, 1e-6, 2));
  MultigridOptions<Value, Exec> const options{.coarse_rows = 50};
  DistributedMultigrid<Value, Exec> M(exec, a, options, {100});
  M.refresh(exec, b);
  DistributedMultigrid<Value, Exec> const of_b(exec, b, options, {100});
  EXPECT_EQ(image(exec, M), image(exec, of_b));
}

TEST_F(RefreshOnRanks, GivesTheBitsOfANewOneOfComplexNumbers) {
  [&]<class Value>(Value) {
    if constexpr (has_scalar<Value>)
      refresh_with_phases<Value>(exec, perturbed(generate<Scalar>(exec, "laplace7:14"), 0.3, 1));
    else
      GTEST_SKIP() << "needs complex_double in Blockspan_SCALARS";
  }(Kokkos::complex<double>());
}

// Other coefficients by up to 80 per cent: aggregates of the first ones serve.
TEST_F(RefreshOnRanks, TakesHardlyMoreStepsThanANewOne) {
  for (auto const* spec : {"laplace7:20", "elasticity:9"}) {
    auto const A = generate<Scalar>(exec, std::string(spec));
    auto const b = spread(perturbed(A, 0.4, 3));
    Multigrids M(exec, spread(A), {.coarse_rows = 50}, {200});
    int const wanted = iterations(b, Multigrids(exec, b, {.coarse_rows = 50}, {200}));
    M.refresh(exec, b);
    EXPECT_LE(iterations(b, M), wanted + 2) << spec;
  }
}

// 3 A has the prolongators of A, to rounding.
TEST_F(RefreshOnRanks, KeepsProlongators) {
  auto const A = generate<Scalar>(exec, "laplace7:14");
  Whole const three("3 A", A);
  for (std::size_t k = 0; k < A.values.extent(0); ++k) three.values(k) = 3 * A.values(k);
  Options options{.coarse_rows = 50};
  options.precision = MultigridPrecision::working;
  Multigrids M(exec, spread(A), options, {100});
  auto const wanted = applied(M);
  M.refresh(exec, spread(three), true);
  auto const kept = applied(M);
  // the bounds of spectra are the same but for rounding of eight steps of Lanczos
  for (std::size_t k = 0; k < kept.size(); ++k) EXPECT_NEAR(3 * kept[k], wanted[k], 1e-6);
}

/// A grid on all ranks but the last, which has two pairs of rows without ties to others, coupled as
/// given: indefinite beyond 1, so little that a few steps of Lanczos for the whole matrix miss it.
std::shared_ptr<Matrix const> with_pairs(Exec const& exec, double coupling) {
  auto const grid = generate<Scalar>(exec, "laplace5:20");
  std::int64_t const n = grid.numRows(), pairs = 4;
  std::vector<std::int64_t> cuts;
  for (int r = 0; r < world().size(); ++r) cuts.push_back(n * r / (world().size() - 1));
  cuts.push_back(n + pairs);
  RowPartition const partition(cuts);
  LocalRows<Scalar> rows;
  int const rank = world().rank();
  if (rank + 1 < world().size()) {
    rows = rows_of(grid, partition.first(rank), partition.last(rank));
  } else {
    for (std::int64_t i = 0; i < pairs; ++i) {
      for (std::int64_t const j : {i / 2 * 2, i / 2 * 2 + 1}) {
        rows.columns.push_back(n + j);
        rows.values.push_back(i == j ? 1 : -coupling);
      }
      rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
    }
  }
  return std::make_shared<Matrix const>(exec, world(), partition, rows);
}

// What one rank cannot coarsen any more takes a new hierarchy, with other levels, on all of them.
TEST_F(RefreshOnRanks, BeginsAnewWhereTheValuesOfOneRankAskForIt) {
  if (world().size() == 1) GTEST_SKIP() << "for several ranks";
  auto const a = with_pairs(exec, 0.5), b = with_pairs(exec, 1 + 1e-6);
  for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single}) {
    Options const options{.block_size = 1, .coarse_rows = 10, .precision = precision};
    Multigrids M(exec, a, options, {20});
    Multigrids const of_b(exec, b, options, {20});
    ASSERT_TRUE(of_b.report().usable()) << of_b.report().describe();
    ASSERT_NE(M.facts().name, of_b.facts().name);
    M.refresh(exec, b);
    EXPECT_EQ(applied(M), applied(of_b));
    EXPECT_EQ(M.report().levels.size(), of_b.report().levels.size());
  }
}

TEST_F(RefreshOnRanks, RefusesAnotherPatternOfOneRankOnAllRanks) {
  auto const A = generate<Scalar>(exec, "laplace7:10");
  auto const a = spread(A, true);
  Multigrids M(exec, a, {.coarse_rows = 50}, {100});
  auto const first = applied(M);
  // the last rank's last row loses its tie to the row before
  auto rows = rows_of(A, a->partition().first(world().rank()), a->partition().last(world().rank()));
  if (world().rank() == world().size() - 1) {
    auto const last = static_cast<std::ptrdiff_t>(rows.offsets.back()) - 2;
    rows.columns.erase(rows.columns.begin() + last), rows.values.erase(rows.values.begin() + last);
    --rows.offsets.back();
  }
  auto const other = std::make_shared<Matrix const>(exec, world(), a->partition(), rows);
  auto const refused = [&](std::shared_ptr<Matrix const> const& B) {
    return message_of([&] { M.refresh(exec, B); });
  };
  EXPECT_NE(refused(other).find("another pattern"), std::string::npos);
  EXPECT_NE(message_of([&] { applied(M); }).find("refresh again"), std::string::npos);
  EXPECT_NE(refused(spread(generate<Scalar>(exec, "laplace7:9"))).find("another"),
            std::string::npos);
  M.refresh(exec, a);
  EXPECT_EQ(applied(M), first);
}

TEST_F(RefreshOnRanks, SaysThatValuesAreOfNoUseAndTakesOthers) {
  auto const A = generate<Scalar>(exec, "laplace7:10");
  auto const a = spread(A, true);
  for (std::int64_t const gathered : {std::int64_t{100}, std::int64_t{1000000}}) {
    Multigrids M(exec, a, {.coarse_rows = 50}, {gathered});
    auto const first = applied(M);
    Whole const indefinite("A - I", A), infinite("infinite", A);
    for (int i = 0; i < A.numRows(); ++i)
      for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
        if (A.graph.entries(k) == i) indefinite.values(k) = A.values(k) - 1;
    M.refresh(exec, spread(indefinite, true));
    EXPECT_EQ(M.report().status, MultigridStatus::indefinite);
    EXPECT_NE(message_of([&] { applied(M); }).find("do not apply"), std::string::npos);
    M.refresh(exec, a);
    EXPECT_EQ(applied(M), first);
    infinite.values(0) = std::numeric_limits<double>::infinity();
    EXPECT_NE(message_of([&] { M.refresh(exec, spread(infinite, true)); }), "");
    EXPECT_NE(message_of([&] { applied(M); }).find("refresh again"), std::string::npos);
    M.refresh(exec, a);
    EXPECT_EQ(applied(M), first);
  }
}

}  // namespace
}  // namespace blockspan::test
