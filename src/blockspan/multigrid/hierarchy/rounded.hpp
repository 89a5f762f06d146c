#pragma once

#include <cstdint>
#include <type_traits>

#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

// Levels rounded to the precision of a cycle.

namespace blockspan::levels {

/// to := factor from, rounded.
template <class Exec, class From, class To>
void round_values(Exec const& exec, From const& from,
                  real_t<typename From::non_const_value_type> factor, To const& to) {
  using Target = typename To::non_const_value_type;
  using Source = typename From::non_const_value_type;
  each(
      exec, "Blockspan::multigrid_round", static_cast<std::int64_t>(to.extent(0)),
      KOKKOS_LAMBDA(std::int64_t k) { to(k) = convert_scalar<Target>(Source(factor * from(k))); });
}

/// factor A with the same pattern, rounded; A itself (unscaled) if it already has this type.
template <class Value, class Scalar, class Exec>
CrsMatrix<Value, Exec> rounded(Exec const& exec, Arena<Exec>& arena,
                               CrsMatrix<Scalar, Exec> const& A, real_t<Scalar> factor) {
  if constexpr (std::is_same_v<Scalar, Value>) {
    return A;
  } else {
    auto const values = kept_array<Value>(exec, arena, static_cast<std::int64_t>(A.nnz()));
    round_values(exec, A.values, factor, values);
    return CrsMatrix<Value, Exec>("Blockspan::multigrid", A.numRows(), A.numCols(),
                                  static_cast<int>(A.nnz()), values, A.graph.row_map,
                                  A.graph.entries);
  }
}

/// factor W, for Jacobi, rounded; W itself (unscaled) if it already has this type.
template <class Value, class Exec, class Weights>
auto rounded_weights(Exec const& exec, Weights const& W, typename Weights::value_type factor) {
  using Result = typename JacobiPreconditioner<Value, Exec>::Factors;
  if constexpr (std::is_same_v<Result, Weights>) {
    return W;
  } else {
    auto const result = allocate<Result>(exec, "Blockspan::multigrid", W.extent(0));
    round_values(exec, W, factor, result);
    return result;
  }
}

/// Ratio of the largest and smallest positive weight; 1 if there are none. Fences.
template <class Exec, class Weights>
double contrast_of(Exec const& exec, Weights const& W) {
  Kokkos::MinMaxScalar<double> ends;
  Kokkos::parallel_reduce(
      "Blockspan::multigrid_contrast",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
          exec, 0, static_cast<std::int64_t>(W.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i, Kokkos::MinMaxScalar<double> & most) {
        double const w = static_cast<double>(W(i));
        if (!(w > 0)) return;
        if (w < most.min_val) most.min_val = w;
        if (w > most.max_val) most.max_val = w;
      },
      Kokkos::MinMax<double>(ends));
  return ends.max_val >= ends.min_val ? ends.max_val / ends.min_val : 1;
}

}  // namespace blockspan::levels
