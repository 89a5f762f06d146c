#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/rows/rows.hpp>
#include <blockspan/spmm/kernels/rows/segments_choice.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/launch/scale.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/fast_division.hpp>

namespace blockspan::products {

/// Y = epilogue(op(A) X) where most rows have no entry and the others a few: a warp owns 32
/// neighbouring rows, each lane looks at one of them; together they scale those without entries,
/// then multiply the others, a few at a time, with just enough lanes for the vectors of a row of X.
/// A warp writes a contiguous range of Y at once: with a kernel of its own for the empty rows, the
/// lines of Y go to memory twice.
///
/// Traffic: the row offsets, the entries and Y once, a row of X for each entry.
template <class Exec, class Scalar, class Entries, class Epilogue>
struct SparseRowsKernel {
  static constexpr int lanes = 1 << tuning::device_lane_bits, width = device_vector_v<Scalar>;
  using Policy = Kokkos::TeamPolicy<
      Exec, Kokkos::LaunchBounds<tuning::device_threads, tuning::device_sparse_blocks>>;
  using Team = typename Policy::member_type;

  int const* row_offsets;  ///< rows + 1
  Entries entries;
  BlockRef<Scalar const> X;
  bool conjugate_values;
  std::uint32_t row_bytes;  ///< from a row of X to the next
  int vectors;              ///< of a row
  FastDivision by_vectors;
  LaneGrid grid;  ///< of a row; the other lanes of the warp multiply other rows
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const thread =
        std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
    std::int64_t const first = thread * lanes, left = epilogue.Y.rows - first;
    if (left > 0) multiply(first, left < lanes ? static_cast<int>(left) : lanes);
  }

  void launch(Exec const& exec, char const* label) const {
    constexpr int team_size = static_cast<int>(tuning::device_threads) / lanes;
    auto const teams = ceil_div(epilogue.Y.rows, std::int64_t{team_size} * lanes);
    Kokkos::parallel_for(label, Policy(exec, static_cast<int>(teams), team_size, lanes), *this);
  }

 private:
  /// The rows first .. first + rows - 1; all lanes call it.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(std::int64_t first, int rows) const {
    int const lane = place_in_team() & (lanes - 1);
    bool const is_row = lane < rows;
    int const begin = is_row ? load(row_offsets + first + lane) : 0;
    int const end = is_row ? load(row_offsets + first + lane + 1) : 0;
    unsigned const filled = lanes_with(begin < end);
    EmptyRow<Scalar> const empty(epilogue.alpha, epilogue.beta);
    if (!empty.keeps())
      for (int i = lane; i < rows * vectors; i += lanes) {
        int const row = by_vectors(i);
        if ((filled >> row & 1) == 0)
          scale_vector<width>(epilogue.Y, first + row, std::int64_t{i - row * vectors} * width,
                              empty);
      }
    int const count = Kokkos::Experimental::popcount_builtin(filled), each = lanes / grid.columns();
    for (int done = 0; done < count; done += each) {
      int const which = done + (lane >> grid.column_bits);
      int const row = which < count ? nth_bit(filled, which) : 0;
      int const k = broadcast(begin, row, lanes), last = broadcast(end, row, lanes);
      if (which < count) multiply_row(first + row, k, last, grid.column_of(lane));
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply_row(std::int64_t row, int begin, int end,
                                                int lane) const {
    using P = Vector<Scalar, width>;
    for (int vector = lane; vector < vectors; vector += grid.columns()) {
      auto const* const x = reinterpret_cast<char const*>(X.data + vector * width);
      Sum<Scalar, width> sum{};
      for (int k = begin; k < end; ++k) {
        auto const column = static_cast<std::uint32_t>(entries.column(k));
        Scalar const a = conjugate_if(conjugate_values, entries.value(k));
        P const b = load(reinterpret_cast<P const*>(x + std::uint64_t{column} * row_bytes));
        for (int j = 0; j < width; ++j) sum.value[j] += a * b.value[j];
      }
      epilogue(row, std::int64_t{vector} * width, sum);
    }
  }
};

template <class Call>
void launch_sparse_rows(Call const& call) {
  using Scalar = typename Call::Scalar;
  auto const& X = call.product.X;
  auto const epilogue = make_epilogue<true>(call);
  auto const vectors = static_cast<int>(X.columns / device_vector_v<Scalar>);
  with_entries<false, false>(call, [&](auto const& entries) {
    SparseRowsKernel<typename Call::Exec, Scalar, std::remove_cvref_t<decltype(entries)>,
                     std::remove_const_t<decltype(epilogue)>>{
        call.prepared.pattern.row_offsets,
        entries,
        X,
        conjugates(call.product.op),
        device_row_bytes(X),
        vectors,
        FastDivision(vectors),
        {bits_to_hold(vectors, tuning::device_lane_bits), 0},
        epilogue}
        .launch(call.exec, call.variant().label);
  });
}

template <class Call>
void launch_nonempty_rows(Call const& call) {
  if constexpr (lanes_exchange_v<typename Call::Exec>)
    if (call.launch.form == LaunchForm::all_rows) return launch_sparse_rows(call);
  launch_by_rows(call);
}

}  // namespace blockspan::products
