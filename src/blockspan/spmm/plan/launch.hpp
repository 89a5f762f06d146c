#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::products {

/// How a device kernel lays its lanes over a row.
struct Lanes {
  LaneGrid grid;
  int vectors_per_lane = 1;  ///< 1 to 3; of single columns 1 to 5
  bool deep = false;         ///< with two vectors, the nonzeros in flight of one
  bool spread = false;  ///< each pass over the vectors is a unit of work of its own (RowPasses)

  std::int64_t passes(std::int64_t vectors) const {
    return ceil_div(vectors, std::int64_t{grid.columns()} * vectors_per_lane);
  }
  /// Vectors that the lanes have room for in the passes of `vectors`.
  std::int64_t room(std::int64_t vectors) const {
    return passes(vectors) * grid.columns() * vectors_per_lane;
  }
};

/// How a kernel that has several forms runs.
enum class LaunchForm {
  usual,
  lane_a_row,      ///< single_columns of a column-major X, on devices
  staged_columns,  ///< the same with the entries in team scratch
  all_rows,        ///< nonempty_rows, on devices: scales the empty ones as well
  by_windows,      ///< for windows of rows on tensor cores
  registered       ///< what another library has entered for a kernel of the core (kernel_table)
};

/// One launch of one kernel: all that is decided about it. `run` makes types of it.
struct Launch {
  SpmmVariant const* variant = nullptr;  ///< the kernel
  LaunchForm form = LaunchForm::usual;
  bool vectorized = false;   ///< a lane owns vectors of 16 bytes; hosts: wide registers
  bool narrow = false;       ///< devices: columns are read as 16-bit distances from their row
  Lanes lanes;               ///< devices
  std::int64_t columns = 0;  ///< of Y

  SpmmKernelId kernel() const { return variant->kernel; }
  /// The launch of another library.
  bool is_registered() const {
    return kernel() == SpmmKernelId::registered || form == LaunchForm::registered;
  }
};

/// What is copied to row-major scratch before a product.
enum class BlockCopy {
  none,
  row_major,     ///< as wide as it is
  whole_vectors  ///< padded to whole vectors
};

/// A product: copies, if any, and its launches from the first column on.
struct Decision {
  BlockCopy x = BlockCopy::none;
  bool y_by_copy = false;         ///< written to a copy of X's width, then added to Y
  bool fills_empty_rows = false;  ///< by a kernel of their own, before the launches
  bool fuses_sums = false;        ///< of products: the one launch makes them too
  bool fuses_step = false;        ///< the launches include a ProductStep
  std::vector<Launch> launches;   ///< empty: the algorithm asked for cannot run the product

  Launch const& first() const { return launches.front(); }
  /// Of the widest launch: the last panel may be wider than those before it.
  std::int64_t most_columns() const {
    std::int64_t most = 0;
    for (Launch const& launch : launches) most = std::max(most, launch.columns);
    return most;
  }
};

}  // namespace blockspan::products
