#pragma once

#include <string>

#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

#include "common/machine/dispatch.hpp"
#include "common/problem/preconditioner_choice.hpp"

namespace blockspan::apps {

/// Whether this build has the single precision beneath Scalar.
template <class Scalar>
inline constexpr bool has_single_precision = has_scalar<single_t<Scalar>>;

/// The values of --precision, for --help.
inline constexpr char const* precision_help =
    "working: all in double precision; mixed: most of the work in single precision, the residuals "
    "and the accuracy in double";

/// Throws Error where `precision` is mixed and the build, the product or the preconditioner has no
/// single precision.
template <class Scalar>
void require_precision(std::string const& precision, std::string const& spmm,
                       PreconditionerChoice const& preconditioner) {
  if (precision != "mixed") return;
  constexpr auto where = "--precision mixed";
  require(has_single_precision<Scalar>, where,
          "this build has no single precision (see Blockspan_SCALARS)");
  require(spmm == "blockspan", where, "goes with --spmm blockspan only, not with ", spmm);
  using Kind = PreconditionerChoice::Kind;
  require(preconditioner.kind != Kind::gauss_seidel, where,
          "gauss-seidel works in double precision only");
}

}  // namespace blockspan::apps
