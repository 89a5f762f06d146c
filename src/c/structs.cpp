#include "structs.hpp"

namespace blockspan::capi {

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

}  // namespace

blockspan_context_options context_defaults() {
  return {sizeof(blockspan_context_options), 0, -1, nullptr};
}

blockspan_preconditioner_options preconditioner_defaults() {
  blockspan_preconditioner_options o{};
  o.size = sizeof o;
  o.columns = 8;
  return o;
}

blockspan_lobpcg_options lobpcg_defaults() {
  blockspan_lobpcg_options o{};
  o.size = sizeof o;
  o.wanted = 10;
  o.digits = 4;
  o.max_iterations = 10000;
  o.probe = 1;
  o.check_hermitian = 1;
  o.time_limit = no_limit;
  o.seed = 1;
  return o;
}

blockspan_cg_options cg_defaults() {
  blockspan_cg_options o{};
  o.size = sizeof o;
  o.max_iterations = 10000;
  o.max_cycles = 6;
  o.time_limit = no_limit;
  return o;
}

blockspan_exact_options exact_defaults() {
  blockspan_exact_options o{};
  o.size = sizeof o;
  o.pairs = 10;
  o.slice = 128;
  o.count = 1;
  o.max_steps = 2000;
  o.tolerance = 1e-11;
  o.time_limit = no_limit;
  o.seed = 1;
  return o;
}

void require_summary(char const* where, blockspan_summary const* out) {
  require(out == nullptr || (out->size >= sizeof(std::size_t) && out->size <= 4096), where,
          "summary->size ", out ? out->size : 0, " is not sizeof of the struct: set it first");
}

void give_summary(char const* where, blockspan_summary const& full, blockspan_summary* out) {
  if (out == nullptr) return;
  require_summary(where, out);
  std::size_t const size = out->size;
  std::memcpy(out, &full, std::min(size, sizeof full));
  out->size = size;
}

}  // namespace blockspan::capi
