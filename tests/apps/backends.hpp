#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/backends.hpp"
#include "common/components.hpp"
#include "support/types.hpp"

namespace blockspan::test {

namespace detail {
template <class... Execs>
std::vector<std::string> backend_names(::testing::Types<Execs...>) {
  std::vector<std::string> names{Execs::name()...};
  for (std::string& name : names)
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return names;
}
}  // namespace detail

/// The backends of this build as the command line calls them.
inline std::vector<std::string> backends() { return detail::backend_names(Backends()); }

inline bool has_cuda() {
  auto const names = backends();
  return std::find(names.begin(), names.end(), "cuda") != names.end();
}

/// A backend of this build that runs on the host.
inline std::string host_backend() {
  auto const names = backends();
  return *std::find_if(names.begin(), names.end(), [](auto const& name) { return name != "cuda"; });
}

/// The scalar as the command line calls it, or its double-precision kin where the build has no
/// single precision.
inline std::string built_scalar(std::string const& scalar) {
  if (has_scalar<float>) return scalar;
  return scalar == "f32" ? "f64" : scalar == "c64" ? "c128" : scalar;
}

/// Names parameterized tests after a backend.
inline std::string backend_test_name(::testing::TestParamInfo<std::string> const& info) {
  return info.param;
}

}  // namespace blockspan::test
