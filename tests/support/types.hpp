#pragma once

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

namespace blockspan::test {

/// One point of the grid of typed tests.
template <class ExecutionSpace, class ScalarType>
struct Config {
  using Exec = ExecutionSpace;
  using Scalar = ScalarType;
};

namespace detail {
template <class... Lists>
struct Concatenate;
template <class... A>
struct Concatenate<::testing::Types<A...>> {
  using type = ::testing::Types<A...>;
};
template <class... A, class... B, class... Rest>
struct Concatenate<::testing::Types<A...>, ::testing::Types<B...>, Rest...>
    : Concatenate<::testing::Types<A..., B...>, Rest...> {};

template <class Exec>
using AllScalars =
    ::testing::Types<Config<Exec, float>, Config<Exec, double>,
                     Config<Exec, Kokkos::complex<float>>, Config<Exec, Kokkos::complex<double>>>;
}  // namespace detail

/// Every enabled backend.
using Backends = typename detail::Concatenate<::testing::Types<>
#ifdef KOKKOS_ENABLE_SERIAL
                                              ,
                                              ::testing::Types<Kokkos::Serial>
#endif
#ifdef KOKKOS_ENABLE_OPENMP
                                              ,
                                              ::testing::Types<Kokkos::OpenMP>
#endif
#ifdef KOKKOS_ENABLE_CUDA
                                              ,
                                              ::testing::Types<Kokkos::Cuda>
#endif
                                              >::type;

/// Every enabled backend with every scalar.
template <class List>
struct WithScalars;
template <class... Exec>
struct WithScalars<::testing::Types<Exec...>> {
  using type = typename detail::Concatenate<detail::AllScalars<Exec>...>::type;
};
using Configs = typename WithScalars<Backends>::type;

/// Names typed tests `Serial_double`, `OpenMP_complex_float`, ... in the order of the lists.
struct ConfigNames {
  template <class T>
  static std::string GetName(int) {
    if constexpr (requires { typename T::Exec; })
      return std::string(T::Exec::name()) + "_" + scalar_name<typename T::Scalar>();
    else
      return T::name();
  }
  template <class Scalar>
  static char const* scalar_name() {
    if constexpr (std::is_same_v<Scalar, float>) return "float";
    if constexpr (std::is_same_v<Scalar, double>) return "double";
    if constexpr (std::is_same_v<Scalar, Kokkos::complex<float>>) return "complex_float";
    return "complex_double";
  }
};

}  // namespace blockspan::test
