#pragma once

#include <cstddef>
#include <type_traits>

#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// What a plan knows of the scalars that it will multiply.
struct ScalarKind {
  std::size_t bytes;
  bool is_double;  ///< of double precision, complex or not
  bool is_complex;

  /// 16-bit scalars have kernels for whole rows and segments only.
  bool is_sixteen_bit() const { return bytes < sizeof(float); }

  bool operator==(ScalarKind const&) const = default;
};
/// Scalars known by their size: of at least 8 bytes they are taken for double precision.
constexpr ScalarKind scalar_of_bytes(std::size_t bytes) {
  return {bytes, bytes >= sizeof(double), bytes > sizeof(double)};
}

template <class Scalar>
constexpr ScalarKind scalar_kind() {
  return {sizeof(Scalar), std::is_same_v<real_t<Scalar>, double>, is_complex_v<Scalar>};
}

}  // namespace blockspan::detail
