#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/multivector/fill_random.hpp>

#include "blockspan-spmm/launches.hpp"
#include "blockspan-spmm/reference.hpp"
#include "blockspan-spmm/sample.hpp"
#include "peers/blockspan.hpp"
#include "peers/cusparse.hpp"
#include "peers/kokkos_kernels.hpp"
#include "spmm/measure.hpp"

namespace blockspan::perf {

namespace detail {

constexpr std::int64_t most_products = 1 << 19;  ///< of the reference: about 20 ms a case

/// The contenders of one case, one after the other.
template <class Scalar>
class CaseRun {
 public:
  CaseRun(Bench& bench, std::shared_ptr<LoadedMatrix<Scalar> const> matrix, int columns)
      : bench_(bench),
        matrix_(std::move(matrix)),
        with_(make_operands(columns)),
        reference_(make_reference()) {}

  CaseResult run() {
    CaseResult result;
    describe(result);
    for (auto const& make : {blockspan_contenders<Scalar>, cusparse_contenders<Scalar>,
                             kokkos_kernels_contenders<Scalar>})
      for (Contender const& contender : make(with_)) result.kernels.push_back(measure(contender));
    return result;
  }

 private:
  template <class Block>
  Block new_block(std::string const& label, std::int64_t rows, int columns) const {
    return Block(Kokkos::view_alloc(bench_.exec, Kokkos::WithoutInitializing, label), rows,
                 columns);
  }

  Operands<Scalar> make_operands(int columns) const {
    using Row = typename Operands<Scalar>::template Block<Kokkos::LayoutRight>;
    using Column = typename Operands<Scalar>::template Block<Kokkos::LayoutLeft>;
    auto const& host = matrix_->host;
    Operands<Scalar> with{bench_.exec,
                          matrix_->A,
                          new_block<Row>("Blockspan::X", host.columns, columns),
                          new_block<Row>("Blockspan::Y", host.rows, columns),
                          new_block<Column>("Blockspan::X_column", host.columns, columns),
                          new_block<Column>("Blockspan::Y_column", host.rows, columns)};
    fill_random(bench_.exec, with.X_row, 1);
    Kokkos::deep_copy(bench_.exec, with.X_column, with.X_row);
    return with;
  }

  apps::Reference<Scalar> make_reference() const {
    auto const rows = apps::choose_rows(matrix_->lengths, most_products / with_.columns());
    auto const sample = apps::take_rows(matrix_->host, Op::none, rows, matrix_->lengths);
    return {sample, apps::gather_rows(bench_.exec, with_.X_row, sample.columns)};
  }

  void describe(CaseResult& result) const {
    SpmmPlan const plan(bench_.exec, with_.A, {.columns = with_.columns()});
    RowStatistics const& rows = plan.statistics();
    result.rows = rows.rows;
    result.columns = rows.columns;
    result.nonzeros = rows.nonzeros;
    result.longest = rows.longest;
    result.empty_rows = rows.empty_rows;
    result.mean = rows.mean();
    result.imbalance = rows.imbalance();
    result.floor_bytes = matrix_->floor_bytes(with_.columns());
    result.floor_ms = 1e3 * result.floor_bytes / bench_.bytes_per_second;
    result.checked_rows = static_cast<std::int64_t>(reference_.rows().size());
  }

  KernelResult measure(Contender const& contender) const {
    KernelResult result;
    result.id = contender.id;
    result.family = contender.family;
    result.order = contender.order;
    result.whole_rows = contender.whole_rows;
    try {
      Prepared const prepared = contender.prepare();
      result.setup_ms = prepared.setup_ms;
      if (contender.order == Order::row)
        check(prepared, with_.Y_row, result);
      else
        check(prepared, with_.Y_column, result);
      if (result.verdict.right)
        result.times = time_product(*bench_.stopwatch, prepared.multiply, bench_.rules);
      bench_.exec.fence("Blockspan::perf::end");  // before what it used is freed
    } catch (std::exception const& error) {
      result.refused = error.what();
      bench_.exec.fence("Blockspan::perf::refused");
    }
    return result;
  }

  /// The first product, into a Y full of NaN.
  template <class Block>
  void check(Prepared const& prepared, Block const& Y, KernelResult& result) const {
    apps::fill_nan(bench_.exec, Y);
    auto const launches = apps::launches_of([&] {
      prepared.multiply();
      bench_.exec.fence("Blockspan::perf::first");
    });
    if (!prepared.label.empty()) result.ran = apps::kernel_that_ran(prepared.label, launches);
    apps::Verdict& verdict = result.verdict;
    bool const within =
        reference_.compare(apps::gather_rows(bench_.exec, Y, reference_.rows()), verdict);
    verdict.not_a_number = apps::count_nan(bench_.exec, Y);
    verdict.right = within && verdict.not_a_number == 0;
  }

  Bench& bench_;
  std::shared_ptr<LoadedMatrix<Scalar> const> matrix_;
  Operands<Scalar> with_;
  apps::Reference<Scalar> reference_;
};

}  // namespace detail

template <class Scalar>
CaseResult measure(Bench& bench, std::string const& source, int columns) {
  return detail::CaseRun<Scalar>(bench, bench.matrices.load<Scalar>(bench.exec, source), columns)
      .run();
}

}  // namespace blockspan::perf
