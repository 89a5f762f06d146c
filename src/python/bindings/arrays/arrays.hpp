#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/registers/sixteen_bit.hpp>

#include "arrays/array_views.hpp"
#include "runtime.hpp"
#include <nanobind/nanobind.h>

// The caller's arrays as views, without copies, and the scalars of this build.

namespace blockspan::python {

namespace nb = nanobind;

using ConstArray = std::conditional_t<on_device, DeviceArray, HostArray>;
using Array = std::conditional_t<on_device, DeviceArray, WritableHostArray>;

/// Kokkos::complex and std::complex have the same layout; nanobind knows the latter.
template <class Scalar>
using std_t =
    std::conditional_t<is_complex_v<Scalar>, std::complex<real_t<Scalar>>, real_t<Scalar>>;

/// The type of an array of Scalar.
template <class Scalar>
nb::dlpack::dtype dtype_of() {
  using Code = nb::dlpack::dtype_code;
  if constexpr (is_sixteen_bit_v<Scalar>)
    return {static_cast<std::uint8_t>(std::is_same_v<Scalar, half> ? Code::Float : Code::Bfloat),
            16, 1};
  else
    return nb::dtype<std_t<Scalar>>();
}

/// NumPy's name of the type of an array; PyTorch's where NumPy has none (bfloat16).
inline std::string type_name(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  auto const code = static_cast<Code>(type.code);
  if (code == Code::Bool) return "bool";
  char const* const kind = code == Code::Float     ? "float"
                           : code == Code::Complex ? "complex"
                           : code == Code::Int     ? "int"
                           : code == Code::UInt    ? "uint"
                           : code == Code::Bfloat  ? "bfloat"
                                                   : "type";
  return kind + std::to_string(type.bits);
}

template <class Scalar>
std::string type_name() {
  return type_name(dtype_of<Scalar>());
}

namespace scalar_dispatch {

template <class... Scalars, class... Others>
products::TypeList<Scalars..., Others...> together(products::TypeList<Scalars...>,
                                                   products::TypeList<Others...>) {
  return {};
}

template <class Function, class... Scalars>
auto with_scalar(std::string const& name, Function const& function,
                 products::TypeList<Scalars...> /*compiled*/) {
  using First = std::tuple_element_t<0, std::tuple<Scalars...>>;
  using Result = decltype(function.template operator()<First>());
  Result result{};
  bool const known =
      ((type_name<Scalars>() == name ? (result = function.template operator()<Scalars>(), true)
                                     : false) ||
       ...);
  if (!known) {
    std::string names;
    ((names += (names.empty() ? "" : ", ") + type_name<Scalars>()), ...);
    bool const is_short = name == type_name<half>() || name == type_name<bfloat16>();
    fail("blockspan", "values of type ", name,
         is_short ? " (which products and sddmm alone take)" : "", "; this build has ", names,
         " (more: pip install . -C cmake.define.Blockspan_",
         is_short ? "STORAGE_SCALARS=\"half;bfloat16\", say)"
                  : "SCALARS=\"double;complex_double\", say)");
  }
  return result;
}

}  // namespace scalar_dispatch

/// function.operator()<Scalar>() for the scalar of that name. Throws Error if this build does not
/// have it.
template <class Function>
auto with_scalar(std::string const& name, Function const& function) {
  return scalar_dispatch::with_scalar(name, function, products::SpmmScalars{});
}

/// The same for the values of a matrix, which may also be scalars of 16 bits.
template <class Function>
auto with_values(std::string const& name, Function const& function) {
  using scalar_dispatch::together;
  return scalar_dispatch::with_scalar(
      name, function, together(products::SpmmScalars{}, products::SpmmStorageScalars{}));
}

template <class Scalar>
using StridedBlock =
    Kokkos::View<Scalar**, Kokkos::LayoutStride, Kokkos::Device<Exec, Exec::memory_space>,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// "3 x 2 float64".
template <class AnyArray>
std::string in_words(AnyArray const& array) {
  std::string text;
  for (std::size_t d = 0; d < array.ndim(); ++d)
    text += (d > 0 ? " x " : "") + std::to_string(array.shape(d));
  return text + " " + type_name(array.dtype());
}

/// Throws Error if the array is on a device other than the one the library runs on.
template <class AnyArray>
void check_device([[maybe_unused]] AnyArray const& array, [[maybe_unused]] char const* name) {
  if constexpr (on_device)
    require(
        array.device() == device_of_library(), "blockspan", name, " is ",
        array.device() < 0 ? "in host memory" : "on CUDA device " + std::to_string(array.device()),
        ", and in this process the library runs on CUDA device ", device_of_library());
}

/// A view of a two-dimensional array of Scalar. Throws Error for other types or dimensions, and for
/// negative strides.
template <class Scalar, class AnyArray>
StridedBlock<Scalar> strided_block(AnyArray const& array, char const* name) {
  using Value = std::remove_const_t<Scalar>;
  require(array.ndim() == 2, "blockspan", name, " has ", array.ndim(),
          " dimensions; a block of vectors has two");
  check_device(array, name);
  require(array.dtype() == dtype_of<Value>(), "blockspan", name, " is ", in_words(array),
          " and the matrix has ", type_name<Value>(), ": convert one of them with astype");
  require(array.stride(0) >= 0 && array.stride(1) >= 0, "blockspan", name,
          " has negative strides (", array.stride(0), ", ", array.stride(1), " elements)");
  return StridedBlock<Scalar>(
      static_cast<Scalar*>(array.data()),
      Kokkos::LayoutStride(array.shape(0), static_cast<std::size_t>(array.stride(0)),
                           array.shape(1), static_cast<std::size_t>(array.stride(1))));
}

/// A view of a row-major array, the layout of the solvers. Throws Error for another layout.
template <class Scalar, class AnyArray>
auto row_major_block(AnyArray const& array, char const* name) {
  auto const strided = strided_block<Scalar>(array, name);
  require(strided.extent(0) < 2 || strided.stride(0) == strided.extent(1), "blockspan", name,
          " is not row-major");
  require(strided.extent(1) < 2 || strided.stride(1) == 1, "blockspan", name, " is not row-major");
  using View =
      std::conditional_t<std::is_const_v<Scalar>, ConstBlock<std::remove_const_t<Scalar>, Exec>,
                         Block<Scalar, Exec>>;
  return View(strided.data(), strided.extent(0), strided.extent(1));
}

/// A factor converted to Scalar. Throws Error for an imaginary part if Scalar is real.
template <class Scalar>
computed_t<Scalar> scalar_of(std::complex<double> number, char const* name) {
  if constexpr (is_complex_v<Scalar>) {
    using Real = real_t<Scalar>;
    return Scalar(static_cast<Real>(number.real()), static_cast<Real>(number.imag()));
  } else {
    require(number.imag() == 0, "blockspan", name, " = ", number.real(), " + ", number.imag(),
            "j, and the matrix is real");
    return static_cast<computed_t<Scalar>>(number.real());
  }
}

}  // namespace blockspan::python
