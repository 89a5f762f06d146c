#include "blockspan-eig/notes.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <sstream>
#include <utility>

#include "common/files/words.hpp"
#include "common/machine/versions.hpp"
#include "common/run/interrupt.hpp"

namespace blockspan::apps {

namespace {

/// Whether the recomputed residual of a pair confirms that it converged. The two computations round
/// differently, hence a hundredth and a hundred roundings of slack.
bool confirmed(ResidualCheck const& check, std::size_t j, EigCommand const& command) {
  constexpr double slack = 100 * std::numeric_limits<double>::epsilon();
  if (check.backward[j] <= slack) return true;  // zero as well, whose relative residual is 0 or NaN
  bool const relative = command.criterion == "relative";
  double const allowed =
      1.01 * command.tolerance * (relative ? check.backward[j] / check.relative[j] : 1);
  return check.backward[j] <= allowed + slack;
}

void note_cut_cluster(EigResult& result, EigCommand const& command, double next) {
  auto const& values = result.solver.eigenvalues;
  if (values.empty() || !std::isfinite(next)) return;
  double const last = values.back(), bound = result.solver.error_bounds.back();
  double const close = std::max(1e-6 * std::abs(last), std::isfinite(bound) ? bound : 0.0);
  if (std::abs(next - last) > close) return;
  std::ostringstream note;
  note << "the eigenvalue after the last one is equal to it within accuracy: --pairs "
       << command.pairs << " cuts a cluster; ask for more to see all of it";
  result.notes.push_back(note.str());
}

void note_missing_digits(EigResult& result, EigCommand const& command) {
  if (command.criterion != "backward") return;
  auto const& digits = result.solver.certain_digits;
  auto const uncertain =
      std::count_if(digits.begin(), digits.end(), [](double d) { return d < 2; });
  if (uncertain == 0) return;
  std::ostringstream note;
  note << uncertain << " of " << digits.size()
       << " eigenvalues are so small against the norm of the matrix that their residual makes "
          "fewer than two digits certain; --criterion digits goes on until they are";
  result.notes.push_back(note.str());
}

void note_fault(EigResult& result) {
  auto const& fault = result.solver.fault;
  if (fault.operator_name.empty()) return;
  std::ostringstream note;
  note << (fault.operator_name == "A"   ? "the matrix"
           : fault.operator_name == "B" ? "the mass matrix"
                                        : "the preconditioner")
       << " gave NaN or Inf in column " << fault.column + 1 << " of the block in iteration "
       << fault.iteration;
  result.notes.push_back(note.str());
}

void note_trouble(EigResult& result) {
  if (!result.solver.trouble.empty()) result.notes.push_back(result.solver.trouble);
}

void note_unused(EigResult& result) {
  auto const rows = result.solver.unused_rows;
  if (rows == 0) return;
  result.notes.push_back((rows == 1 ? std::string("one row is") : grouped(rows) + " rows are") +
                         " zero in the matrix and in the mass: left out, vectors are zero there");
}

void note_rejected(EigResult& result) {
  if (result.solver.counters.preconditioner_dropped > 0)
    result.notes.push_back(
        "the preconditioner did harm on this matrix (it is indefinite, or the "
        "largest pairs were asked for) and was dropped");
  auto const rejected = result.solver.counters.preconditioner_rejected;
  if (rejected == 0) return;
  result.notes.push_back(
      std::to_string(rejected) +
      " directions of the preconditioner were useless (not finite, or it is not positive "
      "definite there): the residuals were used instead");
}

void note_single_precision(EigResult& result, EigCommand const& command) {
  auto const& stage = result.solver.single;
  if (command.precision != "mixed" || stage.used) return;
  std::ostringstream note;
  if (result.solver.path == "dense")
    note << "a problem solved densely is solved in double precision only";
  else if (!command.resume.empty())
    note << "a solve goes on from its checkpoint in double precision";
  else
    note << "single precision was of no use (" << words(stage.status)
         << "): all was done in double precision";
  result.notes.push_back(note.str());
}

void note_certificate(EigResult& result, EigCommand const& command) {
  if (!command.certify || result.solver.certificate.radius.empty()) return;
  result.notes.push_back(
      "\"certain within\" holds for the eigenvalue of that number if no pair was missed, and for "
      "some eigenvalue within \"radius\" of the report in any case");
  if (!result.solver.certificate.rigorous)
    result.notes.push_back("the intervals rest on an estimate: " +
                           (result.solver.mass_norm.empty()
                                ? std::string("the norm of the matrix")
                                : "norm of the inverse mass by " + result.solver.mass_norm));
}

/// Where dense work is some of the time.
void note_slow_blas(EigResult& result) {
  double const dense = result.solver.seconds.dense;
  if (dense < 0.25 || dense < 0.1 * result.solver.seconds.total) return;
  if (auto note = slow_blas(); !note.empty()) result.notes.push_back(std::move(note));
}

/// Where the library's words ("rank 0: checkpoint: cannot write ...") begin is not of interest.
std::string lost_checkpoint(std::string const& fault) {
  auto const at = fault.find("checkpoint: ");
  return at == fault.npos ? "--checkpoint: " + fault : "--" + fault.substr(at);
}

}  // namespace

Observer::Observer(EigCommand const& command, ProgressLine& progress, bool first_rank)
    : command_(command),
      progress_(progress),
      may_warn_(first_rank),
      next_(std::numeric_limits<double>::quiet_NaN()) {}

bool Observer::operator()(LobpcgProgress<double> const& now) {
  auto const wanted = static_cast<std::size_t>(now.wanted);
  auto const& errors = now.backward_errors;
  auto const shown = static_cast<std::ptrdiff_t>(std::min(wanted, errors.size()));
  progress_.iteration(now.iteration, now.converged, {errors.begin(), errors.begin() + shown},
                      command_.tolerance);
  if (now.eigenvalues.size() > wanted) {
    double const value = now.eigenvalues[wanted];
    next_ = command_.which == "largest" ? std::fmax(next_, value) : std::fmin(next_, value);
  }
  if (may_warn_ && !now.checkpoint_fault.empty()) {
    may_warn_ = false;
    progress_.clear();
    std::cerr << "blockspan-eig: " << lost_checkpoint(now.checkpoint_fault) << "; the solve goes on"
              << std::endl;
  }
  return !InterruptGuard::interrupted();
}

void judge(EigResult& result, EigCommand const& command, Observer const& observer) {
  auto const& solver = result.solver;
  result.status = solver.pair_status;
  for (std::size_t j = 0; j < result.status.size(); ++j) {
    if (!is_done(result.status[j]) || confirmed(result.check, j, command)) continue;
    result.status[j] = Status::not_converged;
    std::ostringstream note;
    note << "pair " << j + 1 << ": the solver says converged, but its residual recomputed from the "
         << "matrix is " << result.check.backward[j];
    result.notes.push_back(note.str());
  }
  if (!solver.checkpoint_fault.empty())
    result.lost.push_back(lost_checkpoint(solver.checkpoint_fault));
  bool const all = std::all_of(result.status.begin(), result.status.end(), is_done);
  result.converged = solver.converged() && all;
  if (all && !solver.converged() && !result.exact && !result.count)
    result.notes.push_back(
        "every pair passes the residual test, but the run ended before the search for pairs that "
        "were missed had finished");
  note_fault(result);
  note_trouble(result);
  note_unused(result);
  note_rejected(result);
  note_single_precision(result, command);
  note_certificate(result, command);
  note_slow_blas(result);
  if (!result.converged) return;
  double const seen = observer.next_eigenvalue(), known = solver.next_eigenvalue;
  note_cut_cluster(result, command, std::isfinite(seen) ? seen : known);
  note_missing_digits(result, command);
}

}  // namespace blockspan::apps
