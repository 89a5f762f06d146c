// What a hierarchy is made of, and what a setup says of matrices that are none for it.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/multigrid/exchange.hpp>
#include <blockspan/sparse/bsr_matrix.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/sparse/graph.hpp>
#include <blockspan/sparse/host/host_csr.hpp>

#include "multigrid/dense.hpp"
#include "multigrid/problems.hpp"
#include "operators/apply.hpp"
#include "spmm/battery.hpp"
#include "support/compare.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Config>
class MultigridSetup : public ::testing::Test {};
TYPED_TEST_SUITE(MultigridSetup, Configs, ConfigNames);

template <class Scalar, class Exec>
auto const& levels_of(Multigrid<Scalar, Exec> const& M) {
  return M.hierarchy().levels;
}

TYPED_TEST(MultigridSetup, FormsGalerkinProductsAndOrthonormalTentativeProlongators) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Options = MultigridOptions<Scalar, Exec>;
  Exec const exec;
  // rows of a node with the same columns, three and six on coarse levels, and with others
  Options const bodies{.coordinates = brick_nodes<real_t<Scalar>>(exec, 5), .coarse_rows = 10};
  for (auto const& [spec, options] :
       {std::pair<std::string, Options>("laplace7:8", {.block_size = 1, .coarse_rows = 10}),
        {"aniso7:8:1,0.01,0.0001", {.block_size = 1, .coarse_rows = 10}},
        {"aniso7:8:1,0.01,0.0001", {.block_size = 1, .pulses = true, .coarse_rows = 10}},
        {"elasticity:6", {.block_size = 3, .coarse_rows = 10}},
        {"elasticity:5", bodies},
        {"thinned elasticity:5", bodies},
        {"thinned elasticity:5", {.block_size = 3, .theta = 0.3, .coarse_rows = 10}}}) {
    bool const thin = spec.starts_with("thinned ");
    auto const full = generate<Scalar>(exec, thin ? spec.substr(8) : spec);
    auto const A = thin ? thinned<Scalar>(exec, full) : full;
    auto const M = multigrid(exec, A, options);
    auto const& levels = levels_of(M);
    ASSERT_GE(levels.size(), 2u) << spec;
    for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
      auto const& level = levels[l];
      auto const P = dense_of(level.P_matrix());
      auto const fine = dense_of(level.A), coarse = dense_of(levels[l + 1].A);
      EXPECT_LE(largest_difference(times(P, times(fine, P), true), coarse), 1e-13) << spec;
      EXPECT_LE(largest_difference(times(P, fine, true), times(dense_of(level.R_matrix()), fine)),
                0)
          << spec;
      for (std::int64_t i = 0; i < coarse.rows(); ++i)
        for (std::int64_t j = 0; j < coarse.rows(); ++j)
          EXPECT_EQ(coarse(i, j), blockspan::conjugate(coarse(j, i)));
      auto const T = dense_of(
          blockspan::levels::matrix_of<wide_t<Scalar>, Exec>(level.T.pattern, level.T.values));
      HostBlock<wide_t<Scalar>> identity(T.columns(), T.columns());
      for (std::int64_t i = 0; i < T.columns(); ++i) identity(i, i) = 1;
      EXPECT_LE(largest_difference(times(T, T, true), identity), 1e-14);
      auto const B = values_of(level.near_null), next = values_of(levels[l + 1].near_null);
      if (level.report.left_out == 0) {
        EXPECT_LE(largest_difference(times(T, next), B), 1e-12) << spec;
      }
    }
  }
}

/// The couplings of a grid between conductors that nothing ties to a ground: rows add up to zero.
template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> ungrounded(Exec const& exec, std::string const& spec) {
  auto const host = blockspan::sparse::to_host(generate<Scalar>(exec, spec));
  HostMatrix<Scalar> A{spec, host.rows, host.rows, {0}, {}, {}};
  for (int i = 0; i < host.rows; ++i) {
    Scalar others(0);
    for (int k = host.offsets(i); k < host.offsets(i + 1); ++k)
      if (host.indices(k) != i) others += host.values(k);
    for (int k = host.offsets(i); k < host.offsets(i + 1); ++k)
      A.add(host.indices(k), host.indices(k) == i ? -others : host.values(k));
    A.end_row();
  }
  return to_device(exec, A);
}

TYPED_TEST(MultigridSetup, KeepsNullVectorsInTheRangeOfTheProlongators) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  // nothing is left out of the first; half of the second
  for (auto const& [spec, theta] :
       {std::pair<std::string, double>("laplace5:15", 0), {"aniso7:9:1,0.015625,0.015625", 0.15}}) {
    auto const A = ungrounded<Scalar>(exec, spec);
    auto const M =
        multigrid(exec, A, MultigridOptions<Scalar, Exec>{.theta = theta, .coarse_rows = 5});
    auto const& levels = levels_of(M);
    ASSERT_GE(levels.size(), 3u) << spec;
    EXPECT_EQ(levels[0].filtered.whole, theta == 0) << spec;
    for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
      auto const B = values_of(levels[l].near_null), next = values_of(levels[l + 1].near_null);
      EXPECT_LE(largest_difference(times(dense_of(levels[l].P_matrix()), next), B), 1e-12) << spec;
      HostBlock<wide_t<Scalar>> const zero(next.rows(), 1);
      EXPECT_LE(largest_difference(times(dense_of(levels[l + 1].A), next), zero), 1e-11) << spec;
    }
    EXPECT_EQ(M.report().null_vectors, 1) << spec;
  }
}

TYPED_TEST(MultigridSetup, RefreshedGivesTheBitsOfANewOne) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace7:9"));
  auto const other = convert_values<Scalar>(exec, A, real_t<Scalar>(3));
  auto const x = random_block<Scalar>(A.numRows(), 3, 1);
  for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single}) {
    MultigridOptions<Scalar, Exec> const options{.pulses = precision == MultigridPrecision::single,
                                                 .coarse_rows = 10,
                                                 .precision = precision};
    auto M = multigrid(exec, A, options);
    auto const first = applied(exec, M, x);
    M.refresh(exec, A);
    EXPECT_TRUE(same_bits(applied(exec, M, x), first));
    M.refresh(exec, other);
    EXPECT_TRUE(same_bits(applied(exec, M, x), applied(exec, multigrid(exec, other, options), x)));
    M.refresh(exec, other, true);  // 3 A has the prolongators of A, to rounding
    auto const kept = applied(exec, M, x),
               wanted = applied(exec, multigrid(exec, other, options), x);
    EXPECT_LE(largest_difference(kept, wanted), sizeof(real_t<Scalar>) == 4 ? 1e-5 : 1e-6);
    auto const wrong = generate<Scalar>(exec, std::string("laplace7:8"));
    EXPECT_THAT(message_of([&] { M.refresh(exec, wrong); }), HasSubstr("another pattern"));
    EXPECT_THAT(message_of([&] { applied(exec, M, x); }), HasSubstr("refresh again"));
    M.refresh(exec, A);
    EXPECT_TRUE(same_bits(applied(exec, M, x), first));
  }
}

TYPED_TEST(MultigridSetup, TakesMatricesOfBlocks) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("elasticity:6"));
  BsrMatrix<Scalar, Exec> const blocks(A, 3);
  MultigridOptions<Scalar, Exec> const options{.coarse_rows = 60};
  auto with_size = options;
  with_size.block_size = 3;
  auto const x = random_block<Scalar>(A.numRows(), 2, 1);
  EXPECT_TRUE(same_bits(applied(exec, multigrid(exec, blocks, options), x),
                        applied(exec, multigrid(exec, A, with_size), x)));
}

TYPED_TEST(MultigridSetup, FindsTheUnknownsOfANodeInThePattern) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (auto const& [spec, block_size] :
       std::vector<std::pair<std::string, int>>{{"elasticity:6", 3}, {"laplace27:7", 1}}) {
    auto const A = generate<Scalar>(exec, spec);
    MultigridOptions<Scalar, Exec> const options{.coarse_rows = 60};
    auto with_size = options;
    with_size.block_size = block_size;
    auto const x = random_block<Scalar>(A.numRows(), 2, 1);
    EXPECT_TRUE(same_bits(applied(exec, multigrid(exec, A, options), x),
                          applied(exec, multigrid(exec, A, with_size), x)))
        << spec;
  }
}

TYPED_TEST(MultigridSetup, WritesAndReadsHierarchies) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  TemporaryFolder const folder;
  auto const A = generate<Scalar>(exec, std::string("laplace7:9"));
  auto const M = multigrid(exec, A, MultigridOptions<Scalar, Exec>{.coarse_rows = 10});
  write_hierarchy(folder.path(), M);
  MultigridOptions<Scalar, Exec> options;
  options.prolongators = read_prolongators<Scalar>(exec, folder.path());
  auto const again = multigrid(exec, A, options);
  EXPECT_EQ(again.report().levels.size(), M.report().levels.size());
  if constexpr (sizeof(real_t<Scalar>) == 8) {  // else prolongators lose digits
    auto const x = random_block<Scalar>(A.numRows(), 2, 1);
    EXPECT_TRUE(same_bits(applied(exec, again, x), applied(exec, M, x)));
    EXPECT_THAT(hierarchy_differences(exec, folder.path(), again), ::testing::IsEmpty());
    write_matrix_market((folder.path() / "A1.mtx").string(), A);
    EXPECT_EQ(hierarchy_differences(exec, folder.path(), again).size(), 1u);
  }
  auto const other = generate<Scalar>(exec, std::string("laplace7:8"));
  EXPECT_THAT(message_of([&] { multigrid(exec, other, options); }), HasSubstr("the level has 512"));
}

TYPED_TEST(MultigridSetup, TakesRowsInAnyOrderWithRepeatedEntries) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace5:20"));
  auto const host = blockspan::sparse::to_host(A);
  HostMatrix<Scalar> shuffled{"shuffled", 400, 400, {0}, {}, {}};
  for (int i = 0; i < 400; ++i) {
    for (int k = host.offsets(i + 1) - 1; k >= host.offsets(i); --k)
      for (int half = 0; half < 2; ++half)
        shuffled.add(host.indices(k), host.values(k) * real_t<Scalar>(0.5));
    shuffled.end_row();
  }
  auto const B = to_device(exec, shuffled);
  auto const x = random_block<Scalar>(400, 2, 1);
  MultigridOptions<Scalar, Exec> const options{.coarse_rows = 20};
  auto const ordered = multigrid(exec, A, options);
  auto const wanted = applied(exec, ordered, x);
  auto M = multigrid(exec, B, options);
  auto const norm = [](auto const& of) { return of.hierarchy().levels[0].op->facts().norm_bound; };
  EXPECT_EQ(norm(M), norm(ordered));
  EXPECT_TRUE(same_bits(applied(exec, M, x), wanted));
  M.refresh(exec, B);
  EXPECT_TRUE(same_bits(applied(exec, M, x), wanted));
}

TYPED_TEST(MultigridSetup, SolvesSingularSystemsOfManyComponents) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (sizeof(real_t<Scalar>) == 4) GTEST_SKIP() << "1e-8 is beyond single precision";
  Exec const exec;
  // forty paths of sixty vertices, twenty triangles, ten vertices alone
  HostMatrix<Scalar> A{"components", 2470, 2470, {0}, {}, {}};
  for (int i = 0; i < 2470; ++i) {
    bool const path = i < 2400, alone = i >= 2460;
    int const size = path ? 60 : 3, first = i / size * size;
    double degree = 0;
    for (int j = first; !alone && j < first + size; ++j)
      if (j != i && (!path || std::abs(i - j) == 1)) A.add(j, Scalar(-1)), degree += 1;
    A.add(i, Scalar(static_cast<real_t<Scalar>>(degree)));
    A.end_row();
  }
  auto const matrix = to_device(exec, A);
  auto const M = multigrid(exec, matrix, MultigridOptions<Scalar, Exec>{.coarse_rows = 100});
  std::int64_t spent = 0;
  for (auto const& level : M.report().levels) spent += level.spent;
  EXPECT_EQ(spent + M.report().null_vectors, 60) << M.report().table();
  EXPECT_EQ(M.report().levels[0].left_out, 10);
  int const count = iterations<Scalar>(exec, matrix, &M, true);
  EXPECT_GT(count, 0);
  EXPECT_LE(count, 20);
  for (std::int64_t i = 0; i < 3; ++i) {
    auto const y = applied(exec, M, random_block<Scalar>(2470, 2, static_cast<std::uint64_t>(i)));
    for (std::int64_t k = 0; k < 2470; ++k) EXPECT_TRUE(std::isfinite(real_part(y(k, 0))));
  }
}

/// G L G^H for random phases G, and the vector that it maps to zero.
template <class Scalar, class Exec>
std::pair<CrsMatrix<Scalar, Exec>, Block<Scalar, Exec>> with_phases(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& L) {
  auto const host = blockspan::sparse::to_host(L);
  std::int64_t const n = L.numRows();
  auto const angle = [](std::int64_t i) { return 7 * std::sin(0.37 * static_cast<double>(i * i)); };
  HostMatrix<Scalar> A{"phases", n, n, {0}, {}, {}};
  HostBlock<Scalar> v(n, 1);
  for (std::int64_t i = 0; i < n; ++i) {
    v(i, 0) = Scalar(static_cast<real_t<Scalar>>(std::cos(angle(i))),
                     static_cast<real_t<Scalar>>(std::sin(angle(i))));
    for (int k = host.offsets(i); k < host.offsets(i + 1); ++k) {
      double const phase = angle(i) - angle(host.indices(k));
      A.add(host.indices(k), host.values(k) * Scalar(static_cast<real_t<Scalar>>(std::cos(phase)),
                                                     static_cast<real_t<Scalar>>(std::sin(phase))));
    }
    A.end_row();
  }
  return {to_device(exec, A), block<Scalar>(exec, v)};
}

TYPED_TEST(MultigridSetup, ServesHermitianMatricesWithTheirOwnNearNullVectors) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (is_complex_v<Scalar> && sizeof(real_t<Scalar>) == 8) {
    Exec const exec;
    auto const [A, v] =
        with_phases<Scalar>(exec, generate<Scalar>(exec, std::string("laplace7:16")));
    auto const M = multigrid(exec, A, MultigridOptions<Scalar, Exec>{.near_null = v});
    int const count = iterations<Scalar>(exec, A, &M);
    EXPECT_GT(count, 0);
    EXPECT_LE(count, 9);
    EXPECT_EQ(M.report().status, MultigridStatus::good);
  }
}

TYPED_TEST(MultigridSetup, ServesSmallDiagonalAndEmptyMatrices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (std::int64_t const n : {0, 1, 2, 50, 5000}) {
    for (bool const empty : {false, true}) {
      HostMatrix<Scalar> D{"diagonal", n, n, {0}, {}, {}};
      for (std::int64_t i = 0; i < n; ++i) {
        if (!empty) D.add(i, Scalar(static_cast<real_t<Scalar>>(1 + i % 7)));
        D.end_row();
      }
      auto const M = multigrid(exec, to_device(exec, D));
      if (n > 1000) {
        EXPECT_EQ(M.report().status, MultigridStatus::no_coarsening);
        EXPECT_THAT(M.report().message, HasSubstr("jacobi does as well"));
      }
      auto const x = random_block<Scalar>(n, 2, 1);
      auto const y = applied(exec, M, x);
      for (std::int64_t i = 0; i < n; ++i) {
        double const ratio = static_cast<double>(Kokkos::abs(y(i, 0)) / Kokkos::abs(x(i, 0)));
        EXPECT_TRUE(std::isfinite(ratio) && ratio > 0) << n << " " << i;
        double const wanted = 1 / static_cast<double>(1 + i % 7);
        EXPECT_NEAR(ratio, n < 1000 && !empty ? wanted : ratio, 1e-5);
      }
    }
  }
}

TYPED_TEST(MultigridSetup, InvertsWhatFitsTheLastLevel) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (sizeof(real_t<Scalar>) == 4) GTEST_SKIP() << "1e-8 is beyond single precision";
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace5:20"));
  MultigridOptions<Scalar, Exec> options{.precision = MultigridPrecision::working};
  auto const M = multigrid(exec, A, options);
  EXPECT_EQ(M.report().levels.size(), 1u);
  EXPECT_EQ(iterations<Scalar>(exec, A, &M), 1);
  auto const neumann = graph_laplacian<Scalar>(exec, A);
  auto const N = multigrid(exec, neumann, options);
  EXPECT_EQ(N.report().null_vectors, 1);
  EXPECT_LE(iterations<Scalar>(exec, neumann, &N, true), 2);
}

TYPED_TEST(MultigridSetup, SaysWhereItDoesNotApply) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const with_diagonal = [&](double shift, double last, double coupling) {
    auto const host =
        blockspan::sparse::to_host(generate<Scalar>(exec, std::string("laplace5:40")));
    HostMatrix<Scalar> A{"shifted", 1600, 1600, {0}, {}, {}};
    for (int i = 0; i < 1600; ++i) {
      for (int k = host.offsets(i); k < host.offsets(i + 1); ++k) {
        int const j = host.indices(k);
        double value = static_cast<double>(real_part(host.values(k)));
        if (j == i) value = i == 1599 ? last : value + shift;
        if (j == i + 1) value *= coupling;
        A.add(j, Scalar(static_cast<real_t<Scalar>>(value)));
      }
      A.end_row();
    }
    return to_device(exec, A);
  };
  auto const shifted = multigrid(exec, with_diagonal(-1, 4, 1));
  EXPECT_EQ(shifted.report().status, MultigridStatus::indefinite);
  EXPECT_THAT(shifted.report().message, HasSubstr("level 0"));
  EXPECT_THAT(message_of([&] { applied(exec, shifted, random_block<Scalar>(1600, 1, 1)); }),
              HasSubstr("do not apply"));
  EXPECT_THAT(message_of([&] { multigrid(exec, with_diagonal(0, -4, 1)); }),
              HasSubstr("the diagonal entry of row 1600 is negative"));
  if constexpr (sizeof(real_t<Scalar>) == 8) {
    EXPECT_EQ(multigrid(exec, with_diagonal(0, 4, 0.7)).report().status,
              MultigridStatus::not_hermitian);
  }
}

TYPED_TEST(MultigridSetup, NamesOptionsThatDoNotFit) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Options = MultigridOptions<Scalar, Exec>;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace5:10"));
  auto const refused = [&](Options const& options) {
    return message_of([&] { multigrid(exec, A, options); });
  };
  EXPECT_THAT(refused({.degree = 5}), HasSubstr("degree is 5, not between 1 and 4"));
  EXPECT_THAT(refused({.block_size = 3}), HasSubstr("does not divide the 100 rows"));
  EXPECT_THAT(refused({.near_null = Block<Scalar, Exec>("B", 99, 1)}), HasSubstr("99 rows"));
  EXPECT_THAT(refused({.near_null = Block<Scalar, Exec>("B", 100, 1)}), HasSubstr("is zero"));
  HostBlock<Scalar> B(100, 2, Scalar(1));
  B(3, 1) = not_a_number<Scalar>();
  EXPECT_THAT(refused({.near_null = block<Scalar>(exec, B)}),
              HasSubstr("near-null vector 2 is not finite"));
  EXPECT_THAT(refused({.coordinates = Block<real_t<Scalar>, Exec>("x", 30, 3)}),
              HasSubstr("30 nodes"));
}

}  // namespace
}  // namespace blockspan::test
