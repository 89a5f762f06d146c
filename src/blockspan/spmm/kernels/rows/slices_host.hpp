#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/kernels/rows/direct_registers.hpp>
#include <blockspan/spmm/layouts/row_slices.hpp>
#include <blockspan/spmm/parts/host_writers.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/registers/register_set.hpp>

namespace blockspan::products {
inline namespace BLOCKSPAN_REGISTERS {

/// Slices, hosts: the product with one column of real scalars, from a copy of the matrix in slices
/// (layouts/row_slices.hpp). The sums of some rows are a register each for even and for odd
/// entries, as HostRows adds them: the same bits. No row ends unforeseen, where rows end together,
/// and values are read by whole registers.
///
/// Traffic: the copy once, X as often as its columns have entries (once in cache), Y once (twice
/// where beta is not zero).
template <class Exec, class Scalar, class Ordinal, class Epilogue, class Stride>
struct MultiplySlices {
  static constexpr int slice_rows = tuning::slice_rows;
  static constexpr int width = register_width<Scalar>(slice_rows), registers = slice_rows / width;
  using Register = typename RegistersOf<Scalar, width>::type;
  static constexpr std::int64_t slices_of_task = tuning::slice_window / slice_rows;

  RowSlices<Scalar, Exec, Ordinal> slices;
  std::int64_t rows;
  Scalar const* x;
  Stride stride;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    KOKKOS_IF_ON_HOST((multiply(task);))
    KOKKOS_IF_ON_DEVICE(((void)task;))
  }

 private:
  /// Pointers to the arrays, which no store to Y can change.
  struct Entries {
    Ordinal const* columns;
    Scalar const* values;
    Scalar const* x;
    Stride stride;

    BLOCKSPAN_HOST_INLINE std::int64_t column(std::int64_t k) const { return columns[k]; }
    BLOCKSPAN_HOST_INLINE Scalar value(std::int64_t k) const { return values[k]; }
    BLOCKSPAN_HOST_INLINE void prefetch(std::int64_t) const {}
    /// The next entry of each row of a slice.
    BLOCKSPAN_HOST_INLINE void add(Register* sums, std::int64_t k) const {
      add(sums, k, std::make_integer_sequence<int, width>());
    }
    template <int... lanes>
    BLOCKSPAN_HOST_INLINE void add(Register* sums, std::int64_t k,
                                   std::integer_sequence<int, lanes...>) const {
      for (int r = 0; r < registers; ++r, k += width) {
        Register product, elements = {x[column(k + lanes) * stride]...};
        std::memcpy(&product, values + k, sizeof(Register));
        product *= elements;
        BLOCKSPAN_KEEP_SCALAR(product);  // each is rounded, as add_to_column rounds it
        sums[r] += product;
      }
    }
  };

  BLOCKSPAN_NOINLINE void multiply(std::int64_t task) const {
    std::int64_t const begin = task * slices_of_task;
    std::int64_t const end = std::min(begin + slices_of_task, slices.count());
    Entries const entries{slices.columns.data(), slices.values.data(), x, stride};
    int const *const row = slices.rows.data(), *const ends = slices.ends.data(),
                     *const first = slices.first.data(), *const together = slices.together.data();
    typename HostWriters<Epilogue>::OfColumn const writer(epilogue);
    std::int64_t const last_row = rows;
    for (std::int64_t s = begin; s < end; ++s) {
      Register even[registers] = {}, odd[registers] = {};
      std::int64_t k = first[s];
      int left = together[s];
      for (; left >= 2; left -= 2, k += 2 * slice_rows) {
        entries.add(even, k);
        entries.add(odd, k + slice_rows);
      }
      if (left > 0) entries.add(even, k), k += slice_rows;
      std::int64_t const place = s * slice_rows;
      Scalar sums[slice_rows], others[slice_rows];
      if (k == first[s + 1]) {
        for (int r = 0; r < registers; ++r) even[r] += odd[r];
        std::memcpy(sums, even, sizeof sums);
        auto const here = std::min<std::int64_t>(slice_rows, last_row - place);
        for (int r = 0; r < here; ++r) writer.write(row[place + r], sums[r]);
        continue;
      }
      std::memcpy(sums, even, sizeof sums), std::memcpy(others, odd, sizeof others);
      for (std::int64_t r = 0; r < slice_rows && place + r < last_row; ++r) {
        std::int64_t const last = ends[place + r];
        writer.write(row[place + r], add_to_column(entries, k, last, entries.x, entries.stride,
                                                   sums[r], others[r]));
        k = last;
      }
    }
  }
};

/// Whether products of these scalars have such a kernel. Sums of float were seen to differ in the
/// last bits from those of HostRows.
template <class Exec, class Scalar>
inline constexpr bool has_slices_v = runs_on_host_v<Exec>&& std::is_same_v<Scalar, double>;

/// The slices that a call has, for one column; null: none.
template <class Call>
auto const* slices_for_column(Call const& call) {
  using Slices = RowSlices<typename Call::Scalar, typename Call::Exec, typename Call::Ordinal>;
  bool const fit = call.product.X.columns == 1 && !call.variant().lists_segments();
  return fit ? static_cast<Slices const*>(call.slices) : nullptr;
}

template <class Call, class Epilogue>
void launch_host_slices(Call const& call, Epilogue const& epilogue, char const* label) {
  using Exec = typename Call::Exec;
  auto const& slices = *slices_for_column(call);
  auto const& X = call.product.X;
  auto const run = [&]<class Stride>(Stride stride) {
    using Kernel =
        MultiplySlices<Exec, typename Call::Scalar, typename Call::Ordinal, Epilogue, Stride>;
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                             Kokkos::IndexType<std::int64_t>>(
                             call.exec, 0, ceil_div(slices.count(), Kernel::slices_of_task)),
                         Kernel{slices, call.prepared.pattern.rows, X.data, stride, epilogue});
  };
  if (X.row_stride == 1) return run(std::integral_constant<std::int64_t, 1>{});
  run(X.row_stride);
}

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::products
