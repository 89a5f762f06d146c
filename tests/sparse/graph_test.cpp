#include <set>

#include <gtest/gtest.h>

#include <blockspan/sparse/graph.hpp>
#include <blockspan/sparse/matrix_market.hpp>

#include "sparse/dense.hpp"
#include "support/files.hpp"
#include "support/matrices.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

/// Unsorted, repeated, explicit zeros, both triangles, a diagonal and a lone vertex (number 3).
template <class Scalar, class Exec>
auto hostile_matrix() {
  std::vector<Scalar> values;
  for (int i = 0; i < 8; ++i) values.push_back(Scalar(i % 2 == 0 ? 0 : -3));
  return make_matrix<Scalar, Exec, int, int>({0, 4, 5, 7, 7, 8}, {2, 0, 2, 1, 0, 4, 2, 4}, values,
                                             5);
}

template <class Config>
class Graph : public ::testing::Test {};
TYPED_TEST_SUITE(Graph, Configs, ConfigNames);

TYPED_TEST(Graph, AdjacencyIsThePatternOfBothTriangles) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  auto const A = hostile_matrix<double, Exec>();
  auto const G = adjacency<Scalar>(Exec(), A);
  EXPECT_TRUE(HostCopy(G).sorted_and_unique());
  EXPECT_EQ(entries_of(G), (Entries{{{0, 1}, 1.0},
                                    {{0, 2}, 1.0},
                                    {{1, 0}, 1.0},
                                    {{2, 0}, 1.0},
                                    {{2, 4}, 1.0},
                                    {{4, 2}, 1.0}}));
}

TYPED_TEST(Graph, LaplacianHasDegreesOnItsDiagonal) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  auto const A = hostile_matrix<Kokkos::complex<float>, Exec>();
  auto const L = graph_laplacian<Scalar>(Exec(), A);
  EXPECT_TRUE(HostCopy(L).sorted_and_unique());
  EXPECT_EQ(entries_of(L), (Entries{{{0, 0}, 2.0},
                                    {{0, 1}, -1.0},
                                    {{0, 2}, -1.0},
                                    {{1, 0}, -1.0},
                                    {{1, 1}, 1.0},
                                    {{2, 0}, -1.0},
                                    {{2, 2}, 2.0},
                                    {{2, 4}, -1.0},
                                    {{3, 3}, 0.0},
                                    {{4, 2}, -1.0},
                                    {{4, 4}, 1.0}}));
}

using Host = Kokkos::DefaultHostExecutionSpace;

TEST(GraphParts, EmptyMatricesHaveEmptyGraphs) {
  auto const G = graph_laplacian<double>(Host(), CrsMatrix<double, Host>());
  EXPECT_EQ(G.numRows(), 0);
}

TEST(GraphParts, BadMatricesAreRefused) {
  TemporaryFolder const folder;
  auto const path =
      write_text(folder / "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1\n");
  EXPECT_THROW(adjacency<double>(Host(), read_matrix_market<double>(Host(), path)), Error);
  auto A = hostile_matrix<double, Host>();
  A.graph.entries(3) = 5;
  EXPECT_THROW(adjacency<double>(Host(), A), Error);
}

TEST(GraphParts, RealGraphsAreSymmetricWithZeroRowSums) {
  if (!matrix_dir()) GTEST_SKIP() << "no real matrices: set BLOCKSPAN_MATRIX_DIR";
  for (std::string const name : {"wiki-Vote", "karate", "west2021"}) {
    auto const A = read_matrix_market<double>(Host(), matrix_path(name));
    std::set<std::pair<long, long>> edges;
    for (auto const& [place, value] : entries_of(A))
      if (place.first != place.second) {
        edges.insert(place);
        edges.insert({place.second, place.first});
      }
    auto const G = entries_of(adjacency<double>(Host(), A));
    EXPECT_EQ(G.size(), edges.size());
    for (auto const& [place, value] : G) ASSERT_TRUE(value == 1.0 && edges.contains(place));
    std::vector<double> sums(static_cast<std::size_t>(A.numRows()), 0.0);
    auto const L = entries_of(graph_laplacian<double>(Host(), A));
    for (auto const& [place, value] : L)
      sums[static_cast<std::size_t>(place.first)] += value.real();
    EXPECT_EQ(sums, std::vector<double>(sums.size(), 0.0));
    EXPECT_EQ(L.size(), edges.size() + sums.size());
  }
}

}  // namespace
}  // namespace blockspan::test
