#pragma once

#include <complex>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::test {

/// A view of these numbers in the memory of `Exec`.
template <class Exec, class T>
auto on_device(std::vector<T> const& numbers) {
  Kokkos::View<T*, Exec> const view("numbers", numbers.size());
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < numbers.size(); ++i) host(i) = numbers[i];
  Kokkos::deep_copy(view, host);
  return view;
}

/// A matrix of these arrays, sound or not.
template <class Scalar, class Exec, class Offset = int, class Ordinal = int>
auto make_matrix(std::vector<Offset> const& offsets, std::vector<Ordinal> const& indices,
                 std::vector<Scalar> const& values, Ordinal columns) {
  using Matrix = CrsMatrix<Scalar, Exec, Offset, Ordinal>;
  typename Matrix::staticcrsgraph_type const graph(on_device<Exec>(indices),
                                                   on_device<Exec>(offsets));
  return Matrix("A", columns, on_device<Exec>(values), graph);
}

/// A matrix by its entries, small enough to be written down and compared whole.
using Entries = std::map<std::pair<long, long>, std::complex<double>>;

template <class Matrix>
struct HostCopy {
  explicit HostCopy(Matrix const& A)
      : offsets(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.graph.row_map)),
        indices(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.graph.entries)),
        values(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.values)) {}

  std::size_t rows() const { return offsets.extent(0) == 0 ? 0 : offsets.extent(0) - 1; }

  bool sorted_and_unique() const {
    for (std::size_t i = 0; i < rows(); ++i)
      for (auto p = offsets(i); p + 1 < offsets(i + 1); ++p)
        if (indices(p) >= indices(p + 1)) return false;
    return true;
  }

  bool same_bits(HostCopy const& other) const {
    auto const same = [](auto const& a, auto const& b) {
      using T = typename std::decay_t<decltype(a)>::value_type;
      return a.extent(0) == b.extent(0) &&
             (a.extent(0) == 0 || std::memcmp(a.data(), b.data(), sizeof(T) * a.extent(0)) == 0);
    };
    return same(offsets, other.offsets) && same(indices, other.indices) &&
           same(values, other.values);
  }

  typename Matrix::row_map_type::HostMirror::const_type offsets;
  typename Matrix::index_type::HostMirror::const_type indices;
  typename Matrix::values_type::HostMirror::const_type values;
};

template <class Scalar>
std::complex<double> wide(Scalar const& x) {
  if constexpr (is_complex_v<Scalar>)
    return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
  else
    return {static_cast<double>(x), 0.0};
}

/// All entries, repeated ones added up.
template <class Matrix>
Entries entries_of(Matrix const& A) {
  HostCopy<Matrix> const host(A);
  Entries entries;
  for (std::size_t i = 0; i < host.rows(); ++i)
    for (auto p = host.offsets(i); p < host.offsets(i + 1); ++p)
      entries[{static_cast<long>(i), static_cast<long>(host.indices(p))}] += wide(host.values(p));
  return entries;
}

}  // namespace blockspan::test
