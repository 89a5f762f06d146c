#pragma once

#include <cstddef>
#include <cstdint>

#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/scalar.hpp>

// The inputs of decisions about products. Plain values: a plan fills them in from a matrix and a
// device, tests from tables.

namespace blockspan::products {

/// Properties of a backend and a device that matter to kernels. The values are an H200's;
/// device_facts (plan/read_facts.hpp) reads those of the device that a plan is made for.
struct DeviceFacts {
  bool is_host = false;
  bool lanes_exchange = false;       ///< lanes of a warp exchange values
  bool double_tensor_cores = false;  ///< as fast as they are on data centre devices
  bool bulk_copies = false;          ///< asynchronous copies of many bytes to scratch
  int multiprocessors = tuning::h200::multiprocessors;
  double clock = tuning::h200::clock;            ///< cycles a microsecond
  double dram = tuning::h200::dram;              ///< bytes a microsecond
  std::int64_t cache = tuning::h200::cache;      ///< bytes, second level
  std::int64_t scratch = tuning::h200::scratch;  ///< bytes that a team can have
  ModelParameters model{};

  double cycles() const { return multiprocessors * clock; }  ///< of all of them, a microsecond
};

/// The number of groups of rows, and the entries of one row of each of them: the rows of X that are
/// fetched, as many as entries if all groups are single rows.
struct GroupCount {
  std::int64_t groups = 0;
  std::int64_t fetches = 0;
};

/// Windows of rows and their tiles.
struct WindowCount {
  std::int64_t windows = 0;
  std::int64_t tiles = 0;
  std::int64_t most = 0;  ///< tiles of one window
};

/// Entries of some rows together, and how many different columns they have.
struct SharedColumns {
  std::int64_t entries = 0;
  std::int64_t columns = 0;

  double share() const {
    return entries == 0 ? 1 : static_cast<double>(columns) / static_cast<double>(entries);
  }
};

/// Of samples: rows with those behind them, and with those that their columns name.
struct ClusterSample {
  SharedColumns of_neighbours, of_clusters;
};

/// A matrix as a plan has prepared it for products.
struct PatternFacts {
  RowStatistics rows;
  std::int64_t half_bandwidth = 0;  ///< largest distance of a first or last column from its row
  std::int64_t block = 1;           ///< rows of the blocks that are stored
  GroupCount groups;
  bool lists_groups = false;  ///< as arrays
  WindowCount windows;
  std::int64_t window_masks = 0;  ///< of 64 bits, for shared windows; 0: there are none
  std::int64_t segments = 0;      ///< listed
  std::int64_t slots = 0;         ///< for sums of cut rows
  std::int64_t tiles = 0;         ///< listed
  bool has_distances = false;     ///< 16-bit columns
  bool is_permuted = false;       ///< values are looked up
  SpmmLanes lanes;                ///< asked for; 0: to be chosen
  SharedColumns neighbours;       ///< of a sample of rows with those behind them; may be empty
  std::size_t ordinal_bytes = sizeof(int);  ///< of a column index

  /// Whether values are stored in the order of the columns.
  bool values_in_order() const { return !is_permuted && block == 1; }
};

/// How a block of vectors lies in memory.
struct BlockLayout {
  bool contiguous = true;     ///< rows: the elements of one are neighbours
  bool column_major = false;  ///< the elements of a column are
  bool aligned = true;        ///< rows begin at multiples of a vector, and are contiguous
  bool vectors = true;        ///< and are whole vectors

  bool operator==(BlockLayout const&) const = default;
};

/// The blocks of one product.
struct BlockFacts {
  std::int64_t columns = 0;
  ScalarKind scalar{};
  BlockLayout x, y;
  bool x_rows_near = true;     ///< the bytes from one to the next fit in 32 bits
  bool x_columns_near = true;  ///< the same
  bool conjugates = false;     ///< A's values
  bool must_run = false;       ///< the algorithm asked for, or none
  bool may_copy = true;        ///< there is memory for copies
  bool sums = false;           ///< conj(X) Y and |Y|^2 are summed as well ...
  bool overwrites = false;     ///< ... and rows without entries become 0
  bool steps = false;          ///< a ProductStep is to be taken in the same kernel

  bool operator==(BlockFacts const&) const = default;
};

}  // namespace blockspan::products
