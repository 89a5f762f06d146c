// Memory that there is not: an Error with the label, the bytes and the space; and what was there
// before is there afterwards.
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/support/arena.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <class Exec>
using Numbers = Kokkos::View<double*, typename Exec::memory_space>;
template <class Exec>
using Floats = Kokkos::View<float**, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec>
constexpr bool tells_what_is_free = blockspan::support::on_cuda_v<Exec> && !on_host_v<Exec>;

template <class Exec>
std::string in_the_space() {
  return std::string(", in the memory space ") + Exec::memory_space::name();
}

template <class Exec>
class Memory : public ::testing::Test {};
TYPED_TEST_SUITE(Memory, Backends, ConfigNames);

TYPED_TEST(Memory, GivesWhatIsAskedFor) {
  TypeParam const exec;
  auto const numbers = allocate<Numbers<TypeParam>>(exec, "Blockspan::test", 7);
  EXPECT_EQ(numbers.extent(0), 7u);
  EXPECT_EQ(numbers.label(), "Blockspan::test");
  auto const block = allocate_zeros<Floats<TypeParam>>(exec, "Blockspan::test", 3, std::int64_t{5});
  EXPECT_EQ(block.extent(0), 3u);
  EXPECT_EQ(block.extent(1), 5u);
  auto const mirror = allocate_mirror(block);
  EXPECT_EQ(on_host_v<TypeParam>, static_cast<void*>(mirror.data()) == block.data());
  Kokkos::deep_copy(exec, mirror, block);
  exec.fence("Blockspan::test");
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) EXPECT_EQ(mirror(i, j), 0.0f);
  auto const on_host = allocate<Kokkos::View<int*, Kokkos::HostSpace>>(exec, "Blockspan::test", 1);
  on_host(0) = 1;
  EXPECT_EQ(on_host(0), 1);
}

TYPED_TEST(Memory, ThatAnArenaLendsIsUsedAgainWhenItIsFree) {
  TypeParam const exec;
  constexpr std::int64_t many = 100000;
  Kokkos::View<double*, Kokkos::Device<TypeParam, typename TypeParam::memory_space>> kept;
  {
    blockspan::support::Arena<TypeParam> arena("Blockspan::test");
    auto const take = [&](std::int64_t size) {
      return blockspan::support::scratch_array<double>(exec, arena, size);
    };
    double const* first = nullptr;
    {
      auto const a = take(many), b = take(many);
      EXPECT_TRUE(a.data() + many <= b.data() || b.data() + many <= a.data());
      EXPECT_EQ(a.extent(0), many);
      first = a.data();
    }
    auto const small = take(10);
    EXPECT_NE(small.data(), first) << "a large array is kept for large requests";
    auto const c = take(many / 2), d = take(many), e = take(many);
    EXPECT_EQ(c.extent(0), many / 2);
    EXPECT_TRUE(c.data() == first || d.data() == first);
    EXPECT_NE(d.data(), e.data());
    EXPECT_EQ(take(0).extent(0), 0u);
    kept = e;
  }
  Kokkos::deep_copy(exec, kept, 1.0);  // outlives what it was taken from
  exec.fence("Blockspan::test");
}

TYPED_TEST(Memory, ThatAnArenaKeepsIsPartsOfFewAllocationsOnDevices) {
  TypeParam const exec;
  blockspan::support::Arena<TypeParam> arena("Blockspan::test", 1000);
  auto const a = blockspan::support::kept_array<int>(exec, arena, 100),
             b = blockspan::support::kept_array<int>(exec, arena, 100);
  EXPECT_TRUE(a.data() + 100 <= b.data() || b.data() + 100 <= a.data());
  if (!on_host_v<TypeParam>) {
    EXPECT_EQ(b.data(), a.data() + 128);
  }
  Kokkos::deep_copy(exec, b, 1);
  exec.fence("Blockspan::test");
}

TYPED_TEST(Memory, IsToldFromBadInput) {
  for (int const exponent : {57, 62}) try {
      allocate<Numbers<TypeParam>>(TypeParam(), "Blockspan::test", std::int64_t{1} << exponent);
      ADD_FAILURE() << "2^" << exponent << " numbers were allocated";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    }
}

TYPED_TEST(Memory, TellsTheBytesThatThereAreNot) {
  TypeParam const exec;
  auto const message = message_of(
      [&] { allocate<Numbers<TypeParam>>(exec, "Blockspan::test", std::int64_t{1} << 57); });
  EXPECT_THAT(message, StartsWith("Blockspan::test: out of memory: cannot allocate "
                                  "1152921504606846976 bytes (1 EiB) for 144115188075855872 "
                                  "elements of 8 bytes" +
                                  in_the_space<TypeParam>()));
  EXPECT_EQ(tells_what_is_free<TypeParam>, message.find(" are free") != message.npos) << message;
  EXPECT_THAT(message_of([&] {
                allocate_zeros<Floats<TypeParam>>(exec, "Blockspan::test", std::int64_t{3} << 30,
                                                  1 << 18);
              }),
              StartsWith("Blockspan::test: out of memory: cannot allocate 3377699720527872 bytes "
                         "(3 PiB) for 3221225472 x 262144 elements of 4 bytes" +
                         in_the_space<TypeParam>()));
  EXPECT_NO_THROW(allocate<Numbers<TypeParam>>(exec, "Blockspan::test", 1000));
}

/// Hosts may promise 64 TiB, and more than they have.
TYPED_TEST(Memory, OfADeviceEndsEarlier) {
  if (on_host_v<TypeParam>) GTEST_SKIP() << "a host may promise more than it has";
  TypeParam const exec;
  EXPECT_THAT(message_of([&] {
                allocate<Numbers<TypeParam>>(exec, "Blockspan::test", std::int64_t{1} << 43);
              }),
              StartsWith("Blockspan::test: out of memory: cannot allocate 70368744177664 bytes "
                         "(64 TiB)"));
}

TYPED_TEST(Memory, IsNotAskedForMoreThanCanBeCounted) {
  TypeParam const exec;
  auto const ask = [&](std::int64_t rows, std::int64_t columns) {
    return message_of([&] { allocate<Floats<TypeParam>>(exec, "Blockspan::test", rows, columns); });
  };
  auto const refusal = [&](std::string const& extents) {
    return "Blockspan::test: out of memory: cannot allocate more bytes than an address can count "
           "for " +
           extents + " elements of 4 bytes" + in_the_space<TypeParam>();
  };
  std::int64_t const large = std::int64_t{1} << 40;
  EXPECT_EQ(ask(large, large), refusal("1099511627776 x 1099511627776"));
  EXPECT_EQ(ask(large, 1 << 22), refusal("1099511627776 x 4194304"));  // 2^64 bytes
  EXPECT_EQ(ask(large, 1 << 21), refusal("1099511627776 x 2097152"));  // 2^63 bytes
  EXPECT_EQ(ask(-1, 2), refusal("18446744073709551615 x 2"));
  EXPECT_EQ(ask(large, 0), "nothing was thrown");
}

/// Kokkos has one type for everything that goes wrong.
TYPED_TEST(Memory, IsNotBlamedForOtherFaults) {
  auto const request =
      blockspan::support::memory_request<Numbers<TypeParam>>("Blockspan::test", 12);
  auto const message = [&](auto const& reason) {
    return message_of([&] { request.serve([&]() -> Numbers<TypeParam> { throw reason; }); });
  };
  std::runtime_error const fault("cudaMemsetAsync error( cudaErrorIllegalAddress)");
  EXPECT_THAT(message(fault),
              AllOf(StartsWith("Blockspan::test: cannot allocate 96 bytes for 12 elements of 8 "
                               "bytes" +
                               in_the_space<TypeParam>()),
                    HasSubstr(": cudaMemsetAsync error( cudaErrorIllegalAddress)"),
                    Not(HasSubstr("out of memory"))));
  std::runtime_error const refused("Kokkos ERROR: memory space failed to allocate 96 B");
  if (tells_what_is_free<TypeParam>) {
    // 96 bytes are free, so it is something else
    EXPECT_THAT(message(refused), AllOf(HasSubstr(" are free: Kokkos ERROR: memory space failed"),
                                        Not(HasSubstr("out of memory"))));
  } else {
    EXPECT_THAT(message(refused), StartsWith("Blockspan::test: out of memory: cannot allocate 96"));
    EXPECT_THAT(message(std::bad_alloc()), HasSubstr("out of memory"));
  }
}

}  // namespace
}  // namespace blockspan::test
