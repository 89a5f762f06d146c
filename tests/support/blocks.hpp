#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "support/random.hpp"

namespace blockspan::test {

/// A dense matrix on the host, row-major: what tests prepare, compare and reason with.
template <class Scalar>
class HostBlock {
 public:
  HostBlock() = default;
  HostBlock(std::int64_t rows, std::int64_t columns, Scalar value = Scalar(0))
      : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows * columns), value) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Scalar& operator()(std::int64_t i, std::int64_t j) { return values_[index(i, j)]; }
  Scalar const& operator()(std::int64_t i, std::int64_t j) const { return values_[index(i, j)]; }

 private:
  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * columns_ + j);
  }
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<Scalar> values_;
};

/// Entries in [-1, 1), the same for equal arguments.
template <class Scalar>
HostBlock<Scalar> random_block(std::int64_t rows, std::int64_t columns, std::uint64_t seed);

/// NaN, in both parts of a complex scalar.
template <class Scalar>
Scalar not_a_number() {
  auto const nan = std::numeric_limits<real_t<Scalar>>::quiet_NaN();
  if constexpr (is_complex_v<Scalar>)
    return Scalar(nan, nan);
  else
    return nan;
}

/// How a test's block lies in memory.
enum class Storage {
  right,         ///< as LayoutRight, contiguous
  left,          ///< as LayoutLeft, contiguous
  padded_right,  ///< a range of k of the k + 3 columns of a LayoutRight block: rows not aligned
  padded_left,   ///< a range of n of the n + 2 rows of a LayoutLeft block: columns not aligned
  strided,       ///< gaps in both directions, odd offset
};

inline constexpr Storage all_storages[] = {Storage::right, Storage::left, Storage::padded_right,
                                           Storage::padded_left, Storage::strided};

inline std::string to_string(Storage storage) {
  char const* const names[] = {"right", "left", "padded_right", "padded_left", "strided"};
  return names[static_cast<int>(storage)];
}

/// A block of vectors where `Exec` computes, inside a larger allocation whose other entries must
/// never change. `view` is what a test hands to the library; its type is LayoutStride whatever the
/// storage, so that a test is compiled once for all of them.
template <class Scalar, class Exec>
class TestBlock {
 public:
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using View = Kokkos::View<Scalar**, Kokkos::LayoutStride, Device>;
  using ConstView = Kokkos::View<Scalar const**, Kokkos::LayoutStride, Device>;

  View view;

  TestBlock(Exec const& exec, Storage storage, HostBlock<Scalar> const& values);

  ConstView const_view() const { return view; }

  /// What the device holds now.
  HostBlock<Scalar> values() const;

  /// Whether nothing was written between and around the block's entries.
  bool surroundings_intact() const;

 private:
  void place(Storage storage);
  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(offset_ + i * row_stride_ + j * column_stride_);
  }
  std::vector<Scalar> fetch() const;

  Exec exec_;
  std::int64_t rows_, columns_;
  std::int64_t offset_ = 0, row_stride_ = 1, column_stride_ = 1;
  Kokkos::View<Scalar*, Device> memory_;
};

/// A block in the storage asked for, holding `values`.
template <class Scalar, class Exec>
TestBlock<Scalar, Exec> make_block(Exec const& exec, Storage storage,
                                   HostBlock<Scalar> const& values) {
  return TestBlock<Scalar, Exec>(exec, storage, values);
}

}  // namespace blockspan::test
