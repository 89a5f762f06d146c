#include "structs.hpp"

#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/exact.hpp>
#include <blockspan/solvers/lobpcg.hpp>

namespace blockspan::capi {

namespace {

/// Any execution space: the defaults of the library's options do not depend on it.
using Exec = Kokkos::DefaultHostExecutionSpace;

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
  LobpcgOptions<double, Exec> const of;
  blockspan_lobpcg_options o{};
  o.size = sizeof o;
  o.wanted = of.wanted;
  o.digits = of.digits;
  o.max_iterations = of.max_iterations;
  o.probe = of.probe;
  o.check_hermitian = of.check_hermitian;
  o.time_limit = of.time_limit;
  o.seed = of.seed;
  return o;
}

blockspan_cg_options cg_defaults() {
  CgOptions<double, Exec> const of;
  blockspan_cg_options o{};
  o.size = sizeof o;
  o.max_iterations = of.max_iterations;
  o.max_cycles = of.max_cycles;
  o.time_limit = of.time_limit;
  return o;
}

blockspan_exact_options exact_defaults() {
  ExactOptions const of;
  blockspan_exact_options o{};
  o.size = sizeof o;
  o.pairs = of.pairs;
  o.slice = of.slice;
  o.count = of.count;
  o.max_steps = of.max_steps;
  o.tolerance = of.tolerance;
  o.time_limit = of.time_limit;
  o.seed = of.seed;
  return o;
}

void require_summary(char const* where, blockspan_summary const* out) {
  require(out == nullptr || is_size(out->size), where, "summary->size ", out ? out->size : 0,
          " is not sizeof of the struct: set it first");
}

void give_summary(char const* where, blockspan_summary const& full, blockspan_summary* out) {
  if (out == nullptr) return;
  require_summary(where, out);
  std::size_t const size = out->size;
  std::memcpy(out, &full, std::min(size, sizeof full));
  out->size = size;
}

}  // namespace blockspan::capi
