#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/checks/validate_kernels.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {

namespace sparse {

/// to = factor from; finds the first entry that is finite in `from` but not in `to`.
template <class From, class To>
struct ConvertEntries {
  using Factor = real_t<typename From::non_const_value_type>;
  From from;
  To to;
  Factor factor;

  KOKKOS_FUNCTION void operator()(std::int64_t position, std::int64_t& first) const {
    auto const value = from(position);
    auto const result = convert_scalar<typename To::value_type>(
        typename From::non_const_value_type(value * factor));
    to(position) = result;
    if (position < first && is_finite(value) && !is_finite(result)) first = position;
  }
};

/// The power of two that scales `size` into [1/2, 1); 1 if `size` is zero or not finite.
template <class Real>
Real factor_below_one(Real size) {
  bool const scalable = size > 0 && std::isfinite(size);
  int const exponent = scalable ? std::ilogb(size) + 1 : 0;
  constexpr int range = std::numeric_limits<Real>::max_exponent - 2;
  return std::ldexp(Real(1), std::clamp(-exponent, -range, range));
}

}  // namespace sparse

/// factor A with values of type Target, each rounded to nearest: the same matrix in another
/// precision. factor: real; a power of two scales values into the range of Target without rounding
/// errors of its own.
///
/// A: any KokkosSparse::CrsMatrix in memory of exec; real to real, complex to complex or real to
/// complex. The result shares the graph of A and owns its values. Underflow gives a subnormal value
/// or zero; NaN and infinite values are kept. Throws Error with the first entry that is finite in A
/// and not in Target, or where memory is short. Fences `exec`. O(entries).
template <class Target, class Exec, class Matrix>
auto convert_values(Exec const& exec, Matrix const& A,
                    real_t<typename Matrix::non_const_value_type> factor = 1) {
  using Offset = typename Matrix::non_const_size_type;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  using Result = CrsMatrix<Target, Exec, Offset, Ordinal>;
  static_assert(Kokkos::SpaceAccessibility<Exec, typename Matrix::memory_space>::accessible,
                "convert_values runs where the matrix lives");
  using Values = typename Result::values_type::non_const_type;
  auto const values = allocate<Values>(exec, "Blockspan::convert_values", A.values.extent(0));
  using Kernel = sparse::ConvertEntries<typename Matrix::values_type, Values>;
  std::int64_t const position = sparse::first_index(exec, "Blockspan::convert_values",
                                                    static_cast<std::int64_t>(A.values.extent(0)),
                                                    Kernel{A.values, values, factor});
  if (position >= 0)
    fail("convert_values", "entry (", sparse::row_of(exec, A.graph.row_map, position) + 1, ", ",
         sparse::element(exec, A.graph.entries, position) + 1, ") is ",
         sparse::element(exec, A.values, position), " (times ", factor, "), beyond the range of ",
         8 * sizeof(real_t<Target>), "-bit numbers");
  typename Result::staticcrsgraph_type const graph(A.graph.entries, A.graph.row_map);
  return Result("Blockspan::convert_values", A.numCols(), values, graph);
}

}  // namespace blockspan
