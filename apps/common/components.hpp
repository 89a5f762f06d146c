#pragma once

#include <cctype>
#include <string>

namespace blockspan::apps {

// What these programs were linked with: each component defines its macro for those who link it.
#ifdef BLOCKSPAN_HAS_CUSPARSE
inline constexpr bool has_cusparse = true;
#else
inline constexpr bool has_cusparse = false;
#endif
#ifdef BLOCKSPAN_HAS_DIRECT
inline constexpr bool has_direct = true;
#else
inline constexpr bool has_direct = false;
#endif
#ifdef BLOCKSPAN_HAS_KOKKOS_KERNELS
inline constexpr bool has_kokkos_kernels = true;
#else
inline constexpr bool has_kokkos_kernels = false;
#endif

/// Says that a component is missing, and how to get it. needs: what else has to be there first.
inline std::string left_out(std::string const& component, std::string const& needs = "") {
  std::string option = "Blockspan_ENABLE_" + component;
  for (std::size_t i = option.size() - component.size(); i < option.size(); ++i)
    option[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(option[i])));
  return "this build is without the component " + component + " (" + needs + "configure with -D" +
         option + "=ON)";
}

}  // namespace blockspan::apps
