#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/detail/block_jacobi.hpp>

namespace blockspan::detail {

inline constexpr int largest_block = 8;

/// A hash of the columns of each row that does not depend on their order; 0: none.
template <class Scalar, class Offset, class Ordinal>
struct SignRows {
  MatrixRef<Scalar, Offset, Ordinal> A;
  std::uint64_t* signatures;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    std::uint64_t sum = 0;
    for (Offset k = A.pattern.row_offsets[row]; k < A.pattern.row_offsets[row + 1]; ++k)
      sum += mixed(static_cast<std::uint64_t>(A.pattern.column_indices[k]) + 1);
    signatures[row] = sum;
  }

  /// The finalizer of SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
};

/// For each b, the groups of b rows whose signatures are all equal.
struct GroupCounts {
  std::int64_t of[largest_block + 1];
};

struct CountGroups {
  using value_type = GroupCounts;
  std::uint64_t const* signatures;

  /// Counts the groups that end with this row.
  KOKKOS_FUNCTION void operator()(std::int64_t row, GroupCounts& counts) const {
    std::uint64_t const signature = signatures[row];
    if (signature == 0) return;
    for (int b = 2; b <= largest_block && b <= row + 1; ++b) {
      if (signatures[row - b + 1] != signature) return;
      if ((row + 1) % b == 0) ++counts.of[b];
    }
  }
  KOKKOS_FUNCTION void init(GroupCounts& counts) const { counts = GroupCounts{}; }
  KOKKOS_FUNCTION void join(GroupCounts& a, GroupCounts const& b) const {
    for (int i = 0; i <= largest_block; ++i) a.of[i] += b.of[i];
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
int find_block_size(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  std::int64_t const n = A.pattern.rows;
  if (n < 2) return 1;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> const signatures(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Blockspan::find_block_size"), n);
  Kokkos::parallel_for("Blockspan::find_block_size", Policy(exec, 0, n),
                       SignRows<Scalar, Offset, Ordinal>{A, signatures.data()});
  GroupCounts counts{};
  Kokkos::parallel_reduce("Blockspan::find_block_size", Policy(exec, 0, n),
                          CountGroups{signatures.data()}, counts);
  for (int b = largest_block; b > 1; --b)
    if (n >= b && 4 * counts.of[b] >= 3 * (n / b)) return b;
  return 1;
}

}  // namespace blockspan::detail
