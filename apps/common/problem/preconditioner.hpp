#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include <blockspan/distributed/change_over.hpp>
#include <blockspan/distributed/preconditioner.hpp>
#include <blockspan/multigrid/exchange.hpp>
#include <blockspan/support/error.hpp>

#include "common/files/words.hpp"
#include "common/machine/components.hpp"
#include "common/problem/preconditioner_choice.hpp"
#include "common/ranks/spread_rows.hpp"

namespace blockspan::apps {

/// The components that programs link.
struct LinkedHere {
  static constexpr bool direct = has_direct, gauss_seidel = has_kokkos_kernels;
};

namespace preconditioning {

/// Throws Error, on all ranks, for what several of them do not have.
template <class Scalar>
void require_on_ranks(PreconditionerChoice const& choice) {
  using Kind = PreconditionerChoice::Kind;
  auto const where = "--preconditioner " + choice.asked;
  bool const levels = choice.kind == Kind::multigrid || choice.kind == Kind::automatic;
  require(choice.kind != Kind::gauss_seidel, where,
          "on several ranks there are none, jacobi, block-jacobi, chebyshev, direct, multigrid and "
          "automatic");
  require(!levels || sizeof(real_t<Scalar>) == sizeof(double), where,
          "with --precision mixed it runs on one rank only");
  require(choice.inputs.hierarchy.empty(), where,
          "levels made elsewhere (--hierarchy) are taken on one rank only");
}

/// Of the files and figures that the user names. Throws Error where they do not fit.
template <class Scalar, class Exec>
MultigridOptions<Scalar, Exec> multigrid_options(PreconditionerInput<Scalar, Exec> const& in,
                                                 MultigridInputs const& inputs) {
  auto const& A = *in.A;
  MultigridOptions<Scalar, Exec> options;
  options.near_null =
      load_rows<Scalar>(in.exec, SpreadRows{A.row_space(), nullptr}, inputs.near_null);
  options.coordinates = load_nodes<real_t<Scalar>>(
      in.exec, A.partition(), A.row_space().communicator(), inputs.coordinates);
  options.block_size = inputs.block_size;
  options.adaptive = inputs.adaptive;
  if (!inputs.hierarchy.empty()) {
    auto const first = std::filesystem::path(inputs.hierarchy) / "P0.mtx";
    require(std::filesystem::exists(first), "--hierarchy", "there is no ", first.string());
    options.prolongators = read_prolongators<Scalar>(in.exec, inputs.hierarchy);
  }
  options.columns = in.columns;
  if (A.partition().ranks() == 1) options.validate(A.local_rows());
  return options;
}

/// Whether Jacobi serves an eigensolver in place of what could not be made of this matrix.
template <class Scalar, class Exec>
bool jacobi_serves(PreconditionerInput<Scalar, Exec> const& in, PreconditionerChoice const& choice,
                   Error const& error) {
  using Kind = PreconditionerChoice::Kind;
  if (in.kind == SolveKind::system || in.A->partition().ranks() > 1) return false;
  if (choice.kind == Kind::direct) return error.kind() != ErrorKind::out_of_memory;
  return choice.kind == Kind::gauss_seidel || choice.kind == Kind::multigrid;
}

/// Notes as the user of a program reads them, and of new levels what is to be said of --hierarchy.
template <class Scalar, class Exec>
void finish(PreconditionerInput<Scalar, Exec> const& in, PreconditionerChoice const& choice,
            bool had_levels, Preconditioner<Scalar, Exec>& M) {
  for (auto& note : M.notes) note = without_cpp_names(std::move(note));
  if (!M.levels || had_levels) return;
  M.levels->message = without_cpp_names(M.levels->message);
  auto const* const levels = dynamic_cast<Multigrid<Scalar, Exec> const*>(M.op.get());
  if (levels == nullptr || choice.inputs.hierarchy.empty()) return;
  auto const found = hierarchy_differences(in.exec, choice.inputs.hierarchy, *levels);
  M.notes.insert(M.notes.end(), found.begin(), found.end());
}

}  // namespace preconditioning

/// product: A as an operator, which chebyshev keeps by reference; mass: of an eigenproblem, null
/// for the identity. Both outlive what is made.
template <class Scalar, class Exec>
PreconditionerInput<Scalar, Exec> preconditioner_input(
    Exec const& exec, SolveKind kind,
    std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A,
    LinearOperator<Scalar, Exec> const& product, int columns,
    DistributedMatrix<Scalar, Exec> const* mass = nullptr) {
  return {.exec = exec,
          .A = A,
          .product = &product,
          .kind = kind,
          .mass = mass,
          .columns = columns,
          .where = "--preconditioner"};
}

/// What the choice says, or Jacobi, with a note, where A does not suit. All ranks together; those
/// that couple nothing across ranks are made of the rows that each has. Throws Error as
/// blockspan::make_preconditioner does for systems, for what several ranks do not have, and for
/// inputs of multigrid that cannot be read or do not fit. Waits for the instance.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_preconditioner(PreconditionerInput<Scalar, Exec> const& in,
                                                 PreconditionerChoice const& choice) {
  if (auto const ranks = in.A->row_space().communicator(); ranks.size() > 1)
    ranks.run_agreed([&] { preconditioning::require_on_ranks<Scalar>(choice); });
  using Kind = PreconditionerKind;
  MultigridOptions<Scalar, Exec> levels;
  // `automatic` may want them after many iterations, which an input that is no good would cost
  if (choice.kind == Kind::multigrid || (choice.kind == Kind::automatic && choice.inputs.given()))
    levels = preconditioning::multigrid_options(in, choice.inputs);
  Preconditioner<Scalar, Exec> made;
  try {
    made = blockspan::make_preconditioner<LinkedHere>(in, choice, levels);
  } catch (Error const& error) {
    if (!preconditioning::jacobi_serves(in, choice, error)) throw;
    made.fault = error.what();
  }
  if (!made.fault.empty()) {
    auto const reason = without_cpp_names(made.fault);
    made = blockspan::make_preconditioner<LinkedHere>(in, {PreconditionerKind::jacobi, "jacobi"});
    made.notes.push_back("jacobi instead of " + choice.name + ": " + reason);
  }
  preconditioning::finish(in, choice, false, made);
  return made;
}

/// Replaces M, or leaves it, as `late` decides. All ranks together. Waits for the instance.
template <class Scalar, class Exec>
void switch_late(PreconditionerInput<Scalar, Exec> const& in, PreconditionerChoice const& choice,
                 ChangeOver& late, int iterations, Preconditioner<Scalar, Exec>& M) {
  bool const had_levels = M.levels.has_value();
  change_over<LinkedHere>(in, late, iterations, M,
                          [&] { return preconditioning::multigrid_options(in, choice.inputs); });
  preconditioning::finish(in, choice, had_levels, M);
}

/// When a solve that M begins is to change its preconditioner. What is due before the first
/// iteration replaces M here. All ranks together. Waits for the instance.
template <class Scalar, class Exec>
ChangeOver begin_with(PreconditionerInput<Scalar, Exec> const& in,
                      PreconditionerChoice const& choice, double tolerance,
                      Preconditioner<Scalar, Exec>& M) {
  auto late = change_over_of<LinkedHere>(in, M, tolerance);
  if (late.late()) switch_late(in, choice, late, 0, M);
  return late;
}

}  // namespace blockspan::apps
