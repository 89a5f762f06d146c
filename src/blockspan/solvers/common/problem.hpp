#pragma once

#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/multivector/workspace.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/solvers/common/column_kernels.hpp>
#include <blockspan/solvers/common/device_copy.hpp>
#include <blockspan/solvers/common/phase_timer.hpp>
#include <blockspan/solvers/common/select_columns.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// What the problems of both solvers share: the instance, A, the preconditioner T (null: none), and
/// the memory that column sums, column scalars and products of blocks need, kept between calls.
template <class Scalar, class Exec>
class SolverProblem {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Operator = LinearOperator<Scalar, Exec>;

  std::int64_t rows() const { return a_.rows(); }
  /// Of all ranks, where these share the rows; rows() is what this one has.
  std::int64_t global_rows() const { return workspace.rows().global_rows(rows()); }
  bool distributed() const { return workspace.rows().distributed(); }
  Communicator const& ranks() const { return workspace.rows().communicator(); }
  Operator const& a() const { return a_; }
  bool preconditioned() const { return t_ != nullptr; }
  /// The diagonal of T where T is Jacobi, or null: then T is a scaling of rows, part of other
  /// passes.
  Real const* weights() const { return weights_; }

  /// A new block of n x columns. Throws Error where memory is short.
  View new_block(char const* label, std::size_t columns) const {
    return allocate<View>(exec, label, rows(), columns);
  }

  /// Times a phase until the end of the scope.
  PhaseTimer<Exec> time(double& phase) const { return {time_phases_ ? &exec : nullptr, phase}; }

  /// Per column the sums of Terms over the rows, on the host. Fences exec.
  template <class Terms>
  std::vector<Real> fold(char const* label, Terms const& terms, std::int64_t columns) {
    return fold_(exec, label, terms, rows(), columns);
  }
  /// ||x|| of every column. Fences exec.
  std::vector<Real> norms(View const& X) {
    std::vector<Real> result(X.extent(1));
    blockspan::column_norms(exec, X, host_values(result), workspace);
    return result;
  }

  /// A copy on the device, valid until the next call; `values` must live until the next fence.
  Real const* on_device(std::vector<Real> const& values) { return numbers_(exec, values); }

  /// to(:, j) = factors[j] from(:, columns[j]), to and from different blocks.
  void select_scaled(BlockRef<Scalar const> const& from, std::vector<int> const& columns,
                     std::vector<Real> const& factors, View const& to) {
    selection_.assign(factors.begin(), factors.end());
    selection_.insert(selection_.end(), columns.begin(), columns.end());
    SelectScaled<Scalar, Exec>{from, block_ref<Exec>(to), on_device(selection_)}.launch(exec);
  }

  Exec exec;
  Workspace<Exec> workspace;

 protected:
  SolverProblem(Exec const& exec_, Operator const& A, Operator const* T, bool time_phases)
      : exec(exec_),
        workspace(A.row_space()),
        a_(A),
        t_(T),
        time_phases_(time_phases),
        fold_(A.row_space()) {
    if (auto const* const scaling = jacobi()) weights_ = scaling->factors().data();
  }
  ~SolverProblem() = default;

  JacobiPreconditioner<Scalar, Exec> const* jacobi() const {
    return dynamic_cast<JacobiPreconditioner<Scalar, Exec> const*>(t_);
  }

  Operator const& a_;
  Operator const* t_;
  Real const* weights_ = nullptr;
  bool time_phases_;

 private:
  ColumnFolder<Exec, Real> fold_;
  DeviceCopy<Real, Exec> numbers_;
  std::vector<Real> selection_;
};

}  // namespace blockspan::detail
