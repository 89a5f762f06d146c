#pragma once

#include <algorithm>
#include <vector>

#include <blockspan/solvers/cg/group.hpp>

namespace blockspan::detail {

template <class Scalar, class Exec>
bool CgGroup<Scalar, Exec>::take_up_set_aside() {
  if (aside_.empty()) return false;
  if (control_.stopped()) {
    for (int const j : aside_) close(j, *control_.stopped());
    return false;
  }
  fall_back_ = inner_->why_it_ended();
  inner_cycles_ = inner_->cycles();
  inner_.reset();
  std::sort(aside_.begin(), aside_.end());
  open_.swap(aside_);
  aside_.clear();
  solution_.restore(open_);
  verify();
  std::vector<int> positions;
  for (int c = 0; c < static_cast<int>(open_.size()); ++c) {
    report(open_[c]).fell_back = true;
    positions.push_back(c);
  }
  scale_residuals(static_cast<int>(open_.size()), positions);
  return true;
}

}  // namespace blockspan::detail
