// The one order in which rows are summed: chunks by the number of rows alone, and a binary tree.
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/blocks/column_sums.hpp>
#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/multivector/columns.hpp>
#include <blockspan/multivector/gram.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "multivector/references.hpp"
#include "support/random.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::blocks;
using kernels::AddTerms, kernels::chunk_rows, kernels::row_chunks, kernels::RowChunks;

template <class Exec>
class RowChunksOn : public ::testing::Test {};
TYPED_TEST_SUITE(RowChunksOn, Backends, ConfigNames);

TYPED_TEST(RowChunksOn, AreAPowerOfTwoOfRowsAtMost2048AndMoreForMoreRows) {
  std::int64_t before = 1;
  for (std::int64_t rows = 0; rows < (std::int64_t{1} << 40); rows += 1 + rows / 7) {
    std::int64_t const size = chunk_rows<TypeParam>(rows);
    EXPECT_EQ(size & (size - 1), 0);
    EXPECT_GE(size, before);
    EXPECT_LE(size, 2048);
    before = size;
    RowChunks const chunks = row_chunks<TypeParam>(rows);
    std::int64_t next = 0;
    for (std::int64_t c = 0; c < std::min<std::int64_t>(chunks.count(), 3); ++c) {
      EXPECT_EQ(chunks.first(c), next);
      next = chunks.last(c);
    }
    if (rows > 0) {
      EXPECT_EQ(chunks.last(chunks.count() - 1), rows);
    }
  }
}

/// Nodes of a tree over `leaves` leaves, some of them known, the others joined from those below.
/// Written plainly.
struct Tree {
  std::int64_t leaves;
  std::map<std::pair<int, std::int64_t>, double> known;

  double node(int level, std::int64_t i) const {
    if (auto const it = known.find({level, i}); it != known.end()) return it->second;
    double sum = node(level - 1, 2 * i);
    if ((2 * i + 1) << (level - 1) < leaves) sum += node(level - 1, 2 * i + 1);
    return sum;
  }
  double root() const {
    int level = 0;
    while (std::int64_t{1} << level < leaves) ++level;
    return node(level, 0);
  }
};

/// The largest nodes that cover the leaves first .. last - 1 of them: level and place.
std::vector<std::pair<int, std::int64_t>> cover(std::int64_t first, std::int64_t last,
                                                std::int64_t leaves) {
  std::vector<std::pair<int, std::int64_t>> nodes;
  while (first < last) {
    int level = 0;
    auto const end = [&](int l) { return std::min(leaves, first + (std::int64_t{1} << l)); };
    while (first % (std::int64_t{2} << level) == 0 && end(level + 1) <= last && end(level) < last)
      ++level;
    nodes.emplace_back(level, first >> level);
    first = end(level);
  }
  return nodes;
}

TEST(RowChunks, TheirTreeIsTheOneWrittenPlainly) {
  Random random(3);
  for (std::int64_t leaves = 1; leaves < 3000; leaves += leaves < 150 ? 1 : 97) {
    Tree tree{leaves, {}};
    std::vector<double> values;
    for (std::int64_t i = 0; i < leaves; ++i) {
      values.push_back(random.value<double>());
      tree.known[{0, i}] = values.back();
    }
    EXPECT_EQ((kernels::join_range<AddTerms, double>(
                  0, leaves, [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; })),
              tree.root())
        << leaves;
  }
}

TEST(RowChunks, PartsOfATreeGiveItsRootForEveryCut) {
  Random random(4);
  for (std::int64_t leaves = 1; leaves <= 40; ++leaves) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < leaves; ++i) values.push_back(random.value<double>());
    values[static_cast<std::size_t>(leaves / 3)] *= 1e9;
    auto const joined = [&](std::int64_t first, std::int64_t last) {
      return kernels::join_range<AddTerms, double>(
          first, last, [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
    };
    for (std::int64_t cut = 0; cut <= leaves; ++cut) {
      Tree parts{leaves, {}};
      for (auto const& [first, last] : {std::pair{std::int64_t{0}, cut}, {cut, leaves}})
        for (auto const& [level, i] : cover(first, last, leaves))
          parts.known[{level, i}] = joined(i << level, std::min(leaves, (i + 1) << level));
      EXPECT_EQ(parts.root(), joined(0, leaves)) << leaves << " cut at " << cut;
    }
  }
}

/// Real parts of two blocks: without products, which a compiler may fuse with the sums of some
/// widths only.
template <class Scalar>
struct PartTerms {
  using Real = real_t<Scalar>;
  static constexpr int count = 2;
  kernels::RowMajorRef<Scalar const> X, Y;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = real_part(X(i, j));
    terms[1] = real_part(Y(i, j));
  }
};

template <class Config>
class RowSums : public ::testing::Test {
 public:
  using E = typename Config::Exec;
  using S = typename Config::Scalar;
  using R = real_t<S>;
  using Ref = kernels::RowMajorRef<S const>;
  using Terms = PartTerms<S>;
  E exec;
  Workspace<E> workspace;

  /// All numbers of the dots of rows [first, last) of row-major blocks, with the chunks of
  /// `global_rows`.
  std::vector<R> sums(auto const& X, auto const& Y, std::int64_t first, std::int64_t last,
                      std::int64_t global_rows) {
    auto const rows = [&](auto const& V) {
      auto const stride = static_cast<std::int64_t>(V.view.stride(0));
      auto const columns = static_cast<std::int64_t>(V.view.extent(1));
      return Ref{V.view.data() + first * stride, last - first, columns, stride, 1};
    };
    return kernels::columns_to_host(exec, "Blockspan::test", Terms{rows(X), rows(Y)},
                                    kernels::row_chunks<E>(last - first, global_rows),
                                    static_cast<std::int64_t>(X.view.extent(1)), workspace);
  }
};
TYPED_TEST_SUITE(RowSums, Configs, ConfigNames);

TYPED_TEST(RowSums, OfAColumnDoNotDependOnThoseBesideIt) {
  using Scalar = typename TypeParam::Scalar;
  for (std::int64_t const n : {5003, 90001}) {
    auto const x = random_block<Scalar>(n, 70, 1), y = random_block<Scalar>(n, 70, 2);
    auto const all_x = make_block(this->exec, Storage::right, x);
    auto const all_y = make_block(this->exec, Storage::right, y);
    auto const wanted = this->sums(all_x, all_y, 0, n, n);
    for (int const width : {1, 2, 3, 5, 8, 16, 17, 33}) {
      HostBlock<Scalar> some_x(n, width), some_y(n, width);
      for (std::int64_t i = 0; i < n; ++i)
        for (int j = 0; j < width; ++j) some_x(i, j) = x(i, 69 - j), some_y(i, j) = y(i, 69 - j);
      auto const found = this->sums(make_block(this->exec, Storage::right, some_x),
                                    make_block(this->exec, Storage::right, some_y), 0, n, n);
      for (std::size_t q = 0; q < found.size() / static_cast<std::size_t>(width); ++q)
        for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j)
          EXPECT_EQ(found[q * static_cast<std::size_t>(width) + j], wanted[q * 70 + 69 - j])
              << n << ", " << width;
    }
  }
}

TYPED_TEST(RowSums, KeepTheirBitsOnFewerThreads) {
  using Scalar = typename TypeParam::Scalar;
  auto const half = halves(this->exec)[0];
  for (auto const& [n, k] : {std::pair{5003, 9}, {90001, 3}}) {
    auto const X = make_block(this->exec, Storage::right, random_block<Scalar>(n, k, 1));
    auto const run = [&, k = k](auto const& on) {
      Kokkos::View<Scalar*, Kokkos::HostSpace> const dots("Blockspan::test", k);
      column_dots(on, X.view, X.view, dots);
      return std::vector<Scalar>(dots.data(), dots.data() + k);
    };
    EXPECT_EQ(run(this->exec), run(half)) << n;
  }
}

TYPED_TEST(RowSums, OfPartsCutAtChunksGiveThoseOfTheWhole) {
  using Scalar = typename TypeParam::Scalar;
  for (std::int64_t const n : {5003, 140001}) {
    auto const X = make_block(this->exec, Storage::right, random_block<Scalar>(n, 3, 1));
    auto const Y = make_block(this->exec, Storage::right, random_block<Scalar>(n, 3, 2));
    RowChunks const chunks = row_chunks<typename TypeParam::Exec>(n);
    std::int64_t const count = chunks.count();
    auto const whole = this->sums(X, Y, 0, n, n);
    for (std::int64_t const cut :
         {std::int64_t{0}, std::int64_t{1}, count / 3, count / 2 + 1, count - 1}) {
      std::vector<Tree> trees(whole.size(), Tree{count, {}});
      for (auto const& [first, last] : {std::pair{std::int64_t{0}, cut}, {cut, count}})
        for (auto const& [level, i] : cover(first, last, count)) {
          auto const end = std::min(count, (i + 1) << level);
          auto const part = this->sums(X, Y, chunks.first(i << level), chunks.last(end - 1), n);
          for (std::size_t q = 0; q < part.size(); ++q) trees[q].known[{level, i}] = part[q];
        }
      if constexpr (sizeof(real_t<Scalar>) == sizeof(double)) {  // the plain tree adds in double
        for (std::size_t q = 0; q < whole.size(); ++q)
          EXPECT_EQ(trees[q].root(), whole[q]) << n << " cut at chunk " << cut;
      }
    }
  }
}

/// As gram_reference of columns of ones and of x, with the bound of chunks and their tree.
TYPED_TEST(RowSums, AreWithinTheBoundOfChunksAndTheirTree) {
  using Scalar = typename TypeParam::Scalar;
  std::int64_t const n = 300007, k = 3;
  auto const x = random_block<Scalar>(n, k, 1), y = random_block<Scalar>(n, k, 2);
  auto wanted = gram_reference(x, y);
  RowChunks const chunks = row_chunks<typename TypeParam::Exec>(n);
  auto const terms =
      chunks.size + static_cast<std::int64_t>(std::ceil(std::log2(chunks.count()))) + 2;
  for (auto& bound : wanted.bounds)
    bound *= gamma_bound<Scalar>(terms) / gamma_bound<Scalar>(n + 2);
  auto const X = make_block(this->exec, Storage::right, x);
  auto const Y = make_block(this->exec, Storage::right, y);
  SmallMatrix<Scalar> const G("Blockspan::test", k, k);
  gram(this->exec, X.view, Y.view, G, this->workspace);
  EXPECT_TRUE(matches(fetch(G), wanted));
  Kokkos::View<Scalar*, Kokkos::HostSpace> const dots("Blockspan::test", k);
  column_dots(this->exec, X.view, Y.view, dots, this->workspace);
  for (int j = 0; j < k; ++j)
    EXPECT_LE(std::abs(extended(dots(j)) - wanted.value(j, j)), wanted.bound(j, j));
}

/// Parts so long that they have the chunks of the whole.
TYPED_TEST(RowSums, OfLargePartsJoinToTheGramMatrixAndTheDotsOfTheWhole) {
  using Scalar = typename TypeParam::Scalar;
  std::int64_t const cut = std::int64_t{1} << 20, n = cut + cut / 2 + 777;
  using Exec = typename TypeParam::Exec;
  ASSERT_EQ(chunk_rows<Exec>(n - cut), chunk_rows<Exec>(n));
  auto const X = make_block(this->exec, Storage::right, random_block<Scalar>(n, 3, 1));
  using Range = std::pair<std::int64_t, std::int64_t>;
  auto const run = [&](Range rows) {
    auto const part = Kokkos::subview(X.view, rows, Kokkos::ALL);
    auto const right = Kokkos::subview(X.view, rows, std::pair<int, int>(1, 3));
    SmallMatrix<Scalar> const G("Blockspan::test", 3, 3), H("Blockspan::test", 3, 2);
    Kokkos::View<Scalar*, Kokkos::HostSpace> const dots("Blockspan::test", 3);
    gram(this->exec, part, part, G, this->workspace);
    gram(this->exec, part, right, H, this->workspace);
    column_dots(this->exec, part, part, dots, this->workspace);
    std::vector<Scalar> all(G.data(), G.data() + 9);
    all.insert(all.end(), H.data(), H.data() + 6);
    all.insert(all.end(), dots.data(), dots.data() + 3);
    return all;
  };
  auto const whole = run({0, n}), upper = run({0, cut}), lower = run({cut, n});
  for (std::size_t e = 0; e < whole.size(); ++e) EXPECT_EQ(upper[e] + lower[e], whole[e]) << e;
}

}  // namespace
}  // namespace blockspan::test
