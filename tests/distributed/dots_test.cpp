// The product with sums of its columns (spmm_dots) of rows that are spread over ranks.
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "distributed/ranks.hpp"
#include "support/extended.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Config>
class DotsOnRanks : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  using Rows = DistributedMatrix<Value, Exec>;
  using Vectors = Block<Value, Exec>;
  Exec const exec;

  /// What a call gives.
  struct Sums {
    explicit Sums(int columns) : x_dot_y("x_dot_y", columns), y_dot_y("y_dot_y", columns) {
      Kokkos::deep_copy(x_dot_y, std::numeric_limits<double>::quiet_NaN());
      Kokkos::deep_copy(y_dot_y, std::numeric_limits<double>::quiet_NaN());
    }
    Kokkos::View<Value*, Exec> x_dot_y;
    Kokkos::View<double*, Exec> y_dot_y;
    bool operator==(Sums const& other) const {
      return entries(x_dot_y) == entries(other.x_dot_y) &&
             entries(y_dot_y) == entries(other.y_dot_y);
    }
  };

  Vectors random(std::int64_t rows, int columns, std::uint64_t seed) const {
    Vectors const X("X", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
    fill_random(exec, X, seed);
    return X;
  }
  /// One a row of all ranks, those of this rank.
  Kokkos::View<double*, Exec> weights(std::int64_t first, std::int64_t last) const {
    Kokkos::View<double*, Exec> const w("w", static_cast<std::size_t>(last - first));
    for (std::int64_t i = first; i < last; ++i) w(i - first) = 1 + i % 5;
    return w;
  }

  std::shared_ptr<Rows const> cut(CrsMatrix<Value, Exec> const& A) const {
    auto const cuts = odd_cuts(A.numRows());
    auto const rank = static_cast<std::size_t>(world().rank());
    return distribute(exec, world(), rows_of(A, cuts[rank], cuts[rank + 1]));
  }

  /// Against sums in extended precision of what Y then is, by the bounds that spmm_dots promises.
  void expect_right(Sums const& found, Vectors const& X, Vectors const& Y) const {
    auto const rows = static_cast<std::int64_t>(X.extent(0));
    auto const w = weights(0, rows);
    for (int j = 0; j < static_cast<int>(X.extent(1)); ++j) {
      extended_t<Value> dot = 0;
      long double square = 0, size = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        dot += conjugate(extended(X(i, j))) * extended(Y(i, j));
        size += magnitude(X(i, j)) * magnitude(Y(i, j));
        square += w(i) * magnitude(Y(i, j)) * magnitude(Y(i, j));
      }
      EXPECT_LE(std::abs(extended(found.x_dot_y(j)) - dot), gamma_bound<Value>(rows + 2) * size)
          << j;
      EXPECT_LE(std::abs(found.y_dot_y(j) - square), gamma_bound<Value>(rows + 3) * square) << j;
    }
  }
};
TYPED_TEST_SUITE(DotsOnRanks, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(DotsOnRanks, HaveTheBitsOfOneRankWhereCutsAreAtChunks) {
  using S = typename TypeParam::Scalar;
  using Numbers = typename TestFixture::Sums;
  S const alpha(1.5);
  for (std::string const spec : product_specs) {
    auto const A = generate<S>(this->exec, spec);
    SpmmPlan const plan(this->exec, A, whole_rows());
    auto const op = distributed_operator(
        this->exec, generate_distributed<S>(this->exec, world(), spec), {.same_bits = true});
    auto const space = op.row_space();
    auto const [first, last] = space.range(world().rank(), A.numRows());
    for (int const k : {1, 2, 5, 8})
      for (S const beta : {S(0), S(-0.5)}) {
        SCOPED_TRACE(spec + ", " + std::to_string(k));
        auto const X = this->random(A.numRows(), k, 1), Y = this->random(A.numRows(), k, 2);
        auto const x = local_rows(space, X), y = local_rows(space, Y);
        Numbers one(k), all(k), alone(k);
        spmm_dots(this->exec, plan, alpha, A, X, beta, Y, one.x_dot_y, one.y_dot_y,
                  this->weights(0, A.numRows()));
        spmm_dots(this->exec, alpha, op, x, beta, y, all.x_dot_y, all.y_dot_y,
                  this->weights(first, last));
        EXPECT_EQ(entries(whole_block(space, y)), entries(Y));
        EXPECT_TRUE(all == one);
        // without squares
        Kokkos::deep_copy(y, local_rows(space, this->random(A.numRows(), k, 2)));
        spmm_dots(this->exec, alpha, op, x, beta, y, alone.x_dot_y, nullptr);
        EXPECT_EQ(entries(alone.x_dot_y), entries(one.x_dot_y));
      }
  }
}

/// All rows at the cuts, some, none; ranks without rows; blocks that are columns of wider ones.
TYPED_TEST(DotsOnRanks, AreRightHoweverRowsAreCut) {
  using S = typename TypeParam::Scalar;
  using Numbers = typename TestFixture::Sums;
  for (std::string const spec : {"fixed:4000x4000:9", "laplace7:18x17x16", "diagonal"}) {
    auto const A = spec == "diagonal" ? generate<S>(this->exec, "fixed:3000x3000:1")
                                      : generate<S>(this->exec, spec);
    if (spec == "diagonal")
      for (int i = 0; i < A.numRows(); ++i) A.graph.entries(i) = i;
    auto const matrix = this->cut(A);
    if (spec == "diagonal") {
      EXPECT_EQ(matrix->packed_rows(), 0);
    }
    auto const op = distributed_operator(this->exec, matrix);
    auto const space = op.row_space();
    auto const [first, last] = space.range(world().rank(), A.numRows());
    for (int const k : {1, 4, 7}) {
      SCOPED_TRACE(spec + ", " + std::to_string(k));
      auto const X = this->random(A.numRows(), k, 1);
      auto const rows = local_rows(space, X);
      Block<S, Exec> const wide("wide", rows.extent(0), 2 * k + 3);
      auto const x = Kokkos::subview(wide, Kokkos::ALL, std::pair(1, 1 + k)),
                 y = Kokkos::subview(wide, Kokkos::ALL, std::pair(k + 1, 2 * k + 1));
      Block<S, Exec> const product("product", x.extent(0), x.extent(1));
      Kokkos::deep_copy(x, rows);
      op.apply(this->exec, x, product);
      Numbers sums(k), again(k);
      for (auto const* to : {&sums, &again}) {
        Kokkos::deep_copy(y, std::numeric_limits<double>::quiet_NaN());
        spmm_dots(this->exec, S(1), op, x, S(0), y, to->x_dot_y, to->y_dot_y,
                  this->weights(first, last));
      }
      Block<S, Exec> const found("found", x.extent(0), x.extent(1));
      Kokkos::deep_copy(found, y);
      EXPECT_EQ(entries(found), entries(product));
      EXPECT_TRUE(again == sums);
      this->expect_right(sums, X, whole_block(space, found));
      // all ranks have the same bits
      auto dots = entries(sums.x_dot_y);
      auto squares = entries(sums.y_dot_y);
      world().broadcast(std::span(dots), 0), world().broadcast(std::span(squares), 0);
      EXPECT_EQ(entries(sums.x_dot_y), dots);
      EXPECT_EQ(entries(sums.y_dot_y), squares);
      // hosts: those of a pass of its own (one column is read otherwise there)
      if (k == 1) continue;
      Workspace<Exec> workspace(space);
      Kokkos::View<S*, Kokkos::HostSpace> const separate("separate", k);
      column_dots(this->exec, x, y, separate, workspace);
      EXPECT_EQ(entries(sums.x_dot_y), entries(separate));
    }
  }
}

TYPED_TEST(DotsOnRanks, AnOperatorOnHostsLeavesThemToAPassOfItsOwn) {
  using S = typename TypeParam::Scalar;
  auto const op = distributed_operator(
      this->exec, generate_distributed<S>(this->exec, world(), "laplace5:30x30"));
  auto const x = this->random(op.rows(), 2, 1), y = this->random(op.rows(), 2, 2);
  auto const before = entries(y);
  typename TestFixture::Sums const sums(2);
  EXPECT_FALSE(op.apply_dots(this->exec, x, y, {}, sums.x_dot_y, sums.y_dot_y));
  EXPECT_EQ(entries(y), before);
}

TYPED_TEST(DotsOnRanks, ShapesThatClashAreRefused) {
  using S = typename TypeParam::Scalar;
  auto const op = distributed_operator(
      this->exec, generate_distributed<S>(this->exec, world(), "laplace5:9x9"));
  auto const x = this->random(op.rows(), 2, 1), y = this->random(op.rows(), 2, 2),
             long_y = this->random(op.rows() + 1, 2, 2);
  typename TestFixture::Sums const two(2), three(3);
  auto const message = [&](auto const& to, auto const& dots, auto const& squares, auto const& w) {
    return message_of([&] { spmm_dots(this->exec, S(1), op, x, S(0), to, dots, squares, w); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message(long_y, two.x_dot_y, two.y_dot_y, nullptr),
              HasSubstr("has " + std::to_string(op.rows()) + " rows"));
  EXPECT_THAT(message(y, three.x_dot_y, two.y_dot_y, nullptr), HasSubstr("x_dot_y: 3"));
  EXPECT_THAT(message(y, two.x_dot_y, three.y_dot_y, nullptr), HasSubstr("y_dot_y: 3"));
  EXPECT_THAT(message(y, two.x_dot_y, two.y_dot_y, this->weights(0, op.rows() + 1)),
              HasSubstr("an entry for each row"));
}

}  // namespace
}  // namespace blockspan::test
