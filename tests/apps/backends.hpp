#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/types.hpp"

namespace blockspan::test {

namespace backend_list {
template <class... Execs>
std::vector<std::string> backend_names(::testing::Types<Execs...>) {
  std::vector<std::string> names{Execs::name()...};
  for (std::string& name : names)
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return names;
}
}  // namespace backend_list

/// The backends of this build as the command line calls them.
inline std::vector<std::string> backends() { return backend_list::backend_names(Backends()); }

inline bool has_cuda() {
  auto const names = backends();
  return std::find(names.begin(), names.end(), "cuda") != names.end();
}

/// A backend of this build that runs on the host; empty in a build for devices alone.
inline std::string host_backend() {
  auto const names = backends();
  auto const found =
      std::find_if(names.begin(), names.end(), [](auto const& name) { return name != "cuda"; });
  return found == names.end() ? std::string() : *found;
}

/// The scalar as the command line calls it, or the next one where the build has no single
/// precision or no complex numbers.
inline std::string built_scalar(std::string const& scalar) {
  bool const single = scalar == "f32" || scalar == "c64";
  if (scalar[0] == 'c' && has_scalar<Kokkos::complex<float>> && single) return scalar;
  if (scalar[0] == 'c' && has_scalar<Kokkos::complex<double>>) return "c128";
  return single && has_scalar<float> ? "f32" : "f64";
}

/// Names parameterized tests after a backend.
inline std::string backend_test_name(::testing::TestParamInfo<std::string> const& info) {
  return info.param;
}

}  // namespace blockspan::test
