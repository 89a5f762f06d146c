// p1 and p1-mass against what is known of linear elements.
#include <string>

#include <gtest/gtest.h>

#include <blockspan/sparse/coordinates.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/symmetry.hpp>

#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Exec>
class P1 : public ::testing::Test {
 protected:
  auto host_of(std::string const& spec) const {
    return blockspan::sparse::to_host(generate<double>(exec, spec));
  }
  /// x^T A y for x_i = f(node i) and y_i = g(node i).
  template <class F, class G>
  double form(std::string const& spec, F const& f, G const& g) const {
    auto const A = host_of(spec);
    auto const nodes = Kokkos::create_mirror_view_and_copy(
        Kokkos::HostSpace(), generate_coordinates<double>(exec, parse_generator_spec(spec)));
    double sum = 0;
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (int k = A.offsets(i); k < A.offsets(i + 1); ++k) {
        auto const j = static_cast<std::size_t>(A.indices(k));
        sum += f(&nodes(i, 0)) * A.values(k) * g(&nodes(j, 0));
      }
    return sum;
  }
  Exec exec;
};
TYPED_TEST_SUITE(P1, Backends, ConfigNames);

TYPED_TEST(P1, IsSymmetricToTheBitWithAscendingRowsOfAtMostFifteen) {
  for (std::string const spec :
       {"p1:2", "p1:7", "p1:6:free", "p1-mass:7", "p1-mass:5:free:seed=4"}) {
    auto const A = generate<double>(this->exec, spec);
    EXPECT_EQ(A.nnz(), parse_generator_spec(spec).nonzeros) << spec;
    auto const host = blockspan::sparse::to_host(A);
    for (std::int64_t i = 0; i < host.rows; ++i) {
      EXPECT_LE(host.offsets(i + 1) - host.offsets(i), 15);
      for (int k = host.offsets(i); k < host.offsets(i + 1); ++k) {
        if (k > host.offsets(i)) {
          EXPECT_LT(host.indices(k - 1), host.indices(k));
        }
        int const j = host.indices(k);
        int mirror = host.offsets(j);
        while (mirror < host.offsets(j + 1) && host.indices(mirror) != i) ++mirror;
        ASSERT_LT(mirror, host.offsets(j + 1));
        EXPECT_EQ(host.values(k), host.values(mirror));
      }
    }
  }
}

TYPED_TEST(P1, IntegratesLinearFunctionsExactly) {
  auto const one = [](double const*) { return 1.0; };
  for (int axis = 0; axis < 3; ++axis) {
    auto const x = [axis](double const* at) { return at[axis]; };
    auto const y = [axis](double const* at) { return at[(axis + 1) % 3]; };
    EXPECT_NEAR(this->form("p1:6:free", x, x), 1, 1e-13);
    EXPECT_NEAR(this->form("p1:6:free", x, y), 0, 1e-13);
    EXPECT_NEAR(this->form("p1:6:free", x, one), 0, 1e-13);
    EXPECT_NEAR(this->form("p1-mass:6:free", x, one), 0.5, 1e-13);
    EXPECT_NEAR(this->form("p1-mass:6:free", x, x), 1.0 / 3, 1e-13);
    EXPECT_NEAR(this->form("p1-mass:6:free", x, y), 0.25, 1e-13);
  }
  EXPECT_NEAR(this->form("p1-mass:6:free", one, one), 1, 1e-13);
}

TYPED_TEST(P1, MovesNodesByTheSeedAndKeepsTheBoundary) {
  auto const first = this->host_of("p1:6"), again = this->host_of("p1:6"),
             other = this->host_of("p1:6:seed=2");
  int different = 0;
  for (std::size_t k = 0; k < first.values.extent(0); ++k) {
    EXPECT_EQ(first.values(k), again.values(k));
    different += first.values(k) != other.values(k);
  }
  EXPECT_GT(different, 100);
  auto const spec = parse_generator_spec("p1:4:free");
  auto const nodes = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), generate_coordinates<double>(this->exec, spec));
  for (std::size_t i = 0; i < nodes.extent(0); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::size_t const p = axis == 0 ? i % 4 : axis == 1 ? i / 4 % 4 : i / 16;
      EXPECT_NEAR(nodes(i, axis), static_cast<double>(p) / 3, p % 3 == 0 ? 0 : 0.125 / 3 + 1e-15);
    }
  EXPECT_THAT(message_of([&] {
                generate_coordinates<double>(this->exec, parse_generator_spec("laplace7:4"));
              }),
              ::testing::HasSubstr("has no nodes in space"));
}

}  // namespace
}  // namespace blockspan::test
