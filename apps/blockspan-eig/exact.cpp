#include "blockspan-eig/exact.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include <blockspan/solvers/lowest_pairs.hpp>

#include "blockspan-eig/advice.hpp"
#include "common/files/words.hpp"
#include "common/run/interrupt.hpp"

namespace blockspan::apps {

namespace {

std::string number(double value) { return formatted("%.7g", value); }

/// Buckling loads around those that are infinite are an interval of their reciprocals.
std::string interval(double from, double to) {
  if (from > to) return "(-inf, " + in_full(to) + ") and (" + in_full(from) + ", inf)";
  return "(" + in_full(from) + ", " + in_full(to) + ")";
}

std::string plural(long long count, std::string const& what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

/// How far rounding stayed from turning the sign of a pivot, at the worse end.
double worst_rho(ExactReport const& report) {
  double worst = 0;
  for (auto const& at : report.counts)
    if (at.shift == report.from || at.shift == report.to) worst = std::max(worst, at.rho);
  return worst;
}

/// The pairs that there should be.
long long asked(EigCommand const& command, ExactReport const& report) {
  if (!command.exact || command.exact.kind == ExactRequest::Kind::near) return command.pairs;
  return std::max<long long>(report.counted, static_cast<long long>(report.eigenvalues.size()));
}

Json json(ShiftCount const& at) {
  return {{"asked", at.asked},
          {"shift", at.shift},
          {"count", at.count},
          {"rho", at.rho},
          {"null_pivots", at.null_pivots},
          {"static_pivots", at.static_pivots},
          {"moved", at.moved()},
          {"trusted", at.trusted}};
}

}  // namespace

ExactOptions exact_options(EigCommand const& command) {
  ExactOptions options;
  options.pairs = command.pairs;
  options.tolerance = command.tolerance;
  options.block = command.block;
  options.slice = command.exact.slice;
  options.factors = command.exact.factors == "host"     ? FactorPlace::host
                    : command.exact.factors == "device" ? FactorPlace::device
                                                        : FactorPlace::automatic;
  options.form = command.exact.buckling ? Spectral::buckling
                 : command.exact.cayley ? Spectral::cayley
                                        : Spectral::normal;
  options.seed = command.seed;
  options.max_steps = command.max_iterations;
  options.time_limit = command.time_limit;
  options.checkpoint = command.checkpoint;
  options.resume = command.resume;
  return options;
}

void show_step(ProgressLine& progress, ExactProgress const& now) {
  std::ostringstream text;
  text << "shift " << number(now.shift) << ": " << now.converged << " of " << now.wanted
       << " pairs, step " << now.steps << ", " << now.factorizations << " factorizations";
  if (now.all > 0) {
    text << "; found " << now.found << " of " << now.all;
    if (now.found > 0)
      text << ", about "
           << formatted("%.0f s", now.seconds * static_cast<double>(now.all - now.found) /
                                      static_cast<double>(now.found))
           << " more";
  }
  progress.stage(text.str());
}

std::function<bool(ExactProgress const&)> exact_monitor(ProgressLine& progress) {
  return [&progress](ExactProgress const& now) {
    show_step(progress, now);
    InterruptGuard::work_has_begun();
    return !InterruptGuard::interrupted();
  };
}

void take_exact_pairs(EigResult& result, std::string reason) {
  static_cast<LobpcgReport<double>&>(result.solver) =
      lobpcg_report_of(*result.exact, std::move(reason));
}

bool may_take_factors(EigCommand const& command) {
  bool const plain = command.preconditioner_by_default && command.initial.empty() &&
                     command.constraints.empty() && command.checkpoint.empty() &&
                     command.resume.empty() && !command.multigrid.given() &&
                     command.precision == "working";
  bool const asks_smallest =
      command.which == "smallest" && command.criterion != "relative" && !command.certify;
  return command.path == "auto" && plain && asks_smallest && command.block == 0;
}

bool counts_pairs(EigCommand const& command) {
  return command.certify && command.which == "smallest" && command.constraints.empty();
}

std::string proof_in_words(EigCommand const& command, ExactReport const& report) {
  std::string const place = interval(report.from, report.to);
  std::string const holds = place + " holds " + plural(report.counted, "eigenvalue");
  std::string const certain =
      " (counted at both ends, pivots certain to " + formatted("%.0e", worst_rho(report)) + ")";
  switch (report.proof) {
    case Proof::proved:
      return "none is missing: " + holds + certain;
    case Proof::tied:
      return "more lie equally near: " + holds + certain;
    case Proof::missing:
      return report.trouble + "; take more columns with --block " +
             std::to_string(2 * std::max(command.block, 8));
    case Proof::uncountable:
      return "whether one is missing is not known: " + report.trouble;
    case Proof::none:
      break;
  }
  return "not counted";
}

std::string count_in_words(EigenCount const& count) {
  if (!count.trusted) return "NOT COUNTED: " + count.trouble;
  double const rho = std::max(count.from.rho, count.to.rho);
  return interval(count.from.shift, count.to.shift) + " holds " +
         plural(count.number, "eigenvalue") + " (pivots certain to " + formatted("%.0e", rho) + ")";
}

double place_above(EigResult const& result, double next) {
  double const last = result.solver.eigenvalues.back(), bound = result.solver.error_bounds.back();
  double const least = std::max(2 * bound, 1e-8 * std::abs(last));
  double const half = (next - last) / 2;
  return last + (std::isfinite(half) && half > least ? half : least);
}

void judge_count(EigResult& result, double place, double next) {
  auto const& count = *result.count;
  auto const found = static_cast<std::int64_t>(result.solver.eigenvalues.size());
  if (!count.trusted) {
    result.notes.push_back("whether a pair is missing is not known: " + count.trouble);
  } else if (count.number == found) {
    result.notes.push_back("none is missing: " + count_in_words(count));
  } else if (count.number > found && next <= place) {
    result.notes.push_back(count_in_words(count) + ", of which " + grouped(found) +
                           " were asked for: the last is one of several that are equal");
  } else {
    result.solver.status = count.number > found ? Status::missing_pairs : Status::not_converged;
    result.converged = false;
    result.notes.push_back(count_in_words(count) + ", but " + plural(found, "pair") +
                           (found == 1 ? " was found" : " were found"));
  }
}

void print_exact(std::ostream& out, EigCommand const& command, EigResult const& result) {
  if (result.count) out << count_in_words(*result.count) << "\n";
  if (result.exact) {
    auto const& report = *result.exact;
    auto const pairs = static_cast<long long>(report.eigenvalues.size());
    auto const done = std::count_if(result.status.begin(), result.status.end(), is_done);
    if (result.converged)
      out << "All " << plural(pairs, "pair") << " converged; " << proof_in_words(command, report);
    else
      out << "NOT CONVERGED: " << done << " of " << plural(asked(command, report), "pair") << "; "
          << proof_in_words(command, report);
    out << "\n";
    if (!result.converged) out << words(report.status) << ": " << advice(command, result) << "\n";
    out << report.steps << " steps, " << report.solved_columns << " columns solved, "
        << plural(report.factorizations, "factorization") << ", factors with "
        << grouped(report.factor_entries) << " entries by " << report.library << ", "
        << formatted("%.2f s", report.seconds.total) << "\n";
  }
  for (std::string const& note : result.notes) out << "note: " << note << "\n";
  if (!result.exact) return;
  auto const& s = result.exact->seconds;
  out << "seconds   load" << formatted(" %.2f", result.seconds.load) << "  analyse"
      << formatted(" %.2f", s.analysis) << "  factor" << formatted(" %.2f", s.factorization)
      << "  solve" << formatted(" %.2f", s.solve) << "  mass" << formatted(" %.2f", s.mass)
      << "  orthogonalize" << formatted(" %.2f", s.orthogonalization) << "  dense"
      << formatted(" %.2f", s.dense) << "  total" << formatted(" %.2f", result.seconds.total)
      << "\n";
}

Json exact_json(EigCommand const& command, EigResult const& result) {
  if (result.count) {
    auto const& count = *result.count;
    return {{"number", count.trusted ? Json(count.number) : Json()},
            {"trusted", count.trusted},
            {"from", json(count.from)},
            {"to", json(count.to)},
            {"buckling", command.exact.buckling}};
  }
  if (!result.exact) return {};
  auto const& report = *result.exact;
  Json counts = Json::array(), missing = Json::array();
  for (auto const& at : report.counts) counts.push_back(json(at));
  for (auto const& cell : report.missing)
    missing.push_back({{"from", cell.from}, {"to", cell.to}, {"number", cell.number}});
  return {{"proof", to_string(report.proof)},
          {"from", report.from},
          {"to", report.to},
          {"counted", report.counted},
          {"found", report.found},
          {"missing", missing},
          {"counts", counts},
          {"library", report.library},
          {"shifts", report.shifts},
          {"factorizations", report.factorizations},
          {"steps", report.steps},
          {"solved_columns", report.solved_columns},
          {"factor_entries", report.factor_entries},
          {"factor_bytes", report.factor_bytes},
          {"buckling", command.exact.buckling},
          {"cayley", command.exact.cayley},
          {"seconds",
           {{"analysis", report.seconds.analysis},
            {"factorization", report.seconds.factorization},
            {"solve", report.seconds.solve},
            {"mass", report.seconds.mass},
            {"orthogonalization", report.seconds.orthogonalization},
            {"dense", report.seconds.dense}}}};
}

}  // namespace blockspan::apps
