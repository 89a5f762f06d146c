#include "common/report_parts.hpp"

namespace blockspan::apps {

Json to_json(Versions const& versions) {
  return {{"blockspan", versions.blockspan},
          {"kokkos", versions.kokkos},
          {"kokkos_kernels", versions.kokkos_kernels}};
}

Json to_json(Device const& device) {
  Json name, threads;
  if (!device.name.empty()) name = device.name;
  if (device.threads > 0) threads = device.threads;
  return {{"name", name}, {"threads", threads}};
}

Json text_or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }

}  // namespace blockspan::apps
