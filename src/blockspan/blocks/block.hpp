#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {

/// A block of vectors: n rows, one vector a column. Row-major inside the solvers, so that the rows
/// that a sparse product gathers are contiguous. A range of columns is a block too:
/// Kokkos::subview(X, Kokkos::ALL, std::pair(first, last)).
template <class Scalar, class Exec>
using Block =
    Kokkos::View<Scalar**, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>>;
template <class Scalar, class Exec>
using ConstBlock = Kokkos::View<Scalar const**, Kokkos::LayoutRight,
                                Kokkos::Device<Exec, typename Exec::memory_space>>;

namespace blocks {

/// Which stride of a BlockRef is 1 at compile time, so that compilers can vectorize.
enum class UnitStride { none, rows, columns };

/// A strided dense matrix: the form in which kernels access a rank-2 view of any layout, so that
/// the library is compiled once per scalar and backend, not once per view type.
template <class Scalar, UnitStride unit = UnitStride::none>
struct BlockRef {
  Scalar* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row_stride;     ///< elements from (i, j) to (i + 1, j)
  std::int64_t column_stride;  ///< elements from (i, j) to (i, j + 1)

  KOKKOS_FORCEINLINE_FUNCTION Scalar& operator()(std::int64_t i, std::int64_t j) const {
    if constexpr (unit == UnitStride::columns)
      return data[i * row_stride + j];
    else if constexpr (unit == UnitStride::rows)
      return data[i + j * column_stride];
    else
      return data[i * row_stride + j * column_stride];
  }
  template <class Target>
  requires(!std::is_const_v<Scalar> && std::is_same_v<Target, Scalar const>) KOKKOS_FUNCTION
  operator BlockRef<Target, unit>() const {
    return {data, rows, columns, row_stride, column_stride};
  }
};

/// A block whose rows are contiguous.
template <class Scalar>
using RowMajorRef = BlockRef<Scalar, UnitStride::columns>;

/// The same block, where the caller guarantees that the stride is 1.
template <UnitStride unit, class Scalar>
BlockRef<Scalar, unit> with_unit_stride(BlockRef<Scalar> const& X) {
  return {X.data, X.rows, X.columns, X.row_stride, X.column_stride};
}

/// A BlockRef of a rank-2 view that `Exec` can access.
template <class Exec, class View>
BlockRef<typename View::value_type> block_ref(View const& X) {
  static_assert(View::rank() == 2, "a block of vectors is a rank-2 Kokkos::View");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "the block must live where the execution space can access it");
  return {X.data(), static_cast<std::int64_t>(X.extent(0)), static_cast<std::int64_t>(X.extent(1)),
          static_cast<std::int64_t>(X.stride(0)), static_cast<std::int64_t>(X.stride(1))};
}

template <class Exec, class View>
RowMajorRef<typename View::value_type> row_major_ref(View const& X) {
  static_assert(std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>);
  return with_unit_stride<UnitStride::columns>(block_ref<Exec>(X));
}

/// Columns [first, first + count).
template <class Scalar>
BlockRef<Scalar> column_range(BlockRef<Scalar> const& X, std::int64_t first, std::int64_t count) {
  return {X.data + first * X.column_stride, X.rows, count, X.row_stride, X.column_stride};
}
template <class Scalar>
BlockRef<Scalar> row_range(BlockRef<Scalar> const& X, std::int64_t first, std::int64_t count) {
  return {X.data + first * X.row_stride, count, X.columns, X.row_stride, X.column_stride};
}
template <class View>
requires Kokkos::is_view_v<View> View column_range(View const& X, int first, int count) {
  return Kokkos::subview(X, Kokkos::ALL, std::pair<int, int>(first, first + count));
}

}  // namespace blocks
}  // namespace blockspan
