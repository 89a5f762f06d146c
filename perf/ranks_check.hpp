#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/sparse/generators.hpp>

namespace blockspan::perf {

/// Whether a sample of the rows of Y, of which this rank has those from `first` on, is that of A
/// times the values of fill_random: against rows of A made by themselves.
template <class Exec>
bool is_product(Exec const& exec, GeneratorSpec const& spec, std::int64_t first,
                Block<double, Exec> const& Y) {
  constexpr std::int64_t samples = 16;
  auto const rows = static_cast<std::int64_t>(Y.extent(0));
  auto const on_host = [](auto const& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  for (std::int64_t s = 0; s < samples && rows > 0; ++s) {
    std::int64_t const i = s * (rows - 1) / (samples - 1);
    auto const row = generate_rows<double>(exec, spec, first + i, first + i + 1);
    auto const columns = on_host(row.graph.entries);
    auto const values = on_host(row.values);
    Block<double, Exec> const X("Blockspan::perf::X", columns.extent(0), Y.extent(1));
    for (std::size_t k = 0; k < columns.extent(0); ++k)
      fill_random(exec, Kokkos::subview(X, std::pair(k, k + 1), Kokkos::ALL), 1, 0, columns(k));
    exec.fence("Blockspan::perf::sample");
    auto const x = on_host(X);
    auto const y = on_host(Kokkos::subview(Y, i, Kokkos::ALL));
    for (std::size_t j = 0; j < Y.extent(1); ++j) {
      double sum = 0, size = 0;
      for (std::size_t k = 0; k < columns.extent(0); ++k) {
        sum += values(k) * x(k, j);
        size += std::abs(values(k) * x(k, j));
      }
      if (!(std::abs(sum - y(j)) <= 1e-13 * size)) return false;
    }
  }
  return true;
}

}  // namespace blockspan::perf
