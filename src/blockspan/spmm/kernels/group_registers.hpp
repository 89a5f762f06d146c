#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/kernels/rows_host.hpp>

namespace blockspan::detail {
inline namespace BLOCKSPAN_REGISTERS {

/// Direct loads of a group of rows with the same columns, for hosts: what is read of X serves all
/// rows of the group, whose sums are kept beside each other. As DirectRegisters otherwise, without
/// chains: the rows are as many sums that do not wait for each other. So every sum runs in the
/// order of its row's entries, whatever the group.
template <class Scalar, class Entries, class Offset, int MaxWidth, bool Unit>
struct GroupRegisters : DirectRegisters<Scalar, Entries, Offset, MaxWidth, Unit> {
  using Base = DirectRegisters<Scalar, Entries, Offset, MaxWidth, Unit>;
  template <int Width>
  using Set = typename Base::template Set<Width>;

  /// consume(column, sum, i) for each pack ...
  template <class Team, class Piece, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const&, NoStage, Piece const& piece,
                                                Consume const& consume) const {
    this->for_each_pack([&](std::int64_t column, auto width) {
      KOKKOS_IF_ON_HOST((multiply_pack<decltype(width)::value>(piece, column, consume);))
      KOKKOS_IF_ON_DEVICE(((void)piece; (void)column; (void)width; (void)consume;))
    });
  }

  /// ... and for the pack of columns from `column` on and the i-th row of the
  /// group.
  template <int Width, class Piece, class Consume>
  BLOCKSPAN_HOST_INLINE void multiply_pack(Piece const& piece, std::int64_t column,
                                           Consume const& consume) const {
    static_assert(tuning::group_rows == 4, "the cases below");
    switch (piece.rows()) {
      case 1:
        return multiply<1, Width>(piece, column, consume);
      case 2:
        return multiply<2, Width>(piece, column, consume);
      case 3:
        return multiply<3, Width>(piece, column, consume);
      default:
        return multiply<4, Width>(piece, column, consume);
    }
  }

 private:
  /// Of all rows: nested, because GCC 12 keeps an array of them in memory.
  template <int Rows, int Width>
  struct Sums {
    Set<Width> own[Base::parts];
    Sums<Rows - 1, Width> others;
  };
  template <int Width>
  struct Sums<0, Width> {};

  template <int Rows, int Width, class Piece, class Consume>
  BLOCKSPAN_HOST_INLINE void multiply(Piece const& piece, std::int64_t first,
                                      Consume const& consume) const {
    Sums<Rows, Width> sums;
    Scalar const* const x = this->X.data + first * this->X.column_stride;
    auto const& own = entries_of(this->entries, piece);
    Offset row_at[Rows];
    for (int i = 0; i < Rows; ++i) row_at[i] = piece.row_at(i);
    Offset left = piece.last - piece.first;
    if (left > Offset(0))
      for (auto place = place_at(own, Offset(piece.first));; advance(own, place)) {
        add_entry<0>(own, place, row_at, this->template fetch<Width>(x, own.column(place)), sums);
        if (--left == Offset(0)) break;
      }
    give<0>(first, sums, consume);
  }

  template <int Row, class Own, class Place, int Rows, int Width>
  BLOCKSPAN_HOST_INLINE void add_entry(Own const& own, Place const& place, Offset const* row_at,
                                       Set<Width> const& b, Sums<Rows, Width>& sums) const {
    if constexpr (Rows > 0) {
      own.prefetch(place, row_at[Row]);
      Base::template add_product<Width>(own.value(place, row_at[Row]), b, sums.own);
      add_entry<Row + 1>(own, place, row_at, b, sums.others);
    }
  }

  template <int Row, int Rows, int Width, class Consume>
  BLOCKSPAN_HOST_INLINE void give(std::int64_t column, Sums<Rows, Width> const& sums,
                                  Consume const& consume) const {
    if constexpr (Rows > 0) {
      consume(column, this->template collect<Width>(sums.own), Row);
      give<Row + 1>(column, sums.others, consume);
    }
  }
};

}  // namespace BLOCKSPAN_REGISTERS
}  // namespace blockspan::detail
