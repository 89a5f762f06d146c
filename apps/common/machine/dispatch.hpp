#pragma once

#include <cctype>
#include <string>
#include <tuple>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

#include "common/machine/backends.hpp"
#include "common/machine/device.hpp"

namespace blockspan::apps {

/// The name of a backend on command lines and in reports: serial, openmp, cuda, ...
template <class Exec>
std::string backend_name() {
  std::string name = Exec::name();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// The device of an instance.
template <class Exec>
Device describe(Exec const& exec) {
  if constexpr (requires { exec.cuda_device_prop().name; })
    return {backend_name<Exec>(), exec.cuda_device_prop().name, 0};
  else if constexpr (requires { exec.hip_device_prop().name; })
    return {backend_name<Exec>(), exec.hip_device_prop().name, 0};
  else
    return {backend_name<Exec>(), "", exec.concurrency()};
}

/// The names of all backends of this build.
template <class... Execs>
std::string backend_names(BackendList<Execs...>) {
  std::string names;
  ((names += (names.empty() ? "" : ", ") + backend_name<Execs>()), ...);
  return names;
}

/// The name of a scalar on command lines and in reports: f32, f64, c64 (complex<float>), c128.
template <class Scalar>
std::string scalar_name() {
  std::string name(1, is_complex_v<Scalar> ? 'c' : 'f');
  name += std::to_string(8 * sizeof(Scalar));
  return name;
}

/// The names of all scalars of this build.
template <class... Scalars>
std::string scalar_names(ScalarList<Scalars...>) {
  std::string names;
  ((names += (names.empty() ? "" : ", ") + scalar_name<Scalars>()), ...);
  return names;
}

namespace dispatching {

template <class Scalar, class... Scalars>
constexpr bool is_among(ScalarList<Scalars...>) {
  return (std::is_same_v<Scalar, Scalars> || ...);
}

template <class Visitor, class... Execs>
auto visit_backend(std::string const& wanted, Visitor const& visit, BackendList<Execs...>) {
  using First = std::tuple_element_t<0, std::tuple<Execs...>>;
  decltype(visit(First())) result{};
  bool const found =
      ((wanted == "auto" || wanted == backend_name<Execs>() ? (result = visit(Execs()), true)
                                                            : false) ||
       ...);
  require(found, "--backend " + wanted, "this build has only ", backend_names(Backends()));
  return result;
}

template <class Visitor, class... Scalars>
auto visit_scalar(std::string const& wanted, Visitor const& visit, ScalarList<Scalars...>) {
  using First = std::tuple_element_t<0, std::tuple<Scalars...>>;
  decltype(visit(First())) result{};
  bool const found =
      ((wanted == scalar_name<Scalars>() ? (result = visit(Scalars()), true) : false) || ...);
  require(found, "--scalar " + wanted, "this build has only ", scalar_names(apps::Scalars()));
  return result;
}

}  // namespace dispatching

/// Whether this build has a scalar.
template <class Scalar>
inline constexpr bool has_scalar = dispatching::is_among<Scalar>(Scalars());

/// visit(exec) on the default instance of the backend called `name`; `auto` is the best of the
/// build. Throws Error if the build does not have it. Kokkos must run.
template <class Visitor>
auto with_backend(std::string const& name, Visitor const& visit) {
  return dispatching::visit_backend(name, visit, Backends());
}

/// visit(Scalar()) for the scalar called `name`. Throws Error if the build does not have it.
template <class Visitor>
auto with_scalar(std::string const& name, Visitor const& visit) {
  return dispatching::visit_scalar(name, visit, Scalars());
}

}  // namespace blockspan::apps
