#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/compiled.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>

namespace blockspan {

/// Inspects the pattern of a sparse matrix once, chooses how to multiply with it, prepares what
/// that needs, and says in words what it chose, why, and what it rejected.
///
/// The plan depends on the pattern only: values may change between products. Every product checks
/// in O(1) that it is given the arrays the plan has seen; `verify` compares their contents. The
/// plan keeps these arrays alive. Copies share one state. One plan may serve several execution
/// space instances at once (each has its own scratch), but not two threads on the same instance.
///
/// Setup: two passes over the row offsets and one over the columns, four more passes over the rows
/// to see which have the same columns (and over the columns of those), three more over the row
/// offsets if long rows are cut. The first transposed product builds the transposed pattern, two
/// offsets or so and an ordinal a nonzero, and keeps it. Both wait for the instance. Products do
/// not, except where scratch grows (the first product on an instance, or a wider one): the sums of
/// cut rows, and on hosts a row-major copy of an X whose rows are not contiguous, where that pays.
template <class Exec, class Offset = int, class Ordinal = int>
class SpmmPlan {
 public:
  /// A: any KokkosSparse::CrsMatrix that `exec` can access, or any BsrMatrix: with blocks larger
  /// than 1 x 1 that is served by row_group alone. Throws Error if an option is bad, if another
  /// algorithm is asked for with such blocks, or if the ordinals cannot count their rows and
  /// columns.
  template <class Matrix>
  SpmmPlan(Exec const& exec, Matrix const& A, SpmmPlanOptions const& options = {}) {
    detail::require_compiled_pattern<Exec, Offset, Ordinal>();
    options.validate();
    state_ = detail::make_plan_state<Exec, Offset, Ordinal>(
        exec, detail::product_pattern_ref<Exec>(A), options,
        std::make_shared<std::pair<decltype(A.graph.row_map), decltype(A.graph.entries)>>(
            A.graph.row_map, A.graph.entries));
  }

  RowStatistics const& statistics() const { return state_->plain.statistics; }

  /// Id of the variant chosen for A itself.
  std::string_view algorithm() const { return state_->plain.choice.variant->id; }

  /// Label of the kernel, as Kokkos Tools sees it, that multiplies A with a row-major, 16-byte
  /// aligned block of `columns` columns of scalars of `scalar_bytes` bytes.
  std::string kernel(int columns, std::size_t scalar_bytes = sizeof(double)) const {
    return detail::kernel_label<Exec>(*state_->plain.choice.variant, state_->plain.statistics,
                                      columns, scalar_bytes);
  }

  /// What was seen, what is run at this width, why, and what was rejected.
  std::string explain(int columns, std::size_t scalar_bytes = sizeof(double)) const {
    return detail::explain_plan(*state_, columns, scalar_bytes);
  }

  /// True if A has the pattern this plan was made for, by a fingerprint of all offsets and columns.
  /// Waits for the instance. O(rows + nonzeros).
  template <class Matrix>
  bool verify(Exec const& exec, Matrix const& A) const {
    return detail::fingerprint(exec, detail::product_pattern_ref<Exec>(A)) == state_->fingerprint;
  }

  /// Implementation: what the products read.
  detail::PlanState<Exec, Offset, Ordinal>& state() const { return *state_; }

 private:
  std::shared_ptr<detail::PlanState<Exec, Offset, Ordinal>> state_;
};

template <class Exec, class Matrix>
SpmmPlan(Exec const&, Matrix const&, SpmmPlanOptions const& = {})
    -> SpmmPlan<Exec, detail::offset_t<Matrix>, detail::ordinal_t<Matrix>>;

}  // namespace blockspan
