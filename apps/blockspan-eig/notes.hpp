#pragma once

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/result.hpp"
#include "common/run/progress.hpp"

namespace blockspan::apps {

/// Follows a solve: keeps the live line, hears the interrupt, and remembers how close the next
/// eigenvalue beyond the wanted ones came (Ritz values approach it from one side only). Says once
/// on stderr, where it is the first rank, that a checkpoint could not be written.
class Observer {
 public:
  Observer(EigCommand const& command, ProgressLine& progress, bool first_rank = true);

  /// False where the run should stop.
  bool operator()(LobpcgProgress<double> const& now);
  /// The best Ritz value seen beyond the wanted ones; NaN without guards.
  double next_eigenvalue() const { return next_; }

 private:
  EigCommand const& command_;
  ProgressLine& progress_;
  bool may_warn_;
  double next_;
};

/// Fills in status, converged and notes from the solver's report and the app's own check.
void judge(EigResult& result, EigCommand const& command, Observer const& observer);

}  // namespace blockspan::apps
