#include "common/words.hpp"

#include <algorithm>
#include <cstdio>

namespace blockspan::apps {

std::string words(Status status) {
  if (status == Status::attainable_limit) return "at attainable limit";
  if (status == Status::zero_eigenvalue) return "zero";
  std::string text(to_string(status));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string advice(Status status) {
  switch (status) {
    case Status::converged:
      return "All tests hold.";
    case Status::attainable_limit:
      return "The tolerance lies below what this arithmetic can reach on this problem: the pairs "
             "are "
             "as accurate as they get; ask for a larger --tolerance.";
    case Status::max_iterations:
      return "The iteration limit came first: raise --max-iterations, widen --block, or use a "
             "better --preconditioner.";
    case Status::time_limit:
      return "The time limit came first: raise it.";
    case Status::stagnated:
      return "Restarts brought no progress: widen --block or use a better --preconditioner.";
    case Status::not_converged:
      return "The run ended before all pairs converged.";
    case Status::operator_not_finite:
      return "The matrix gave NaN or Inf for finite vectors: check its values and their range.";
    case Status::operator_not_hermitian:
      return "The matrix is not Hermitian (not symmetric, if real), so these numbers are not its "
             "eigenvalues: this solver needs a Hermitian matrix.";
    case Status::mass_not_positive_definite:
      return "The mass matrix is not positive definite, so no real Rayleigh quotient exists: check "
             "--mass.";
    case Status::zero_eigenvalue:
      return "The eigenvalue is zero as far as double precision can tell.";
    case Status::mass_singular:
      return "The mass matrix is singular.";
    case Status::basis_collapsed:
      return "No search basis of full rank could be built, even after restarts: ask for fewer "
             "--pairs or try another --seed.";
    case Status::stopped_by_monitor:
      return "Interrupted: these are the best pairs so far.";
    case Status::zero_rhs:
      return "The right-hand side is zero, and so is the solution.";
    case Status::nonfinite_rhs:
      return "The right-hand side has NaN or Inf: check its values.";
    case Status::negative_curvature:
      return "The matrix is not positive definite: conjugate gradients do not apply.";
    case Status::singular:
      return "The matrix is singular to working precision, and the right-hand side is not in its "
             "range.";
    case Status::inconsistent:
      return "The matrix is singular, and the right-hand side has a part outside its range.";
    case Status::preconditioner_not_spd:
      return "The preconditioner is not positive definite: use another --preconditioner, or none.";
  }
  return "Unknown status.";
}

std::string without_cpp_names(std::string message) {
  constexpr char const* letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:";
  for (std::size_t at = 0; (at = message.find("blockspan::", at)) != message.npos;) {
    auto const end = std::min(message.find_first_not_of(letters, at), message.size());
    bool const is_place = message[end - 1] == ':' && end < message.size();  // "name: what"
    message.erase(at, is_place ? end + 1 - at : std::string("blockspan::").size());
  }
  for (std::string const name : {"convert_values: ", "read_matrix_market: ", "write_block: "})
    if (message.rfind(name, 0) == 0) message.erase(0, name.size());
  return message;
}

std::string grouped(long long number) {
  std::string text = std::to_string(number);
  for (auto end = static_cast<long long>(text.size()) - 3; end > (number < 0 ? 1 : 0); end -= 3)
    text.insert(static_cast<std::size_t>(end), 1, ',');
  return text;
}

std::string formatted(char const* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace blockspan::apps
