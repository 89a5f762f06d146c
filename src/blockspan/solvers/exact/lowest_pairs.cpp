#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

#include <blockspan/solvers/lowest_pairs.hpp>

namespace blockspan {

namespace exact {

bool may_take_factors(LowestPairs const& wanted, std::int64_t rows) {
  return rows > 400 && rows >= 10 * std::int64_t(wanted.pairs);
}

std::string reason_for_factors(LowestPairs const& wanted, double spread) {
  constexpr int many = 40;
  constexpr double graded = 1e8, tight = 1e-11;
  std::ostringstream reason;
  if (wanted.tolerance <= tight)
    reason << "a tolerance of " << wanted.tolerance;
  else if (wanted.pairs >= many)
    reason << wanted.pairs << " pairs";
  else if (spread >= graded)
    reason << "the diagonal spans " << std::round(std::log10(spread)) << " decades";
  return reason.str();
}

std::string cost_of_factors(LowestPairs const& wanted, operators::PencilFactors const& factors,
                            std::int64_t nonzeros) {
  // measured on a core: perf/notes/exact.md
  constexpr double factor_rate = 15e9, solve_rate = 14e9, row = 70e-9, dense_rate = 5e9;
  constexpr double product_rate = 2e9, steps = 150;
  auto const n = static_cast<double>(factors.rows()), k = static_cast<double>(wanted.pairs);
  auto const entries = static_cast<double>(factors.factor_entries());
  double const basis = 2 * k + 56, columns = 80 + 3.4 * k;
  double const by_factors = 2 * factors.flops() / factor_rate +
                            columns * (row * n + 4 * entries / solve_rate) +
                            8 * n * basis * basis / dense_rate;
  double const block = lobpcg_block_size(wanted.pairs);
  double const step = 2 * static_cast<double>(nonzeros) * block / product_rate +
                      2 * n * 9 * block * block / dense_rate;
  if (!(by_factors <= steps * step)) return "";
  std::ostringstream cost;
  cost.precision(2);
  cost << "factors of " << factors.factor_entries() << " values take about " << by_factors << " s, "
       << static_cast<int>(steps) << " steps of LOBPCG " << steps * step << " s";
  return cost.str();
}

bool answers_lowest(LowestPairs const& wanted, ExactReport const& report) {
  if (report.status == Status::time_limit || report.status == Status::stopped_by_monitor)
    return true;
  if (!report.converged() || report.counts.empty() || !report.counts.front().trusted) return false;
  if (report.proof != Proof::proved && report.proof != Proof::tied) return false;
  auto const& shift = report.counts.front();
  auto const& values = report.eigenvalues;
  auto const below = std::count_if(values.begin(), values.end(),
                                   [&](double value) { return value < shift.shift; });
  if (below != shift.count || static_cast<int>(values.size()) != wanted.pairs) return false;
  for (std::size_t j = 0; j < values.size(); ++j)
    if (report.pair_status[j] != Status::zero_eigenvalue &&
        report.certain_digits[j] < wanted.digits)
      return false;
  return true;
}

}  // namespace exact

LobpcgReport<double> lobpcg_report_of(ExactReport const& exact, std::string reason) {
  LobpcgReport<double> report;
  report.status = exact.status;
  report.path = "exact";
  report.path_reason = std::move(reason);
  report.trouble = exact.trouble;
  report.checkpoint_fault = exact.checkpoint_fault;
  report.iterations = exact.steps;
  report.eigenvalues = exact.eigenvalues;
  report.backward_errors = exact.backward_errors;
  report.error_bounds = exact.error_bounds;
  report.certain_digits = exact.certain_digits;
  report.pair_status = exact.pair_status;
  report.relative_residuals = exact.relative_residuals;
  report.norm_a = exact.norm_k, report.norm_b = exact.norm_m;
  report.orthogonality_loss = exact.orthogonality_loss;
  report.seconds.total = exact.seconds.total;
  return report;
}

}  // namespace blockspan
