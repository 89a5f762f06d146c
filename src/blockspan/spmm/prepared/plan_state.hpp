#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>
#include <typeinfo>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/launch/scratch_pool.hpp>
#include <blockspan/spmm/op.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/prepared/prepared_pattern.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// A^T = A, A^H = A, or neither.
enum class Symmetry { none, symmetric, hermitian };

/// The equivalent op without a transpose, for a symmetric or Hermitian matrix.
constexpr Op without_transposing(Op op, Symmetry symmetry) {
  Op const same = symmetry == Symmetry::symmetric ? Op::transpose : Op::adjoint;
  return op == same ? Op::none : Op::conjugate;
}

/// Type-erased device buffer for copied values.
template <class Exec>
class CachedArray {
 public:
  std::size_t bytes() const { return memory_.extent(0); }

  /// Null if it is empty.
  template <class Scalar>
  Scalar* as() const {
    return reinterpret_cast<Scalar*>(memory_.data());
  }

  /// What was there is lost.
  void resize(Exec const& exec, std::size_t bytes) {
    if (memory_.extent(0) == bytes) return;
    memory_ = {};  // given back first
    memory_ = allocate<Memory>(exec, "Blockspan::spmm_plan::stored values", bytes);
  }
  void clear() { memory_ = {}; }

 private:
  using Memory = Kokkos::View<char*, typename Exec::memory_space>;
  Memory memory_;
};

/// Cached values of one matrix: see SpmmPlan::hold_transpose, hold_slices.
template <class Exec, class Ordinal>
struct CachedValues {
  void const* source = nullptr;       ///< the matrix's array; null: nothing is cached
  std::shared_ptr<void const> array;  ///< that is kept alive: no other has its address
  std::type_index scalar = typeid(void);

  bool has_transpose = false;
  Symmetry symmetry = Symmetry::none;
  // without a symmetry
  PreparedPattern<Exec, Ordinal> prepared;  ///< for values in the order of the transpose
  CachedArray<Exec> transposed;

  std::shared_ptr<void const> slices;  ///< RowSlices of the matrix itself; null: none

  template <class Scalar>
  bool are_of(Scalar const* values) const {
    return source != nullptr && source == values && scalar == typeid(Scalar);
  }

  /// Binds the cache to this array.
  template <class Scalar>
  void belong_to(Scalar const* values, std::shared_ptr<void const> const& owner) {
    if (!are_of(values)) *this = {};
    source = values;
    array = owner;
    scalar = typeid(Scalar);
  }
};

template <class Exec, class Ordinal>
struct TransposedState {
  TransposedPattern<Exec, Ordinal> pattern;
  PreparedPattern<Exec, Ordinal> prepared;
};

/// The sums of cut rows: see Carry.
template <class Exec>
struct CarryPools {
  ScratchPool<Exec> sums;
  ScratchPool<Exec> arrived{Fill::zero};
};

/// The state of a plan. Products modify only the members marked below, each under its own lock, so
/// several instances may use one plan at once.
template <class Exec, class Ordinal>
struct PlanState {
  SpmmPlanOptions options;
  ScalarKind scalar;                 ///< of the matrix that the plan was made for
  PatternRef<int, Ordinal> given{};  ///< the pattern that the plan was made for
  PreparedPattern<Exec, Ordinal> plain;
  std::uint64_t fingerprint = 0;

  // grow on demand
  CarryPools<Exec> carry;      ///< of cut rows
  ScratchPool<Exec> x_copy;    ///< X made row-major
  ScratchPool<Exec> y_copy;    ///< Y to be
  ScratchPool<Exec> dense;     ///< A written out
  std::shared_ptr<void> blas;  ///< handles of the published dense product
  ScratchPool<Exec> dots;      ///< partial sums of spmm_dots
  std::mutex transposing;
  std::optional<TransposedState<Exec, Ordinal>> transposed;
  CachedValues<Exec, Ordinal> cached;  ///< changed by the hold functions alone
};

/// The prepared transpose; the first call builds it and waits for the instance.
template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> const& transposed_of(Exec const& exec,
                                                    PlanState<Exec, Ordinal>& plan);

/// A pattern prepared as the plan's own, for values in its order. Waits for the instance.
template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> prepare_in_order(Exec const& exec,
                                                PlanState<Exec, Ordinal> const& plan,
                                                PatternRef<int, Ordinal> const& pattern);

}  // namespace blockspan::products
