#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/registers/sixteen_bit.hpp>

#include "spmm/battery.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"

// 16-bit scalars in tests: on the host they are doubles, which represent them exactly.

namespace blockspan::test {

template <class Stored>
float float_of(std::uint16_t bits) {
  Stored stored;
  stored.bits = bits;
  return stored;
}
template <class Stored>
double rounded(double number) {
  return float(Stored(static_cast<float>(number)));
}
template <class Stored>
HostBlock<double> rounded(HostBlock<double> block) {
  for (std::int64_t i = 0; i < block.rows(); ++i)
    for (std::int64_t j = 0; j < block.columns(); ++j) block(i, j) = rounded<Stored>(block(i, j));
  return block;
}
template <class Stored>
HostMatrix<double> rounded(HostMatrix<double> A) {
  for (auto& value : A.values) value = rounded<Stored>(value);
  return A;
}

/// Unit roundoff, and half the smallest positive value.
template <class Stored>
inline constexpr long double stored_roundoff = std::is_same_v<Stored, half> ? 0x1p-11L : 0x1p-8L;
template <class Stored>
inline constexpr long double stored_underflow = std::is_same_v<Stored, half> ? 0x1p-25L : 0x1p-134L;

/// Adds to the bounds of float what 16-bit storage costs: underflow of products, and the final
/// rounding. terms: summands of an element.
template <class Stored>
void add_rounding(Reference<double>& wanted, long double terms) {
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    auto& bound = wanted.bounds[i];
    bound += terms * 0x1p-149L;
    bound +=
        stored_roundoff<Stored> * (std::abs(wanted.values[i]) + bound) + stored_underflow<Stored>;
  }
}

/// A block where `Exec` computes, with any strides.
template <class Stored, class Exec>
struct StoredBlock {
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using View = Kokkos::View<Stored**, Kokkos::LayoutStride, Device>;
  static constexpr std::uint16_t untouched = 0x3c5a;

  Kokkos::View<Stored*, Device> memory;
  View view;

  StoredBlock(Storage storage, HostBlock<double> const& values) {
    std::int64_t const n = values.rows(), k = values.columns();
    std::int64_t offset = 0, row = 1, column = 1;
    if (storage == Storage::right) row = k;
    if (storage == Storage::padded_right) offset = 1, row = k + 3;
    if (storage == Storage::left) column = n;
    if (storage == Storage::padded_left) offset = 1, column = n + 2;
    if (storage == Storage::strided) offset = 3, row = 2, column = 2 * n + 1;
    auto const size = static_cast<std::size_t>(offset + n * row + k * column + 1);
    memory = Kokkos::View<Stored*, Device>("Blockspan::test", size);
    view =
        View(memory.data() + offset,
             Kokkos::LayoutStride(static_cast<std::size_t>(n), static_cast<std::size_t>(row),
                                  static_cast<std::size_t>(k), static_cast<std::size_t>(column)));
    auto const all = Kokkos::create_mirror_view(memory);
    for (std::size_t i = 0; i < size; ++i) all(i).bits = untouched;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < k; ++j)
        all(place(i, j)) = Stored(static_cast<float>(values(i, j)));
    Kokkos::deep_copy(memory, all);
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(view.extent(0)); }
  std::int64_t columns() const { return static_cast<std::int64_t>(view.extent(1)); }

  HostBlock<double> values() const {
    HostBlock<double> result(rows(), columns());
    auto const all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t j = 0; j < columns(); ++j) result(i, j) = float(all(place(i, j)));
    return result;
  }
  /// Row by row.
  std::vector<std::uint16_t> bits() const {
    std::vector<std::uint16_t> result;
    auto const all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t j = 0; j < columns(); ++j) result.push_back(all(place(i, j)).bits);
    return result;
  }
  bool surroundings_intact() const {
    auto const all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
    std::vector<bool> own(memory.extent(0));
    for (std::int64_t i = 0; i < rows(); ++i)
      for (std::int64_t j = 0; j < columns(); ++j) own[place(i, j)] = true;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (!own[i] && all(i).bits != untouched) return false;
    return true;
  }

 private:
  std::size_t place(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(view.data() - memory.data()) +
           static_cast<std::size_t>(i) * view.stride(0) +
           static_cast<std::size_t>(j) * view.stride(1);
  }
};

/// The same matrix where `Exec` computes.
template <class Stored, class Offset = int, class Exec>
CrsMatrix<Stored, Exec, Offset> stored_on(Exec const& exec, HostMatrix<double> const& A) {
  auto const as_double = to_device<Offset>(exec, A);
  Kokkos::View<Stored*, Kokkos::Device<Exec, typename Exec::memory_space>> const values(
      "Blockspan::test", A.values.size());
  auto const host = Kokkos::create_mirror_view(values);
  for (std::size_t k = 0; k < A.values.size(); ++k)
    host(k) = Stored(static_cast<float>(A.values[k]));
  Kokkos::deep_copy(values, host);
  return CrsMatrix<Stored, Exec, Offset>("A", as_double.numCols(), values, as_double.graph);
}

namespace storage_lists {
template <class List>
struct TypesOf;
template <class... T>
struct TypesOf<blockspan::products::TypeList<T...>> {
  using type = ::testing::Types<T...>;
};
}  // namespace storage_lists

/// Every backend with what the library has of such numbers.
using StoredConfigs = typename typed_lists::WithScalars<
    Backends, typename storage_lists::TypesOf<blockspan::products::SpmmStorageScalars>::type>::type;
struct StoredNames {
  template <class T>
  static std::string GetName(int) {
    return std::string(T::Exec::name()) +
           (std::is_same_v<typename T::Scalar, half> ? "_half" : "_bfloat16");
  }
};

}  // namespace blockspan::test
