#pragma once

#include <algorithm>

#include <blockspan/solvers/cg/group.hpp>

namespace blockspan::detail {

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::after_block(CgCycle<Real> const& cycle,
                                        BlockCg<Scalar, Exec> const& method) {
  auto& report = control_.report();
  switch (cycle.end) {
    case CycleEnd::indefinite:
      if (!problem_.hermitian()) {
        not_hermitian_ = true;
        return;
      }
      report.indefinite = true;
      report.curvature = std::min(report.curvature, method.curvature());
      hand_over(std::nullopt, "A is indefinite, and only single columns can tell which are hit");
      return;
    case CycleEnd::singular:
      suspicious_ = true;
      return;
    case CycleEnd::conjugacy_lost:
      if (++conjugacy_lost_ >= 2) hand_over(std::nullopt, "the block lost its conjugacy twice");
      return;
    case CycleEnd::no_gain:
      hand_over(std::nullopt, "all columns see the same contraction");
      return;
    default:
      if (method.preconditioner_not_finite()) trouble_ = "the preconditioner gave NaN or Inf";
      ++completed_;
  }
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::after_pseudo_block(CgCycle<Real> const& cycle,
                                               PseudoBlockCg<Scalar, Exec> const& method) {
  auto& report = control_.report();
  if (method.preconditioner_not_finite()) trouble_ = "the preconditioner gave NaN or Inf";
  if (method.least_curvature() < 0 && !problem_.hermitian()) {
    not_hermitian_ = true;
  } else if (method.least_curvature() < 0) {
    report.indefinite = true;
    report.curvature = std::min(report.curvature, method.least_curvature());
  }
  capped_ = cycle.end == CycleEnd::stopped && hopeless_.has_value();
  ++completed_;
}

}  // namespace blockspan::detail
