#pragma once

namespace blockspan {

/// What is done to A before it multiplies: op(A) is A, its transpose, its conjugate, or its
/// conjugate transpose. For real matrices the last two are `none` and `transpose`.
enum class Op { none, transpose, conjugate, adjoint };

constexpr bool transposes(Op op) { return op == Op::transpose || op == Op::adjoint; }
constexpr bool conjugates(Op op) { return op == Op::conjugate || op == Op::adjoint; }

constexpr char const* to_string(Op op) {
  switch (op) {
    case Op::transpose:
      return "transpose";
    case Op::conjugate:
      return "conjugate";
    case Op::adjoint:
      return "adjoint";
    default:
      return "none";
  }
}

}  // namespace blockspan
