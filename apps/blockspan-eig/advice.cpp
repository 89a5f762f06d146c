#include "blockspan-eig/advice.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "common/files/words.hpp"

namespace blockspan::apps {

namespace {

std::string counted(long long number, std::string const& what) {
  return grouped(number) + " " + what + (number == 1 ? "" : "s");
}

/// What else could be tried to get further in the same time.
std::string better_way(EigCommand const& command, EigResult const& result) {
  bool const direct = command.preconditioner.rfind("direct", 0) == 0;
  std::string const first = direct ? "" : "--preconditioner direct (a factorization)";
  bool const dense = result.solver.path == "iterative" && command.path != "auto";
  return first + (dense ? std::string(direct ? "" : " or ") + "--path dense" : "");
}

std::string or_use(std::string const& what, EigCommand const& command, EigResult const& result) {
  std::string const other = better_way(command, result);
  return what + (other.empty() ? "" : ", or use " + other) + ".";
}

std::string at_limit(EigCommand const& command, EigResult const& result) {
  auto const& solver = result.solver;
  bool const relative = command.criterion == "relative", iterated = solver.path == "iterative";
  std::ptrdiff_t coarse = 0, uncertain = 0;
  for (std::size_t j = 0; j < result.status.size(); ++j) {
    if (is_done(result.status[j])) continue;
    double const error = relative ? solver.relative_residuals[j] : solver.backward_errors[j];
    ++(std::isfinite(error) && error > command.tolerance ? coarse : uncertain);
  }
  std::ostringstream text;
  if (uncertain > 0) {
    text << counted(uncertain, "eigenvalue") << (uncertain == 1 ? " has" : " have")
         << " fewer than " << command.digits << " certain digits, and "
         << (iterated ? "the iteration in double precision" : "double precision")
         << " cannot tell more: the column of digits says what holds; ask for fewer --digits"
         << (iterated && command.path != "auto" ? ", or use --path dense" : "");
  } else {
    text << "double precision cannot bring the residual of " << counted(coarse, "pair") << " to "
         << formatted("%.3g", command.tolerance)
         << ": they are as accurate as they get; ask for a larger --tolerance";
  }
  std::string sentence = text.str() + ".";
  sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  return sentence;
}

std::string not_hermitian(EigCommand const& command, EigResult const& result) {
  std::string const which =
      command.mass.empty() ? command.matrix : command.matrix + " or " + command.mass;
  return which + " is not " + (result.scalar == "double" ? "symmetric" : "Hermitian") +
         ", so these numbers are not its eigenvalues: this solver needs a Hermitian matrix.";
}

std::string singular_mass(EigCommand const& command, EigResult const& result) {
  auto const& solver = result.solver;
  auto const known = std::count_if(result.status.begin(), result.status.end(), is_done);
  std::string const found =
      known > 0 ? "only " + counted(known, "pair") + (known == 1 ? " is" : " are") + " finite"
                : "no finite pair could be found";
  std::string what;
  if (solver.path == "iterative" && known == 0) {
    double const scalar = result.scalar == "double" ? sizeof(double) : 2 * sizeof(double);
    double const rows = static_cast<double>(result.rows);
    what = "; --path dense, which takes " + formatted("%.2g", 6 * rows * rows * scalar / 1e9) +
           " GB of memory, deflates the infinite ones";
  }
  return "The mass matrix " + command.mass + " is singular, and " + found + what + ".";
}

}  // namespace

std::string advice(EigCommand const& command, EigResult const& result) {
  auto const& solver = result.solver;
  switch (solver.status) {
    case Status::converged:
      return result.converged ? "All tests hold."
                              : "The solver's tests hold, but the residuals recomputed from the "
                                "matrix contradict them: the notes say which.";
    case Status::attainable_limit:
      return at_limit(command, result);
    case Status::max_iterations:
      return or_use("The limit of " + counted(command.max_iterations, "iteration") +
                        " came first: raise --max-iterations",
                    command, result);
    case Status::time_limit:
      return or_use("The limit of " + formatted("%g", command.time_limit) +
                        " seconds came first: raise --time-limit",
                    command, result);
    case Status::stagnated:
      return or_use("After " + counted(solver.iterations, "iteration") + " and " +
                        counted(solver.counters.restarts, "restart") +
                        " the residuals no longer fall: widen --block",
                    command, result);
    case Status::operator_not_hermitian:
      return not_hermitian(command, result);
    case Status::operator_not_finite:
      return "A product with finite vectors gave NaN or Inf: the notes say which matrix; check its "
             "values.";
    case Status::mass_not_positive_definite:
      return "The mass matrix " + command.mass +
             " is not positive definite, so no real Rayleigh quotient exists.";
    case Status::mass_singular:
      return singular_mass(command, result);
    case Status::missing_pairs:
      return "The counts say that there are more pairs than were found: take more columns with "
             "--block.";
    case Status::singular_pencil:
      return "The matrix and the mass matrix have a null vector in common: take the unknown that "
             "the notes name out of both.";
    case Status::stopped_by_monitor:
      return "Interrupted: these are the best pairs so far.";
    default:
      return or_use(
          "Not all pairs are as accurate as asked for, and the table says which: ask for "
          "less",
          command, result);
  }
}

}  // namespace blockspan::apps
