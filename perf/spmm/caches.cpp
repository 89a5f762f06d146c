#include "spmm/caches.hpp"

#include <cstdint>

#include "blockspan-spmm/timing.hpp"

namespace blockspan::perf {

namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
constexpr int row_length = 16;  ///< numbers
constexpr int reads = 64;       ///< of a work item

using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// Sixteen neighbouring work items read the same rows, a number each.
struct Gather {
  Kokkos::View<double const* [row_length], Kokkos::LayoutRight, Exec> table;
  Kokkos::View<double*, Exec> sums;
  std::uint32_t mask;  ///< rows - 1

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    auto const lane = e % row_length;
    auto const item = static_cast<std::uint32_t>(e / row_length);
    double sum = 0;
    for (std::uint32_t k = 0; k < reads; ++k) {
      std::uint32_t row = (item * reads + k) * 2654435761u;  // Knuth's multiplicative hash
      row ^= row >> 15;
      sum += table(row & mask, lane);
    }
    sums(e) = sum;
  }
};

struct Fill {
  Kokkos::View<double*, Exec> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = 1; }
};

/// A power of two.
std::int64_t table_rows(Exec const& exec) {
  std::int64_t const bytes = on_host ? std::int64_t{1} << 17 : std::int64_t{1} << 24;
  std::int64_t rows = bytes / static_cast<std::int64_t>(row_length * sizeof(double));
  if (on_host)
    for (int threads = exec.concurrency(); threads > 1; threads /= 2) rows *= 2;
  return rows;
}

}  // namespace

double measure_gather(Exec const& exec, int batches) {
  std::int64_t const rows = table_rows(exec);
  Kokkos::View<double* [row_length], Kokkos::LayoutRight, Exec> const table(
      Kokkos::view_alloc(exec, "Blockspan::gather_table"), rows);
  std::int64_t const items = (on_host ? std::int64_t{1} << 14 : std::int64_t{1} << 20) * row_length;
  Kokkos::View<double*, Exec> const sums(Kokkos::view_alloc(exec, "Blockspan::gather_sums"), items);
  apps::BatchTimer timer(
      [&] {
        Kokkos::parallel_for("Blockspan::gather", Range(exec, 0, items),
                             Gather{table, sums, static_cast<std::uint32_t>(rows - 1)});
      },
      [&] { exec.fence("Blockspan::gather"); });
  timer.calibrate();
  for (int i = 0; i < batches; ++i) timer.run_batch();
  double const bytes = static_cast<double>(items) * reads * sizeof(double);
  return bytes / timer.timing().min_ms * 1e3;
}

std::function<void()> make_flush(Exec const& exec) {
  std::int64_t const length = (on_host ? std::int64_t{1} << 27 : std::int64_t{1} << 28) / 8;
  Kokkos::View<double*, Exec> const buffer(Kokkos::view_alloc(exec, "Blockspan::flush"), length);
  return [exec, buffer, length] {
    Kokkos::parallel_for("Blockspan::flush", Range(exec, 0, length), Fill{buffer});
  };
}

}  // namespace blockspan::perf
