#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>

#include <blockspan/spmm/detail/partition/pattern.hpp>

namespace blockspan::detail {

/// Sorts (class, place) keys, which are all different: one order, on any number of threads.
template <class Exec, class Offset, class Ordinal>
struct SortPieces {
  using List = PieceList<Exec, Offset, Ordinal>;
  using Keys = Kokkos::View<std::uint64_t*, typename Exec::memory_space>;
  static constexpr int place_bits = 56;
  struct MakeKeys {};
  struct Gather {};

  List from, to;
  Keys keys;

  /// 0 for the longest.
  static KOKKOS_FUNCTION std::uint64_t length_class(std::uint64_t length) {
    std::uint64_t bits = 0;
    while (length >> bits != 0) ++bits;
    return 64 - bits;
  }
  KOKKOS_FUNCTION void operator()(MakeKeys, std::int64_t p) const {
    auto const length = static_cast<std::uint64_t>(from.last(p) - from.first(p));
    keys(p) = length_class(length) << place_bits | static_cast<std::uint64_t>(p);
  }
  KOKKOS_FUNCTION void operator()(Gather, std::int64_t p) const {
    auto const place = static_cast<std::int64_t>(keys(p) & ((std::uint64_t{1} << place_bits) - 1));
    to.target(p) = from.target(place);
    to.first(p) = from.first(place);
    to.last(p) = from.last(place);
  }

  template <class Step>
  void launch(Exec const& exec, char const* label) const {
    using Policy = Kokkos::RangePolicy<Exec, Step, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(label, Policy(exec, 0, from.pieces), *this);
  }
};

template <class Exec, class Offset, class Ordinal>
PieceList<Exec, Offset, Ordinal> sort_pieces(Exec const& exec,
                                             PieceList<Exec, Offset, Ordinal> const& list) {
  if (list.pieces == 0) return list;
  auto sorted = list;
  auto const size = static_cast<std::size_t>(list.pieces);
  auto const uninitialized = [&](char const* label) {
    return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(label));
  };
  sorted.target = decltype(sorted.target)(uninitialized("Blockspan::spmm_plan::target"), size);
  sorted.first = decltype(sorted.first)(uninitialized("Blockspan::spmm_plan::first"), size);
  sorted.last = decltype(sorted.last)(uninitialized("Blockspan::spmm_plan::last"), size);
  using Sort = SortPieces<Exec, Offset, Ordinal>;
  typename Sort::Keys const keys(uninitialized("Blockspan::spmm_plan::keys"), size);
  Sort const steps{list, sorted, keys};
  steps.template launch<typename Sort::MakeKeys>(exec, "Blockspan::spmm_plan::piece_keys");
  Kokkos::sort(exec, keys);
  steps.template launch<typename Sort::Gather>(exec, "Blockspan::spmm_plan::sort_pieces");
  exec.fence("Blockspan::spmm_plan::sort_pieces");
  return sorted;
}

}  // namespace blockspan::detail
