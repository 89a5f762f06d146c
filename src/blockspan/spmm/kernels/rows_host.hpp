#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/call.hpp>
#include <blockspan/spmm/detail/facts.hpp>
#include <blockspan/spmm/kernels/direct_registers.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/scale_add.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/register_set.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {
inline namespace BLOCKSPAN_REGISTERS {

/// Hosts: Y = alpha op(A) X + beta Y for blocks of one vector of columns, rows of X and Y
/// contiguous. A team, which is one thread, owns neighbouring rows (or segments of cut rows).
///
/// Loop overhead dominates short rows. So each vector of columns has one function, whose operands
/// are copies that no store to Y can change: all of them stay in registers from row to row.
/// Anything called out of line from here would put them in memory.
///
/// A row is summed in the order of its entries: in one chain of additions, or, if it has
/// `host_chained_row` entries or more, in `host_chains` that take them in turn.
///
/// Traffic: A once, X as often as its columns have entries (once in cache), Y once (twice where
/// beta is not zero).
template <class Exec, class Scalar, class Schedule, class Entries, class Epilogue>
struct HostRows {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;
  using Team = typename Policy::member_type;
  using Segment = typename Schedule::Segment;
  using Inner = DirectRegisters<Scalar, Entries, host_vector_v<Scalar>, true>;

  Schedule schedule;
  Inner inner;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto const& share = schedule.share;
    std::int64_t const begin = share.per_team * team.league_rank();
    std::int64_t const end = std::min(begin + share.per_team, share.segments);
    inner.for_each_vector([&](std::int64_t column, auto width) {
      multiply_vector<decltype(width)::value>(begin, end, column);
    });
    epilogue.finish_team();
  }

  void launch(Exec const& exec, char const* label, std::int64_t teams) const {
    if (teams > 0) Kokkos::parallel_for(label, Policy(exec, static_cast<int>(teams), 1, 1), *this);
  }

 private:
  template <int Width>
  static constexpr bool is_scalar = Width == 1 && !is_complex_v<Scalar>;

  /// A vector of columns of Y.
  template <int Width>
  struct Target {
    Scalar alpha, beta;
    bool overwrite, stream;
    Scalar* y;  ///< of row 0
    std::int64_t stride, column;

    BLOCKSPAN_HOST_INLINE void write(std::int64_t row, Sum<Scalar, Width> const& sum) const {
      using Set = typename Inner::template Set<Width>;
      Scalar* const to = y + row * stride;
      if constexpr (is_complex_v<Scalar> || is_scalar<Width>) {
        for (int j = 0; j < Width; ++j)
          to[j] = overwrite ? alpha * sum.value[j] : alpha * sum.value[j] + beta * to[j];
      } else {
        Set result;
        result.load(sum.value);
        result.scale(alpha);
        if (!overwrite) {
          Set old;
          old.load(to);
          result.add_product(beta, old);
        }
        if constexpr (can_stream_v<sizeof(Scalar) * Width>) {
          if (stream && is_line_aligned(to)) {
            Sum<Scalar, Width> scaled;
            result.store(scaled.value);
            return stream_store(to, scaled);
          }
        }
        result.store(to);
      }
    }
  };

  template <int Width>
  BLOCKSPAN_NOINLINE void multiply_vector(std::int64_t begin, std::int64_t end,
                                          std::int64_t column) const {
    Schedule const segments = schedule;
    Inner const own = inner;
    Scalar const* const x = own.X.data + column;
    Target<Width> const target{epilogue.alpha,
                               epilogue.beta,
                               epilogue.overwrite,
                               epilogue.overwrite && epilogue.stream,
                               epilogue.Y.data + column,
                               epilogue.Y.row_stride,
                               column};
    auto const rows = [&](auto stride) {
      for (std::int64_t p = begin; p < end; ++p)
        multiply_row<Width>(own, target, segments.at(p), x, stride);
    };
    if constexpr (is_scalar<Width>)
      if (own.X.row_stride == 1) return rows(std::integral_constant<std::int64_t, 1>{});
    rows(own.X.row_stride);
  }

  /// Stride: of rows of X, a constant where that is known; for single columns.
  template <int Width, class Stride>
  BLOCKSPAN_HOST_INLINE void multiply_row(Inner const& own, Target<Width> const& target,
                                          Segment const& segment, Scalar const* x,
                                          [[maybe_unused]] Stride stride) const {
    constexpr int chains = Inner::template chains<Width>;
    if constexpr (is_scalar<Width>) {
      write<Width>(target, segment, {{multiply_column(own.entries, segment, x, stride)}});
    } else {
      if constexpr (chains > 1)
        if (segment.last - segment.first >= tuning::host_chained_row)
          return write<Width>(target, segment, own.template multiply<chains, Width>(segment, x));
      write<Width>(target, segment, own.template multiply<1, Width>(segment, x));
    }
  }

  template <int Width>
  BLOCKSPAN_HOST_INLINE void write(Target<Width> const& target, Segment const& segment,
                                   Sum<Scalar, Width> const& sum) const {
    if constexpr (Schedule::splits_rows)
      if (!segment.complete()) return keep<Width>(segment, target.column, sum);
    target.write(segment.row(), sum);
  }

  template <int Width>
  BLOCKSPAN_NOINLINE void keep(Segment const& segment, std::int64_t column,
                               Sum<Scalar, Width> const& sum) const {
    schedule.keep(segment, column, sum,
                  [&](std::int64_t, std::int64_t row, std::int64_t first, auto const& all) {
                    epilogue(row, first, all);
                  });
  }
};

}  // namespace BLOCKSPAN_REGISTERS

/// Blocks of one vector of columns, rows of X and Y contiguous.
template <class Call, class Entries>
void launch_host_rows(Call const& call, Entries const& entries) {
  auto const epilogue = make_epilogue<false>(call);
  auto const run = [&](auto schedule) {
    auto const shape = launch_shape(call, 1, schedule.share);
    using Kernel = HostRows<typename Call::Exec, typename Call::Scalar, decltype(schedule), Entries,
                            std::remove_const_t<decltype(epilogue)>>;
    Kernel{schedule, Kernel::Inner::of(call, entries), epilogue}.launch(
        call.exec, call.variant().label, shape.teams);
  };
  SegmentsOfTeam const share{call.prepared.segments(call.variant()), 1};
  if (call.variant().lists_pieces())
    run(cut_rows_of(call, share));
  else
    run(WholeRows<>{share, call.prepared.pattern.row_offsets});
}

/// Hosts: whole rows or listed segments, by vectors of columns in registers.
template <class Call, class Entries>
requires runs_on_host_v<typename Call::Exec>
void launch_rows(Call const& call, Entries const& entries) {
  using Scalar = typename Call::Scalar;
  constexpr int width = host_vector_v<Scalar>, strided = tuning::host_strided_columns;
  auto const& X = call.product.X;
  bool const one_vector = call.launch.packs && X.columns <= width && X.column_stride == 1 &&
                          call.product.Y.column_stride == 1;
  if (X.columns == 1 || one_vector) return launch_host_rows(call, entries);
  if (!call.launch.packs)
    return launch_segments<DirectRegisters<Scalar, Entries, 1, false>>(call, entries);
  if (X.column_stride == 1)
    return launch_segments<DirectRegisters<Scalar, Entries, width, true>>(call, entries);
  launch_segments<DirectRegisters<Scalar, Entries, strided, false>>(call, entries);
}

}  // namespace blockspan::detail
