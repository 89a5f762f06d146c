#pragma once

#include <functional>
#include <utility>

#include <blockspan/distributed/levels/early_shape.hpp>
#include <blockspan/distributed/preconditioner.hpp>
#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/multigrid/options.hpp>
#include <blockspan/support/backend.hpp>

// What replaces the preconditioner of `automatic` during a solve.

namespace blockspan {

/// The ChangeOver of a solve with M, created from `in`, with the given tolerance; it never switches
/// unless M is that of `automatic`, and at once where that has no op. Collective: rank 0 reads the
/// graph of all rows.
template <class Linked = LinkedComponents, class Scalar, class Exec>
ChangeOver change_over_of(PreconditionerInput<Scalar, Exec> const& in,
                          Preconditioner<Scalar, Exec> const& M, double tolerance) {
  if (!M.automatic) return {};
  bool const alone = in.A->partition().ranks() == 1;
  std::function<GraphShape()> shape = distributed::later_shape(in.exec, in.A);
  if (M.shape) shape = [seen = *M.shape] { return seen; };
  ChangeOver course(in.kind, M.polynomial, in.A->partition().global_rows(), in.columns, tolerance,
                    alone || Linked::direct, std::move(shape));
  if constexpr (!support::runs_on_host_v<Exec>) course.solves_on_device();
  if (M.op) return course;
  if (M.shape)
    course.begin_early(*M.shape, early_work(in.kind, *M.shape, in.columns, in.tolerance));
  else
    course.begin_with_levels();
  return course;
}

/// Replaces M, created from `in`, or keeps it, as `course` decides after this number of iterations;
/// the notes of M report it. levels(): returns the options of multigrid. Called by all ranks;
/// fences the instance.
template <class Linked = LinkedComponents, class Scalar, class Exec, class Levels>
void change_over(PreconditionerInput<Scalar, Exec> const& in, ChangeOver& course, int iterations,
                 Preconditioner<Scalar, Exec>& M, Levels const& levels) {
  distributed::PreconditionerMaker<Linked, Scalar, Exec> const make(in);
  course.take(
      iterations, M, [&] { return make.late_levels(levels()); },
      [&](double left) { return make.late_factors(left); }, [&] { return make.inverse(); });
  if (M.op) return;
  auto first = make.first_to_iterate();
  first.notes.insert(first.notes.begin(), M.notes.begin(), M.notes.end());
  M = std::move(first);
  if (course.begins_with_levels()) course = change_over_of<Linked>(in, M, in.tolerance);
}

}  // namespace blockspan
