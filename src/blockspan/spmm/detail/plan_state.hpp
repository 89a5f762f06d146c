#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/detail/blas_handles.hpp>
#include <blockspan/spmm/detail/held_values.hpp>
#include <blockspan/spmm/detail/prepared_pattern.hpp>
#include <blockspan/spmm/detail/scratch_pool.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

template <class Exec, class Ordinal>
struct TransposedState {
  TransposedPattern<Exec, Ordinal> pattern;
  PreparedPattern<Exec, Ordinal> prepared;
};

template <class Scalar>
constexpr ScalarKind scalar_kind() {
  return {sizeof(Scalar), std::is_same_v<real_t<Scalar>, double>, is_complex_v<Scalar>};
}

/// Where the parts of cut rows wait: see Carry.
template <class Exec>
struct CarryPools {
  ScratchPool<Exec> sums;
  ScratchPool<Exec> arrived{Fill::zero};
};

/// What a plan knows. Products change nothing but the parts marked below, each behind its own lock,
/// so one plan serves several instances at once.
template <class Exec, class Ordinal>
struct PlanState {
  SpmmPlanOptions options;
  ScalarKind scalar;                 ///< of the matrix that the plan was made for
  PatternRef<int, Ordinal> given{};  ///< the pattern that the plan was made for
  PreparedPattern<Exec, Ordinal> plain;
  std::uint64_t fingerprint = 0;

  // grow on demand
  CarryPools<Exec> carry;           ///< of cut rows
  ScratchPool<Exec> packed;         ///< X made row-major
  ScratchPool<Exec> packed_result;  ///< Y to be
  ScratchPool<Exec> dense;          ///< A written out
  BlasHandles<Exec> blas;
  ScratchPool<Exec> dots;  ///< partial sums of spmm_dots
  std::mutex transposing;
  std::optional<TransposedState<Exec, Ordinal>> transposed;
  HeldValues<Exec, Ordinal> held;  ///< changed by the hold functions alone
};

/// Inspects the pattern and prepares the variant. Waits for the instance.
template <class Exec, class Ordinal>
std::shared_ptr<PlanState<Exec, Ordinal>> make_plan_state(Exec const& exec,
                                                          PatternRef<int, Ordinal> const& A,
                                                          SpmmPlanOptions const& options,
                                                          ScalarKind const& scalar);

/// The prepared transpose; the first call builds it and waits for the instance.
template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> const& transposed_of(Exec const& exec,
                                                    PlanState<Exec, Ordinal>& plan);

/// A pattern prepared as the plan's own, for values that stand in its order. Waits for the
/// instance.
template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> prepare_in_order(Exec const& exec,
                                                PlanState<Exec, Ordinal> const& plan,
                                                PatternRef<int, Ordinal> const& pattern);

}  // namespace blockspan::detail
