#pragma once

#include <cstddef>
#include <cstdint>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/scalar_kind.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>

// What decisions about products are made from. Plain numbers, of any origin: a plan fills them in
// from a matrix and a device, tests from tables.

namespace blockspan::detail {

/// What device kernels make of a device: sixteen numbers for all of them, fitted by
/// perf/fit_model.cpp to the products of one NVIDIA H200 (tests/spmm/model_record.csv and
/// cases_record.csv; how well: perf/notes/model.md). Cycles are those of a multiprocessor.
struct ModelParameters {
  double launch = 3.1;       ///< us: a launch, until its first loads are there
  double wait = 0.282;       ///< us: loads in flight together, until what waits for them
  double stream = 0.88;      ///< of the DRAM's bandwidth: A, X and Y once
  double near = 128;         ///< bytes a cycle: rows of X that a diagonal keeps close
  double far = 48;           ///< bytes a cycle: other rows of X, from the second-level cache
  double complex_far = 1.4;  ///< times as long: those of complex numbers
  double single = 1.2;       ///< times as long: rows of X by single numbers, not by vectors
  double tile = 60;          ///< bytes a cycle: rows of X of tiles
  double tile_start = 400;   ///< cycles: a tile that windows share, whatever its width
  double tensor = 114;       ///< products a cycle: tensor cores with such tiles
  double lane_row = 0.1;     ///< cycles: a number of X for a lane that owns a row
  double warp = 54.4;        ///< cycles: a warp, however short its rows
  double uneven = 2.1;       ///< cycles: lanes that wait for a longer row next to theirs
  double tail = 0.055;       ///< of the time: multiprocessors that wait for the longest rows
  double list = 25;          ///< bytes: a segment of a row in a list
  double carry = 34;         ///< bytes: each byte of the sums of cut rows
};

/// What a backend, and one device of it, offer to kernels. The numbers are an H200's as CUDA tells
/// them; device_facts (plan/read_facts.hpp) reads those of the device that a plan is made for.
struct DeviceFacts {
  bool is_host = false;
  bool lanes_exchange = false;       ///< lanes of a warp exchange numbers
  bool double_tensor_cores = false;  ///< as fast as they are on data centre devices
  bool bulk_copies = false;          ///< asynchronous copies of many bytes to scratch
  int multiprocessors = 132;
  double clock = 1980;                          ///< cycles a microsecond
  double dram = 4.9e6;                          ///< bytes a microsecond
  std::int64_t cache = std::int64_t{60} << 20;  ///< bytes, second level
  std::int64_t scratch = 227 << 10;             ///< bytes that a team can have
  ModelParameters model{};

  double cycles() const { return multiprocessors * clock; }  ///< of all of them, a microsecond
};

/// How many groups of rows there are, and the entries of one row of each of them: how many rows of
/// X are fetched, which is how many entries there are if no row has a partner.
struct GroupCount {
  std::int64_t groups = 0;
  std::int64_t fetches = 0;
};

/// Windows of rows and their tiles.
struct WindowCount {
  std::int64_t windows = 0;
  std::int64_t tiles = 0;
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
  bool has_distances = false;     ///< 16-bit columns
  bool is_permuted = false;       ///< values are looked up
  SpmmLanes lanes;                ///< asked for; 0: to be chosen

  /// Whether an entry's value is where its column is.
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
  bool x_rows_near = true;     ///< a 32-bit number of bytes from one to the next
  bool x_columns_near = true;  ///< the same
  bool conjugates = false;     ///< A's values
  bool must_run = false;       ///< the algorithm asked for, or none
  bool may_copy = true;        ///< there is memory for copies
  bool sums = false;           ///< conj(X) Y and |Y|^2 are summed as well ...
  bool overwrites = false;     ///< ... and beta is 0
  bool steps = false;          ///< a ProductStep is to be taken in the same kernel

  bool operator==(BlockFacts const&) const = default;
};

}  // namespace blockspan::detail
