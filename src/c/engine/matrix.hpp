#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/validate.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "../errors.hpp"
#include "linear.hpp"

namespace blockspan::capi {

/// The inputs of a preconditioner.
template <class Scalar, class Exec>
struct MatrixSource {
  std::shared_ptr<DistributedMatrix<Scalar, Exec> const> rows;
  std::shared_ptr<LinearOperator<Scalar, Exec> const> product;
};

/// A matrix, of one process or distributed.
template <class Scalar, class Exec>
class AnyMatrix : public Linear<Scalar, Exec> {
 public:
  using Linear<Scalar, Exec>::Linear;
  virtual MatrixSource<Scalar, Exec> source() const = 0;
  std::shared_ptr<Operator> preconditioner(std::shared_ptr<Operator> const& self,
                                           std::string const& words,
                                           blockspan_preconditioner_options const& options,
                                           std::shared_ptr<Operator> const& mass) const override;
};

/// Adds the exact methods, for Derived::matrix().
template <class Derived, class Scalar, class Exec>
class FactoredMatrix : public AnyMatrix<Scalar, Exec> {
 public:
  using AnyMatrix<Scalar, Exec>::AnyMatrix;

  void near(Operator const* M, double sigma, blockspan_block const* X,
            blockspan_exact_options const& options, Results& results) const override;
  void inside(Operator const* M, double from, double to, blockspan_block const* X,
              blockspan_exact_options const& options, Results& results) const override;
  bool count(Operator const* M, double from, double to, blockspan_exact_options const& options,
             std::int64_t& number) const override;

 private:
  auto const& own() const { return static_cast<Derived const&>(*this).matrix(); }
  /// Null for null.
  auto const* mass(char const* where, Operator const* M) const {
    this->beside(where, "M", M);
    auto const* const other = dynamic_cast<Derived const*>(M);
    require((M == nullptr) == (other == nullptr), where,
            "M is not a matrix, or not one of as many processes as K");
    return other != nullptr ? &other->matrix() : nullptr;
  }
};

/// The last of n + 1 offsets, in host or device memory.
template <class Exec, class Offset>
std::int64_t last_offset(Exec const& exec, Offset const* offsets, std::int64_t n) {
  Offset last = 0;
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  Kokkos::View<Offset const, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const from(offsets +
                                                                                         n);
  Kokkos::deep_copy(exec, Kokkos::View<Offset, Kokkos::HostSpace>(&last), from);
  exec.fence("Blockspan::c: last offset");
  return static_cast<std::int64_t>(last);
}

/// The caller's indices minus `base`, as a View in the memory of Exec.
template <class Index, class Exec>
Kokkos::View<int*, Kokkos::Device<Exec, typename Exec::memory_space>> copied_indices(
    Exec const& exec, char const* where, Index const* given, std::size_t count, Index base) {
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  std::vector<Index> numbers(count);
  Kokkos::deep_copy(exec, Kokkos::View<Index*, Kokkos::HostSpace>(numbers.data(), count),
                    Kokkos::View<Index const*, Device>(given, count));
  exec.fence("Blockspan::c: indices");
  std::vector<int> copies(count);
  constexpr auto most = static_cast<Index>(std::numeric_limits<int>::max());
  for (std::size_t i = 0; i < count; ++i) {
    require(numbers[i] >= base && numbers[i] <= most, where, "index ", i, " (from 0) is ",
            numbers[i], "; the least is ", base, ", the most ", most);
    copies[i] = static_cast<int>(numbers[i] - base);
  }
  auto const made = allocate<Kokkos::View<int*, Device>>(exec, "Blockspan::c: indices", count);
  Kokkos::deep_copy(exec, made, Kokkos::View<int const*, Kokkos::HostSpace>(copies.data(), count));
  exec.fence("Blockspan::c: indices");
  return made;
}

/// The number of entries: the last offset minus the base.
template <class Exec>
std::int64_t entries_of(Exec const& exec, char const* where, CsrArrays const& a) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  require(a.rows >= 0 && a.columns >= 0 && a.rows < most && a.columns < most, where, "the shape ",
          a.rows, " x ", a.columns, " is not one of numbers from 0 to ", most - 1);
  require(a.offsets != nullptr, where, "offsets is NULL");
  require(a.offset_bits == 32 || a.offset_bits == 64, where, "offset_bits is ", a.offset_bits,
          ", not 32 or 64");
  std::int64_t const last =
      a.offset_bits == 64 ? last_offset(exec, static_cast<std::int64_t const*>(a.offsets), a.rows)
                          : last_offset(exec, static_cast<int const*>(a.offsets), a.rows);
  std::int64_t const entries = last - a.base;
  require(entries >= 0, where, "the last of the offsets is ", last);
  if (entries > most)
    not_built(std::string(where) + ": " + std::to_string(entries) +
              " entries; the C interface takes fewer than 2^31 in a process");
  require(entries == 0 || a.column_indices != nullptr, where,
          "column_indices is NULL, and there are ", entries, " entries");
  require(entries == 0 || a.values != nullptr, where, "values is NULL",
          a.base != 0 ? " (of Fortran: not contiguous)" : "", ", and there are ", entries,
          " entries");
  return entries;
}

/// The caller's arrays as a matrix. Throws Error unless they form one.
template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> csr_matrix(Exec const& exec, char const* where, CsrArrays const& a) {
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using Indices = Kokkos::View<int*, Device>;
  std::int64_t const entries = entries_of(exec, where, a);
  auto const rows = static_cast<std::size_t>(a.rows), count = static_cast<std::size_t>(entries);
  auto const* const narrow = static_cast<int const*>(a.offsets);
  Indices offsets(const_cast<int*>(narrow), rows + 1);
  if (a.offset_bits == 64)
    offsets = copied_indices<std::int64_t>(exec, where, static_cast<std::int64_t const*>(a.offsets),
                                           rows + 1, a.base);
  else if (a.base != 0)
    offsets = copied_indices<int>(exec, where, narrow, rows + 1, a.base);
  Indices columns(const_cast<int*>(a.column_indices), count);
  if (a.base != 0) columns = copied_indices<int>(exec, where, a.column_indices, count, a.base);
  Kokkos::View<Scalar*, Device> const values(
      const_cast<Scalar*>(static_cast<Scalar const*>(a.values)), count);
  auto const made = CrsMatrix<Scalar, Exec>("Blockspan::c: matrix", static_cast<int>(a.rows),
                                            static_cast<int>(a.columns), static_cast<int>(entries),
                                            values, offsets, columns);
  auto const report = validate(exec, made);
  require(report.valid, where, report.fault);
  return made;
}

/// A matrix of one process.
template <class Scalar, class Exec>
class WholeMatrix final : public FactoredMatrix<WholeMatrix<Scalar, Exec>, Scalar, Exec> {
  using Base = FactoredMatrix<WholeMatrix, Scalar, Exec>;

 public:
  using Product = MatrixOperator<Scalar, Exec>;

  WholeMatrix(std::shared_ptr<Context> context, CsrArrays const& arrays)
      : Base(std::move(context)),
        matrix_(csr_matrix<Scalar>(this->exec(), "blockspan_matrix_csr", arrays)) {
    if (matrix_.numRows() == matrix_.numCols())
      make_product();
    else
      plan_.emplace(this->exec(), matrix_, SpmmPlanOptions{.columns = columns_expected});
  }

  CrsMatrix<Scalar, Exec> const& matrix() const { return matrix_; }
  MatrixSource<Scalar, Exec> source() const override {
    this->library();  // square
    return {on_one_rank(this->exec(), matrix_), product_};
  }

  std::string describe() const override {
    return std::to_string(matrix_.numRows()) + " x " + std::to_string(matrix_.numCols()) +
           " matrix, " + std::to_string(matrix_.nnz()) + " entries\n" +
           plan().explain(columns_expected, sizeof(Scalar));
  }

  void multiply(std::int32_t op, void const* alpha, blockspan_block const* X, void const* beta,
                blockspan_block const* Y) const override {
    constexpr auto where = "blockspan_multiply";
    require(op >= 0 && op <= 3, where, "op is ", op, ", not one of 0 to 3");
    constexpr Op ops[] = {Op::none, Op::transpose, Op::conjugate, Op::adjoint};
    bool const turned = transposes(ops[op]);
    require_block<Scalar, Exec>(where, "X", X, turned ? matrix_.numRows() : matrix_.numCols());
    require_result<Scalar, Exec>(where, "Y", Y, turned ? matrix_.numCols() : matrix_.numRows());
    Scalar const a = alpha ? *static_cast<Scalar const*>(alpha) : Scalar(1);
    Scalar const b = beta ? *static_cast<Scalar const*>(beta) : Scalar(0);
    spmm(this->exec(), plan(), ops[op], a, matrix_, strided<Scalar, Exec>(*X), b,
         strided<Scalar, Exec>(*Y));
    if constexpr (support::runs_on_host_v<Exec>) this->exec().fence(where);
  }

  void refresh(void const* other_values) override {
    require(other_values == nullptr, "blockspan_operator_refresh",
            "other_values is for matrices on ranks");
    if (product_) make_product();  // its bounds depend on the values
  }

 private:
  static constexpr int columns_expected = 16;

  void make_product() {
    product_ = std::make_shared<Product>(this->exec(), matrix_,
                                         SpmmPlanOptions{.columns = columns_expected});
    this->set_library(product_);
  }
  SpmmPlan<Exec> const& plan() const { return product_ ? product_->plan() : *plan_; }

  CrsMatrix<Scalar, Exec> matrix_;
  std::shared_ptr<Product> product_;
  std::optional<SpmmPlan<Exec>> plan_;  // not square
};

/// A matrix whose rows are distributed over ranks.
template <class Scalar, class Exec>
class SpreadMatrix final : public FactoredMatrix<SpreadMatrix<Scalar, Exec>, Scalar, Exec> {
  using Base = FactoredMatrix<SpreadMatrix, Scalar, Exec>;

 public:
  using Spread = DistributedMatrix<Scalar, Exec>;

  SpreadMatrix(std::shared_ptr<Context> context, RankArrays const& arrays)
      : Base(std::move(context)) {
    auto const& ranks = *this->context().ranks;
    own_ = ranks.run_agreed(
        [&] { return csr_matrix<Scalar>(this->exec(), where, own_arrays(arrays)); });
    ranks.run_agreed([&] { take_other(arrays); });
    spread_ = std::make_shared<Spread>(this->exec(), ranks, partition_, own_, other_);
    make_product();
  }

  Spread const& matrix() const { return *spread_; }
  MatrixSource<Scalar, Exec> source() const override { return {spread_, product_}; }
  std::string describe() const override {
    return "matrix of " + std::to_string(partition_.global_rows()) + " rows, " +
           std::to_string(spread_->nonzeros()) + " entries on " +
           std::to_string(partition_.ranks()) + " ranks";
  }

  void refresh(void const* other_values) override {
    auto const& ranks = *this->context().ranks;
    ranks.run_agreed([&] {
      require(other_values != nullptr || other_.values.empty(), "blockspan_operator_refresh",
              "other_values is NULL, and this rank has ", other_.values.size(),
              " entries in columns of others");
      auto const* const values = static_cast<Scalar const*>(other_values);
      std::copy(values, values + other_.values.size(), other_.values.begin());
    });
    spread_->refresh(this->exec(), own_, other_);
    make_product();
  }

 private:
  static constexpr auto where = "blockspan_matrix_distributed";

  CsrArrays own_arrays(RankArrays const& arrays) {
    auto const& ranks = *this->context().ranks;
    require(arrays.cuts != nullptr, where, "cuts is NULL");
    partition_ =
        RowPartition(std::vector<std::int64_t>(arrays.cuts, arrays.cuts + ranks.size() + 1));
    CsrArrays own = arrays.own;
    own.rows = own.columns = partition_.rows(ranks.rank());
    return own;
  }

  void take_other(RankArrays const& arrays) {
    auto const rows = static_cast<std::size_t>(own_.numRows());
    require(arrays.other_offsets != nullptr, where, "other_offsets is NULL");
    other_.offsets.assign(arrays.other_offsets, arrays.other_offsets + rows + 1);
    for (std::size_t i = 0; i < rows; ++i)
      require(other_.offsets[0] == 0 && other_.offsets[i] <= other_.offsets[i + 1], where,
              "other_offsets do not ascend from 0: offset ", i, " is ", other_.offsets[i],
              ", the next ", other_.offsets[i + 1]);
    auto const count = other_.offsets.back();
    require(count == 0 || (arrays.other_columns != nullptr && arrays.other_values != nullptr),
            where, "other_columns or other_values is NULL, and there are ", count, " entries");
    other_.columns.assign(arrays.other_columns, arrays.other_columns + count);
    auto const* const values = static_cast<Scalar const*>(arrays.other_values);
    other_.values.assign(values, values + count);
  }

  void make_product() {
    product_ = std::make_shared<DistributedOperator<Scalar, Exec>>(this->exec(), spread_,
                                                                   SpmmPlanOptions{.columns = 16});
    this->set_library(product_);
  }

  RowPartition partition_;
  CrsMatrix<Scalar, Exec> own_;
  LocalRows<Scalar> other_;
  std::shared_ptr<Spread> spread_;
  std::shared_ptr<LinearOperator<Scalar, Exec> const> product_;
};

}  // namespace blockspan::capi
