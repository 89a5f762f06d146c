// The product of rows that are spread over ranks, and sums over them, against those of one rank.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/blocks/over_ranks.hpp>
#include <blockspan/operators/jacobi.hpp>

#include "distributed/ranks.hpp"
#include "sparse/generators_support.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Config>
class Distributed : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  Exec const exec;

  CrsMatrix<Value, Exec> generated(std::string const& spec) const {
    return generate<Value>(exec, spec);
  }
  Block<Value, Exec> random(std::int64_t rows, int columns, std::uint64_t seed = 3) const {
    Block<Value, Exec> const X("X", static_cast<std::size_t>(rows),
                               static_cast<std::size_t>(columns));
    fill_random(exec, X, seed);
    return X;
  }
};
TYPED_TEST_SUITE(Distributed, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(Distributed, ProductsHaveTheBitsOfOneRank) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : product_specs) {
    auto const A = this->generated(spec);
    MatrixOperator<S, Exec> const one(this->exec, A, whole_rows());
    auto const matrix = generate_distributed<S>(this->exec, world(), spec);
    auto const op = distributed_operator(this->exec, matrix, {.same_bits = true});
    for (int const k : {1, 2, 3, 5, 8, 17, 33}) {
      auto const X = this->random(A.numRows(), k);
      Block<S, Exec> const Y("Y", X.extent(0), X.extent(1));
      one.apply(this->exec, X, Y);
      auto const x = local_rows(op.row_space(), X);
      Block<S, Exec> const y("y", x.extent(0), x.extent(1));
      Kokkos::deep_copy(y, std::numeric_limits<double>::quiet_NaN());
      op.apply(this->exec, x, y);
      EXPECT_EQ(entries(whole_block(op.row_space(), y)), entries(Y)) << spec << ", " << k;
    }
  }
}

TYPED_TEST(Distributed, AMatrixOfAnOwnBlockAndTheRestIsThatOfWholeRows) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : product_specs) {
    auto const A = this->generated(spec);
    auto const cuts = odd_cuts(A.numRows());
    auto const rank = static_cast<std::size_t>(world().rank());
    auto const rows = rows_of(A, cuts[rank], cuts[rank + 1]);
    auto const whole = distribute(this->exec, world(), rows);
    LocalRows<S> across;
    for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
      for (auto k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
        auto const at = static_cast<std::size_t>(k);
        if (rows.columns[at] >= cuts[rank] && rows.columns[at] < cuts[rank + 1]) continue;
        across.columns.push_back(rows.columns[at]);
        across.values.push_back(rows.values[at]);
      }
      across.offsets.push_back(static_cast<std::int64_t>(across.columns.size()));
    }
    DistributedMatrix<S, Exec> const parts(this->exec, world(), whole->partition(),
                                           whole->diagonal_block(this->exec), across);
    auto const again = parts.global_rows(this->exec);
    EXPECT_EQ(again.offsets, rows.offsets) << spec;
    EXPECT_EQ(again.columns, rows.columns) << spec;
    EXPECT_EQ(again.values, rows.values) << spec;
    for (auto const which : {parts.lower_boundary, parts.interior, parts.upper_boundary})
      EXPECT_EQ(parts.part(which).rows(), whole->part(which).rows()) << spec;
    EXPECT_EQ(parts.halo().rows, whole->halo().rows);
    EXPECT_EQ(parts.nonzeros(), static_cast<std::int64_t>(A.nnz()));
    EXPECT_EQ(parts.norm_bound(), whole->norm_bound());
    EXPECT_EQ(parts.eigenvalue_lower_bound(), whole->eigenvalue_lower_bound());
    EXPECT_EQ(parts.annihilates_constants(this->exec), whole->annihilates_constants(this->exec));
    EXPECT_EQ(parts.diagonal(this->exec), whole->diagonal(this->exec));
  }
}

TYPED_TEST(Distributed, ProductsOfOddPartsAndChosenKernelsAgreeToRounding) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : product_specs) {
    auto const A = this->generated(spec);
    MatrixOperator<S, Exec> const one(this->exec, A, {});
    auto const cuts = odd_cuts(A.numRows());
    auto const rank = static_cast<std::size_t>(world().rank());
    auto const matrix = distribute(this->exec, world(), rows_of(A, cuts[rank], cuts[rank + 1]));
    EXPECT_EQ(matrix->partition().cuts(), cuts);
    auto const op = distributed_operator(this->exec, matrix);
    for (int const k : {1, 4, 7}) {
      auto const X = this->random(A.numRows(), k);
      Block<S, Exec> const Y("Y", X.extent(0), X.extent(1));
      one.apply(this->exec, X, Y);
      auto const x = local_rows(op.row_space(), X);
      // columns of a wider block, as solvers have them
      Block<S, Exec> const wide("wide", x.extent(0), x.extent(1) + 3);
      auto const y = Kokkos::subview(wide, Kokkos::ALL, std::pair<int, int>(2, 2 + k));
      op.apply(this->exec, x, y);
      Block<S, Exec> const found("found", y.extent(0), y.extent(1));
      Kokkos::deep_copy(found, y);
      auto const all = entries(whole_block(op.row_space(), found)), wanted = entries(Y);
      double const bound =
          1e-15 * 2.0 * static_cast<double>(*op.facts().terms_per_row) * *one.facts().norm_bound;
      for (std::size_t e = 0; e < all.size(); ++e)
        ASSERT_LE(Kokkos::abs(S(all[e] - wanted[e])), bound) << spec << ", " << k << ", " << e;
    }
  }
}

/// Small ones: some ranks have a few rows, some none.
TYPED_TEST(Distributed, MatricesOfEveryGeneratorAreThoseOfOneRank) {
  using S = typename TypeParam::Scalar;
  auto all = square_specs();
  all.insert(all.end(), {"p1:3", "p1-mass:3"});
  for (auto const spec : all) {
    SCOPED_TRACE(spec);
    auto const A = generate<S>(this->exec, spec);
    RowPartition const cuts(odd_cuts(A.numRows()));
    auto const op =
        distributed_operator(this->exec, generate_distributed<S>(this->exec, world(), spec, &cuts));
    auto const found = op.matrix().global_rows(this->exec);
    auto const expected = rows_of(A, cuts.first(world().rank()), cuts.last(world().rank()));
    EXPECT_EQ(found.offsets, expected.offsets);
    EXPECT_EQ(found.columns, expected.columns);
    EXPECT_EQ(found.values, expected.values);
    auto const X = this->random(A.numRows(), 3);
    Block<S, Exec> const Y("Y", X.extent(0), 3);
    MatrixOperator<S, Exec> const one(this->exec, A, {});
    one.apply(this->exec, X, Y);
    auto const x = local_rows(op.row_space(), X), y = local_rows(op.row_space(), Y);
    Block<S, Exec> const image("image", x.extent(0), 3);
    op.apply(this->exec, x, image);
    double const bound = 8 * unit_roundoff<S> * static_cast<double>(*op.facts().terms_per_row) *
                         *one.facts().norm_bound;
    for (std::size_t e = 0; e < y.size(); ++e)
      ASSERT_LE(Kokkos::abs(S(image.data()[e] - y.data()[e])), bound) << e;
  }
}

TYPED_TEST(Distributed, EveryOpAndLayoutAgreesWithOneRankToRounding) {
  using S = typename TypeParam::Scalar;
  using Left = Kokkos::View<S**, Kokkos::LayoutLeft, Exec>;
  S const alpha(1.5), beta(-0.5);
  for (std::string const spec : {"fixed:3000x3000:9", "rmat:11:4", "laplace5:80x70"}) {
    auto const A = this->generated(spec);
    auto const cuts = odd_cuts(A.numRows());
    auto const rank = static_cast<std::size_t>(world().rank());
    std::pair const here(cuts[rank], cuts[rank + 1]);
    auto const matrix = distribute(this->exec, world(), rows_of(A, here.first, here.second));
    auto const op = distributed_operator(this->exec, matrix);
    // gamma_m (|alpha| |A| |X| + |beta| |Y|), the entries of X and Y being below sqrt(2)
    std::vector<double> sizes(static_cast<std::size_t>(A.numRows())), counts(sizes);
    for (std::size_t e = 0; e < A.graph.entries.extent(0); ++e) {
      auto const column = static_cast<std::size_t>(A.graph.entries(e));
      sizes[column] += Kokkos::abs(A.values(e));
      counts[column] += 1;
    }
    auto const most = [](auto const& of) { return *std::max_element(of.begin(), of.end()); };
    double const size = std::max(matrix->norm_bound(), most(sizes));
    double const terms = std::max(static_cast<double>(*op.facts().terms_per_row), most(counts)) + 3;
    double const bound = 2 * 2 * unit_roundoff<S> * terms * std::sqrt(2.0) * (1.5 * size + 0.5);
    for (Op const which : {Op::none, Op::transpose, Op::conjugate, Op::adjoint})
      for (int const k : {1, 5}) {
        SCOPED_TRACE(spec + ", " + to_string(which) + ", " + std::to_string(k));
        auto const X = this->random(A.numRows(), k, 1), Y = this->random(A.numRows(), k, 2);
        auto const x = local_rows(op.row_space(), X);
        auto const start = local_rows(op.row_space(), Y);
        Left const xl("x", x.extent(0), x.extent(1)), y("y", x.extent(0), x.extent(1));
        Kokkos::deep_copy(xl, x);
        spmm(this->exec, which, alpha, A, X, beta, Y);
        std::vector<S> first;
        for (int run = 0; run < 2; ++run) {
          Kokkos::deep_copy(y, start);
          spmm(this->exec, which, alpha, op, xl, beta, y);
          Block<S, Exec> const found("found", y.extent(0), y.extent(1));
          Kokkos::deep_copy(found, y);
          auto const all = entries(whole_block(op.row_space(), found)), wanted = entries(Y);
          for (std::size_t e = 0; e < all.size(); ++e)
            ASSERT_LE(Kokkos::abs(S(all[e] - wanted[e])), bound) << e;
          if (run == 1) {
            EXPECT_EQ(all, first);
          }
          first = all;
        }
        // Y is not read where beta is 0
        Kokkos::deep_copy(y, std::numeric_limits<double>::quiet_NaN());
        spmm(this->exec, which, S(1), op, x, S(0), y);
        for (std::size_t i = 0; i < y.extent(0); ++i)
          for (int j = 0; j < k; ++j) ASSERT_EQ(y(i, j), y(i, j));
      }
  }
}

TYPED_TEST(Distributed, ShapesThatClashAreRefused) {
  using S = typename TypeParam::Scalar;
  auto const op = distributed_operator(
      this->exec, generate_distributed<S>(this->exec, world(), "laplace5:9x9"));
  auto const x = this->random(op.rows(), 2), y = this->random(op.rows() + 1, 2);
  EXPECT_THAT(message_of([&] { spmm(this->exec, Op::none, S(1), op, x, S(0), y); }),
              ::testing::HasSubstr("where rank " + std::to_string(world().rank()) + " has " +
                                   std::to_string(op.rows()) + " rows"));
}

TYPED_TEST(Distributed, FactsAreThoseOfTheWholeMatrix) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : product_specs) {
    auto const A = this->generated(spec);
    MatrixOperator<S, Exec> const one(this->exec, A, {});
    auto const cuts = odd_cuts(A.numRows());
    auto const rank = static_cast<std::size_t>(world().rank());
    auto const matrix = distribute(this->exec, world(), rows_of(A, cuts[rank], cuts[rank + 1]));
    auto const op = distributed_operator(this->exec, matrix);
    EXPECT_EQ(op.facts().norm_bound, one.facts().norm_bound) << spec;
    EXPECT_EQ(op.facts().eigenvalue_lower_bound, one.facts().eigenvalue_lower_bound) << spec;
    EXPECT_EQ(op.facts().terms_per_row, one.facts().terms_per_row);
    EXPECT_EQ(op.facts().work, one.facts().work);
    EXPECT_EQ(op.annihilates_constants(this->exec), one.annihilates_constants(this->exec));
    EXPECT_EQ(op.rows(), cuts[rank + 1] - cuts[rank]);
    EXPECT_EQ(world().sum(op.rows()), one.rows());
    auto const whole = one.diagonal(this->exec);
    EXPECT_EQ(op.diagonal(this->exec),
              (std::vector<double>(whole.begin() + cuts[rank], whole.begin() + cuts[rank + 1])));
    auto const jacobi_here =
        jacobi(this->exec, matrix->diagonal_block(this->exec), world()).factors();
    auto const jacobi_all = jacobi(this->exec, A).factors();
    for (std::size_t i = 0; i < jacobi_here.extent(0); ++i)
      EXPECT_EQ(jacobi_here(i), jacobi_all(static_cast<std::size_t>(cuts[rank]) + i));
  }
}

TYPED_TEST(Distributed, MagnitudesReachAcrossRanks) {
  using S = typename TypeParam::Scalar;
  auto const A = this->generated("fixed:3000x3000:8");
  MatrixOperator<S, Exec> const one(this->exec, A, {});
  auto const cuts = odd_cuts(A.numRows());
  auto const rank = static_cast<std::size_t>(world().rank());
  auto const op = distributed_operator(
      this->exec, distribute(this->exec, world(), rows_of(A, cuts[rank], cuts[rank + 1])));
  auto const n = static_cast<std::size_t>(A.numRows());
  using Reals = Kokkos::View<double*, Exec>;
  Reals const x("x", n), y("y", n), local("local", static_cast<std::size_t>(op.rows()));
  for (std::size_t i = 0; i < n; ++i) x(i) = 1 + std::sin(static_cast<double>(i));
  one.apply_magnitudes(this->exec, x, y);
  op.apply_magnitudes(this->exec, Kokkos::subview(x, std::pair(cuts[rank], cuts[rank + 1])), local);
  for (std::size_t i = 0; i < local.extent(0); ++i)
    EXPECT_NEAR(local(i), y(static_cast<std::size_t>(cuts[rank]) + i), 1e-13);
}

TYPED_TEST(Distributed, AccurateResidualsReachAcrossRanks) {
  auto const A = this->generated("laplace7:9x8x7");
  auto const op = distributed_operator(this->exec, distribute(this->exec, world(), A));
  auto const X = this->random(A.numRows(), 3, 1), R = this->random(A.numRows(), 3, 2);
  auto const x = local_rows(op.row_space(), X), r = local_rows(op.row_space(), R);
  ASSERT_TRUE(matrix_operator(this->exec, A).subtract_accurately(this->exec, X, R) &&
              op.subtract_accurately(this->exec, x, r));
  auto const whole = local_rows(op.row_space(), R);
  for (std::size_t i = 0; i < 3 * r.extent(0); ++i)
    EXPECT_LE(Kokkos::abs(r.data()[i] - whole.data()[i]), 1e-15);
}

TYPED_TEST(Distributed, SumsOverRowsHaveTheBitsOfOneRank) {
  using S = typename TypeParam::Scalar;
  auto const A = this->generated("laplace5:300x280");  // 83 chunks
  auto const space = distribute(this->exec, world(), A)->row_space();
  Workspace<Exec> all_rows, spread(space);
  for (int const k : {1, 3, 8, 20}) {
    auto const X = this->random(A.numRows(), k, 1), Y = this->random(A.numRows(), k, 2);
    auto const x = local_rows(space, X), y = local_rows(space, Y);
    using Small = Kokkos::View<S**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
    Small const G("G", k, k), g("g", k, k);
    gram(this->exec, X, Y, G, all_rows), gram(this->exec, x, y, g, spread);
    EXPECT_EQ(entries(g), entries(G)) << k;
    gram(this->exec, X, X, G, all_rows), gram(this->exec, x, x, g, spread);
    EXPECT_EQ(entries(g), entries(G)) << k;
    Kokkos::View<double*, Kokkos::HostSpace> const N("N", k), n("n", k);
    column_norms(this->exec, X, N, all_rows), column_norms(this->exec, x, n, spread);
    EXPECT_EQ(entries(n), entries(N)) << k;
    Kokkos::View<S*, Kokkos::HostSpace> const D("D", k), d("d", k);
    column_dots(this->exec, X, Y, D, all_rows), column_dots(this->exec, x, y, d, spread);
    EXPECT_EQ(entries(d), entries(D)) << k;
    EXPECT_EQ(orthonormalize(this->exec, x, spread).rank,
              orthonormalize(this->exec, X, all_rows).rank);
    EXPECT_EQ(entries(whole_block(space, x)), entries(X)) << k;
    project_out(this->exec, X, X, Y, all_rows), project_out(this->exec, x, x, y, spread);
    EXPECT_EQ(entries(whole_block(space, y)), entries(Y)) << k;
  }
}

TYPED_TEST(Distributed, SumsOverOddPartsAreTheSameOnEveryRank) {
  using S = typename TypeParam::Scalar;
  std::int64_t const rows = 9001;
  RowSpace const space(world(), odd_cuts(rows), 0);
  Workspace<Exec> all_rows, spread(space);
  auto const X = this->random(rows, 5);
  auto const x = local_rows(space, X);
  Kokkos::View<S**, Kokkos::LayoutLeft, Kokkos::HostSpace> const G("G", 5, 5), g("g", 5, 5);
  gram(this->exec, X, X, G, all_rows), gram(this->exec, x, x, g, spread);
  auto root = entries(g);
  world().broadcast(root, 0);
  EXPECT_EQ(entries(g), root);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) EXPECT_LE(Kokkos::abs(S(g(i, j) - G(i, j))), 1e-10);
}

/// What devices do, whose kernels make a sum of all rows of a rank.
TYPED_TEST(Distributed, GramMatricesAreAddedByWayOfTheHost) {
  using S = typename TypeParam::Scalar;
  std::int64_t const rows = 5003;
  RowSpace const space(world(), odd_cuts(rows), 0);
  Workspace<Exec> alone, spread(space);
  auto const X = this->random(rows, 5);
  auto const x = local_rows(space, X);
  // rows of G are apart, as those of a part of a larger matrix
  Kokkos::View<S**, Kokkos::LayoutLeft, Exec> const G("G", 7, 5), whole("whole", 7, 5);
  auto const part = [](auto const& M) { return Kokkos::subview(M, std::pair(0, 5), Kokkos::ALL); };
  gram(this->exec, X, X, part(whole), alone);
  blockspan::blocks::GramsOverRanks<Exec, S, 1> const grams(
      this->exec, {blockspan::blocks::block_ref<Exec>(part(G))},
      static_cast<std::int64_t>(x.extent(0)), spread);
  auto const& node = grams.nodes(0).first;
  Kokkos::View<S**, Kokkos::LayoutStride, Exec, Kokkos::MemoryUnmanaged> const of_rank(
      node.data, Kokkos::LayoutStride(5, node.row_stride, 5, node.column_stride));
  gram(this->exec, x, x, of_rank, alone);
  grams.join();
  this->exec.fence();
  auto root = entries(G);
  world().broadcast(root, 0);
  EXPECT_EQ(entries(G), root);
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 5; ++j) EXPECT_LE(Kokkos::abs(S(G(i, j) - whole(i, j))), 1e-11);
}

TYPED_TEST(Distributed, RandomBlocksDoNotDependOnTheCuts) {
  using S = typename TypeParam::Scalar;
  std::int64_t const rows = 700;
  RowSpace const space(world(), odd_cuts(rows), 0);
  auto const X = this->random(rows, 4, 9);
  auto const empty = local_rows(space, X);
  Block<S, Exec> const x("x", empty.extent(0), empty.extent(1));
  fill_random(this->exec, x, 9, 0, space.first_row());
  EXPECT_EQ(entries(x), entries(empty));
}

TYPED_TEST(Distributed, BlocksGoOutAndComeBack) {
  using S = typename TypeParam::Scalar;
  int const root = world().size() - 1;
  RowSpace const space(world(), odd_cuts(500), 0);
  auto const X = this->random(500, 3);
  auto const here = local_rows(space, X);
  Kokkos::View<S**, Kokkos::LayoutLeft, Kokkos::HostSpace> const local("local", here.extent(0), 3);
  Block<S, Exec> const nothing;
  scatter_block(space, world().rank() == root ? X : nothing, local, root);
  for (std::size_t i = 0; i < here.extent(0); ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(local(i, j), here(i, j));
  Block<S, Exec> const back("back", world().rank() == root ? 500 : 0, 3);
  gather_block(space, local, back, root);
  if (world().rank() == root) {
    EXPECT_EQ(entries(back), entries(X));
  }
}

TYPED_TEST(Distributed, BadRowsOnOneRankAreAnErrorOnAll) {
  int const bad = world().size() - 1;
  auto const A = this->generated("laplace5:30x30");
  auto const cuts = odd_cuts(900);
  auto const rank = static_cast<std::size_t>(world().rank());
  auto rows = rows_of(A, cuts[rank], cuts[rank + 1]);
  if (world().rank() == bad) rows.columns[3] = 900;
  std::string const message = message_of([&] { distribute(this->exec, world(), rows); });
  EXPECT_THAT(message, ::testing::HasSubstr("column 901 of 900"));
  if (world().size() > 1) {
    EXPECT_THAT(message, ::testing::HasSubstr("rank " + std::to_string(bad) + ": "));
  }
}

TYPED_TEST(Distributed, AMatrixThatIsNotSquareIsAnErrorOnAll) {
  auto const A = this->generated("fixed:40x50:3");
  EXPECT_THAT(message_of([&] { distribute(this->exec, world(), A); }),
              ::testing::HasSubstr("must be square (40 x 50)"));
}

}  // namespace
}  // namespace blockspan::test
