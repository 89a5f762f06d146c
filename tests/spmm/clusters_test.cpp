// Clusters of rows: an order of all rows, in which neighbours share columns where the pattern has
// any to share; found for meshes in random order, and left alone where nothing is to be gained.
#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/kernels/clusters/clusters_choice.hpp>
#include <blockspan/spmm/layouts/row_clusters.hpp>
#include <blockspan/spmm/layouts/row_windows.hpp>
#include <blockspan/spmm/layouts/summary.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/planned.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;

template <class Exec>
class Clusters : public ::testing::Test {};
TYPED_TEST_SUITE(Clusters, Backends, ConfigNames);

template <class Exec, class Matrix>
std::vector<int> order_of(Exec const& exec, Matrix const& A) {
  return on_host(kernels::cluster_rows(exec, kernels::pattern_ref<Exec>(A)));
}

/// Different columns of 16 rows at a time in this order, over their entries.
template <class Matrix>
double shared(Matrix const& A, std::vector<int> const& order) {
  auto const offsets = on_host(A.graph.row_map), columns = on_host(A.graph.entries);
  std::size_t different = 0;
  for (std::size_t first = 0; first < order.size(); first += 16) {
    std::set<int> seen;
    for (std::size_t i = first; i < std::min(first + 16, order.size()); ++i)
      seen.insert(columns.begin() + offsets[order[i]], columns.begin() + offsets[order[i] + 1]);
    different += seen.size();
  }
  return static_cast<double>(different) / static_cast<double>(columns.size());
}

std::vector<int> as_they_are(std::int64_t rows) {
  std::vector<int> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TYPED_TEST(Clusters, AreAnOrderOfAllRows) {
  TypeParam const exec;
  for (auto const& host : battery<double>()) {
    if (host.rows != host.columns) continue;
    SCOPED_TRACE(host.name);
    auto const A = to_device(exec, host);
    auto order = order_of(exec, A);
    EXPECT_EQ(order, order_of(exec, A));
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, as_they_are(host.rows));
  }
}

TYPED_TEST(Clusters, ShareColumnsWhereMeshesAreInRandomOrder) {
  TypeParam const exec;
  for (std::string const spec : {"permute:p1:16", "permute:laplace7:20", "permute:laplace27:16"}) {
    SCOPED_TRACE(spec);
    auto const A = generate<double>(exec, spec);
    double const scattered = shared(A, as_they_are(A.numRows()));
    EXPECT_GT(scattered, 0.8);
    EXPECT_LT(shared(A, order_of(exec, A)), 0.75 * scattered);
  }
}

/// Counted anew with sets.
TYPED_TEST(Clusters, AreSampledAsTheyAre) {
  TypeParam const exec;
  auto const A = generate<double>(exec, "permute:p1:5");
  auto const offsets = on_host(A.graph.row_map), columns = on_host(A.graph.entries);
  kernels::ClusterSample expected;
  auto const count = [&](std::vector<int> const& rows, kernels::SharedColumns& sum) {
    std::set<int> seen;
    for (int const row : rows) {
      seen.insert(columns.begin() + offsets[row], columns.begin() + offsets[row + 1]);
      sum.entries += offsets[row + 1] - offsets[row];
    }
    sum.columns += static_cast<std::int64_t>(seen.size());
  };
  int const rows = static_cast<int>(A.numRows());
  ASSERT_LE(rows, kernels::tuning::cluster_samples);
  for (int row = 0; row < rows; ++row) {
    std::vector<int> behind, named{row};
    for (int i = row; i < std::min(rows, row + 16); ++i) behind.push_back(i);
    for (int k = offsets[row]; k < std::min(offsets[row + 1], offsets[row] + 15); ++k)
      if (columns[k] != row) named.push_back(columns[k]);
    count(behind, expected.of_neighbours);
    count(named, expected.of_clusters);
  }
  auto const sample = kernels::sample_clusters(exec, kernels::pattern_ref<TypeParam>(A));
  EXPECT_EQ(sample.of_neighbours.entries, expected.of_neighbours.entries);
  EXPECT_EQ(sample.of_neighbours.columns, expected.of_neighbours.columns);
  EXPECT_EQ(sample.of_clusters.entries, expected.of_clusters.entries);
  EXPECT_EQ(sample.of_clusters.columns, expected.of_clusters.columns);
}

/// What an H200 would multiply a matrix of this kind with, of these columns.
template <class Exec>
std::string chosen_for(Exec const& exec, std::string const& spec, int columns) {
  auto const A = generate<double>(exec, spec);
  auto const pattern = kernels::pattern_ref<Exec>(A);
  auto const summary = kernels::summarize(exec, pattern);
  auto const windows = kernels::WindowsChoice::may_pay(summary.rows, columns, f64, devices::h200)
                           ? kernels::estimate_row_windows(exec, pattern)
                           : kernels::WindowCount{};
  auto const sample = kernels::ClustersChoice::may_pay(summary.rows, columns, f64, devices::h200)
                          ? kernels::sample_clusters(exec, pattern)
                          : kernels::ClusterSample{};
  return std::string(kernels::choose_variant(summary.rows, {}, windows, {}, {.columns = columns},
                                             f64, devices::h200, sample)
                         .variant->id);
}

TYPED_TEST(Clusters, AreChosenForWideBlocksOfMeshesInRandomOrder) {
  TypeParam const exec;
  EXPECT_EQ(chosen_for(exec, "permute:p1:40", 64), "clusters");
  EXPECT_NE(chosen_for(exec, "permute:p1:40", 4), "clusters");
  EXPECT_NE(chosen_for(exec, "p1:40", 64), "clusters");
  EXPECT_NE(chosen_for(exec, "fixed:64000x64000:15", 64), "clusters");
  EXPECT_NE(chosen_for(exec, "permute:p1:8", 64), "clusters");  // the caches hold it
}

}  // namespace
}  // namespace blockspan::test
