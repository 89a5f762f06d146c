#include "blockspan-solve/advice.hpp"

#include "common/words.hpp"

namespace blockspan::apps {

std::string solve_advice(Status status) {
  switch (status) {
    case Status::converged:
      return "Every residual, recomputed from the matrix itself, is within its tolerance.";
    case Status::attainable_limit:
      return "The tolerance lies below what this arithmetic can reach on this problem: the columns "
             "are as accurate as they get; ask for a larger --tolerance.";
    case Status::max_iterations:
      return "The iteration limit came first: raise --max-iterations, or use a better "
             "--preconditioner.";
    case Status::operator_not_hermitian:
      return "The matrix is not Hermitian (not symmetric, if real): conjugate gradients do not "
             "apply.";
    case Status::not_converged:
      return "The run ended before all columns were solved.";
    case Status::stopped_by_monitor:
      return "Interrupted: this is the best solution so far.";
    default:
      return advice(status);
  }
}

}  // namespace blockspan::apps
