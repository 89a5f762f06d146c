#include "statuses.hpp"

#include <array>

#include <blockspan.h>

namespace blockspan::capi {

namespace {

// In the order of blockspan.h, which does not depend on that of the library.
constexpr std::array all = {Status::converged,
                            Status::zero_rhs,
                            Status::zero_eigenvalue,
                            Status::attainable_limit,
                            Status::max_iterations,
                            Status::time_limit,
                            Status::stagnated,
                            Status::not_converged,
                            Status::operator_not_finite,
                            Status::operator_not_hermitian,
                            Status::mass_not_positive_definite,
                            Status::mass_singular,
                            Status::missing_pairs,
                            Status::singular_pencil,
                            Status::stopped_by_monitor,
                            Status::out_of_range,
                            Status::nonfinite_rhs,
                            Status::negative_curvature,
                            Status::singular,
                            Status::inconsistent,
                            Status::preconditioner_not_spd};
static_assert(all[BLOCKSPAN_PRECONDITIONER_NOT_SPD] == Status::preconditioner_not_spd);
static_assert(all[BLOCKSPAN_STOPPED_BY_MONITOR] == Status::stopped_by_monitor);
static_assert(all[BLOCKSPAN_NOT_CONVERGED] == Status::not_converged);

}  // namespace

std::int32_t number_of(Status status) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == status) return static_cast<std::int32_t>(i);
  return -1;
}

char const* name_of_status(std::int32_t number) {
  if (number < 0 || number >= static_cast<std::int32_t>(all.size())) return "unknown";
  return to_string(all[static_cast<std::size_t>(number)]).data();  // of a literal, so ends with 0
}

std::vector<std::string> names_of(std::vector<Status> const& statuses) {
  std::vector<std::string> names;
  for (auto const status : statuses) names.emplace_back(to_string(status));
  return names;
}

void give_statuses(std::vector<Status> const& statuses, std::int32_t* out) {
  if (out == nullptr) return;
  for (auto const status : statuses) *out++ = number_of(status);
}

}  // namespace blockspan::capi
