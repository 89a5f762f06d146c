#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {

/// A block of vectors: n rows, one vector a column. Row-major inside the solvers, because then the
/// rows that a sparse product gathers are contiguous. A range of columns is a block again:
/// Kokkos::subview(X, Kokkos::ALL, std::pair(first, last)).
template <class Scalar, class Exec>
using Block =
    Kokkos::View<Scalar**, Kokkos::LayoutRight, Kokkos::Device<Exec, typename Exec::memory_space>>;
template <class Scalar, class Exec>
using ConstBlock = Kokkos::View<Scalar const**, Kokkos::LayoutRight,
                                Kokkos::Device<Exec, typename Exec::memory_space>>;

namespace detail {

/// What a compiled kernel sees of a rank-2 view of any layout: so the library is compiled once per
/// scalar and backend, not once per view type.
template <class Scalar>
struct BlockRef {
  Scalar* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row_stride;     ///< elements from (i, j) to (i + 1, j)
  std::int64_t column_stride;  ///< elements from (i, j) to (i, j + 1)

  KOKKOS_FORCEINLINE_FUNCTION Scalar& operator()(std::int64_t i, std::int64_t j) const {
    return data[i * row_stride + j * column_stride];
  }
  template <class Target>
  requires(!std::is_const_v<Scalar> && std::is_same_v<Target, Scalar const>) KOKKOS_FUNCTION
  operator BlockRef<Target>() const {
    return {data, rows, columns, row_stride, column_stride};
  }
};

/// One whose rows are contiguous, which compilers must know to vectorize along them.
template <class Scalar>
struct RowMajorRef {
  Scalar* data;
  std::int64_t stride;  ///< elements from (i, j) to (i + 1, j)

  KOKKOS_FORCEINLINE_FUNCTION Scalar& operator()(std::int64_t i, std::int64_t j) const {
    return data[i * stride + j];
  }
  template <class Target>
  requires(!std::is_const_v<Scalar> && std::is_same_v<Target, Scalar const>) KOKKOS_FUNCTION
  operator RowMajorRef<Target>() const {
    return {data, stride};
  }
};

template <class Exec, class View>
RowMajorRef<typename View::value_type> row_major_ref(View const& X) {
  static_assert(std::is_same_v<typename View::array_layout, Kokkos::LayoutRight>);
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible);
  return {X.data(), static_cast<std::int64_t>(X.stride(0))};
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

}  // namespace detail
}  // namespace blockspan
