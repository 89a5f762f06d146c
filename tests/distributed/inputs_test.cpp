// Input at the edges, or of one rank alone: served, or an Error on all ranks; none waits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/distributed/row_order.hpp>
#include <blockspan/operators/block_jacobi.hpp>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using Scalar = double;
using Vectors = Block<Scalar, Exec>;
using Options = MultigridOptions<Scalar, Exec>;
using Matrix = DistributedMatrix<Scalar, Exec>;
using Multigrids = DistributedMultigrid<Scalar, Exec>;

class InputsOfRanks : public ::testing::Test {
 public:
  Exec const exec;
  CrsMatrix<Scalar, Exec> const A = generate<Scalar>(exec, "laplace7:14");
  RowPartition const partition{odd_cuts(A.numRows())};
  int const me = world().rank(), last = world().size() - 1;

  LocalRows<Scalar> mine() const { return rows_of(A, partition.first(me), partition.last(me)); }
};

TEST_F(InputsOfRanks, ProductsOfNoColumnsAreNothing) {
  auto const op = distributed_operator(exec, distribute(exec, world(), A, &partition));
  Vectors const none("none", static_cast<std::size_t>(op.rows()), 0);
  op.apply(exec, none, none);
  for (auto const way : {Op::none, Op::transpose}) spmm(exec, way, 1.0, op, none, 0.0, none);
}

/// A rank that adds nothing to a row does not make it NaN.
TEST_F(InputsOfRanks, TransposedProductsWithAnInfiniteFactorAreThoseOfOneRank) {
  auto const op = distributed_operator(exec, distribute(exec, world(), A, &partition));
  auto const n = static_cast<std::size_t>(A.numRows());
  Vectors const X("X", n, 2), Y("Y", n, 2);
  fill_random(exec, X, 5);
  double const infinity = std::numeric_limits<double>::infinity();
  for (double const alpha : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})
    for (double const beta : {0.0, 0.5, infinity}) {
      Kokkos::deep_copy(Y, 2.0);
      auto const x = local_rows(op.row_space(), X), y = local_rows(op.row_space(), Y);
      spmm(exec, Op::transpose, alpha, A, X, beta, Y);
      spmm(exec, Op::transpose, alpha, op, x, beta, y);
      auto const of_ranks = whole_block(op.row_space(), y);
      for (std::size_t i = 0; i < Y.size(); ++i)
        ASSERT_TRUE(of_ranks.data()[i] == Y.data()[i] ||
                    (std::isnan(of_ranks.data()[i]) && std::isnan(Y.data()[i])))
            << alpha << ", " << beta << ": " << of_ranks.data()[i] << " for " << Y.data()[i];
    }
}

/// Ranks whose own rows have other tiles, or none: the one with the most rows finds the size.
TEST_F(InputsOfRanks, BlocksOfJacobiHaveOneSize) {
  for (int const first : {0, 1, 2}) {  // the rank of the solid; the others have scalars, or no rows
    CrsMatrix<Scalar, Exec> own;
    if (me % 3 == first) own = generate<Scalar>(exec, "elasticity:5");
    if (me % 3 == (first + 1) % 3) own = generate<Scalar>(exec, "laplace7:5");
    BlockJacobiPreconditioner<Scalar, Exec> const T(exec, own, {}, world());
    EXPECT_EQ(T.block_size(), first <= last ? 3 : 1) << first;
  }
}

TEST_F(InputsOfRanks, NoCommunicatorIsRefused) {
  EXPECT_THAT(message_of([] { mpi_communicator(MPI_COMM_NULL); }), HasSubstr("MPI_COMM_NULL"));
}

TEST_F(InputsOfRanks, AMatrixWithoutRowsIsDealtOut) {
  auto const nothing = distribute(exec, world(), CrsMatrix<Scalar, Exec>());
  EXPECT_EQ(nothing->partition().global_rows(), 0);
  EXPECT_EQ(nothing->nonzeros(), 0);
  if (world().size() > 1) Multigrids const M(exec, nothing);
}

TEST_F(InputsOfRanks, APartitionForOtherRanksIsRefused) {
  std::vector<std::int64_t> cuts(partition.cuts());
  cuts.push_back(cuts.back());
  std::vector<std::int64_t> const alone{0, cuts.back()};
  for (auto const& like : {RowPartition(cuts), RowPartition(alone)}) {
    if (like.ranks() == world().size()) continue;
    auto const wanted = HasSubstr("a partition for " + std::to_string(like.ranks()) + " ranks");
    EXPECT_THAT(message_of([&] { distribute(exec, world(), A, &like); }), wanted);
    EXPECT_THAT(
        message_of([&] { generate_distributed<Scalar>(exec, world(), "laplace7:14", &like); }),
        wanted);
  }
}

TEST_F(InputsOfRanks, OffsetsThatDoNotAscendAreRefused) {
  auto const refused = [&](auto const& spoil) {
    auto rows = mine();
    if (me == last) spoil(rows.offsets);
    return message_of([&] { Matrix const B(exec, world(), partition, rows); });
  };
  auto const wanted = HasSubstr("do not ascend");
  EXPECT_THAT(refused([](auto& offsets) { offsets[3] = offsets[2] - 1; }), wanted);
  EXPECT_THAT(refused([](auto& offsets) { offsets[0] = 1; }), wanted);
  EXPECT_THAT(refused([](auto& offsets) { offsets.clear(); }), wanted);
}

TEST_F(InputsOfRanks, PatternsThatDoNotFitAnOrderAreRefused) {
  auto const refused = [&](auto const& spoil) {
    auto rows = mine();
    if (me == last) spoil(rows);
    RowPattern const pattern{rows.offsets, rows.columns};
    std::vector<int> const parts(static_cast<std::size_t>(pattern.rows()), 0);
    auto const by_parts = message_of([&] { order_by_parts(world(), partition, pattern, parts); });
    EXPECT_EQ(message_of([&] { order_by_cuthill_mckee(world(), partition, pattern, 4); }).empty(),
              by_parts.empty());
    return by_parts;
  };
  std::int64_t const n = A.numRows();
  EXPECT_THAT(refused([&](auto& rows) { rows.columns[5] = n + 7; }),
              HasSubstr("an entry in column"));
  EXPECT_THAT(refused([](auto& rows) {
                rows.offsets.resize(rows.offsets.size() - 2);
                rows.columns.resize(static_cast<std::size_t>(rows.offsets.back()));
              }),
              HasSubstr("this rank has"));
  // an order of rows that lie otherwise
  std::vector<std::int64_t> cuts(partition.cuts());
  for (std::size_t r = 1; r + 1 < cuts.size(); ++r)
    cuts[r] = std::min<std::int64_t>(cuts[r] + 1, n);
  RowPartition const other(cuts);
  std::vector<std::int64_t> places;
  for (auto i = other.first(me); i < other.last(me); ++i) places.push_back(i);
  RowOrder const order(world(), other, partition, places);
  auto const matrix = distribute(exec, world(), A, &partition);
  if (world().size() > 1) {
    EXPECT_THAT(message_of([&] { reorder(exec, *matrix, order); }), HasSubstr("this rank has"));
  }
}

TEST_F(InputsOfRanks, ExceptionsOfAnyTypeAreAgreedOn) {
  if (world().size() == 1) GTEST_SKIP() << "for several ranks";
  EXPECT_THAT(message_of([&] {
                world().run_agreed([&] {
                  if (me == last) throw 3;
                });
              }),
              HasSubstr("unknown type"));
}

TEST_F(InputsOfRanks, ARankWithoutRowsNeedsNoVectors) {
  if (world().size() == 1) GTEST_SKIP() << "for several ranks";
  auto const matrix = distribute(exec, world(), A, &partition);
  auto const n = static_cast<std::size_t>(matrix->local_rows());
  auto const report = [&](bool everywhere) {
    Options options{.coarse_rows = 50};
    if (n > 0 || everywhere) {
      Vectors const B("B", n, 2);
      for (std::size_t i = 0; i < n; ++i)
        B(i, 0) = 1, B(i, 1) = static_cast<double>(partition.first(me) + std::int64_t(i));
      options.near_null = B;
    }
    return Multigrids(exec, matrix, options, {100}).report();
  };
  auto const given = report(true), left_out = report(false);
  EXPECT_EQ(left_out.near_null, 2);
  ASSERT_EQ(left_out.levels.size(), given.levels.size());
  EXPECT_EQ(left_out.smallest, given.smallest);
  for (auto const& level : left_out.levels)  // the same on all ranks
    EXPECT_EQ(world().largest(level.theta), world().least(level.theta));
}

TEST_F(InputsOfRanks, MultigridRefusesWhatRanksGiveDifferently) {
  if (world().size() == 1) GTEST_SKIP() << "for several ranks";
  auto const matrix = distribute(exec, world(), A);
  auto const refused = [&](Options const& options) {
    try {
      Multigrids const M(exec, matrix, options, {100});
    } catch (AgreedError const& error) {
      return std::string(error.what());
    }
    return std::string("not refused by all");
  };
  EXPECT_THAT(refused({.block_size = me == last ? 2 : 1}), HasSubstr("not those of rank 0"));
  auto const n = static_cast<std::size_t>(matrix->local_rows());
  EXPECT_THAT(refused({.near_null = Vectors("B", n, 1)}), HasSubstr("is zero"));
}

}  // namespace
}  // namespace blockspan::test
