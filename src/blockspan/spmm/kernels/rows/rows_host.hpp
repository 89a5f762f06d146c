#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/kernels/rows/direct_registers.hpp>
#include <blockspan/spmm/kernels/rows/slices_host.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/host_step.hpp>
#include <blockspan/spmm/parts/host_writers.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/registers/register_set.hpp>
#include <blockspan/support/registers/row_registers.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

inline namespace BLOCKSPAN_REGISTERS {

/// Rows, hosts: Y = alpha op(A) X + beta Y where rows of X are contiguous, or what another epilogue
/// makes of op(A) X (HostWriters). A team, which is one thread, owns neighbouring
/// rows (or segments of cut rows). The sums of a row of Y stay in registers while a row of A is
/// read; rows of Y wider than that need several passes.
///
/// Loop overhead dominates short rows. So each kind of pass has one function, whose operands are
/// copies that no store to Y can change: all of them stay in registers from row to row. Anything
/// called out of line from here would put them in memory.
///
/// A row is summed in the order of its entries: in one chain of additions, or, if it has
/// `host_chained_row` entries or more, in several among which the entries alternate.
///
/// A complex value times a row of X is two real products, re * x and im * x, added up apart and put
/// together when the row ends. So the loop is the same for real and complex: no shuffles in it.
///
/// Traffic: A once a pass, X as often as its columns have entries (once in cache), Y once (twice
/// where beta is not zero).
template <class Exec, class Scalar, class Schedule, class Entries, class Epilogue>
struct HostRows {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;
  using Team = typename Policy::member_type;
  using Segment = typename Schedule::Segment;
  using Real = real_t<Scalar>;
  static constexpr int parts = is_complex_v<Scalar> ? 2 : 1;
  static constexpr int widest = register_bytes / int(sizeof(Real));
  static constexpr int most = tuning::host_registers_of_pass / parts;
  template <class Pack>
  using Registers = PackRegisters<Real, Pack>;
  template <class Pack>
  using Masks = PackMasks<Real, Pack>;
  template <class Pack>
  using Writer = typename HostWriters<Epilogue>::template OfPass<Pack>;
  template <class Pack>
  static constexpr bool is_widest =
      Pack::Count == most&& Pack::Masked == 0 && Pack::Width == widest;

  Schedule schedule;
  Entries entries;
  BlockRef<Scalar const> X;  ///< columns of op(A) x n
  bool conjugate_values;
  int prefetch_end;  ///< before this entry rows of X are prefetched
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    KOKKOS_IF_ON_HOST((multiply(team.league_rank());))
    KOKKOS_IF_ON_DEVICE(((void)team;))
  }

  void launch(Exec const& exec, char const* label, std::int64_t teams) const {
    if (teams > 0) Kokkos::parallel_for(label, Policy(exec, static_cast<int>(teams), 1, 1), *this);
  }

 private:
  void multiply(std::int64_t team) const {
    auto const& share = schedule.share;
    std::int64_t const begin = share.per_team * team;
    std::int64_t const end = std::min(begin + share.per_team, share.segments);
    if (X.columns == 1 && !is_complex_v<Scalar>) {
      multiply_one_column(begin, end);
    } else if (writes_by_tiles()) {
      multiply_by_tiles(begin, end);
    } else {
      multiply_block(begin, end);
    }
    epilogue.finish_team();
  }

  void multiply_block(std::int64_t begin, std::int64_t end) const {
    std::int64_t const reals = X.columns * parts;
    std::int64_t const rows = reals > most * widest ? tuning::host_rows_of_passes : end - begin;
    for (std::int64_t first = begin; first < end; first += rows)
      multiply_rows(first, std::min(first + rows, end), reals);
  }

  static constexpr bool may_write_by_tiles =
      HostWriters<Epilogue>::writes_blocks && !Schedule::splits_rows;

  /// Where cache lines of all columns of Y begin at the same rows, and would not stay in cache or
  /// would map to one set of it.
  bool writes_by_tiles() const {
    if constexpr (may_write_by_tiles) {
      auto const& Y = epilogue.Y;
      auto const bytes = [](std::int64_t count) {
        return count * static_cast<std::int64_t>(sizeof(Scalar));
      };
      std::int64_t const step = bytes(Y.column_stride);
      return epilogue.overwrite && Y.row_stride == 1 && Y.columns >= tuning::host_tile_columns &&
             bytes(Y.columns) * tuning::host_tile_rows <= tuning::host_tile_bytes &&
             step % static_cast<std::int64_t>(cache_line) == 0 &&
             (epilogue.stream || step % tuning::host_set_bytes == 0);
    }
    return false;
  }

  /// Some rows of Y at a time, made in a row-major tile and copied column by column: elements of a
  /// column are neighbours, those of a row have a line, and mostly a page, of their own.
  BLOCKSPAN_NOINLINE void multiply_by_tiles([[maybe_unused]] std::int64_t begin,
                                            [[maybe_unused]] std::int64_t end) const {
    if constexpr (may_write_by_tiles) {
      alignas(cache_line) Scalar tile[tuning::host_tile_bytes / sizeof(Scalar)];
      HostRows into_tile = *this;
      auto& Y = into_tile.epilogue.Y;
      into_tile.epilogue.stream = false;
      // rows of its first line that Y has not
      auto const before = static_cast<std::int64_t>(
          reinterpret_cast<std::uintptr_t>(epilogue.Y.data) % cache_line / sizeof(Scalar));
      for (std::int64_t first = begin; first < end;) {
        std::int64_t const in_tile = (first + before) % tuning::host_tile_rows;
        std::int64_t const last = std::min(first + tuning::host_tile_rows - in_tile, end);
        Y = {tile - first * Y.columns, Y.rows, Y.columns, Y.columns, 1};
        into_tile.multiply_block(first, last);
        for (std::int64_t j = 0; j < Y.columns; ++j) write_column(Y, first, last, j);
        first = last;
      }
    }
  }

  void write_column(BlockRef<Scalar> const& tile, std::int64_t first, std::int64_t last,
                    std::int64_t j) const {
    constexpr int together = cache_line / sizeof(Scalar);
    Scalar* const to = epilogue.Y.data + j * epilogue.Y.column_stride;
    std::int64_t i = first;
    if constexpr (can_stream_v<sizeof(Scalar) * together>)
      if (epilogue.stream && is_line_aligned(to + i))
        for (; i + together <= last; i += together) {
          Sum<Scalar, together> line;
          for (int r = 0; r < together; ++r) line.value[r] = tile(i + r, j);
          stream_store(to + i, line);
        }
    for (; i < last; ++i) to[i] = tile(i, j);
  }

  /// In passes over the columns: the widest first, then the rest.
  BLOCKSPAN_HOST_INLINE void multiply_rows(std::int64_t begin, std::int64_t end,
                                           std::int64_t reals) const {
    constexpr int whole = most * widest;
    auto const passes = static_cast<int>(reals / whole);
    auto const rest = static_cast<int>(reals % whole);
    if (passes > 0) multiply_pass<RowPack<widest, most, 0>>(begin, end, 0, whole, passes);
    if (rest > 0)
      with_row_pack<Real, most>(rest, [&]<class Pack>(Pack) {
        multiply_pass<Pack>(begin, end, (reals - rest) / parts, rest, 1);
      });
  }

  BLOCKSPAN_NOINLINE void multiply_one_column(std::int64_t begin, std::int64_t end) const {
    if constexpr (!is_complex_v<Scalar>) {
      Schedule const segments = schedule;
      Entries const own = entries;
      typename HostWriters<Epilogue>::OfColumn const writer(epilogue);
      auto const rows = [&](auto stride) {
        for (std::int64_t p = begin; p < end; ++p) {
          Segment const segment = segments.at(p);
          Scalar const sum = multiply_column(own, segment, X.data, stride);
          if constexpr (Schedule::splits_rows) {
            if (!segment.complete()) {
              keep(segment, 0, Sum<Scalar, 1>{{sum}});
              continue;
            }
          }
          writer.write(segment.row(), sum);
        }
      };
      if (X.row_stride == 1) return rows(std::integral_constant<std::int64_t, 1>{});
      rows(X.row_stride);
    }
  }

  template <class Pack>
  BLOCKSPAN_NOINLINE void multiply_pass(std::int64_t begin, std::int64_t end, std::int64_t column,
                                        int reals, [[maybe_unused]] int passes) const {
    constexpr int chains =
        std::clamp(tuning::host_chain_bytes / (Pack::reals * int(sizeof(Real)) * parts), 1,
                   tuning::host_chains);
    Schedule const segments = schedule;
    Entries const own = entries;
    Reader<Pack> const reader{own,    X.data + column, X.row_stride,
                              column, prefetch_end,    Masks<Pack>::of(reals, Pack::Count)};
    Writer<Pack> const writer(epilogue, column, reals / parts, conjugate_values, reader.masks);
    for (std::int64_t p = begin; p < end; ++p) {
      Segment const segment = segments.at(p);
      if constexpr (is_widest<Pack>) {
        for (int pass = 0; pass < passes; ++pass)
          multiply_segment<Pack, 1>(reader, writer, segment, pass * Pack::reals / parts);
        continue;
      }
      if constexpr (chains > 1) {
        // short rows do not amortize adding up several chains
        if (segment.last - segment.first >= tuning::host_chained_row) {
          multiply_segment<Pack, chains>(reader, writer, segment, 0);
          continue;
        }
      }
      multiply_segment<Pack, 1>(reader, writer, segment, 0);
    }
  }

  /// Rows of X.
  template <class Pack>
  struct Reader {
    Entries entries;
    Scalar const* x;  ///< row 0, first column
    std::int64_t stride, column;
    int prefetch_end;
    Masks<Pack> masks;

    BLOCKSPAN_HOST_INLINE Real const* row(Scalar const* from, int k) const {
      return reinterpret_cast<Real const*>(from +
                                           static_cast<std::int64_t>(entries.column(k)) * stride);
    }
    BLOCKSPAN_HOST_INLINE void add_entry(Scalar const* from, int k, Registers<Pack>* sums) const {
      constexpr std::size_t bytes = Pack::reals * sizeof(Real);
      Scalar const a = entries.value(k);
      if constexpr (bytes >= tuning::host_asking_bytes)
        if (k < prefetch_end) {
          auto const* const later =
              reinterpret_cast<char const*>(row(from, k + tuning::host_rows_ahead));
          for (std::size_t byte = 0; byte < bytes; byte += tuning::host_line_bytes)
            __builtin_prefetch(later + byte);
        }
      entries.prefetch(k);
      Registers<Pack> b;
      b.load(row(from, k), masks);
      if constexpr (is_complex_v<Scalar>) {
        sums[0].add_product(a.real(), b);
        sums[1].add_product(a.imag(), b);
      } else {
        sums[0].add_product(a, b);
      }
    }
  };

  template <class Pack, int Chains>
  BLOCKSPAN_HOST_INLINE void multiply_segment(Reader<Pack> const& reader,
                                              Writer<Pack> const& writer, Segment const& segment,
                                              int column) const {
    Registers<Pack> sums[Chains][parts];
    Scalar const* x = reader.x + column;
    // GCC 12 would add the offset of the first column to that of every row
    asm("" : "+r"(x));
    int k = segment.first;
    if constexpr (Chains > 1)
      for (; segment.last - k >= Chains; k += Chains)
        for (int u = 0; u < Chains; ++u) reader.add_entry(x, k + u, sums[u]);
    for (; k < segment.last; ++k) reader.add_entry(x, k, sums[0]);
    for (int u = 1; u < Chains; ++u)
      for (int part = 0; part < parts; ++part) sums[0][part].add(sums[u][part]);
    if constexpr (Schedule::splits_rows) {
      if (!segment.complete()) {
        Scalar values[Pack::reals / parts];
        collect_sums<Scalar, Pack>(sums[0], writer.conjugate, values);
        return keep_all(segment, reader.column + column, values, writer.columns);
      }
    }
    writer.write(segment.row(), column, sums[0]);
  }

  BLOCKSPAN_NOINLINE void keep_all(Segment const& segment, std::int64_t column,
                                   Scalar const* values, int columns) const {
    constexpr int together = 8;
    int j = 0;
    for (; columns - j >= together; j += together) {
      Sum<Scalar, together> sum;
      std::copy_n(values + j, together, sum.value);
      keep(segment, column + j, sum);
    }
    for (; j < columns; ++j) keep(segment, column + j, Sum<Scalar, 1>{{values[j]}});
  }
  template <int Width>
  void keep(Segment const& segment, std::int64_t column, Sum<Scalar, Width> const& sum) const {
    if constexpr (Schedule::splits_rows)
      schedule.keep(segment, column, sum,
                    [&](std::int64_t, std::int64_t row, std::int64_t first, auto const& all) {
                      epilogue(row, first, all);
                    });
  }
};

}  // namespace BLOCKSPAN_REGISTERS

/// Rows of X contiguous, or one column.
template <class Call, class Schedule, class Entries, class Epilogue>
void launch_host_rows(Call const& call, Schedule schedule, Entries const& entries,
                      Epilogue const& epilogue, char const* label) {
  using Kernel = HostRows<typename Call::Exec, typename Call::Scalar, Schedule, Entries, Epilogue>;
  auto const shape = launch_shape(call, 1, schedule.share);  // and the share of a team
  Kernel{schedule, entries, call.product.X, conjugates(call.product.op), host_prefetch_end(call),
         epilogue}
      .launch(call.exec, label, shape.teams);
}

template <class Call>
WholeRows<> whole_rows_of(Call const& call) {
  return {{call.prepared.segments(call.variant()), 1}, call.prepared.pattern.row_offsets};
}

/// A product fused with a step, by whole rows (devices: StepLaunch).
template <class Call>
void launch_host_step(Call const& call, ProductStep<typename Call::Scalar> const& step) {
  using Scalar = typename Call::Scalar;
  PlainEntries<Scalar, typename Call::Ordinal> const entries{call.prepared.pattern.column_indices,
                                                             call.values};
  std::string const label = std::string(call.variant().label) + "::step";
  TakeStep<Scalar> const epilogue{step, call.product.Y};
  if constexpr (has_slices_v<typename Call::Exec, Scalar>)
    if (slices_for_column(call)) return launch_host_slices(call, epilogue, label.c_str());
  launch_host_rows(call, whole_rows_of(call), entries, epilogue, label.c_str());
}

/// Hosts: whole rows or listed segments.
template <class Call, class Entries>
requires runs_on_host_v<typename Call::Exec>
void launch_rows(Call const& call, Entries const& entries) {
  using Scalar = typename Call::Scalar;
  auto const& X = call.product.X;
  if (X.columns == 1 || (call.launch.vectorized && X.column_stride == 1)) {
    auto const epilogue = make_epilogue<false>(call);
    char const* const label = call.variant().label;
    if constexpr (has_slices_v<typename Call::Exec, Scalar>)
      if (slices_for_column(call)) return launch_host_slices(call, epilogue, label);
    if (!call.variant().lists_segments())
      return launch_host_rows(call, whole_rows_of(call), entries, epilogue, label);
    SegmentsOfTeam const share{call.prepared.segments(call.variant()), 1};
    return launch_host_rows(call, cut_rows_of(call, share), entries, epilogue, label);
  }
  if (!call.launch.vectorized)
    return launch_segments<DirectRegisters<Scalar, Entries, 1, false>>(call, entries);
  launch_segments<DirectRegisters<Scalar, Entries, tuning::host_strided_columns, false>>(call,
                                                                                         entries);
}

}  // namespace blockspan::products
