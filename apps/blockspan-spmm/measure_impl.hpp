#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/support/memory.hpp>

#include "blockspan-spmm/bandwidth.hpp"
#include "blockspan-spmm/kernels.hpp"
#include "blockspan-spmm/measure.hpp"
#include "blockspan-spmm/reference.hpp"
#include "blockspan-spmm/sample.hpp"
#include "common/machine/dispatch.hpp"
#include "common/problem/problem.hpp"
#include "common/run/interrupt.hpp"

namespace blockspan::apps {

namespace measuring {

constexpr std::int64_t most_products = 1 << 21;  ///< of the reference: well below a second
constexpr int checked_runs = 5;                  ///< whose bits are compared
constexpr int copy_batches = 10;                 ///< at most

/// Ends the run where a kernel was asked for that does not serve it.
inline void require_served(std::string const& id, std::string const& refused,
                           SpmmCommand const& command) {
  require(refused.empty() || command.lists_refused(),
          (is_peer(id) ? "--compare " : "--algorithm ") + id, refused);
}

/// All kernels of one width.
template <class Scalar, class Layout, class Exec>
class Width {
 public:
  using Block = BlockOf<Scalar, Layout, Exec>;

  Width(Operands<Scalar, Layout, Exec> operands, std::int64_t rows,
        HostMatrix<Scalar, Exec> const& A, SpmmCommand const& command, ProgressLine& progress)
      : with_(std::move(operands)),
        Y_(new_block("Blockspan::Y", rows)),
        first_(new_block("Blockspan::Y_first", rows)),
        reference_(make_reference(A)),
        command_(command),
        progress_(progress) {}

  CheckedRows checked() const {
    return {columns(), static_cast<std::int64_t>(reference_.rows().size()),
            static_cast<std::int64_t>(Y_.extent(0))};
  }

  std::vector<SpmmRun> run() {
    for (std::string const& id : command_.kernels()) add(id);
    time();
    return std::move(runs_);
  }

 private:
  int columns() const { return static_cast<int>(with_.X.extent(1)); }

  Block new_block(std::string const& label, std::int64_t rows) const {
    return allocate<Block>(with_.exec, label, rows, with_.X.extent(1));
  }

  Reference<Scalar> make_reference(HostMatrix<Scalar, Exec> const& A) const {
    auto const lengths = A.row_lengths(with_.op);
    auto const sample =
        take_rows(A, with_.op, choose_rows(lengths, most_products / columns()), lengths);
    return {sample, gather_rows(with_.exec, with_.X, sample.columns)};
  }

  void stage(std::string const& id) const {
    require(!InterruptGuard::interrupted(), "interrupted", "nothing was written");
    progress_.stage(std::to_string(columns()) + " columns, " + id);
  }

  /// Prepares and checks one kernel.
  void add(std::string const& id) {
    stage(id);
    SpmmRun run;
    run.columns = columns();
    run.requested = id;
    if (is_peer(id)) run.refused = peer_refusal<Scalar, Exec>(id, command_);
    Multiply<Block> multiply;
    try {
      if (run.refused.empty()) multiply = prepare_kernel(with_, Y_, run);
    } catch (Error const& error) {
      run.refused = error.what();
    }
    require_served(id, run.refused, command_);
    if (multiply) check(id == command_.fault ? spoilt(multiply) : multiply, run.verdict);
    if (multiply && run.verdict.right)
      timers_.emplace_back(
          runs_.size(), BatchTimer([this, multiply] { multiply(Y_); }, [this] { with_.fence(); }));
    runs_.push_back(std::move(run));
  }

  /// The kernel with an error of four bounds in one element: what the check must find.
  Multiply<Block> spoilt(Multiply<Block> const& multiply) const {
    auto const& rows = reference_.rows();
    if (rows.empty()) return multiply;
    std::size_t const middle = rows.size() / 2;
    int const column = columns() - 1;
    Scalar const by(
        static_cast<real_t<Scalar>>(reference_.fault(middle, static_cast<std::size_t>(column))));
    return [this, multiply, row = rows[middle], column, by](Block const& Y) {
      multiply(Y);
      shift_element(with_.exec, Y, row, column, by);
    };
  }

  /// Runs the kernel several times, each into a Y full of NaN.
  void check(Multiply<Block> const& multiply, Verdict& verdict) const {
    fill_nan(with_.exec, first_);
    multiply(first_);
    bool const within =
        reference_.compare(gather_rows(with_.exec, first_, reference_.rows()), verdict);
    verdict.not_a_number = count_nan(with_.exec, first_);
    verdict.right = within && verdict.not_a_number == 0;
    verdict.deterministic = true;
    for (int i = 1; i < checked_runs; ++i) {
      fill_nan(with_.exec, Y_);
      multiply(Y_);
      if (count_different(with_.exec, Y_, first_) > 0) verdict.deterministic = false;
    }
  }

  /// Times the right ones, taking turns, so that what disturbs the machine disturbs them all.
  void time() {
    for (auto& [run, timer] : timers_) {
      stage("warming up " + runs_[run].requested);
      timer.calibrate();
    }
    for (int i = 0; i < command_.repeat; ++i) {
      stage("timing, batch " + std::to_string(i + 1) + " of " + std::to_string(command_.repeat));
      for (auto& entry : timers_) entry.second.run_batch();
    }
    for (auto const& [run, timer] : timers_) runs_[run].times = timer.timing();
  }

  Operands<Scalar, Layout, Exec> with_;
  Block Y_, first_;  ///< first_: the first result of the kernel that is being checked
  Reference<Scalar> reference_;
  SpmmCommand const& command_;
  ProgressLine& progress_;
  std::vector<SpmmRun> runs_;
  std::vector<std::pair<std::size_t, BatchTimer>> timers_;  ///< with the index of its run
};

constexpr Op op_called(std::string_view name) {
  for (Op const op : {Op::transpose, Op::conjugate, Op::adjoint})
    if (name == to_string(op)) return op;
  return Op::none;
}

template <class Layout, class Scalar, class Exec>
void measure_widths(Exec const& exec, CrsMatrix<Scalar, Exec> const& A, SpmmCommand const& command,
                    ProgressLine& progress, SpmmResult& result) {
  progress.stage("preparing the reference");
  HostMatrix<Scalar, Exec> const host(A);
  Op const op = op_called(command.op);
  auto const [x_rows, y_rows] =
      transposes(op) ? std::pair(host.rows, host.columns) : std::pair(host.columns, host.rows);
  for (int const columns : command.columns) {
    auto const X = allocate<BlockOf<Scalar, Layout, Exec>>(exec, "Blockspan::X", x_rows, columns);
    fill_random(exec, X, command.seed);
    Width<Scalar, Layout, Exec> width({exec, A, op, X}, y_rows, host, command, progress);
    result.checked.push_back(width.checked());
    for (SpmmRun& run : width.run()) result.runs.push_back(std::move(run));
  }
}

}  // namespace measuring

template <class Scalar, class Exec>
SpmmResult measure(Exec const& exec, SpmmCommand const& command, ProgressLine& progress) {
  for (std::string const& id : command.compare)
    measuring::require_served(id, peer_refusal<Scalar, Exec>(id, command), command);
  SpmmResult result;
  result.device = describe(exec);
  progress.stage("loading " + command.matrix);
  auto const A = load_matrix<Scalar>(exec, command.matrix);
  exec.fence("Blockspan::load");
  using Matrix = CrsMatrix<Scalar, Exec>;
  result.problem = {scalar_name<Scalar>(),
                    is_complex_v<Scalar>,
                    A.numRows(),
                    A.numCols(),
                    static_cast<std::int64_t>(A.nnz()),
                    sizeof(Scalar),
                    sizeof(typename Matrix::non_const_size_type),
                    sizeof(typename Matrix::ordinal_type)};
  if (command.layout == "left")
    measuring::measure_widths<Kokkos::LayoutLeft, Scalar>(exec, A, command, progress, result);
  else
    measuring::measure_widths<Kokkos::LayoutRight, Scalar>(exec, A, command, progress, result);
  progress.stage("measuring the copy bandwidth");  // last: whatever is refused costs no time
  result.copy = measure_copy(exec, std::min(command.repeat, measuring::copy_batches));
  return result;
}

}  // namespace blockspan::apps
