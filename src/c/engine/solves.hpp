#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/solvers/status.hpp>

#include "../values/json_text.hpp"
#include "../values/statuses.hpp"
#include "linear.hpp"

// lobpcg and solve_spd of blockspan.h: options from and reports to the structs of the caller.

namespace blockspan::capi {

template <class Real>
Real tolerance_of(double asked) {
  if (asked != 0) return static_cast<Real>(asked);
  return std::numeric_limits<Real>::digits >= 50 ? Real(1e-8) : Real(1e-5);
}

template <class Real>
std::vector<double> doubles(std::vector<Real> const& values) {
  return {values.begin(), values.end()};
}

template <class From>
void give(std::vector<From> const& from, double* out) {
  if (out != nullptr) std::copy(from.begin(), from.end(), out);
}

template <class Real>
JsonText json_of(LobpcgReport<Real> const& report) {
  auto const& n = report.counters;
  JsonText counters;
  counters.add("operator_columns", n.operator_columns)
      .add("mass_columns", n.mass_columns)
      .add("preconditioner_columns", n.preconditioner_columns)
      .add("operator_applications", n.operator_applications)
      .add("restarts", n.restarts)
      .add("widenings", n.widenings)
      .add("probes", n.probes)
      .add("preconditioner_dropped", n.preconditioner_dropped);
  JsonText json;
  json.add("solver", "lobpcg")
      .add("status", to_string(report.status))
      .add("path", report.path)
      .add("path_reason", report.path_reason)
      .add("trouble", report.trouble)
      .add("iterations", report.iterations)
      .add("eigenvalues", report.eigenvalues)
      .add("backward_errors", report.backward_errors)
      .add("relative_residuals", report.relative_residuals)
      .add("error_bounds", report.error_bounds)
      .add("certain_digits", report.certain_digits)
      .add("pair_status", names_of(report.pair_status))
      .add("next_eigenvalue", static_cast<double>(report.next_eigenvalue))
      .add("orthogonality_loss", static_cast<double>(report.orthogonality_loss))
      .add("norm_a", static_cast<double>(report.norm_a))
      .add("norm_b", static_cast<double>(report.norm_b));
  auto const& certificate = report.certificate;
  if (!certificate.radius.empty())
    json.add("certificate", JsonText()
                                .add("radius", certificate.radius)
                                .add("gap_radius", certificate.gap_radius)
                                .add("rigorous", certificate.rigorous));
  return json.add("counters", counters).add("seconds", report.seconds.total);
}

template <class Real>
JsonText json_of(CgReport<Real> const& report) {
  std::vector<Status> statuses;
  std::vector<double> residuals, errors;
  std::vector<int> iterations;
  for (auto const& column : report.columns) {
    statuses.push_back(column.status);
    residuals.push_back(column.residual);
    errors.push_back(column.backward_error);
    iterations.push_back(column.iterations);
  }
  auto const& n = report.counters;
  JsonText counters;
  counters.add("operator_applications", n.operator_applications)
      .add("operator_columns", n.operator_columns)
      .add("preconditioner_columns", n.preconditioner_columns)
      .add("cycles", n.cycles)
      .add("groups", n.groups)
      .add("directions_dropped", n.directions_dropped);
  JsonText json;
  json.add("solver", "solve_spd")
      .add("status", to_string(report.status))
      .add("method", report.method)
      .add("reason", report.reason)
      .add("trouble", report.trouble)
      .add("iterations", report.iterations)
      .add("column_status", names_of(statuses))
      .add("column_iterations", iterations)
      .add("residuals", residuals)
      .add("backward_errors", errors)
      .add("null_vectors", report.null_vectors)
      .add("counters", counters)
      .add("seconds", report.seconds.total);
  return json;
}

/// Calls the caller's monitor; returns whether the solve continues.
template <class Progress>
bool goes_on(blockspan_monitor monitor, void* user, Progress const& p, int wanted,
             std::vector<double> const* values, std::vector<double> const& residuals) {
  blockspan_progress const seen{sizeof(blockspan_progress),
                                p.iteration,
                                p.converged,
                                wanted,
                                static_cast<std::int32_t>(residuals.size()),
                                values ? values->data() : nullptr,
                                residuals.data()};
  return monitor(user, &seen) == 0;
}

/// The enumerator of the library with that value; blockspan.h lists them in the same order.
template <class Enum>
Enum choice(char const* where, char const* name, std::int32_t number, std::int32_t most) {
  require(number >= 0 && number <= most, where, name, " is ", number, ", not one of 0 to ", most);
  return static_cast<Enum>(number);
}

template <class Scalar, class Exec>
LobpcgOptions<Scalar, Exec> library_options(blockspan_lobpcg_options const& given) {
  constexpr auto where = "blockspan_lobpcg";
  using Real = real_t<Scalar>;
  LobpcgOptions<Scalar, Exec> o;
  o.wanted = given.wanted;
  o.block = given.block;
  o.widest_block = given.widest_block;
  o.which = choice<Which>(where, "which", given.which, 1);
  o.criterion = choice<Criterion>(where, "criterion", given.criterion, 2);
  o.path = choice<SolvePath>(where, "path", given.path, 2);
  o.digits = given.digits;
  o.max_iterations = given.max_iterations;
  o.guess_columns = given.guess_columns;
  o.probe = given.probe != 0;
  o.check_hermitian = given.check_hermitian != 0;
  o.certify = given.certify != 0;
  o.tolerance = tolerance_of<Real>(given.tolerance);
  o.time_limit = given.time_limit;
  o.seed = given.seed;
  if (given.monitor != nullptr)
    o.monitor = [monitor = given.monitor,
                 user = given.monitor_user](LobpcgProgress<Real> const& p) {
      auto const values = doubles(p.eigenvalues), errors = doubles(p.backward_errors);
      return goes_on(monitor, user, p, p.wanted, &values, errors);
    };
  return o;
}

/// Copies eigenpairs to the caller's arrays and the summary.
template <class Report>
void give_pairs(Report const& report, Results& results) {
  give(report.eigenvalues, results.values);
  give(report.backward_errors, results.errors);
  give_statuses(report.pair_status, results.statuses);
  auto& summary = results.summary;
  summary.status = number_of(report.status);
  for (auto const status : report.pair_status) summary.converged += is_done(status) ? 1 : 0;
  summary.seconds = report.seconds.total;
}

template <class Scalar, class Exec>
void Linear<Scalar, Exec>::lobpcg(Operator const* mass, Operator const* preconditioner,
                                  blockspan_block const* X, blockspan_lobpcg_options const& options,
                                  Results& results) const {
  constexpr auto where = "blockspan_lobpcg";
  using Rows = RowMajor<Scalar, Exec>;
  auto const& A = library();
  require_result<Scalar, Exec>(where, "X", X, A.rows());
  auto o = library_options<Scalar, Exec>(options);
  auto const* const B = beside(where, "mass", mass);
  if (auto const* const M = beside(where, "preconditioner", preconditioner))
    o.preconditioner = &M->library();
  auto const constraints =
      copy_of<Scalar>(exec(), where, "constraints", options.constraints, A.rows());
  o.constraints = constraints;
  Rows const x(exec(), *X, Rows::Use::read_and_write);
  auto const report = B ? blockspan::lobpcg<Scalar, Exec>(exec(), A, B->library(), x.view(), o)
                        : blockspan::lobpcg<Scalar, Exec>(exec(), A, x.view(), o);
  x.give_back(exec());
  exec().fence("blockspan_lobpcg");
  give_pairs(report, results);
  results.summary.iterations = report.iterations;
  results.summary.operator_applications = report.counters.operator_applications;
  this->context().report = json_of(report).text();
}

template <class Scalar, class Exec>
CgOptions<Scalar, Exec> library_options(blockspan_cg_options const& given) {
  constexpr auto where = "blockspan_solve_spd";
  using Real = real_t<Scalar>;
  CgOptions<Scalar, Exec> o;
  o.method = choice<CgMethod>(where, "method", given.method, 2);
  o.max_iterations = given.max_iterations;
  o.use_guess = given.use_guess != 0;
  o.widest_block = given.widest_block;
  o.max_cycles = given.max_cycles;
  o.single_reduction = given.single_reduction != 0;
  o.tolerance = tolerance_of<Real>(given.tolerance);
  o.absolute_tolerance = static_cast<Real>(given.absolute_tolerance);
  o.time_limit = given.time_limit;
  o.keep_history = false;
  if (given.monitor != nullptr)
    o.monitor = [monitor = given.monitor, user = given.monitor_user](CgProgress<Real> const& p) {
      return goes_on(monitor, user, p, p.columns, nullptr, doubles(p.residuals));
    };
  return o;
}

template <class Scalar, class Exec>
void Linear<Scalar, Exec>::solve_spd(Operator const* preconditioner, blockspan_block const* B,
                                     blockspan_block const* X, blockspan_cg_options const& options,
                                     Results& results) const {
  constexpr auto where = "blockspan_solve_spd";
  auto const& A = library();
  require_block<Scalar, Exec>(where, "B", B, A.rows());
  require_result<Scalar, Exec>(where, "X", X, A.rows());
  auto o = library_options<Scalar, Exec>(options);
  if (auto const* const M = beside(where, "preconditioner", preconditioner))
    o.preconditioner = &M->library();
  auto const null_space =
      copy_of<Scalar>(exec(), where, "null_space", options.null_space, A.rows());
  o.null_space = null_space;
  bool const beside = !blocks::may_overlap<Scalar>(block_ref<Scalar>(*B), block_ref<Scalar>(*X));
  auto const copy = copy_of<Scalar>(exec(), where, "B", beside ? nullptr : B, A.rows());
  auto const b = beside ? strided<Scalar, Exec>(*B) : Strided<Scalar, Exec>(copy);
  auto const report =
      blockspan::solve_spd<Scalar, Exec>(exec(), A, b, strided<Scalar, Exec>(*X), o);
  auto& summary = results.summary;
  summary.status = number_of(report.status);
  summary.iterations = report.iterations;
  summary.operator_applications = report.counters.operator_applications;
  summary.seconds = report.seconds.total;
  std::size_t j = 0;
  for (auto const& column : report.columns) {
    if (results.errors) results.errors[j] = column.residual;
    if (results.statuses) results.statuses[j] = number_of(column.status);
    if (results.iterations) results.iterations[j] = column.iterations;
    summary.converged += column.success() ? 1 : 0;
    ++j;
  }
  this->context().report = json_of(report).text();
}

}  // namespace blockspan::capi
