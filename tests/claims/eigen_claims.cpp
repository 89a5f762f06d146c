#include "claims/eigen_claims.hpp"

#include <algorithm>
#include <limits>

namespace blockspan::test {

namespace {

template <class... Parts>
std::string text(Parts const&... parts) {
  std::ostringstream out;
  out.precision(17);
  (out << ... << parts);
  return out.str();
}

}  // namespace

EigenQuestion EigenQuestion::pick_one(Random& random, int rows) {
  EigenQuestion question;
  int const most = random.below(2) == 0 || rows > 24 ? std::min(rows, 6) : rows;
  question.wanted = pick(random, 1, most);
  if (random.below(3) == 0) question.which = Which::largest;
  auto const path = random.below(4);
  if (path == 0) question.path = SolvePath::iterative;
  if (path == 1) question.path = SolvePath::dense;
  auto const criterion = random.below(8);
  if (criterion == 0) question.criterion = Criterion::backward;
  if (criterion == 1) question.criterion = Criterion::relative;
  if (random.below(8) == 0) question.tolerance = random.below(2) == 0 ? 1e-4 : 1e-11;
  question.certify = random.below(2) == 0;
  return question;
}

/// Half of them with the library's own block, the others with fewer guards, or none.
EigenQuestion EigenQuestion::pick_iterative(Random& random, int rows) {
  auto question = pick_one(random, rows);
  question.path = SolvePath::iterative;
  question.wanted = std::min(question.wanted, pick(random, 1, std::max(1, rows / 8)));
  if (random.below(2) == 0 && 5 * lobpcg_block_size(question.wanted) <= rows) return question;
  question.block = std::min(question.wanted + pick(random, 0, 4), std::max(1, rows / 5));
  question.wanted = std::min(question.wanted, question.block);
  return question;
}

std::string EigenQuestion::words(int rows) const {
  constexpr char const* paths[] = {"auto", "iterative", "dense"};
  constexpr char const* criteria[] = {"digits", "backward", "relative"};
  return text(rows, " rows, ", wanted, which == Which::largest ? " largest, " : " smallest, ",
              block > 0 ? std::to_string(block) + " columns, " : "", "path ",
              paths[static_cast<int>(path)], ", ", criteria[static_cast<int>(criterion)],
              ", tolerance ", tolerance, certify ? ", certify" : "");
}

EigenProblem without_unused_rows(EigenProblem const& problem) {
  if (!problem.B) return problem;
  std::vector<int> used;
  for (int i = 0; i < problem.A.order(); ++i)
    for (int j = 0; j < problem.A.order(); ++j)
      if (problem.A(i, j) != 0.0 || (*problem.B)(i, j) != 0.0) {
        used.push_back(i);
        break;
      }
  Dense A(static_cast<int>(used.size())), B(static_cast<int>(used.size()));
  for (int i = 0; i < A.order(); ++i)
    for (int j = 0; j <= i; ++j) {
      A.set(i, j, problem.A(used[i], used[j]));
      B.set(i, j, (*problem.B)(used[i], used[j]));
    }
  return {A, B, problem.singular_mass, problem.exact};
}

void judge_values(Spectrum const& spectrum, EigenQuestion const& question,
                  LobpcgReport<double> const& report, Outcome& outcome) {
  auto const& certificate = report.certificate;
  for (std::size_t k = 0; k < report.eigenvalues.size(); ++k) {
    double const value = report.eigenvalues[k], bound = report.error_bounds[k];
    auto const status = report.pair_status[k];
    bool const claimed = is_done(status);
    int const index = static_cast<int>(k);
    int const j = question.which == Which::smallest ? index : spectrum.count() - 1 - index;
    auto const wrong = [&](auto const&... parts) {
      bool const exists = j >= 0 && j < spectrum.count();
      outcome.wrong.push_back(text("pair ", k, " (", to_string(status), ", ", value, " +- ", bound,
                                   ", ", report.certain_digits[k], " digits; truth ",
                                   exists ? spectrum.value(j) : NAN, "): ", parts...));
    };
    outcome.solved += claimed ? 1 : 0;
    if (!std::isfinite(value)) {
      if (claimed) wrong("not a finite number");
      continue;
    }
    if (!certificate.radius.empty()) {
      if (!spectrum.holds_any(value, certificate.radius[k]))
        wrong("no eigenvalue within the certified radius ", certificate.radius[k],
              certificate.rigorous ? ", rigorous" : "");
      if (claimed && !spectrum.holds(j, value, certificate.gap_radius[k]))
        wrong("the eigenvalue is not within the certified gap radius ", certificate.gap_radius[k],
              certificate.rigorous ? ", rigorous" : "");
    }
    if (status == Status::attainable_limit && !spectrum.holds_any(value, bound))
      wrong("no eigenvalue within the bound of a pair at its limit");
    if (!claimed) continue;
    if (j < 0 || j >= spectrum.count())
      wrong("there are only ", spectrum.count(), " finite eigenvalues");
    else if (!spectrum.holds(j, value, bound))
      wrong("the eigenvalue is not within its bound");
    double const digits = report.certain_digits[k];
    double const within = std::pow(10.0, -digits) * std::abs(value) * (1 + 1e-12);
    if (digits > 0 && within < bound && !spectrum.holds(j, value, within))
      wrong("the eigenvalue has not these digits");
    if (status == Status::zero_eigenvalue) {
      if (!(std::abs(value) <= bound)) wrong("the bound does not reach zero");
      if (!spectrum.holds(j, 0, bound)) wrong("zero is not within the bound of the eigenvalue");
    } else if (question.criterion == Criterion::digits) {
      double const four = 1e-4 * std::abs(value);
      if (!(digits >= 4) && !spectrum.holds(j, value, four)) wrong("four digits are not true");
    }
  }
}

void judge_status(EigenProblem const& problem, LobpcgReport<double> const& report,
                  Outcome& outcome) {
  auto const wrong = [&](char const* what) {
    outcome.wrong.push_back(text("status ", to_string(report.status), ": ", what));
  };
  constexpr double roundings = 16 * std::numeric_limits<double>::epsilon();
  switch (report.status) {
    case Status::converged:
      if (!std::all_of(report.pair_status.begin(), report.pair_status.end(), is_done))
        wrong("not all pairs are");
      break;
    case Status::mass_not_positive_definite:
    case Status::mass_singular:
      if (!problem.B || !is_nearly_singular(*problem.B, (problem.A.order() + 4) * roundings))
        wrong("the mass is positive definite");
      break;
    case Status::operator_not_hermitian:
    case Status::operator_not_finite:
      wrong("the operators are Hermitian and finite");
      break;
    default:
      break;
  }
}

void judge_vectors(EigenQuestion const& question, LobpcgReport<double> const& report,
                   Judgement const& found, double norm_b, Outcome& outcome) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  long double largest = 0;
  bool all = true;
  for (std::size_t k = 0; k < report.eigenvalues.size(); ++k) {
    all = all && is_done(report.pair_status[k]);
    if (!is_done(report.pair_status[k]) || !std::isfinite(report.eigenvalues[k])) continue;
    largest = std::max(largest, found.size[k]);
    double const theta = std::abs(report.eigenvalues[k]), reported = report.backward_errors[k];
    double const size = report.norm_a + theta * report.norm_b;
    auto const error = static_cast<double>(found.backward[k]);
    // In the norms of the report, which are at most those of the row sums.
    auto const same = static_cast<double>(found.residual[k] / (size * found.size[k]));
    // The value itself is rounded, which is much where it is denormal.
    double const ulp = std::nextafter(theta, HUGE_VAL) - theta;
    double const rounding = 100 * eps + (size > 0 ? ulp / size * report.norm_b : 0);
    auto const wrong = [&](auto const&... parts) {
      outcome.wrong.push_back(text("pair ", k, " (", to_string(report.pair_status[k]), ", ",
                                   report.eigenvalues[k], "): ", parts...));
    };
    if (question.criterion != Criterion::relative &&
        !(error <= 1.01 * question.tolerance + rounding))
      wrong("its backward error is ", error);
    if (size > 0 && std::isfinite(same) && !(same <= 1.01 * reported + rounding))
      wrong("its backward error is ", same, ", not ", reported);
  }
  auto const count = static_cast<long double>(report.eigenvalues.size());
  long double const rounding = 50 * eps * count * std::max(1.0L, norm_b * largest * largest);
  if (all && !(found.orthogonality <= 1e-6L + rounding))
    outcome.wrong.push_back(text("the vectors are orthonormal to ", found.orthogonality, " only"));
}

}  // namespace blockspan::test
