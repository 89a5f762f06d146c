#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/epilogue/stream_store.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/launch_schedule.hpp>
#include <blockspan/spmm/detail/packs.hpp>
#include <blockspan/spmm/kernels/direct_registers.hpp>
#include <blockspan/support/register_set.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {
inline namespace BLOCKSPAN_REGISTERS {

/// Rows, hosts: Y = alpha op(A) X + beta Y for blocks of one pack of columns, rows of X and Y
/// contiguous. A team, which is one thread, owns neighbouring rows (or pieces of cut rows).
///
/// What surrounds the few products of a short row takes as long as these. So each pack of columns
/// has one function, whose operands are copies that no store to Y can change: all of them stay in
/// registers from row to row. Anything called out of line from here would put them in memory.
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
  using Piece = typename Schedule::OwnPiece;
  using Inner = DirectRegisters<Scalar, Entries, host_pack_v<Scalar>, true>;

  Schedule schedule;
  Inner inner;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto const& share = schedule.share;
    std::int64_t const begin = share.per_team * team.league_rank();
    std::int64_t const end = std::min(begin + share.per_team, share.pieces);
    inner.for_each_pack([&](std::int64_t column, auto width) {
      multiply_pack<decltype(width)::value>(begin, end, column);
    });
    epilogue.finish_team();
  }

  void launch(Exec const& exec, char const* label, std::int64_t teams) const {
    if (teams > 0) Kokkos::parallel_for(label, Policy(exec, static_cast<int>(teams), 1, 1), *this);
  }

 private:
  template <int Width>
  static constexpr bool is_scalar = Width == 1 && !is_complex_v<Scalar>;

  /// A pack of columns of Y.
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
  BLOCKSPAN_NOINLINE void multiply_pack(std::int64_t begin, std::int64_t end,
                                        std::int64_t column) const {
    Schedule const pieces = schedule;
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
        multiply_row<Width>(own, target, pieces.at(p), x, stride);
    };
    if constexpr (is_scalar<Width>)
      if (own.X.row_stride == 1) return rows(std::integral_constant<std::int64_t, 1>{});
    rows(own.X.row_stride);
  }

  /// Stride: of rows of X, a constant where that is known; for single columns.
  template <int Width, class Stride>
  BLOCKSPAN_HOST_INLINE void multiply_row(Inner const& own, Target<Width> const& target,
                                          Piece const& piece, Scalar const* x,
                                          [[maybe_unused]] Stride stride) const {
    constexpr int chains = Inner::template chains<Width>;
    if constexpr (is_scalar<Width>) {
      write<Width>(target, piece, {{multiply_column(own.entries, piece, x, stride)}});
    } else {
      if constexpr (chains > 1)
        if (piece.last - piece.first >= tuning::host_chained_row)
          return write<Width>(target, piece, own.template multiply<chains, Width>(piece, x));
      write<Width>(target, piece, own.template multiply<1, Width>(piece, x));
    }
  }

  template <int Width>
  BLOCKSPAN_HOST_INLINE void write(Target<Width> const& target, Piece const& piece,
                                   Sum<Scalar, Width> const& sum) const {
    if constexpr (Schedule::splits_rows)
      if (!piece.complete()) return keep<Width>(piece, target.column, sum);
    target.write(piece.row(), sum);
  }

  template <int Width>
  BLOCKSPAN_NOINLINE void keep(Piece const& piece, std::int64_t column,
                               Sum<Scalar, Width> const& sum) const {
    schedule.keep(piece, column, sum,
                  [&](std::int64_t, std::int64_t row, std::int64_t first, auto const& all) {
                    epilogue(row, first, all);
                  });
  }
};

}  // namespace BLOCKSPAN_REGISTERS

/// Hosts: before which entry rows of X are asked for; before none where X stays in the caches.
template <class Exec, class Scalar, class Ordinal>
int rows_asked_until(SpmmCall<Exec, Scalar, Ordinal> const& call) {
  auto const& X = call.product.X;
  std::int64_t const entries = call.prepared.statistics.nonzeros;
  bool const is_large =
      X.rows * X.columns * std::int64_t{sizeof(Scalar)} >= tuning::host_asked_block;
  return static_cast<int>(is_large ? std::max(entries - tuning::host_rows_ahead, std::int64_t{0})
                                   : 0);
}

/// Hosts: blocks of one pack of columns, rows of X and Y contiguous.
template <class Exec, class Scalar, class Ordinal, class Entries>
void launch_host_rows(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call,
                      Entries const& entries) {
  auto const& [prepared, values, carry, launch, product] = call;
  auto const& variant = call.variant();
  auto const epilogue = make_epilogue<Exec, Scalar, false>(product);
  auto const run = [&](auto schedule) {
    LaunchShape const shape =
        launch_shape<Exec>(variant.worker, 1, prepared.statistics, schedule.share);
    HostRows<Exec, Scalar, decltype(schedule), Entries, std::remove_const_t<decltype(epilogue)>>{
        schedule, {entries, product.X, conjugates(product.op), rows_asked_until(call)}, epilogue}
        .launch(exec, variant.label, shape.teams);
  };
  PiecesOfTeam const share{prepared.pieces(variant), 1};
  auto const& list = prepared.list;
  if (variant.lists_pieces())
    run(CutRows<Scalar, Ordinal>{carry_of(list, product.Y.columns, carry), share,
                                 list.target.data(), list.first.data(), list.last.data()});
  else
    run(WholeRows<>{share, prepared.pattern.row_offsets});
}

/// Whole rows or listed pieces, by packs of columns in registers.
template <class Exec, class Scalar, class Ordinal, class Entries>
void launch_on_host(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call,
                    Entries const& entries) {
  auto const& X = call.product.X;
  bool const conjugate_values = conjugates(call.product.op);
  auto const run = [&]<class Inner>(Inner const& inner) {
    launch_schedule<Exec, Scalar, Ordinal, Inner, false>(exec, call, inner, 1);
  };
  auto const in_registers = [&]<int Widest, bool Unit>() {
    run(DirectRegisters<Scalar, Entries, Widest, Unit>{entries, X, conjugate_values,
                                                       rows_asked_until(call)});
  };
  auto const& Y = call.product.Y;
  bool const one_pack = call.launch.packs && X.columns <= host_pack_v<Scalar> &&
                        X.column_stride == 1 && Y.column_stride == 1;
  if (X.columns == 1 || one_pack) return launch_host_rows(exec, call, entries);
  if (!call.launch.packs) return in_registers.template operator()<1, false>();
  if (X.column_stride == 1) return in_registers.template operator()<host_pack_v<Scalar>, true>();
  in_registers.template operator()<tuning::host_strided_columns, false>();
}

}  // namespace blockspan::detail
