// What an iteration of LOBPCG costs, as Kokkos sees it, and the step that the residual pass takes.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <blockspan/operators/jacobi.hpp>

#include "solvers/solve.hpp"
#include "support/observed.hpp"

namespace blockspan::test {
namespace {

using small_grid::N;
using small_grid::wanted;

/// The library's own Jacobi preconditioner, which the solver applies inside its passes.
template <class Scalar, class Exec>
JacobiPreconditioner<Scalar, Exec> inside(TestMatrix<Scalar> const& A) {
  using Real = real_t<Scalar>;
  typename JacobiPreconditioner<Scalar, Exec>::Factors const factors("factors", A.order());
  auto const host = Kokkos::create_mirror_view(factors);
  for (int i = 0; i < A.order(); ++i)
    host(i) = static_cast<Real>(1 / std::abs(wide(A.diagonal(i))));
  Kokkos::deep_copy(factors, host);
  return JacobiPreconditioner<Scalar, Exec>(factors);
}

/// A grid with an uneven diagonal, so that Jacobi means something.
template <class Scalar>
TestMatrix<Scalar> uneven_grid() {
  auto A = grid7<double>(N).template as<Scalar>();
  for (int i = 0; i < A.order(); ++i) A.add(i, i, Scalar(i % 11 * i % 7));
  return A;
}

template <class Config>
class Passes : public ::testing::Test {};
TYPED_TEST_SUITE(Passes, Configs, ConfigNames);

TYPED_TEST(Passes, JacobiInsideThemDoesWhatItDoesOutside) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  using Real = real_t<Scalar>;
  bool constexpr single = sizeof(Real) == 4;
  auto const A = uneven_grid<Scalar>();
  auto const T = inside<Scalar, Exec>(A);
  auto const tolerance = [](auto& options) { options.tolerance = Real(single ? 1e-4 : 1e-9); };
  auto const outer = solve<Scalar, Exec>(A, nullptr, wanted,
                                         [&](auto& options, auto const&) { tolerance(options); });
  auto const inner = solve<Scalar, Exec>(A, nullptr, wanted, [&](auto& options, auto const&) {
    tolerance(options);
    options.preconditioner = &T;
  });
  EXPECT_EQ(inner.report.status, Status::converged);
  EXPECT_EQ(inner.report.counters.preconditioner_applications, 0);
  EXPECT_GT(outer.report.counters.preconditioner_applications, 0);
  EXPECT_NEAR(inner.report.iterations, outer.report.iterations, 3 + outer.report.iterations / 20);
  double const bound = static_cast<double>(value_bound(inner, A.infinity_norm()) +
                                           value_bound(outer, A.infinity_norm()));
  for (int j = 0; j < wanted; ++j)
    EXPECT_NEAR(inner.report.eigenvalues[j], outer.report.eigenvalues[j], bound) << j;
}

TYPED_TEST(Passes, ExtremeScalesDoNoHarm) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  using Real = real_t<Scalar>;
  bool constexpr single = sizeof(Real) == 4;
  auto const A = uneven_grid<Scalar>();
  auto const run = [&](TestMatrix<Scalar> const& M) {
    auto const T = inside<Scalar, Exec>(M);
    return solve<Scalar, Exec>(M, nullptr, wanted, [&](auto& options, auto const&) {
      options.tolerance = Real(single ? 1e-4 : 1e-8);
      options.preconditioner = &T;
    });
  };
  auto const plain = run(A);
  for (int const exponent : {single ? -90 : -664, single ? 90 : 660}) {
    Real const scale = std::ldexp(Real(1), exponent);
    auto const scaled = run(A.scaled(scale));
    EXPECT_EQ(scaled.report.status, Status::converged) << exponent;
    EXPECT_NEAR(scaled.report.iterations, plain.report.iterations, 2) << exponent;
    for (int j = 0; j < wanted; ++j)
      EXPECT_NEAR(scaled.report.eigenvalues[j] / scale / plain.report.eigenvalues[j], 1,
                  single ? 1e-3 : 1e-6);
  }
}

template <class Exec>
class Iterations : public ::testing::Test {};
TYPED_TEST_SUITE(Iterations, Backends);

struct Cost {
  std::size_t kernels, waits, allocations;
};

/// Waits for numbers. On hosts a Gram matrix is complete on return: a wait for nothing, not
/// counted.
template <class Exec>
std::size_t waits(Observation const& seen) {
  bool constexpr on_host = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;
  return static_cast<std::size_t>(
      std::count_if(seen.fences.begin(), seen.fences.end(), [&](std::string const& label) {
        return !on_host || label != "Blockspan: a result on the host";
      }));
}

template <class Exec>
std::vector<Cost> costs(bool generalized, bool foreign) {
  auto const A = uneven_grid<double>();
  auto const B = diagonal_matrix<double>(std::vector<double>(A.order(), 2.0));
  auto const T = inside<double, Exec>(A);
  std::vector<Cost> all;
  observed([&] {
    solve<double, Exec>(A, generalized ? &B : nullptr, wanted, [&](auto& options, auto const&) {
      if (!foreign) options.preconditioner = &T;
      options.monitor = [&](auto const&) {
        auto const& seen = observed_so_far();
        all.push_back({seen.labels.size(), waits<Exec>(seen), seen.allocations.size()});
        return true;
      };
    });
  });
  return all;
}

TYPED_TEST(Iterations, AllocateNothingAndWaitTwice) {
  for (bool const generalized : {false, true}) {
    auto const seen = costs<TypeParam>(generalized, false);
    ASSERT_GT(seen.size(), 12u);
    for (std::size_t i = 4; i < 12; ++i) {  // nothing has converged yet
      EXPECT_EQ(seen[i].allocations, seen[3].allocations) << i;
      EXPECT_LE(seen[i].waits - seen[i - 1].waits, 2u) << i;
      EXPECT_EQ(seen[i].kernels - seen[i - 1].kernels, seen[4].kernels - seen[3].kernels) << i;
    }
    // The products, two Gram matrices, an update a block, the residuals and their sums. An update
    // packs its coefficients first, so few on hosts that this is no kernel.
    auto const kernels = seen[5].kernels - seen[4].kernels;
    unsigned const updates = generalized ? 3 : 2, others = generalized ? 2 + 4 + 2 : 1 + 4 + 2;
    if (std::is_same_v<typename TypeParam::memory_space, Kokkos::HostSpace>) {
      EXPECT_EQ(kernels, others + updates);
    } else {
      EXPECT_LE(kernels, others + 2 * updates);
    }
  }
}

TYPED_TEST(Iterations, WaitOnceMoreForAnotherPreconditioner) {
  auto const seen = costs<TypeParam>(false, true);
  ASSERT_GT(seen.size(), 12u);
  for (std::size_t i = 4; i < 12; ++i) {
    EXPECT_EQ(seen[i].allocations, seen[3].allocations) << i;
    EXPECT_LE(seen[i].waits - seen[i - 1].waits, 3u) << i;
  }
}

}  // namespace
}  // namespace blockspan::test
