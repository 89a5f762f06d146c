#pragma once

#include <memory>
#include <utility>

namespace blockspan::distributed {

/// The Preconditioner of a hierarchy, with what its report says; without op, with the fault, where
/// that is not usable. mend, refresh: those of Preconditioner.
template <class Made, class Levels, class Mend, class Refresh>
Made made_of_levels(std::unique_ptr<Levels> M, Mend const& mend, Refresh const& refresh) {
  Made made;
  made.levels = M->report();
  auto const& message = made.levels->message;
  if (!made.levels->usable()) {
    made.fault = message;
    made.fault_kind = made.levels->fault_kind();
    made.levels.reset();
    return made;
  }
  made.notes = made.levels->notes;
  if (!message.empty()) made.notes.push_back("multigrid: " + message);
  made.mend = mend;
  made.refresh = refresh;
  made.op = std::move(M);
  return made;
}

}  // namespace blockspan::distributed
