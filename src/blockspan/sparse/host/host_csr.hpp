#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

struct MatrixMarketReadOptions;
struct MatrixMarketWriteOptions;

namespace sparse {

template <class T>
using HostArray = Kokkos::View<T*, Kokkos::HostSpace>;

/// A compressed-row matrix on the host: the form in which files are assembled and written.
template <class Scalar, class Offset, class Ordinal>
struct HostCsr {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  HostArray<Offset> offsets;   ///< rows + 1
  HostArray<Ordinal> indices;  ///< entries
  HostArray<Scalar> values;    ///< entries
};

template <class T>
HostArray<T> zeros_on_host(char const* label, std::int64_t size) {
  Kokkos::DefaultHostExecutionSpace const host;
  auto const zeros = allocate_zeros<HostArray<T>>(host, label, size);
  host.fence("Blockspan::zeros_on_host");
  return zeros;
}

/// Arrays for `entries` entries, filled with zeros.
template <class Scalar, class Offset, class Ordinal>
HostCsr<Scalar, Offset, Ordinal> zero_csr(std::int64_t rows, std::int64_t columns,
                                          std::size_t entries) {
  auto const size = static_cast<std::int64_t>(entries);
  return {rows, columns, zeros_on_host<Offset>("Blockspan::offsets", rows + 1),
          zeros_on_host<Ordinal>("Blockspan::indices", size),
          zeros_on_host<Scalar>("Blockspan::values", size)};
}

template <class Offset, class Ordinal>
inline constexpr bool has_file_types =
    (std::is_same_v<Ordinal, int> &&
     (std::is_same_v<Offset, int> || std::is_same_v<Offset, std::size_t>)) ||
    (std::is_same_v<Ordinal, std::int64_t> && std::is_same_v<Offset, std::size_t>);

/// Throws unless a matrix on the host can be traversed: offsets that ascend from 0 to `entries`,
/// and column indices in range.
template <class Offset, class Ordinal>
void require_walkable(char const* where, std::int64_t columns,
                      HostArray<Offset const> const& offsets,
                      HostArray<Ordinal const> const& indices) {
  auto const entries = static_cast<std::int64_t>(indices.extent(0));
  std::int64_t last = 0;
  for (std::size_t row = 0; row < offsets.extent(0); ++row) {
    auto const offset = static_cast<std::int64_t>(offsets(row));
    require(offset >= last && offset <= entries && (row > 0 || offset == 0), where,
            "the offset of row ", row, " is ", offsets(row), ", not from ", last, " to ", entries);
    last = offset;
  }
  require(last == entries, where, "the last row offset is ", last, ", the number of entries ",
          entries);
  for (std::int64_t p = 0; p < entries; ++p)
    require(indices(p) >= 0 && static_cast<std::int64_t>(indices(p)) < columns, where,
            "column index ", indices(p), " at position ", p, " is outside [0, ", columns, ")");
}

// Both are instantiated in the library for the types of has_file_types and the four scalars.
template <class Scalar, class Offset, class Ordinal>
HostCsr<Scalar, Offset, Ordinal> read_csr(std::string const& path,
                                          MatrixMarketReadOptions const& options);
template <class Scalar, class Offset, class Ordinal>
void write_csr(std::string const& path, HostCsr<Scalar const, Offset const, Ordinal const> const& A,
               MatrixMarketWriteOptions const& options);

/// The array itself where `exec` uses host memory, a copy otherwise.
template <class Exec, class T>
auto array_to_device(Exec const& exec, HostArray<T> const& host) {
  using Space = typename Exec::memory_space;
  using Result = Kokkos::View<T*, Kokkos::Device<Exec, Space>>;
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>) {
    return Result(host);
  } else {
    auto const device = allocate<Result>(exec, host.label(), host.extent(0));
    Kokkos::deep_copy(exec, device, host);
    return device;
  }
}

template <class Exec, class Scalar, class Offset, class Ordinal>
CrsMatrix<Scalar, Exec, Offset, Ordinal> to_device(Exec const& exec,
                                                   HostCsr<Scalar, Offset, Ordinal> const& A) {
  auto const offsets = array_to_device(exec, A.offsets);
  auto const indices = array_to_device(exec, A.indices);
  auto const values = array_to_device(exec, A.values);
  exec.fence("Blockspan::matrix_to_device");  // the host arrays are freed when this call returns
  return CrsMatrix<Scalar, Exec, Offset, Ordinal>(
      "Blockspan::matrix", static_cast<Ordinal>(A.rows), static_cast<Ordinal>(A.columns),
      static_cast<Offset>(values.extent(0)), values, offsets, indices);
}

template <class Matrix>
auto to_host(Matrix const& A) {
  using Offset = typename Matrix::non_const_size_type;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  using Scalar = typename Matrix::non_const_value_type;
  Kokkos::HostSpace const host;
  return HostCsr<Scalar const, Offset const, Ordinal const>{
      static_cast<std::int64_t>(A.numRows()), static_cast<std::int64_t>(A.numCols()),
      Kokkos::create_mirror_view_and_copy(host, A.graph.row_map),
      Kokkos::create_mirror_view_and_copy(host, A.graph.entries),
      Kokkos::create_mirror_view_and_copy(host, A.values)};
}

/// host := X for a rank-2 view of any layout and memory space.
template <class Block, class Host>
void copy_to_host(Block const& X, Host const& host) {
  using Exec = typename Block::execution_space;
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                           typename Block::memory_space>::accessible) {
    Kokkos::deep_copy(host, X);
  } else {  // Kokkos cannot copy between memories with different layouts: the device converts first
    using Packed = Kokkos::View<typename Block::non_const_value_type**, Kokkos::LayoutRight,
                                typename Block::memory_space>;
    auto const packed = allocate<Packed>(Exec(), "Blockspan::packed", X.extent(0), X.extent(1));
    Kokkos::deep_copy(Exec(), packed, X);
    Exec().fence("Blockspan::copy_to_host");
    Kokkos::deep_copy(host, packed);
  }
}

}  // namespace sparse
}  // namespace blockspan
