// Null vectors that the entries of a matrix show.
#include <cmath>
#include <complex>
#include <ctime>
#include <vector>

#include <blockspan/operators/factors/null_vectors.hpp>
#include <blockspan/sparse/generators.hpp>

#include "solvers/singular_graph.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Scalar>
using Vectors = std::vector<std::vector<Scalar>>;

constexpr std::int64_t plenty = 1000000000;

template <class Scalar>
Vectors<Scalar> found(TestMatrix<Scalar> const& A, std::int64_t work = plenty) {
  auto const host = host_csr_of(A);
  return blockspan::operators::null_vectors_of<Scalar, int>(
      {host.rows, host.columns, host.offsets, host.indices, host.values}, work);
}

/// Whether the vectors are orthonormal, and A maps each to zero up to 50 u of the terms.
template <class Scalar>
void expect_null(TestMatrix<Scalar> const& A, Vectors<Scalar> const& vectors) {
  double const u = unit_roundoff<Scalar>;
  for (auto const& z : vectors) {
    for (auto const& other : vectors) {
      std::complex<long double> dot = 0;
      for (int i = 0; i < A.order(); ++i) dot += std::conj(wide(z[i])) * wide(other[i]);
      EXPECT_LE(std::abs(dot - (&z == &other ? 1.0L : 0.0L)), 100 * u);
    }
    long double image = 0, terms = 0;
    for (int i = 0; i < A.order(); ++i) {
      std::complex<long double> sum = 0;
      long double magnitude = 0;
      for (auto const& e : A.rows[i]) {
        sum += wide(e.value) * wide(z[e.column]);
        magnitude += std::norm(wide(e.value) * wide(z[e.column]));
      }
      image += std::norm(sum), terms += magnitude;
    }
    EXPECT_LE(std::sqrt(image), 50 * u * std::sqrt(terms));
  }
}

template <class Scalar>
class NullVectors : public ::testing::Test {};
using EveryScalar =
    ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(NullVectors, EveryScalar);

TYPED_TEST(NullVectors, OfScaledLaplaciansAreAllFound) {
  for (double const spread : {0.0, 0.4})
    for (int const copies : {1, 3}) {
      for (auto const& graph : {grid_graphs<TypeParam>(12, 11, copies, spread),
                                grid_graphs<TypeParam>(100, 1, copies, spread)}) {
        auto const vectors = found(graph.A);
        EXPECT_EQ(static_cast<int>(vectors.size()), copies);
        expect_null(graph.A, vectors);
      }
      auto const graph = random_graph<TypeParam>(60 * copies, copies, spread);
      EXPECT_EQ(static_cast<int>(found(graph.A).size()), copies);
      expect_null(graph.A, found(graph.A));
    }
}

TYPED_TEST(NullVectors, OfComponentsTakeNoFactors) {
  auto const graph = grid_graphs<TypeParam>(12, 11, 3, 0);
  bool const ones = !is_complex_v<TypeParam>;  // else there are phases
  EXPECT_EQ(found(graph.A, 0).size(), ones ? 3U : 0U);
  expect_null(graph.A, found(graph.A, 0));
  auto anchored = graph.A;  // the second component alone is singular no more
  anchored.add(12 * 11 + 5, 12 * 11 + 5, TypeParam(1));
  EXPECT_EQ(found(anchored, 0).size(), ones ? 2U : 0U);
  EXPECT_EQ(found(anchored).size(), 2U);
  expect_null(anchored, found(anchored));
}

TYPED_TEST(NullVectors, OfRowsWithoutEntriesAreUnitVectors) {
  TestMatrix<TypeParam> A(5);
  for (int const i : {0, 2, 3}) A.add(i, i, TypeParam(2));
  auto const vectors = found(A);
  EXPECT_EQ(vectors.size(), 2U);
  expect_null(A, vectors);
}

TYPED_TEST(NullVectors, OfDefiniteIndefiniteAndInfiniteMatricesThereAreNone) {
  EXPECT_TRUE(found(grid7<TypeParam>(5)).empty());
  auto indefinite = grid7<TypeParam>(5);
  for (int i = 0; i < indefinite.order(); ++i) indefinite.add(i, i, TypeParam(-3));
  EXPECT_TRUE(found(indefinite).empty());
  auto infinite = grid7<TypeParam>(5);
  infinite.add(7, 7, TypeParam(HUGE_VAL));
  EXPECT_TRUE(found(infinite).empty());
  EXPECT_TRUE(found(TestMatrix<TypeParam>(0)).empty());
}

TYPED_TEST(NullVectors, OfAFreeBodyAreItsTranslationsAndRotations) {
  if constexpr (has_scalar<TypeParam>) {
    AnyBackend const exec;
    auto const host = blockspan::sparse::to_host(generate<TypeParam>(exec, "elasticity:4:free"));
    TestMatrix<TypeParam> A(host.rows);
    for (int i = 0; i < A.order(); ++i)
      for (int p = host.offsets(i); p < host.offsets(i + 1); ++p)
        A.add(i, host.indices(p), host.values(p));
    EXPECT_EQ(found(A, 0).size(), 3U);
    expect_null(A, found(A, 0));
    EXPECT_EQ(found(A).size(), 6U);
    expect_null(A, found(A));
  }
}

/// Seconds of this process alone, whatever else runs.
template <class Function>
double seconds_of(Function const& run) {
  auto const before = std::clock();
  run();
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

/// Many small components: of zeros, and of two scaled rows each, whose null vectors are pivots.
TYPED_TEST(NullVectors, CostWhatTheirComponentsCost) {
#ifdef __SANITIZE_ADDRESS__
  constexpr int n = 2000;
  constexpr bool timed = false;  // the library is slowed more than the loop below
#else
  constexpr int n = 50000;
  constexpr bool timed = true;
#endif
  TestMatrix<TypeParam> zero(n);
  std::vector<int> pairs;
  for (int i = 0; i < n; ++i) pairs.push_back(i / 2);
  SingularGraph<TypeParam> graph(pairs, n / 2, 0.4);
  for (int i = 0; i < n; i += 2) graph.join(i, i + 1, 1);
  for (auto* A : {&zero, &graph.A}) {
    Vectors<TypeParam> vectors;
    double const seconds = seconds_of([&] { vectors = found(*A); });
    ASSERT_EQ(vectors.size(), 32U);
    TypeParam sum = 0;
    double const on_all_rows = 2 * seconds_of([&] {  // projections, twice, of all on all
                                 for (auto const& z : vectors)
                                   for (auto const* y = &vectors.front(); y != &z; ++y)
                                     for (int i = 0; i < n; ++i) sum += (*y)[i] * z[i];
                               });
    EXPECT_TRUE(!timed || seconds < on_all_rows) << seconds << " s, " << on_all_rows << " s";
    EXPECT_EQ(sum, TypeParam(0));
    for (auto const* z : {&vectors.front(), &vectors.back()}) {
      long double length = 0;
      int rows = 0;
      for (auto const& value : *z)
        if (value != TypeParam(0)) length += std::norm(wide(value)), ++rows;
      EXPECT_NEAR(static_cast<double>(length), 1, 50 * unit_roundoff<TypeParam>);
      EXPECT_EQ(rows, A == &zero ? 1 : 2);
    }
  }
}

TYPED_TEST(NullVectors, AreAtMostThirtyTwo) {
  EXPECT_EQ(found(TestMatrix<TypeParam>(100)).size(), 32U);
}

}  // namespace
}  // namespace blockspan::test
