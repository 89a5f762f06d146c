#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "blockspan-spmm/timing.hpp"
#include "common/machine/device.hpp"

namespace blockspan::apps {

/// What a copy kernel reaches on the device: the speed of the floor.
struct CopyBandwidth {
  double bytes_per_second = 0;  ///< read and written, of the fastest batch
  std::int64_t array_bytes = 0;
  int batches = 0;
};

/// The problem, as far as flops and bytes depend on it.
struct SpmmProblem {
  std::string scalar;
  bool complex = false;
  std::int64_t rows = 0, columns = 0, nonzeros = 0;  ///< of A
  std::int64_t scalar_bytes = 0, offset_bytes = 0, ordinal_bytes = 0;

  /// Operations of a product with n columns: 2 a nonzero and column, 8 if complex.
  double flops(int n) const;
  /// Compulsory traffic: A once, each row of X once, Y once.
  double bytes(int n) const;
};

/// How the results of one width were checked.
struct CheckedRows {
  int columns = 0;
  std::int64_t rows = 0;      ///< rows of Y compared with the reference, in all columns
  std::int64_t all_rows = 0;  ///< rows of Y
};

/// The verdict on the results of one kernel.
struct Verdict {
  bool right = false;          ///< every checked element within its bound, all of Y written
  bool deterministic = false;  ///< equal bits in all checked runs
  double error = 0;        ///< |y - reference| / (|A||X|) of the element worst against its bound
  double error_bound = 0;  ///< its bound, relative to (|A||X|) too
  std::int64_t row = 0, column = 0;  ///< its position
  std::int64_t not_a_number = 0;     ///< elements of Y that are NaN
};

/// One kernel at one width.
struct SpmmRun {
  int columns = 0;
  std::string requested;  ///< as on the command line: auto, an id, a peer
  std::string ran;        ///< the kernel that multiplied; of a peer its name, version and algorithm
  std::string explanation;      ///< the plan's words; empty for a peer
  std::string refused;          ///< why it cannot serve the input; empty: it can
  double setup_ms = 0;          ///< to make the plan, or what the peer prepares
  double first_ms = 0;          ///< the first product, which may allocate or prepare more
  Verdict verdict;              ///< if not refused
  std::optional<Timing> times;  ///< if right
};

/// Everything that a run of blockspan-spmm found: what the table and the report show.
struct SpmmResult {
  Device device;
  SpmmProblem problem;
  CopyBandwidth copy;
  std::vector<CheckedRows> checked;  ///< one a width
  std::vector<SpmmRun> runs;

  /// GFLOP/s, GB/s of compulsory traffic, and that as a share of the copy's, of a timed run.
  double gflops(SpmmRun const& run) const;
  double gbytes(SpmmRun const& run) const;
  double share_of_floor(SpmmRun const& run) const;
  /// Runs whose result is wrong.
  int wrong() const;
};

}  // namespace blockspan::apps
