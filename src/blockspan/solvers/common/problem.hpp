#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/solvers/common/column_kernels.hpp>
#include <blockspan/solvers/common/phase_timer.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::solvers {

/// The values of a vector as a view of it.
template <class Real>
using HostValues = Kokkos::View<Real*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Real>
HostValues<Real> host_values(std::vector<Real>& values) {
  return HostValues<Real>(values.data(), values.size());
}
template <class Real>
HostValues<Real const> host_values(std::vector<Real> const& values) {
  return HostValues<Real const>(values.data(), values.size());
}

/// A new view with these values. Fences exec.
template <class View, class Exec, class Real>
View to_device(Exec const& exec, char const* label, std::vector<Real> const& values) {
  auto const result = allocate<View>(exec, label, values.size());
  Kokkos::deep_copy(exec, result, host_values(values));
  exec.fence("Blockspan::solvers: values of the host");
  return result;
}

/// to(:, j) = factors[j] from(:, columns[j])
template <class Scalar>
struct SelectScaled {
  BlockRef<Scalar const> from;
  BlockRef<Scalar> to;
  real_t<Scalar> const* values;  ///< factors, then columns (exact as reals)

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    to(i, j) = values[j] * from(i, static_cast<std::int64_t>(values[to.columns + j]));
  }
};

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
  using Facts = OperatorFacts<Scalar, Exec>;
  Facts const& facts_of_a() const { return facts_of_a_; }
  bool preconditioned() const { return t_ != nullptr; }
  /// The weights of rows that T is (OperatorFacts::row_weights), part of other passes, or null.
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
    return columns_to_host(exec, label, terms, local_chunks(rows(), workspace), columns, workspace);
  }
  /// ||x|| of every column. Fences exec.
  std::vector<Real> norms(View const& X) {
    std::vector<Real> result(X.extent(1));
    blockspan::column_norms(exec, X, host_values(result), workspace);
    return result;
  }

  /// A copy on the device, valid until the next call; `values` must live until the next fence.
  Real const* on_device(std::vector<Real> const& values) {
    std::size_t const count = values.size();
    if (values_.extent(0) < count)
      values_ = allocate<Values>(exec, "Blockspan::solvers::values", count);
    Kokkos::deep_copy(exec, Kokkos::subview(values_, std::pair<std::size_t, std::size_t>(0, count)),
                      host_values(values));
    return values_.data();
  }

  /// to(:, j) = factors[j] from(:, columns[j]), to and from different blocks; no factors: ones.
  void select_scaled(BlockRef<Scalar const> const& from, std::vector<int> const& columns,
                     std::vector<Real> const& factors, View const& to) {
    selection_ = factors;
    if (factors.empty()) selection_.assign(columns.size(), Real(1));
    selection_.insert(selection_.end(), columns.begin(), columns.end());
    auto const target = block_ref<Exec>(to);
    for_each_entry(exec, "Blockspan::solvers::select", target,
                   SelectScaled<Scalar>{from, target, on_device(selection_)});
  }

  Exec exec;
  Workspace<Exec> workspace;

 protected:
  SolverProblem(Exec const& exec_, Operator const& A, Operator const* T, bool time_phases)
      : SolverProblem(exec_, A, facts_of(A), T, time_phases) {}
  ~SolverProblem() = default;

  Operator const& a_;
  Facts facts_of_a_, facts_of_t_;
  Operator const* t_;
  Real const* weights_;
  bool time_phases_;

 private:
  SolverProblem(Exec const& exec_, Operator const& A, Facts facts, Operator const* T,
                bool time_phases)
      : exec(exec_),
        workspace(facts.row_space),
        a_(A),
        facts_of_a_(std::move(facts)),
        facts_of_t_(T ? T->facts() : Facts{}),
        t_(T),
        weights_(facts_of_t_.row_weights.data()),
        time_phases_(time_phases) {}

  using Values = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  Values values_;
  std::vector<Real> selection_;
};

}  // namespace blockspan::solvers
