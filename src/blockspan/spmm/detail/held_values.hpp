#pragma once

#include <cstddef>
#include <typeindex>
#include <typeinfo>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/prepared_pattern.hpp>
#include <blockspan/spmm/op.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// A^T = A, A^H = A, or neither.
enum class Symmetry { none, symmetric, hermitian };

/// The op that does not transpose and gives the same, for a matrix with a symmetry.
constexpr Op without_transposing(Op op, Symmetry symmetry) {
  Op const same = symmetry == Symmetry::symmetric ? Op::transpose : Op::adjoint;
  return op == same ? Op::none : Op::conjugate;
}

/// Numbers of a type that the plan does not know.
template <class Exec>
class HeldNumbers {
 public:
  std::size_t bytes() const { return memory_.extent(0); }

  /// Null if there are none.
  template <class Number>
  Number* as() const {
    return reinterpret_cast<Number*>(memory_.data());
  }

  /// Room for so many bytes; what was there is lost.
  void resize(Exec const& exec, std::size_t bytes) {
    if (memory_.extent(0) == bytes) return;
    memory_ = {};  // given back first
    memory_ = allocate<Memory>(exec, "Blockspan::spmm_plan::held values", bytes);
  }
  void clear() { memory_ = {}; }

 private:
  using Memory = Kokkos::View<char*, typename Exec::memory_space>;
  Memory memory_;
};

/// What a plan keeps of the values of one matrix: see SpmmPlan::hold_transpose and
/// hold_single_precision.
template <class Exec, class Ordinal>
struct HeldValues {
  void const* source = nullptr;  ///< the matrix's array; null: nothing is held
  std::type_index scalar = typeid(void);

  HeldNumbers<Exec> singles;  ///< in single precision

  bool has_transpose = false;
  Symmetry symmetry = Symmetry::none;
  // without a symmetry
  PreparedPattern<Exec, Ordinal> prepared;  ///< for values in the order of the transpose
  HeldNumbers<Exec> transposed;

  template <class Scalar>
  bool are_of(Scalar const* values) const {
    return source != nullptr && source == values && scalar == typeid(Scalar);
  }

  /// What is held from now on is of this array.
  template <class Scalar>
  void belong_to(Scalar const* values) {
    if (are_of(values)) return;
    *this = {};
    source = values;
    scalar = typeid(Scalar);
  }
};

}  // namespace blockspan::detail
