#pragma once

#include <cstdint>
#include <vector>

struct blockspan_mumps;

namespace blockspan::operators {

/// What a factorization found.
struct FactorCounts {
  bool singular = false;  ///< it stopped at a null pivot, and there are no factors
  int negative_pivots = 0;
  int null_pivots = 0;
  int static_pivots = 0;  ///< tiny ones that were replaced
  std::int64_t entries = 0;
  std::int64_t bytes = 0;
  double flops = 0;  ///< of the elimination
};

/// L D L^T of a real symmetric matrix by MUMPS. Throws Error where MUMPS gives up, in words.
class SymmetricFactors {
 public:
  /// rows, columns: the places of the values, in the lower triangle, counted from 1; repeated ones
  /// add up. definite: without pivoting. block: consecutive unknowns that belong together.
  /// memory_limit: bytes, 0: what is free.
  SymmetricFactors(int order, std::vector<int> rows, std::vector<int> columns, bool definite,
                   int block, std::int64_t memory_limit);
  ~SymmetricFactors();
  SymmetricFactors(SymmetricFactors const&) = delete;
  SymmetricFactors& operator=(SymmetricFactors const&) = delete;

  /// Entries, bytes and flops of a factorization, by the analysis of the pattern.
  FactorCounts const& predicted() const { return predicted_; }

  std::size_t places() const { return rows_.size(); }
  /// Whether these are the places, in their order.
  bool are_at(std::vector<int> const& rows, std::vector<int> const& columns) const {
    return rows == rows_ && columns == columns_;
  }

  /// values: one a place.
  FactorCounts factor(std::vector<double>& values);

  /// Y = A X for the matrix of these values; X, Y: order x columns, column-major.
  void multiply(std::vector<double> const& values, double const* X, double* Y,
                std::int64_t columns) const;

  /// The unknowns of at most `most` null pivots, from 1.
  std::vector<int> null_rows(int most) const;

  /// Overwrites B, order x columns and column-major.
  void solve(double* B, std::int64_t columns) const;

 private:
  int order_;
  FactorCounts predicted_;
  std::vector<int> rows_, columns_;
  blockspan_mumps* handle_ = nullptr;
};

}  // namespace blockspan::operators
