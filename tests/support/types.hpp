#pragma once

#include <array>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/support/scalar.hpp>

#include "support/instantiations.hpp"

namespace blockspan::test {

/// For ConfigsWith: scalars of double precision.
template <class Scalar>
using InDouble = std::is_same<real_t<Scalar>, double>;

/// One point of the grid of typed tests.
template <class ExecutionSpace, class ScalarType>
struct Config {
  using Exec = ExecutionSpace;
  using Scalar = ScalarType;
};

namespace typed_lists {

template <class... Lists>
struct Concatenate;
template <class... A>
struct Concatenate<::testing::Types<A...>> {
  using type = ::testing::Types<A...>;
};
template <class... A, class... B, class... Rest>
struct Concatenate<::testing::Types<A...>, ::testing::Types<B...>, Rest...>
    : Concatenate<::testing::Types<A..., B...>, Rest...> {};

template <class Exec, class Scalars>
struct ConfigsOf;
template <class Exec, class... Scalars>
struct ConfigsOf<Exec, ::testing::Types<Scalars...>> {
  using type = ::testing::Types<Config<Exec, Scalars>...>;
};
template <class List, class Scalars>
struct WithScalars;
template <class... Exec, class Scalars>
struct WithScalars<::testing::Types<Exec...>, Scalars> {
  using type = typename Concatenate<typename ConfigsOf<Exec, Scalars>::type...>::type;
};

template <template <class> class Keep, class List>
struct Filter;
template <template <class> class Keep, class... Config>
struct Filter<Keep, ::testing::Types<Config...>> {
  template <class C>
  using OneOrNone =
      std::conditional_t<Keep<typename C::Scalar>::value, ::testing::Types<C>, ::testing::Types<>>;
  using type = typename Concatenate<OneOrNone<Config>...>::type;
};

template <class Exec>
struct ExecOf {
  using type = Exec;
};
template <class Exec, class Scalar>
struct ExecOf<Config<Exec, Scalar>> {
  using type = Exec;
};

template <class T, class... Rest>
struct First {
  using type = T;
};

template <class Scalar, class... Scalars>
inline constexpr bool is_among = (std::is_same_v<Scalar, Scalars> || ...);

}  // namespace typed_lists

/// Every backend of the library.
using Backends = ::testing::Types<BLOCKSPAN_TEST_BACKENDS>;

/// Every backend with every scalar: for one suite of each part of the library.
using EveryConfig =
    typename typed_lists::WithScalars<Backends, ::testing::Types<BLOCKSPAN_TEST_SCALARS>>::type;

/// Every backend with a covering array of the scalars: real and complex, double and single.
using Configs =
    typename typed_lists::WithScalars<Backends, ::testing::Types<BLOCKSPAN_TEST_COVERING>>::type;

/// Whether a backend, alone or in a Config, computes in the memory of the host.
template <class T>
inline constexpr bool on_host_v =
    std::is_same_v<typename typed_lists::ExecOf<T>::type::memory_space, Kokkos::HostSpace>;

/// Whether the library is compiled for this backend.
template <class Exec>
inline constexpr bool has_backend = typed_lists::is_among<Exec, BLOCKSPAN_TEST_BACKENDS>;

/// The first backend of the library, for tests that need only one.
using AnyBackend = typename typed_lists::First<BLOCKSPAN_TEST_BACKENDS>::type;

/// Two instances that share the resources of one; OpenMP's single thread cannot be shared.
template <class Exec>
std::array<Exec, 2> halves(Exec const& exec) {
  bool const single = std::string(Exec::name()) == "OpenMP" && exec.concurrency() == 1;
  if (single) return {exec, exec};
  return Kokkos::Experimental::partition_space(exec, 1, 1);
}

/// Why a test is skipped that compares with a host in a build for devices alone.
inline constexpr char const* needs_host =
    "needs the default backend of hosts in Blockspan_BACKENDS";

/// True if the solvers are compiled for this scalar.
template <class Scalar>
inline constexpr bool has_scalar = typed_lists::is_among<Scalar, BLOCKSPAN_TEST_SCALARS>;

/// Why a test is skipped that is complex.
inline constexpr char const* needs_complex = "needs complex_double in Blockspan_SCALARS";

/// Those of all whose scalar has Keep<Scalar>::value; all of them if none has.
template <template <class> class Keep>
using ConfigsWith = std::conditional_t<
    std::is_same_v<typename typed_lists::Filter<Keep, EveryConfig>::type, ::testing::Types<>>,
    EveryConfig, typename typed_lists::Filter<Keep, EveryConfig>::type>;

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
