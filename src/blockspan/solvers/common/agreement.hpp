#pragma once

#include <utility>

#include <blockspan/communication/communicator.hpp>

namespace blockspan::solvers {

/// Lets all ranks agree on what may differ, clocks and monitors: by one gather each time if one of
/// them has any, without a message otherwise.
class Agreement {
 public:
  /// may_part: this rank has such a thing. Collective.
  Agreement(Communicator ranks, bool may_part)
      : ranks_(std::move(ranks)), needed_(ranks_.any(may_part)) {}

  /// Of the answers of all ranks. Collective.
  template <class T>
  T largest(T const& mine) const {
    return needed_ ? ranks_.largest(mine) : mine;
  }
  bool any(bool mine) const { return largest(mine ? 1 : 0) != 0; }

 private:
  Communicator ranks_;
  bool needed_;
};

}  // namespace blockspan::solvers
