#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/spmm/plan.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::distributed {

/// The plans of the parts of a rank's rows, see DistributedMatrix::RowPart. None of these functions
/// communicates.
template <class Scalar, class Exec>
class PartPlans {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;

  PartPlans() = default;
  /// interior_alone: all rows are in the interior; only its plan is created.
  PartPlans(Exec const& exec, Matrix const& matrix, SpmmPlanOptions const& options,
            bool interior_alone) {
    for (int p = 0; p < 3; ++p)
      if (p == Matrix::interior || !interior_alone)
        plans_[p].emplace(exec, of_part(matrix, p), options);
  }

  SpmmPlan<Exec> const& operator[](int part) const { return *plans_[part]; }

  std::int64_t longest_row() const {
    std::int64_t longest = 0;
    for (auto const& plan : plans_)
      if (plan) longest = std::max(longest, plan->statistics().longest);
    return longest;
  }

  /// These plans with the current values in slices (SpmmPlan::hold_slices). Nothing if no product
  /// uses them, these plans already have them, or they need more than half of this rank's share of
  /// the free memory.
  std::optional<PartPlans> in_slices(Exec const& exec, Matrix const& matrix) const {
    if (has_slices_) return {};
    std::int64_t entries = 0;
    for (int p = 0; p < 3; ++p) entries += static_cast<std::int64_t>(of_part(matrix, p).nnz());
    int const ranks = matrix.row_space().communicator().size();
    if (!operators::have_room_in_slices<Scalar, Exec>(entries, ranks)) return {};
    PartPlans result;
    try {
      for (int p = 0; p < 3; ++p) {
        if (!plans_[p]) continue;
        result.plans_[p] = plans_[p]->without_copies();
        bool const held = result.plans_[p]->hold_slices(exec, of_part(matrix, p));
        result.has_slices_ = result.has_slices_ || held;
      }
    } catch (Error const&) {
      return {};
    }
    if (!result.has_slices_) return {};
    return result;
  }

 private:
  static auto const& of_part(Matrix const& matrix, int part) {
    return matrix.part(static_cast<typename Matrix::RowPart>(part)).matrix;
  }

  std::array<std::optional<SpmmPlan<Exec>>, 3> plans_;
  bool has_slices_ = false;
};

}  // namespace blockspan::distributed
