// What one pass over a pattern tells, against walks over the rows.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/spmm/layouts/row_groups.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;

template <class Exec>
class Summary : public ::testing::Test {};
TYPED_TEST_SUITE(Summary, Backends, ConfigNames);

template <class Exec>
kernels::PatternSummary summary_of(Exec const& exec, HostMatrix<double> const& host) {
  auto const A = to_device(exec, host);
  return kernels::summarize(exec, kernels::pattern_ref<Exec>(A));
}

/// Rows of which some continue the one before, in order, in another order, or almost.
HostMatrix<double> repeating_rows() {
  HostMatrix<double> A{"repeating", 0, 20, {0}, {}, {}};
  for (std::vector<int> const& columns : std::vector<std::vector<int>>{
           {}, {}, {4, 9, 17}, {4, 9, 17}, {4, 10, 17}, {17, 9, 4}, {4, 9}, {}, {4, 9}, {19}}) {
    for (int const column : columns) A.add(column, 1);
    A.end_row();
    ++A.rows;
  }
  return A;
}

TYPED_TEST(Summary, IsWhatAWalkOverTheRowsFinds) {
  TypeParam const exec;
  auto matrices = battery<double>();
  matrices.push_back(repeating_rows());
  matrices.push_back(random_matrix<double>("large", 70000, 9000, [](auto i) { return i % 6; }));
  for (auto const& host : matrices) {
    std::int64_t half_bandwidth = 0, candidates = 0, shortest = INT64_MAX, longest = 0, empty = 0;
    bool sorted = true;
    for (std::int64_t i = 0; i < host.rows; ++i) {
      auto const row = [&](std::int64_t r) {
        return std::vector<std::int64_t>(host.indices.begin() + host.offsets[r],
                                         host.indices.begin() + host.offsets[r + 1]);
      };
      auto const own = row(i);
      auto const length = static_cast<std::int64_t>(own.size());
      shortest = std::min(shortest, length);
      longest = std::max(longest, length);
      empty += own.empty() ? 1 : 0;
      sorted = sorted && std::is_sorted(own.begin(), own.end());
      if (own.empty()) continue;
      half_bandwidth =
          std::max({half_bandwidth, std::abs(own.front() - i), std::abs(own.back() - i)});
      if (i == 0) continue;
      auto const before = row(i - 1);
      if (before.size() == own.size() && before.front() == own.front() &&
          before.back() == own.back())
        candidates += length;
    }
    auto const summary = summary_of(exec, host);
    EXPECT_EQ(summary.rows.rows, host.rows) << host.name;
    EXPECT_EQ(summary.rows.columns, host.columns) << host.name;
    EXPECT_EQ(summary.rows.nonzeros, static_cast<std::int64_t>(host.values.size())) << host.name;
    EXPECT_EQ(summary.rows.shortest, host.rows == 0 ? 0 : shortest) << host.name;
    EXPECT_EQ(summary.rows.longest, longest) << host.name;
    EXPECT_EQ(summary.rows.empty_rows, empty) << host.name;
    EXPECT_EQ(summary.sorted, sorted) << host.name;
    EXPECT_EQ(summary.half_bandwidth, half_bandwidth) << host.name;
    EXPECT_EQ(summary.grouping_candidates, candidates) << host.name;
  }
}

/// Rows in one group have the same columns: the entries of all but its first are counted.
TYPED_TEST(Summary, CountsAtLeastWhatGroupsSave) {
  TypeParam const exec;
  auto matrices = battery<double>();
  matrices.push_back(repeating_rows());
  for (auto const& host : matrices) {
    if (host.rows == 0) continue;
    auto const A = to_device(exec, host);
    auto const pattern = kernels::pattern_ref<TypeParam>(A);
    auto const summary = kernels::summarize(exec, pattern);
    auto const groups = kernels::find_row_groups(exec, pattern, INT64_MAX);
    EXPECT_LE(summary.rows.nonzeros - groups.count.fetches, summary.grouping_candidates)
        << host.name;
  }
}

TYPED_TEST(Summary, HasAnotherFingerprintForEveryPattern) {
  TypeParam const exec;
  auto const host = repeating_rows();
  std::set<std::uint64_t> seen{summary_of(exec, host).fingerprint};
  EXPECT_EQ(summary_of(exec, host).fingerprint, *seen.begin());
  std::size_t patterns = 1;
  auto const expect_new = [&](HostMatrix<double> const& other) {
    seen.insert(summary_of(exec, other).fingerprint);
    EXPECT_EQ(seen.size(), ++patterns) << other.name;
  };
  for (std::size_t k = 0; k < host.indices.size(); ++k) {
    auto other = host;
    other.name = "another column";
    other.indices[k] = (other.indices[k] + 1) % other.columns;
    expect_new(other);
  }
  auto moved = host;
  moved.name = "an entry in the next row";
  --moved.offsets[3];
  expect_new(moved);
  auto wider = host;
  wider.name = "wider";
  ++wider.columns;
  expect_new(wider);
  auto longer = host;
  longer.name = "longer";
  ++longer.rows;
  longer.end_row();
  expect_new(longer);
}

}  // namespace
}  // namespace blockspan::test
