// Wherever the memory of one rank ends, all ranks end with the same Error, and can go on: each
// allocation as large as a column of the rank's rows fails once, in turn.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

/// Counts the large allocations of this process, and refuses one of them.
struct Refusal {
  std::size_t least = std::numeric_limits<std::size_t>::max();  ///< bytes of a large one
  int left = 0;  ///< large ones before the one that is refused
  bool done = false;

  bool refuses(std::size_t size) {
    if (size < least || done || left-- > 0) return false;
    return done = true;
  }
};
Refusal refusal;

}  // namespace
}  // namespace blockspan::test

/// What lists of the host are allocated by.
void* operator new(std::size_t size) {
  void* const memory = blockspan::test::refusal.refuses(size)
                           ? nullptr
                           : std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

/// What Kokkos allocates host memory by.
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  if (blockspan::test::refusal.refuses(size)) return nullptr;
  try {
    return ::operator new(size, alignment);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

namespace blockspan::test {
namespace {

using Matrix = DistributedMatrix<double, Exec>;
using Operator = DistributedOperator<double, Exec>;

/// make() on all ranks, then act(what it made), in which the first, second, ... large allocation of
/// a rank fails, until act() has no more. All ranks hear of every one, and the next act() succeeds.
template <class Make, class Act>
void expect_agreed(std::string const& name, std::int64_t rows, Make const& make, Act const& act) {
  using ::testing::AnyOf, ::testing::HasSubstr;
  int const size = world().size(), bad = size - 1;
  if (size == 1) GTEST_SKIP() << "for several ranks";
  act(*make());  // the scratch memory of Kokkos itself is there: refused, it is freed twice
  int refused = 0;
  for (bool more = true; more; ++refused) {
    ASSERT_LT(refused, 1000) << name;
    auto const made = make();
    if (world().rank() == bad)
      refusal = {static_cast<std::size_t>(rows) * sizeof(double), refused, false};
    std::string const said = message_of([&] { act(*made); });
    more = world().any(refusal.done);
    refusal = {};
    if (more) {
      EXPECT_THAT(said, HasSubstr("rank " + std::to_string(bad))) << name << ", " << refused;
      EXPECT_THAT(said, AnyOf(HasSubstr("out of memory"), HasSubstr("failed to allocate")));
    } else {
      EXPECT_EQ(said, "nothing was thrown") << name << ", " << refused;
    }
    EXPECT_EQ(message_of([&] { act(*made); }), "nothing was thrown") << name << ", " << refused;
  }
  EXPECT_GT(refused, 1) << name << " allocates nothing";
}

auto generated(std::string const& spec) {
  return generate_distributed<double>(Exec(), world(), spec);
}
Block<double, Exec> ones(std::int64_t rows, int columns) {
  Block<double, Exec> const X("X", static_cast<std::size_t>(rows),
                              static_cast<std::size_t>(columns));
  Kokkos::deep_copy(X, 1.0);
  return X;
}

/// Products of every kind, each with a new operator.
TEST(MemoryOfARank, EndsProductsOnAll) {
  Exec const exec;
  auto const A = generated("laplace7:16x16x20");
  auto const rows = A->local_rows();
  auto const make = [&] {
    return std::make_shared<Operator const>(distributed_operator(exec, A, {.columns = 40}));
  };
  // messages of 16 x 16 rows for each column
  auto const least = 16 * 16;
  auto const X = ones(rows, 40), Y = ones(rows, 40);
  expect_agreed("A X", least, make, [&](Operator const& op) { op.apply(exec, X, Y); });
  expect_agreed("A^T X", least, make,
                [&](Operator const& op) { spmm(exec, Op::transpose, 1, op, X, 0, Y); });
  expect_agreed("A^T X, infinite", least, make, [&](Operator const& op) {
    spmm(exec, Op::transpose, std::numeric_limits<double>::infinity(), op, X, 0, Y);
  });
  expect_agreed("R - A X", least, make,
                [&](Operator const& op) { op.subtract_accurately(exec, X, Y); });
  using Values = Kokkos::View<double*, Exec>;
  Values const x("x", static_cast<std::size_t>(rows)), y("y", static_cast<std::size_t>(rows));
  expect_agreed("|A| x", least, make, [&](Operator const& op) { op.apply_magnitudes(exec, x, y); });
}

}  // namespace
}  // namespace blockspan::test
