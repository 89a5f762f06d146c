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
#include "peers/blockspan_forms.hpp"
#include "peers/cusparse.hpp"
#include "peers/eigen.hpp"
#include "peers/kokkos_kernels.hpp"
#include "peers/mkl.hpp"
#include "spmm/measure.hpp"

namespace blockspan::perf {

namespace case_run {

constexpr std::int64_t most_products = 1 << 19;  ///< of the reference: about 20 ms a case

/// The contenders of one case, one after the other.
template <class Scalar>
class CaseRun {
 public:
  CaseRun(Bench& bench, std::shared_ptr<LoadedMatrix<Scalar> const> matrix, Case const& one)
      : bench_(bench),
        case_(one),
        matrix_(std::move(matrix)),
        with_(make_operands()),
        rows_(apps::choose_rows(matrix_->lengths, most_products / with_.columns())),
        reference_(make_reference()) {}

  CaseResult run() {
    CaseResult result;
    describe(result);
    std::vector<Timed> all;
    for (auto const& make :
         {blockspan_contenders<Scalar>, form_contenders<Scalar>, cusparse_contenders<Scalar>,
          kokkos_kernels_contenders<Scalar>, eigen_contenders<Scalar>, mkl_contenders<Scalar>})
      for (Contender& contender : make(with_))
        if (case_.wants(contender.id, contender.family)) all.emplace_back(std::move(contender));
    for (int round = 0; round < bench_.rules.rounds; ++round)
      for (Timed& one : all) measure(one);
    for (Timed& one : all) result.kernels.push_back(one.summarized());
    return result;
  }

 private:
  /// A contender with what its rounds have shown.
  struct Timed {
    Contender contender;
    KernelResult result;
    std::vector<double> setup_ms = {};
    Batches batches = {};

    explicit Timed(Contender of) : contender(std::move(of)) {
      result.id = contender.id;
      result.family = contender.family;
      result.order = contender.order;
      result.whole_rows = contender.whole_rows;
    }
    bool may_go_on() const {
      return result.refused.empty() && (setup_ms.empty() || result.verdict.right);
    }
    void add(Batches const& round) {
      batches.ms.insert(batches.ms.end(), round.ms.begin(), round.ms.end());
      batches.products = round.products;
    }
    KernelResult summarized() {
      if (!setup_ms.empty()) result.setup_ms = summarize(std::move(setup_ms), 1).median;
      if (result.refused.empty() && result.verdict.right)
        result.times = summarize(std::move(batches.ms), batches.products);
      return std::move(result);
    }
  };

  template <class Block>
  Block new_block(std::string const& label, std::int64_t rows, int columns) const {
    return Block(Kokkos::view_alloc(bench_.exec, Kokkos::WithoutInitializing, label), rows,
                 columns);
  }

  Operands<Scalar> make_operands() const {
    using Row = typename Operands<Scalar>::template Block<Kokkos::LayoutRight>;
    using Column = typename Operands<Scalar>::template Block<Kokkos::LayoutLeft>;
    auto const& host = matrix_->host;
    int const columns = case_.columns;
    Operands<Scalar> with{bench_.exec,
                          matrix_->A,
                          new_block<Row>("Blockspan::X", host.columns, columns),
                          new_block<Row>("Blockspan::Y", host.rows, columns),
                          new_block<Column>("Blockspan::X_column", host.columns, columns),
                          new_block<Column>("Blockspan::Y_column", host.rows, columns),
                          Scalar(static_cast<real_t<Scalar>>(case_.alpha)),
                          Scalar(static_cast<real_t<Scalar>>(case_.beta))};
    fill_random(bench_.exec, with.X_row, 1);
    Kokkos::deep_copy(bench_.exec, with.X_column, with.X_row);
    return with;
  }

  bool reads_y() const { return case_.beta != 0; }

  /// What Y must be before the first product: numbers where it is read, else NaN.
  template <class Block>
  void fill(Block const& Y) const {
    if (reads_y())
      fill_random(bench_.exec, Y, 2);
    else
      apps::fill_nan(bench_.exec, Y);
  }

  /// alpha A X + beta Y as a product: the rows of alpha A with one more entry, beta, that meets the
  /// row of Y. Powers of two for alpha add no rounding, and the bound has room for one of beta Y.
  apps::Reference<Scalar> make_reference() const {
    auto sample = apps::take_rows(matrix_->host, Op::none, rows_, matrix_->lengths);
    for (Scalar& value : sample.values) value *= with_.alpha;
    auto const X = apps::gather_rows(bench_.exec, with_.X_row, sample.columns);
    if (!reads_y()) return {sample, X};
    fill(with_.Y_row);
    return with_old_y(sample, X, apps::gather_rows(bench_.exec, with_.Y_row, rows_));
  }

  apps::Reference<Scalar> with_old_y(apps::RowSample<Scalar> const& sample,
                                     apps::HostRows<Scalar> const& X,
                                     apps::HostRows<Scalar> const& Y) const {
    apps::RowSample<Scalar> longer{sample.rows, {0}, {}, {}};
    apps::HostRows<Scalar> const both("Blockspan::rows_of_X_and_Y", X.extent(0) + Y.extent(0),
                                      X.extent(1));
    auto const append = [&](apps::HostRows<Scalar> const& from, std::size_t row, Scalar value) {
      for (std::size_t j = 0; j < X.extent(1); ++j) both(longer.values.size(), j) = from(row, j);
      longer.values.push_back(value);
    };
    for (std::size_t s = 0; s < sample.rows.size(); ++s) {
      for (std::size_t at = sample.begin[s]; at < sample.begin[s + 1]; ++at)
        append(X, at, sample.values[at]);
      append(Y, s, with_.beta);
      longer.begin.push_back(longer.values.size());
    }
    return {longer, both};
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
    result.floor_bytes = matrix_->floor_bytes(with_.columns(), reads_y());
    result.floor_ms = 1e3 * result.floor_bytes / bench_.bytes_per_second;
    result.gather_bytes = matrix_->gather_bytes(with_.columns());
    result.gather_ms = 1e3 * result.gather_bytes / bench_.gather_bytes_per_second;
    result.checked_rows = static_cast<std::int64_t>(rows_.size());
  }

  /// One round, if those before it have not ended it: a refusal or a wrong product is the last
  /// word.
  void measure(Timed& one) const {
    if (!one.may_go_on()) return;
    try {
      Prepared const prepared = one.contender.prepare();
      one.setup_ms.push_back(prepared.setup_ms);
      if (one.contender.order == Order::row)
        check(prepared, with_.Y_row, one.result);
      else
        check(prepared, with_.Y_column, one.result);
      if (one.result.verdict.right)
        one.add(time_product(*bench_.stopwatch, prepared.multiply, bench_.rules));
      bench_.exec.fence("Blockspan::perf::end");  // before what it used is freed
    } catch (std::exception const& error) {
      one.result.refused = error.what();
      bench_.exec.fence("Blockspan::perf::refused");
    }
  }

  /// An error of four bounds in one element: what the check must find.
  template <class Block>
  void spoil(Block const& Y) const {
    if (rows_.empty()) return;
    std::size_t const middle = rows_.size() / 2, last = Y.extent(1) - 1;
    apps::shift_element(bench_.exec, Y, rows_[middle], static_cast<std::int64_t>(last),
                        Scalar(static_cast<real_t<Scalar>>(reference_.fault(middle, last))));
  }

  /// The first product.
  template <class Block>
  void check(Prepared const& prepared, Block const& Y, KernelResult& result) const {
    fill(Y);
    auto const launches = apps::launches_of([&] {
      prepared.multiply();
      bench_.exec.fence("Blockspan::perf::first");
    });
    if (result.id == bench_.fault) spoil(Y);
    if (!prepared.label.empty()) result.ran = apps::kernel_that_ran(prepared.label, launches);
    apps::Verdict& verdict = result.verdict;
    bool const within = reference_.compare(apps::gather_rows(bench_.exec, Y, rows_), verdict);
    verdict.not_a_number = apps::count_nan(bench_.exec, Y);
    verdict.right = within && verdict.not_a_number == 0;
  }

  Bench& bench_;
  Case const& case_;
  std::shared_ptr<LoadedMatrix<Scalar> const> matrix_;
  Operands<Scalar> with_;
  std::vector<std::int64_t> rows_;  ///< that are checked
  apps::Reference<Scalar> reference_;
};

}  // namespace case_run

template <class Scalar>
CaseResult measure(Bench& bench, std::string const& source, Case const& one) {
  return case_run::CaseRun<Scalar>(bench, bench.matrices.load<Scalar>(bench.exec, source), one)
      .run();
}

}  // namespace blockspan::perf
