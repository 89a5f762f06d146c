#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/overlap.hpp>
#include <blockspan/multivector/convert.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

#include "../operator.hpp"

namespace blockspan::capi {

/// The code of a scalar in blockspan.h.
template <class Scalar>
constexpr std::int32_t scalar_number() {
  if constexpr (is_complex_v<Scalar>)
    return sizeof(Scalar) == 8 ? BLOCKSPAN_COMPLEX_FLOAT : BLOCKSPAN_COMPLEX_DOUBLE;
  else
    return sizeof(Scalar) == 4 ? BLOCKSPAN_FLOAT : BLOCKSPAN_DOUBLE;
}

/// The memory space code of contexts with this backend.
template <class Exec>
constexpr std::int32_t space_number() {
  return support::runs_on_host_v<Exec> ? BLOCKSPAN_HOST : BLOCKSPAN_DEVICE;
}

template <class Exec>
void require_space(char const* where, char const* name, std::int32_t space) {
  require(space == space_number<Exec>(), where, name, " is in space ", space,
          "; this context computes in space ", space_number<Exec>(), " (0: host, 1: device)");
}

/// The caller's block, with any strides.
template <class Scalar, class Exec>
using Strided =
    Kokkos::View<Scalar**, Kokkos::LayoutStride, Kokkos::Device<Exec, typename Exec::memory_space>,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Scalar>
blocks::BlockRef<Scalar> block_ref(blockspan_block const& b) {
  return {static_cast<Scalar*>(b.data), b.rows, b.columns, b.row_stride, b.column_stride};
}

/// Throws Error unless the block is valid, of that scalar and of `rows` rows.
template <class Scalar, class Exec>
void require_block(char const* where, char const* name, blockspan_block const* block,
                   std::int64_t rows) {
  require(block != nullptr, where, name, " is NULL");
  auto const& b = *block;
  require(b.scalar == scalar_number<Scalar>(), where, name, " is of scalar ", scalar_name(b.scalar),
          ", the operator of ", scalar_name(scalar_number<Scalar>()));
  require_space<Exec>(where, name, b.space);
  require(b.rows == rows && rows >= 0 && b.columns >= 0, where, name, " is ", b.rows, " x ",
          b.columns, ", and the operator has ", std::max<std::int64_t>(rows, 0), " rows");
  require(b.row_stride >= 0 && b.column_stride >= 0, where, name, " has the strides ", b.row_stride,
          ", ", b.column_stride, "; they may not be negative");
  require(b.data != nullptr || b.rows == 0 || b.columns == 0, where, name, ".data is NULL");
}

/// The same for a block that is written: its elements must not share memory.
template <class Scalar, class Exec>
void require_result(char const* where, char const* name, blockspan_block const* block,
                    std::int64_t rows) {
  require_block<Scalar, Exec>(where, name, block, rows);
  require(blocks::has_distinct_elements(block_ref<Scalar>(*block)), where, "elements of ", name,
          " share memory: strides ", block->row_stride, ", ", block->column_stride);
}

template <class Scalar, class Exec>
Strided<Scalar, Exec> strided(blockspan_block const& b) {
  return Strided<Scalar, Exec>(
      static_cast<Scalar*>(b.data),
      Kokkos::LayoutStride(static_cast<std::size_t>(b.rows), static_cast<std::size_t>(b.row_stride),
                           static_cast<std::size_t>(b.columns),
                           static_cast<std::size_t>(b.column_stride)));
}

/// A block of the caller in the row-major form that operators need: in place if its rows are
/// contiguous, else a copy, which give_back() writes to the caller's block.
template <class Scalar, class Exec>
class RowMajor {
 public:
  enum class Use { read, write, read_and_write };

  /// copy: make a copy even if the rows are contiguous.
  RowMajor(Exec const& exec, blockspan_block const& b, Use use, bool copy = false) : given_(b) {
    bool const contiguous = b.column_stride == 1 || b.columns < 2;
    if (!copy && contiguous && (b.row_stride >= b.columns || b.rows < 2)) {
      std::int64_t const width = b.rows < 2 ? b.columns : b.row_stride;
      view_ = blocks::column_range(
          Block<Scalar, Exec>(static_cast<Scalar*>(b.data), static_cast<std::size_t>(b.rows),
                              static_cast<std::size_t>(width)),
          0, static_cast<int>(b.columns));
      return;
    }
    copied_ = true;
    view_ = allocate<Block<Scalar, Exec>>(exec, "Blockspan::c: block", b.rows, b.columns);
    if (use != Use::write) convert_block(exec, strided<Scalar, Exec>(b), view_);
  }

  Block<Scalar, Exec> const& view() const { return view_; }
  void give_back(Exec const& exec) const {
    if (copied_) convert_block(exec, view_, strided<Scalar, Exec>(given_));
  }

 private:
  blockspan_block given_;
  Block<Scalar, Exec> view_;
  bool copied_ = false;
};

/// A copy of the caller's block; without columns if `block` is null.
template <class Scalar, class Exec>
Block<Scalar, Exec> copy_of(Exec const& exec, char const* where, char const* name,
                            blockspan_block const* block, std::int64_t rows) {
  if (block == nullptr || block->columns == 0) return {};
  require_block<Scalar, Exec>(where, name, block, rows);
  auto const copy =
      allocate<Block<Scalar, Exec>>(exec, "Blockspan::c: copy", block->rows, block->columns);
  convert_block(exec, strided<Scalar, Exec>(*block), copy);
  exec.fence("Blockspan::c: copy");
  return copy;
}

}  // namespace blockspan::capi
