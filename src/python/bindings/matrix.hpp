#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/op.hpp>
#include <blockspan/spmm/plan_options.hpp>

#include "arrays/arrays.hpp"
#include "arrays/streams.hpp"
#include "gil.hpp"
#include "operators.hpp"

namespace blockspan::python {

/// A plan and its matrix. On devices products are asynchronous, in stream order.
class Plan {
 public:
  virtual ~Plan() = default;
  /// Y = alpha op(A) X + beta Y.
  virtual void multiply(Op op, std::complex<double> alpha, ConstArray const& X,
                        std::complex<double> beta, Array const& Y, Stream stream) = 0;
  /// Y = op(A) X with other values than those of A; copies held by the plan are not used.
  virtual void multiply_with(ConstArray const& values, Op op, ConstArray const& X, Array const& Y,
                             Stream stream) = 0;
  virtual std::string algorithm() const = 0;
  virtual std::string kernel(int columns) const = 0;
  virtual std::string explain(int columns) const = 0;
  virtual void hold_transpose(Stream stream) = 0;
  /// The shape of op(A).
  virtual std::int64_t rows(Op op) const = 0;
  virtual std::string type() const = 0;
  virtual nb::dlpack::dtype dtype() const = 0;
  virtual bool unchanged() const = 0;  ///< see Matrix::unchanged
};

/// How to make a plan, and on which stream. tune: by measurement; the choice is kept in the file
/// `cache` unless that is empty.
struct PlanRequest {
  SpmmPlanOptions options;
  bool tune = false;
  std::string cache;
  Stream stream = 0;
};

/// The caller's index arrays, which a matrix shares or has copied.
struct Given {
  ConstArray offsets, columns;
};

/// Detects in O(1) whether the caller's index arrays in host memory were changed in place. Removing
/// entries or summing duplicates changes the last offset; sorting rows changes the first descent in
/// the columns.
class Watch {
 public:
  explicit Watch(Given const& given);

  bool knows() const { return known_; }  ///< integers of 32 or 64 bits
  std::int64_t end() const;              ///< the last offset now
  bool unchanged(std::int64_t entries) const;

 private:
  Given given_;
  bool known_ = false;
  std::int64_t descent_ =
      -1;  ///< the first entry whose column is below its predecessor's; -1: none
};

/// The caller's CSR arrays as a matrix, independent of the scalar.
class Matrix : public Origin, public std::enable_shared_from_this<Matrix> {
 public:
  virtual std::string type() const = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t columns() const = 0;
  virtual std::int64_t entries() const = 0;
  virtual std::unique_ptr<Plan> plan(PlanRequest const& request) const = 0;
  /// values = alpha X Y^H + beta values at the entries, or conj(X) Y^T.
  virtual void sample(ConstArray const& X, ConstArray const& Y, bool conjugate_first,
                      std::complex<double> alpha, std::complex<double> beta, Array const& values,
                      Stream stream) const = 0;
  /// Whether the caller's index arrays are unchanged, as far as Watch detects it.
  virtual bool unchanged() const = 0;
  /// Throws Error if entries were removed from them or summed.
  virtual void check_end() const = 0;
  /// The entry that differs most from its mirror image, in words; empty: Hermitian up to the
  /// rounding of the entries, or of the sums that formed them.
  virtual std::string asymmetry(Stream stream) const = 0;
  /// A as an operator with its own plan, for blocks of up to about `columns` columns.
  virtual std::unique_ptr<Operator> as_operator(int columns, Stream stream) const = 0;
};

template <class Scalar>
class MatrixOf final : public Matrix {
 public:
  using Crs = CrsMatrix<Scalar, Exec>;

  /// Shares the arrays and keeps them alive. Throws Error unless they form a CSR matrix.
  MatrixOf(std::int64_t rows, std::int64_t columns, ConstArray const& offsets,
           ConstArray const& indices, ConstArray const& values, Given const& given, Stream stream);

  std::string type() const override { return type_name<Scalar>(); }
  std::int64_t rows() const override { return crs_.numRows(); }
  std::int64_t columns() const override { return crs_.numCols(); }
  std::int64_t entries() const override { return static_cast<std::int64_t>(crs_.nnz()); }
  std::unique_ptr<Plan> plan(PlanRequest const& request) const override;
  void sample(ConstArray const& X, ConstArray const& Y, bool conjugate_first,
              std::complex<double> alpha, std::complex<double> beta, Array const& values,
              Stream stream) const override;
  std::string asymmetry(Stream stream) const override;
  std::unique_ptr<Operator> as_operator(int columns, Stream stream) const override;
  void check_unchanged() const override;
  void check_end() const override;
  bool unchanged() const override { return !watch_ || watch_->unchanged(entries()); }

  Crs const& crs() const { return crs_; }
  /// The same pattern with other values. Throws Error unless they are contiguous and match nnz.
  Crs with_values(ConstArray const& values) const;

 private:
  std::array<Owner, 5> owners_;  // of the arrays
  std::optional<Watch> watch_;   // hosts
  Crs crs_;
  mutable Calls samples_;
  mutable std::mutex mutex_;
};

/// op by its letter 'n', 't', 'c' or 'h', which the package has checked.
Op op_of(char letter);

void bind_matrix(nb::module_& m);
void bind_product(nb::module_& m, nb::class_<Plan>& plans);  // hosts

}  // namespace blockspan::python
