// Teams of sparse products: by their numbers alone, as devices would launch them.
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/multigrid/setup/team_product.hpp>

namespace blockspan::test {
namespace {

using levels::ProductTeams;

/// The largest team that Kokkos finds on HIP: that of the first block, of 128 threads, 64, ... down
/// to a wavefront, whose threads all have their scratch; 0: there is none, and a launch throws.
int largest_team(ProductTeams const& teams, int wavefront, std::size_t scratch) {
  for (int block = ProductTeams::threads; block >= wavefront; block /= 2) {
    auto const threads = static_cast<std::size_t>(block / teams.lanes);
    if (16 + threads * (teams.bytes_of_thread() + sizeof(double)) <= scratch)
      return block / teams.lanes;
  }
  return 0;
}

TEST(ProductTeams, FitTheScratchOfDevices) {
  constexpr std::int64_t rows = 1000;
  for (std::int64_t const mean : {1, 3, 7, 20, 60, 300})
    for (std::int64_t const wanted : {1, 30, 129, 1025, 20000})
      for (std::size_t const bytes : {8, 12, 28, 100}) {
        SCOPED_TRACE(std::to_string(mean) + " entries a row, " + std::to_string(wanted) +
                     " places of " + std::to_string(bytes) + " bytes");
        levels::PatternRef<int, int> const B{rows, rows, mean * rows, nullptr, nullptr};
        ProductTeams const on_cuda(B, wanted, bytes, 32), on_hip(B, wanted, bytes, 64);
        for (auto const& teams : {on_cuda, on_hip}) {
          EXPECT_GE(teams.rows, 1);
          EXPECT_GE(teams.room, 1);
          EXPECT_LE(teams.rows * teams.lanes, ProductTeams::threads);
          auto const all = static_cast<std::size_t>(teams.rows) * teams.bytes_of_thread();
          EXPECT_LE(all, std::size_t{46} << 10);  // of 48 KiB Kokkos keeps some
        }
        EXPECT_GE(largest_team(on_hip, 64, std::size_t{64} << 10), on_hip.rows);
      }
}

}  // namespace
}  // namespace blockspan::test
