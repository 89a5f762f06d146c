// The rank-revealing orthonormalization inside block conjugate gradients, against its definition:
// T = W zeta with W^H M^-1 W = I, directions dropped only at the rounding level of T.
#include <cmath>
#include <vector>

#include <blockspan/solvers/cg/block/block_orthonormalize.hpp>

#include "solvers/cg_solve.hpp"

namespace blockspan::test {
namespace {

/// T (as it was), and what became of it.
template <class Scalar>
struct Factored {
  HostBlock<Scalar> T, W;
  std::vector<std::vector<Scalar>> zeta;  ///< rank x columns
  std::vector<real_t<Scalar>> weights;    ///< diagonal of M^-1
  int rank = 0;
};

template <class Scalar, class Exec>
Factored<Scalar> factor(HostBlock<Scalar> const& T, bool weighted) {
  using Real = real_t<Scalar>;
  Exec const exec;
  int const n = static_cast<int>(T.rows()), k = static_cast<int>(T.columns());
  std::vector<Real> diagonal;
  for (int i = 0; i < n; ++i) diagonal.push_back(weighted ? Real(1 + i % 7) : Real(1));
  auto const matrix = diagonal_matrix<Scalar>(diagonal);
  TestOperator<Scalar, Exec> const A(exec, matrix);
  auto const jacobi = library_jacobi<Scalar, Exec>(matrix);
  CgOptions<Scalar, Exec> options;
  if (weighted) options.preconditioner = &jacobi;
  blockspan::krylov::CgProblem<Scalar, Exec> problem(exec, A, options);
  blockspan::krylov::CgBlocks<Scalar, Exec> blocks(exec, n, k);
  blockspan::krylov::BlockPasses<Scalar, Exec> passes(problem, blocks, k);
  passes.set_width(k);
  auto const given = make_block(exec, Storage::right, T);
  Kokkos::deep_copy(exec, passes.t(k), given.view);

  auto const G = blockspan::solvers::small_matrix<Scalar>(k, k),
             zeta = blockspan::solvers::small_matrix<Scalar>(k, k);
  blockspan::krylov::SmallScratch<Scalar> scratch(k);
  passes.gram(k, G);
  Real size = 0;
  for (int j = 0; j < k; ++j) size = std::max(size, std::sqrt(real_part(G(j, j))));
  Factored<Scalar> result{T, {}, {}, {}, 0};
  result.rank = blockspan::krylov::orthonormalize_residual(passes, G, std::vector<Real>(k, Real(1)),
                                                           size, zeta, scratch);
  auto const W = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), passes.t(k));
  result.W = HostBlock<Scalar>(n, result.rank);
  for (int i = 0; i < n; ++i)
    for (int r = 0; r < result.rank; ++r) result.W(i, r) = W(i, r);
  for (int r = 0; r < result.rank; ++r) {
    result.zeta.emplace_back();
    for (int j = 0; j < k; ++j) result.zeta[r].push_back(zeta(r, j));
  }
  for (Real const d : diagonal) result.weights.push_back(1 / d);
  return result;
}

/// max |W^H M^-1 W - I|
template <class Scalar>
long double defect(Factored<Scalar> const& f) {
  long double worst = 0;
  for (int a = 0; a < f.rank; ++a)
    for (int b = 0; b < f.rank; ++b) {
      std::complex<long double> sum = a == b ? -1 : 0;
      for (std::int64_t i = 0; i < f.W.rows(); ++i)
        sum += std::conj(wide(f.W(i, a))) * wide(f.W(i, b)) *
               static_cast<long double>(f.weights[static_cast<std::size_t>(i)]);
      worst = std::max(worst, std::abs(sum));
    }
  return worst;
}

/// max_j ||(T - W zeta)_j|| and max_j ||T_j||
template <class Scalar>
std::pair<long double, long double> distance(Factored<Scalar> const& f) {
  long double off = 0, size = 0;
  for (std::int64_t j = 0; j < f.T.columns(); ++j) {
    long double difference = 0, length = 0;
    for (std::int64_t i = 0; i < f.T.rows(); ++i) {
      std::complex<long double> t = wide(f.T(i, j));
      length += std::norm(t);
      for (int r = 0; r < f.rank; ++r)
        t -= wide(f.W(i, r)) * wide(f.zeta[r][static_cast<std::size_t>(j)]);
      difference += std::norm(t);
    }
    off = std::max(off, std::sqrt(difference)), size = std::max(size, std::sqrt(length));
  }
  return {off, size};
}

template <class Config>
class CgBlock : public ::testing::Test {};
TYPED_TEST_SUITE(CgBlock, EveryConfig, ConfigNames);

/// Column j is e_j's direction times `sizes[j]`, hidden in all columns by a random mixture.
template <class Scalar>
HostBlock<Scalar> mixture(std::vector<double> const& sizes, int n = 700) {
  int const k = static_cast<int>(sizes.size());
  auto const V = random_block<Scalar>(n, k, 5), C = random_block<Scalar>(k, k, 6);
  HostBlock<Scalar> T(n, k);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j)
      for (int l = 0; l < k; ++l)
        T(i, j) += V(i, l) * C(l, j) * static_cast<real_t<Scalar>>(sizes[l]);
  return T;
}

template <class Scalar>
void expect_factor(Factored<Scalar> const& f, int least, int most) {
  using Limits = blockspan::krylov::CgThresholds<real_t<Scalar>>;
  EXPECT_GE(f.rank, least);
  EXPECT_LE(f.rank, most);
  EXPECT_LE(defect(f), Limits::orthonormal);
  // Directions below the floor sqrt(r u) may lose a part sqrt(kept) of themselves. In single
  // precision, where Gram matrices of this number of rows are no better than `kept`, such a one may
  // be lost as a whole, and nothing above the floor.
  auto const [off, size] = distance(f);
  long double const r = f.T.columns(), u = Limits::u;
  long double const lost = Limits::is_double ? r * std::sqrt(Limits::kept * u) : std::sqrt(r * u);
  EXPECT_LE(off, (lost + 50 * u) * size) << "rank " << f.rank;
}

TYPED_TEST(CgBlock, AWellConditionedBlockIsFactored) {
  using Scalar = typename TypeParam::Scalar;
  for (bool const weighted : {false, true})
    for (int const k : {1, 3, 8, 32})
      expect_factor(
          factor<Scalar, typename TypeParam::Exec>(random_block<Scalar>(700, k, 3), weighted), k,
          k);
}

TYPED_TEST(CgBlock, SmallDirectionsAreKeptAndNoiseIsDropped) {
  using Scalar = typename TypeParam::Scalar;
  double const u = unit_roundoff<Scalar>;
  for (bool const weighted : {false, true}) {
    auto const run = [&](std::vector<double> const& sizes) {
      return factor<Scalar, typename TypeParam::Exec>(mixture<Scalar>(sizes), weighted);
    };
    double const root = std::sqrt(u);
    // what the square root of u would lose
    expect_factor(run({1, 0.5, root, 0.1 * root, 0.01 * root, 2}), 6, 6);
    expect_factor(run({1, 1, 1, 0, 0, 0}), 3, 6);
    expect_factor(run({1, root, root * root * 1e-6, 0}), 2, 4);
  }
}

TYPED_TEST(CgBlock, ExactRepetitionsLeave) {
  using Scalar = typename TypeParam::Scalar;
  auto const V = random_block<Scalar>(500, 2, 3);
  HostBlock<Scalar> T(500, 6);
  for (int i = 0; i < 500; ++i)
    for (int j = 0; j < 6; ++j)
      T(i, j) = V(i, j % 2) * static_cast<real_t<Scalar>>(j / 2 == 1 ? 0.5 : 1);
  auto const f = factor<Scalar, typename TypeParam::Exec>(T, true);
  EXPECT_EQ(f.rank, 2);
  expect_factor(f, 2, 2);
}

}  // namespace
}  // namespace blockspan::test
