#pragma once

#include <cstdint>

#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/row_statistics.hpp>

// The model of the plan: what a product would take on a device with each kernel that can win, from
// the statistics of the rows (and their groups and windows) alone. It is meant to order them; the
// times themselves are rough. Pure functions of their arguments, on any host.

namespace blockspan::detail {

class DeviceModel {
 public:
  DeviceModel(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
              DeviceFacts const& device);

  SpmmPrediction whole_rows() const;
  /// A variant that lists segments, with the length of them that suits it; `asked`: that one, if
  /// not zero.
  SpmmPrediction listed(char const* id, std::int64_t asked) const;
  SpmmPrediction row_groups(GroupCount const& count) const;
  SpmmPrediction windows(WindowCount const& count) const;
  SpmmPrediction shared_tiles(TileForms const& forms) const;
  /// Whether windows of rows take shared tiles in less time than lanes.
  bool windows_take_tiles(TileForms const& forms) const;

  /// Of the variant chosen, with segments of the plan's length.
  double time_of(SpmmChoice const& choice, GroupCount const& groups,
                 WindowCount const& windows) const;

  /// Whole rows of column-major X, a lane a row.
  double by_columns() const;
  /// A copy of `rows` rows of X or Y from one layout to another.
  double copy(std::int64_t rows) const;
  /// What a product takes longer where X and Y are read and written number by number.
  double strided() const;

  /// Time of whole rows over that of rows with this share of their columns far away.
  double near_over_far(double far) const;

 private:
  double bytes(std::int64_t count) const;  ///< of `count` rows of X or Y
  double single() const;                   ///< factor of what lanes load of X
  double far_cycles() const;               ///< a byte of it that is far
  double tail() const;
  double body() const { return stream_ + gather_; }
  double full_rows() const;
  double shared_lanes() const;
  double shared_windows() const;
  double time_of(SegmentStatistics const& of, bool may_spread = false) const;
  double cut_at(SpmmVariant const& variant, std::int64_t segment) const;
  double carried(std::int64_t segment) const;
  bool suits(std::int64_t segment) const;

  RowStatistics const& rows_;
  std::int64_t columns_, vectors_;  ///< a row of X in vectors, the last one perhaps not whole
  bool whole_;                      ///< it is
  ScalarKind scalar_;
  DeviceFacts const& device_;
  double entries_;
  double stream_, gather_;  ///< us: A, X and Y once; the rows of X that the entries ask for
};

/// Devices, column-major X: bytes of its row that a lane owns at a time.
int column_bytes(std::int64_t columns, std::size_t scalar_bytes);

/// Whether a team stages the entries of its rows, `entry_bytes` each, in scratch.
bool stages_columns(RowStatistics const& rows, std::int64_t columns, std::size_t scalar_bytes,
                    std::size_t entry_bytes);

}  // namespace blockspan::detail
