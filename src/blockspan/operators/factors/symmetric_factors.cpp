#include <algorithm>

#include <blockspan/operators/factors/direct_factors.hpp>
#include <blockspan/operators/factors/symmetric_factors.hpp>
#include <blockspan/operators/mumps/mumps.h>
#include <blockspan/support/error.hpp>
#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::operators {

namespace {

constexpr char const* where = "blockspan::direct";
constexpr std::int64_t megabyte = 1000000;

/// MUMPS counts what is too large for an int in negative millions.
std::int64_t count(int number) {
  return number < 0 ? -std::int64_t(number) * 1000000 : std::int64_t(number);
}

[[noreturn]] void give_up(blockspan_mumps_report const& report, int order) {
  switch (report.code) {
    case -13:
      fail(where, "out of memory: cannot allocate ", count(report.detail) * 8,
           " bytes for the factors of ", order, " rows");
    case -7:
      fail(where, "out of memory: cannot allocate ", count(report.detail) * 4,
           " bytes for ordering ", order, " rows");
    case -8:
    case -9:
      fail(where, "out of memory: the factors of ", order, " rows need ", count(report.detail) * 8,
           " bytes more than the work space has");
    case -51:
    case -52:
      fail(where, "the matrix of ", order, " rows is too large for the 32-bit integers of the ",
           "ordering (", count(report.detail), " needed)");
    default:
      fail(where, "MUMPS cannot factor the matrix of ", order, " rows: error ", report.code, ", ",
           report.detail);
  }
}

}  // namespace

SymmetricFactors::SymmetricFactors(int order, std::vector<int> rows, std::vector<int> columns,
                                   bool definite, int block, std::int64_t memory_limit)
    : order_(order), rows_(std::move(rows)), columns_(std::move(columns)) {
  lapack::require_room();
  handle_ = blockspan_mumps_create(definite);
  require(handle_ != nullptr, where, "out of memory: no instance of MUMPS");
  auto const report =
      blockspan_mumps_analyse(handle_, order, static_cast<std::int64_t>(rows_.size()), rows_.data(),
                              columns_.data(), block);
  std::int64_t const needed = report.megabytes * megabyte;
  predicted_.entries = report.factor_entries;
  predicted_.bytes = needed;
  predicted_.flops = report.flops;
  std::int64_t const limit = memory_limit > 0 ? memory_limit : support::free_host_bytes();
  if (report.code >= 0 && (limit == 0 || needed <= limit)) return;
  blockspan_mumps_destroy(handle_);
  if (report.code < 0) give_up(report, order);
  fail(where, "out of memory: the factors of ", order, " rows need ", needed, " bytes, where ",
       limit, memory_limit > 0 ? " are allowed" : " are free");
}

SymmetricFactors::~SymmetricFactors() { blockspan_mumps_destroy(handle_); }

FactorCounts SymmetricFactors::factor(std::vector<double>& values) {
  auto const report = blockspan_mumps_factor(handle_, values.data());
  if (report.code == -10)
    return {true,        report.negative_pivots, 0,
            0,           report.factor_entries,  report.megabytes * megabyte,
            report.flops};
  if (report.code < 0) give_up(report, order_);
  return {false,
          report.negative_pivots,
          report.null_pivots,
          report.static_pivots,
          report.factor_entries,
          report.megabytes * megabyte,
          report.flops};
}

void SymmetricFactors::multiply(std::vector<double> const& values, double const* X, double* Y,
                                std::int64_t columns) const {
  std::fill_n(Y, order_ * columns, 0.0);
  for (std::size_t e = 0; e < rows_.size(); ++e) {
    std::int64_t const i = rows_[e] - 1, j = columns_[e] - 1;
    for (std::int64_t c = 0; c < columns; ++c) {
      double const* const x = X + c * order_;
      double* const y = Y + c * order_;
      y[i] += values[e] * x[j];
      if (i != j) y[j] += values[e] * x[i];
    }
  }
}

std::vector<int> SymmetricFactors::null_rows(int most) const {
  std::vector<int> rows(static_cast<std::size_t>(most));
  rows.resize(static_cast<std::size_t>(blockspan_mumps_null_rows(handle_, rows.data(), most)));
  return rows;
}

void SymmetricFactors::solve(double* B, std::int64_t columns) const {
  auto const report = blockspan_mumps_solve(handle_, B, static_cast<int>(columns));
  if (report.code < 0) give_up(report, order_);
}

}  // namespace blockspan::operators
