// The reverse Cuthill-McKee order: a permutation, and a narrow band.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/host/permuted.hpp>

#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using Pattern = sparse::HostPattern<int, int>;

std::vector<int> identity(std::size_t n) {
  std::vector<int> places(n);
  std::iota(places.begin(), places.end(), 0);
  return places;
}

/// max |i - j| over the entries in the order of `places`. Expects a permutation.
int bandwidth(Pattern const& A, std::vector<int> const& places) {
  std::vector<int> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, identity(static_cast<std::size_t>(A.rows)));
  int widest = 0;
  sparse::for_each_edge(A, [&](std::size_t i, std::size_t j) {
    widest = std::max(widest, std::abs(places[i] - places[j]));
  });
  return widest;
}

int bandwidth_in_order(Pattern const& A) {
  return bandwidth(A, sparse::rcm_places(sparse::graph_pattern(A)));
}

template <class Exec>
class Reorder : public ::testing::Test {
 protected:
  static Pattern pattern(char const* spec) {
    return sparse::to_host_pattern(generate<double>(Exec(), spec));
  }
};
TYPED_TEST_SUITE(Reorder, Backends);

TYPED_TEST(Reorder, BringsAGridThatWasShuffledBackToANarrowBand) {
  // Breadth first, the levels of an N^3 grid are planes of at most about N^2 points: neighbours are
  // never further apart than two of them.
  constexpr int N = 12;
  auto const A = this->pattern("permute:seed=3:laplace7:12");
  EXPECT_GT(bandwidth(A, identity(N * N * N)), N * N * N / 2);
  EXPECT_LE(bandwidth_in_order(A), 2 * N * N);
}

TYPED_TEST(Reorder, MakesAShuffledChainTridiagonal) {
  EXPECT_EQ(bandwidth_in_order(this->pattern("permute:seed=5:laplace7:300x1x1")), 1);
}

TEST(ReorderedGraphs, OfAnyNumberOfComponents) {
  for (int const n : {0, 1, 2, 3, 7}) {
    sparse::Neighbours<int> graph;
    graph.offsets.assign(static_cast<std::size_t>(n) + 1, 0);
    auto places = sparse::rcm_places(graph);
    std::sort(places.begin(), places.end());
    EXPECT_EQ(places, identity(static_cast<std::size_t>(n)));
  }
}

}  // namespace
}  // namespace blockspan::test
