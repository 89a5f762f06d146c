#pragma once

#include <cstdint>

#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/row_statistics.hpp>

// The model of the plan: the time of a product on a device, from the statistics of the rows
// (and their groups and windows) alone. It is meant to order kernels; the times themselves are
// rough. Pure functions of their arguments, on any host.

namespace blockspan::products {

inline constexpr double index_bytes = sizeof(int);  ///< of a column, of an offset

inline double as_double(std::int64_t count) { return static_cast<double>(count); }

class DeviceModel {
 public:
  DeviceModel(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
              DeviceFacts const& device);
  explicit DeviceModel(CostFacts const& facts)
      : DeviceModel(facts.rows, facts.columns, facts.scalar, facts.device) {}

  // Terms of the costs of kernels, in microseconds unless stated otherwise. The costs themselves
  // are in kernels/*_choice.hpp.

  RowStatistics const& rows() const { return rows_; }
  ScalarKind const& scalar() const { return scalar_; }
  DeviceFacts const& device() const { return device_; }
  double entries() const { return entries_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t vectors() const {
    return vectors_;
  }                                          ///< of a row of X, the last one maybe not whole
  bool whole() const { return whole_; }      ///< it is
  double bytes(std::int64_t count) const;    ///< of `count` rows of X or Y
  double single() const;                     ///< factor of what lanes load of X
  double far_cycles() const;                 ///< a byte of it that is far
  double stream() const { return stream_; }  ///< A, X and Y once
  double gather() const { return gather_; }  ///< the rows of X that the entries ask for
  double gather(double far) const;           ///< the same where this share of them is far away
  double body() const { return stream_ + gather_; }
  double tail() const;  ///< multiprocessors that wait for the one with the longest rows
  double time_of(SegmentStatistics const& of, bool may_spread = false) const;

  /// Whole rows of column-major X, a lane a row.
  double by_columns() const;
  /// A copy of `rows` rows of X or Y from one layout to another.
  double copy(std::int64_t rows) const;
  /// Extra time of a product whose X and Y are read and written element by element.
  double strided() const;

  /// Time of whole rows over that of rows with this share of their columns far away.
  double near_over_far(double far) const;

 private:
  RowStatistics const& rows_;
  std::int64_t columns_, vectors_;
  bool whole_;
  ScalarKind scalar_;
  DeviceFacts const& device_;
  double entries_;
  double stream_, gather_;
};

/// Devices, column-major X: bytes of its row that a lane owns at a time.
int column_bytes(std::int64_t columns, std::size_t scalar_bytes);

/// Whether a team stages the entries of its rows, `entry_bytes` each, in scratch.
bool stages_columns(RowStatistics const& rows, std::int64_t columns, std::size_t scalar_bytes,
                    std::size_t entry_bytes);

}  // namespace blockspan::products
