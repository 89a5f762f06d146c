#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include <blockspan/support/error.hpp>

#include "generators_support.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
struct FamilyGenerators : ::testing::Test {};
TYPED_TEST_SUITE(FamilyGenerators, Backends, ConfigNames);

using Row = std::map<std::int64_t, double>;  // column, value
using Columns = std::set<std::int64_t>;

/// Every row as the definition has it, in ascending order by construction of the map.
template <class Rows>
void expect_rows(HostMatrix<double> const& A, Rows const& expected) {
  for (std::int64_t i = 0; i < A.rows; ++i) {
    Row found;
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      found.emplace(A.entries[k], A.values[k]);
    ASSERT_EQ(std::int64_t(found.size()), A.length(i)) << i;
    Row const wanted = expected(i);
    ASSERT_EQ(found.size(), wanted.size()) << i;
    for (auto const& [column, value] : wanted) {
      ASSERT_TRUE(found.contains(column)) << i << ' ' << column;
      ASSERT_NEAR(found.at(column), value, 1e-14) << i << ' ' << column;
    }
  }
}

Columns columns_of(HostMatrix<double> const& A, std::int64_t i) {
  return Columns(A.entries.begin() + A.row_map[i], A.entries.begin() + A.row_map[i + 1]);
}

TYPED_TEST(FamilyGenerators, StarHasThePublishedWeightsAlongEachAxis) {
  // Fornberg 1988, doi:10.1090/S0025-5718-1988-0935077-0, table 1: the second derivative.
  double const eighth[5] = {-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560};
  double const fourth[3] = {-5. / 2, 4. / 3, -1. / 12};
  auto const compare = [](HostMatrix<double> const& A, std::int64_t const(&n)[3],
                          std::span<double const> weights) {
    ASSERT_EQ(A.rows, n[0] * n[1] * n[2]);
    expect_rows(A, [&](std::int64_t i) {
      std::int64_t const p[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
      Row row{{i, -3 * weights[0]}};
      std::int64_t stride = 1;
      for (int axis = 0; axis < 3; stride *= n[axis++])
        for (std::int64_t q = 0; q < n[axis]; ++q) {
          auto const d = std::size_t(std::abs(q - p[axis]));
          if (d > 0 && d < weights.size()) row[i + (q - p[axis]) * stride] = -weights[d];
        }
      return row;
    });
  };
  compare(generated<TypeParam>("star:11x3x9:4"), {11, 3, 9}, eighth);
  compare(generated<TypeParam>("star:4x5x1:2"), {4, 5, 1}, fourth);
  EXPECT_EQ(generated<TypeParam>("star:3x4x5:1"), generated<TypeParam>("laplace7:3x4x5"));
}

TYPED_TEST(FamilyGenerators, SpinsAreHeisenbergsRing) {
  for (int const sites : {3, 4, 7}) {
    auto const A = generated<TypeParam>("spins:" + std::to_string(sites));
    ASSERT_EQ(A.rows, 1 << sites);
    expect_rows(A, [sites](std::int64_t i) {
      Row row{{i, 0.0}};
      for (int s = 0; s < sites; ++s) {
        int const t = (s + 1) % sites;
        bool const here = i >> s & 1, there = i >> t & 1;
        row[i] += here == there ? 0.25 : -0.25;
        if (here == there) continue;
        row[i ^ (std::int64_t(1) << s) ^ (std::int64_t(1) << t)] = 0.5;
      }
      return row;
    });
  }
}

TYPED_TEST(FamilyGenerators, QueuesMoveOneCustomerAtATime) {
  for (std::int64_t const c : {1, 2, 5}) {
    auto const A = generated<TypeParam>("queues:" + std::to_string(c));
    ASSERT_EQ(A.rows, c * c * c * c);
    expect_rows(A, [c](std::int64_t i) {
      std::array<std::int64_t, 4> const n{i % c, i / c % c, i / c / c % c, i / c / c / c};
      Row row{{i, 0.0}};
      for (int event = 0; event < 5;
           ++event) {  // a customer leaves queue event - 1 for queue event
        auto next = n;
        if (event > 0 && --next[std::size_t(event - 1)] < 0) continue;
        if (event < 4 && ++next[std::size_t(event)] == c) continue;
        double const rate = event == 0 ? 1 : 1.25;
        row[next[0] + c * (next[1] + c * (next[2] + c * next[3]))] = rate;
        row[i] -= rate;
      }
      return row;
    });
  }
}

/// Rows with `length` columns that come one from each of as many equal parts, besides those that
/// `base` gives; there are `count` of these rows, one in each of as many equal parts of the rows.
template <class Base>
void expect_long_rows(HostMatrix<double> const& A, std::int64_t count, std::int64_t length,
                      Base const& base) {
  std::vector<std::int64_t> in_part(std::size_t(count), 0);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    auto const row = columns_of(A, i), short_row = base(i);
    ASSERT_TRUE(std::includes(row.begin(), row.end(), short_row.begin(), short_row.end())) << i;
    if (row.size() == short_row.size()) continue;
    for (std::int64_t p = 0; p < count; ++p)
      in_part[std::size_t(p)] += i >= A.rows * p / count && i < A.rows * (p + 1) / count;
    std::vector<int> all(std::size_t(length), 0), more(std::size_t(length), 0);
    for (std::int64_t const column : row)
      for (std::int64_t j = 0; j < length; ++j)
        if (column >= A.rows * j / length && column < A.rows * (j + 1) / length) {
          ++all[std::size_t(j)];
          more[std::size_t(j)] += !short_row.contains(column);
        }
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_GE(all[j], 1) << i << ' ' << j;
      EXPECT_LE(more[j], 1) << i << ' ' << j;
    }
  }
  EXPECT_EQ(in_part, std::vector<std::int64_t>(std::size_t(count), 1));
}

TYPED_TEST(FamilyGenerators, WellsAreLongRowsOfAGridWithUnknowns) {
  std::int64_t const n[3] = {5, 4, 6}, unknowns = 3;
  auto const base = [&](std::int64_t i) {
    std::int64_t const p = i / unknowns;
    Columns columns;
    for (std::int64_t q = 0; q < n[0] * n[1] * n[2]; ++q) {
      auto const steps = std::abs(p % n[0] - q % n[0]) +
                         std::abs(p / n[0] % n[1] - q / n[0] % n[1]) +
                         std::abs(p / n[0] / n[1] - q / n[0] / n[1]);
      for (std::int64_t u = 0; steps < 2 && u < unknowns; ++u) columns.insert(unknowns * q + u);
    }
    return columns;
  };
  auto const none = generated<TypeParam>("wells:5x4x6:3,0,0");
  for (std::int64_t i = 0; i < none.rows; ++i) ASSERT_EQ(columns_of(none, i), base(i));
  expect_long_rows(generated<TypeParam>("wells:5x4x6:3,7,90"), 7, 90, base);
  auto const all = generated<TypeParam>("wells:5x4x6:3,360,360");
  EXPECT_EQ(all.row_map.back(), 360 * 360);
}

TYPED_TEST(FamilyGenerators, CircuitsHaveNearColumnsAndLongRows) {
  auto const short_ones = generated<TypeParam>("circuit:20000:3,0,0");
  auto const base = [&](std::int64_t i) { return columns_of(short_ones, i); };
  expect_long_rows(generated<TypeParam>("circuit:20000:3,5,400"), 5, 400, base);
  std::int64_t beyond[3] = {0, 0, 0}, total = 0;  // distances of at least 1, 10 and 100
  for (std::int64_t i = 0; i < short_ones.rows; ++i) {
    ASSERT_TRUE(base(i).contains(i));
    ASSERT_LE(short_ones.length(i), 7);
    for (std::int64_t const column : base(i)) {
      auto const distance = std::abs(column - i);
      total += distance > 0;
      beyond[0] += distance > 1;
      beyond[1] += distance >= 10;
      beyond[2] += distance >= 100;
    }
  }
  // Half of the draws have distance 1, so that some repeat: two columns a row remain of three.
  EXPECT_GT(double(total), 1.9 * 20000);
  EXPECT_LT(double(total), 3 * 20000);
  EXPECT_NEAR(double(beyond[1]) / (3 * 20000), 0.1, 0.01);
  EXPECT_NEAR(double(beyond[2]) / (3 * 20000), 0.01, 0.002);
  EXPECT_GT(beyond[0], total / 2);
}

TYPED_TEST(FamilyGenerators, LognormalLengthsHaveTheirMomentsAndAtLeastOneColumn) {
  auto const A = generated<TypeParam>("lognormal:30000x5000:60:0.75");
  double sum = 0, sum_log = 0, squares = 0;
  std::int64_t least = A.columns;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    // Ceilings: half a column less on average.
    double const length = double(A.length(i)), logarithm = std::log(length - 0.5);
    least = std::min(least, A.length(i));
    sum += length;
    sum_log += logarithm;
    squares += logarithm * logarithm;
  }
  double const n = double(A.rows), mean_log = sum_log / n;
  // Mean 60 with deviation 60 sqrt(e^(sigma^2) - 1) = 52; logarithms have mean and deviation
  // log(59.5) - sigma^2 / 2 and sigma.
  EXPECT_NEAR(sum / n, 60, 4 * 52 / std::sqrt(n));
  EXPECT_NEAR(mean_log, std::log(59.5) - 0.75 * 0.75 / 2, 5 * 0.75 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n - mean_log * mean_log), 0.75, 0.01);
  EXPECT_GE(least, 1);
  auto const cut = generated<TypeParam>("lognormal:5000x900:20:2:max=100");
  double cut_sum = 0;
  for (std::int64_t i = 0; i < cut.rows; ++i) {
    ASSERT_LE(cut.length(i), 100);
    cut_sum += double(cut.length(i));
  }
  EXPECT_NEAR(cut_sum / 5000, 20, 4 * 50 / std::sqrt(5000.0));
}

TYPED_TEST(FamilyGenerators, AttachmentGivesEachVertexItsEdgesAndOldOnesMore) {
  int const n = 20000, edges = 5;
  auto const A = generated<TypeParam>("attachment:20000:5");
  std::vector<double> length(std::size_t(n), 0.0);
  std::int64_t lower = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    auto const row = columns_of(A, i);
    ASSERT_TRUE(row.contains(i));
    auto const older = std::distance(row.begin(), row.find(i));
    ASSERT_LE(older, edges);
    lower += older;
    length[std::size_t(i)] = double(row.size()) - 1;
    for (std::int64_t const j : row)
      ASSERT_TRUE(std::binary_search(A.entries.begin() + A.row_map[j],
                                     A.entries.begin() + A.row_map[j + 1], int(i)));
  }
  EXPECT_EQ(A.row_map.back(), n + 2 * lower);  // both triangles and the diagonal
  // Repeated edges and loops are few: log n of them a vertex at most among the oldest.
  EXPECT_GT(double(lower), 0.98 * n * edges);
  // The degree of vertex i is expected to grow like sqrt(n / i): vertices 100 to 199 have
  // 2 sqrt(n) (sqrt(200) - sqrt(100)) / 100 = 11.7 times the M edges they came with.
  double sum = 0;
  for (std::size_t i = 100; i < 200; ++i) sum += length[i];
  EXPECT_NEAR(sum / 100, 11.7 * edges, 0.15 * 11.7 * edges);
  std::sort(length.begin(), length.end());
  // Degrees d have P(degree >= d) = M (M + 1) / (d (d + 1)) (Bollobas and others 2001): 0.0099
  // at 54.
  auto const at_least_54 = length.end() - std::lower_bound(length.begin(), length.end(), 54.0);
  EXPECT_NEAR(double(at_least_54) / n, 0.0101, 0.002);
}

TYPED_TEST(FamilyGenerators, SaddleHasABlockOfZerosBelowAndAllRowsOfB) {
  std::int64_t const n = 50, m = 12;
  auto const A = generated<TypeParam>("saddle:50:12");
  ASSERT_EQ(A.rows, n + m);
  std::vector<Columns> transposed(std::size_t(n), Columns{});
  for (std::int64_t i = n; i < n + m; ++i) {
    auto const row = columns_of(A, i);
    ASSERT_EQ(row.size(), 6u);
    std::int64_t part = 0;
    for (std::int64_t const j : row) {
      ASSERT_GE(j, n * part / 6);
      ASSERT_LT(j, n * (part + 1) / 6);
      ++part;
      transposed[std::size_t(j)].insert(i);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    Columns expected = transposed[std::size_t(i)];
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j)
      expected.insert(j);
    ASSERT_EQ(columns_of(A, i), expected) << i;
  }
}

TYPED_TEST(FamilyGenerators, MakeTheSameRowsByThemselves) {
  for (std::string_view const text :
       {"star:7x5x6:3", "spins:8", "queues:4", "wells:5x4x3:2,4,50", "lognormal:90x70:8:1",
        "circuit:200:3,4,60", "wells:5x4x3:2,4,50:symmetric", "attachment:60:3", "patches:160:9",
        "saddle:40:9"}) {
    auto const spec = parse_generator_spec(text);
    if (!knows_rows(spec)) {
      EXPECT_TRUE(spec.symmetric) << text;
      EXPECT_THROW((generate_rows<double>(TypeParam(), spec, 1, 2)), Error) << text;
      continue;
    }
    auto const A = generated<TypeParam>(text);
    std::pair<std::int64_t, std::int64_t> const ranges[] = {
        {0, 7}, {7, A.rows}, {A.rows / 2, A.rows / 2}};
    for (auto const& range : ranges) {
      std::int64_t const first = range.first, last = range.second;
      auto const part = generate_rows<double>(TypeParam(), spec, first, last);
      auto const row_map = host_vector(part.graph.row_map);
      ASSERT_EQ(std::int64_t(row_map.size()), last - first + 1) << text;
      for (std::int64_t i = 0; i <= last - first; ++i)
        ASSERT_EQ(row_map[std::size_t(i)], A.row_map[first + i] - A.row_map[first]) << text;
      auto const slice = [&](auto const& all) {
        return std::vector(all.begin() + A.row_map[first], all.begin() + A.row_map[last]);
      };
      EXPECT_EQ(host_vector(part.graph.entries), slice(A.entries)) << text;
      EXPECT_EQ(host_vector(part.values), slice(A.values)) << text;
    }
  }
}

}  // namespace
}  // namespace blockspan::test
