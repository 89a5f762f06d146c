// Blocks that are dealt out and gathered, and operators whose values are copied: on two ranks and
// more.
#include <cstdint>
#include <string>
#include <type_traits>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Config>
class BlocksOnRanks : public ::testing::Test {
 public:
  Exec const exec;
};
TYPED_TEST_SUITE(BlocksOnRanks, Configs, ConfigNames);

TYPED_TEST(BlocksOnRanks, OfOtherExtentsAreAnErrorOnAll) {
  using S = typename TypeParam::Scalar;
  int const last = world().size() - 1;
  RowSpace const space(world(), odd_cuts(500), 0);
  using Columns = Kokkos::View<S**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  auto const [first, end] = space.range(world().rank(), 0);
  std::string const nothing = message_of([] {});
  auto const told = [&](std::int64_t rows, int columns, std::int64_t whole_rows) {
    Columns const local("local", rows, columns), whole("whole", whole_rows, 3);
    std::string const out = message_of([&] { scatter_block(space, whole, local); });
    std::string const back = message_of([&] { gather_block(space, local, whole); });
    EXPECT_EQ(out == nothing, back == nothing);
    return out;
  };
  std::int64_t const rows = end - first;
  int const bad = world().rank() == last ? 1 : 0;
  EXPECT_EQ(told(rows, 3, 500), nothing);
  EXPECT_THAT(told(rows + bad, 3, 500), ::testing::HasSubstr("rows, but this rank has"));
  EXPECT_THAT(told(rows, 2, 500), ::testing::HasSubstr("500 x 3"));
  EXPECT_THAT(told(rows, 3, 499), ::testing::HasSubstr("499 x 3"));
}

/// Slices have the bits of the matrix, of parts of any size and for any width; the operator of now
/// stays as it is when the values change.
TYPED_TEST(BlocksOnRanks, HaveTheSameBitsOfAnOperatorInSlices) {
  using S = typename TypeParam::Scalar;
  bool const may_hold = support::runs_on_host_v<Exec> && std::is_same_v<S, double>;
  for (std::string const spec : {"laplace7:18x17x16", "fixed:4000x4000:9", "laplace5:3x2"}) {
    RowPartition const like(odd_cuts(parse_generator_spec(spec).rows), 0);
    auto const A =
        distributed_operator(this->exec, generate_distributed<S>(this->exec, world(), spec, &like));
    auto const in_slices = A.in_slices(this->exec);
    EXPECT_EQ(in_slices != nullptr, may_hold) << spec;
    if (in_slices) {
      EXPECT_EQ(in_slices->for_many_products(this->exec), nullptr);
    }
    LinearOperator<S, Exec> const& other = in_slices ? *in_slices : A;
    for (std::size_t const columns : {1, 3, 1}) {
      Block<S, Exec> const X("X", static_cast<std::size_t>(A.rows()), columns),
          Y("Y", X.extent(0), columns), Z("Z", X.extent(0), columns);
      fill_random(this->exec, X, 3, 0, A.row_space().first_row());
      A.apply(this->exec, X, Y);
      other.apply(this->exec, X, Z);
      this->exec.fence();
      auto const host = [](auto const& block) {
        return entries(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), block));
      };
      EXPECT_EQ(host(Y), host(Z)) << spec << ", " << columns;
    }
  }
}

}  // namespace
}  // namespace blockspan::test
