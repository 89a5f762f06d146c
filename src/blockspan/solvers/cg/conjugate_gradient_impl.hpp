#pragma once

#include <string>

#include <blockspan/solvers/cg/block_choice.hpp>
#include <blockspan/solvers/cg/group_cycles.hpp>
#include <blockspan/solvers/cg/null_search.hpp>
#include <blockspan/solvers/common/finite_columns.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

// The entry of solve_spd: validates the options, chooses the method and solves group by group.

namespace blockspan {

template <class Scalar, class Exec>
void CgOptions<Scalar, Exec>::validate(std::int64_t columns) const {
  constexpr auto where = "CgOptions";
  auto const relative = [&](Real value) {
    require(value >= 0 && value < 1, where, "tolerance is ", value, ", not in [0, 1)");
  };
  auto const absolute = [&](Real value) {
    require(value >= 0 && std::isfinite(value), where, "absolute_tolerance is ", value,
            ", negative or not finite");
  };
  auto const one_a_column = [&](std::vector<Real> const& values, char const* name) {
    require(values.empty() || static_cast<std::int64_t>(values.size()) == columns, where, name,
            " has ", values.size(), " entries, but there are ", columns, " right-hand sides");
  };
  relative(tolerance);
  absolute(absolute_tolerance);
  one_a_column(tolerances, "tolerances");
  one_a_column(absolute_tolerances, "absolute_tolerances");
  for (Real const value : tolerances) relative(value);
  for (Real const value : absolute_tolerances) absolute(value);
  require(max_iterations >= 0, where, "max_iterations is ", max_iterations, ", negative");
  require(max_cycles >= 1, where, "max_cycles is ", max_cycles, ", below 1");
  require(widest_block >= 0, where, "widest_block is ", widest_block, ", negative");
  require(time_limit >= 0, where, "time_limit is ", time_limit, " seconds, negative or NaN");
}

namespace krylov {

template <class Real>
std::string fell_back(CgReport<Real> const& report, std::string const& why) {
  auto const count = std::count_if(report.columns.begin(), report.columns.end(),
                                   [](CgColumn<Real> const& column) { return column.fell_back; });
  return ", of which " + std::to_string(count) + " of " + std::to_string(report.columns.size()) +
         " columns went on in the working precision: " + why;
}

template <class Scalar, class Exec>
void check_shapes(LinearOperator<Scalar, Exec> const& A, BlockRef<Scalar const> const& B,
                  BlockRef<Scalar> const& X, CgOptions<Scalar, Exec> const& options) {
  constexpr auto where = "conjugate_gradient";
  std::int64_t const n = A.rows();
  require(B.rows == n, where, "B has ", B.rows, " rows, A has order ", n);
  require(X.rows == n && X.columns == B.columns, where, "X is ", X.rows, " x ", X.columns,
          ", B is ", B.rows, " x ", B.columns);
  auto const* M = options.preconditioner;
  require(!M || M->rows() == n, where, "the preconditioner has order ", M ? M->rows() : 0,
          ", A has order ", n);
  auto const& null = options.null_space;
  require(null.extent(1) == 0 || static_cast<std::int64_t>(null.extent(0)) == n, where,
          "null_space has ", null.extent(0), " rows, A has order ", n);
  std::int64_t const order = A.row_space().global_rows(n);
  require(static_cast<std::int64_t>(null.extent(1)) <= order, where, "null_space has ",
          null.extent(1), " columns, A has order ", order);
  auto const* inner = options.inner;
  require(!inner || inner->rows() == n, where, "the inner solver has order ",
          inner ? inner->rows() : 0, ", A has order ", n);
}

/// Throws Error, on all ranks, where a start has NaN or Inf. That of a right-hand side that is not
/// finite stays as it is, and is not looked at.
template <class Scalar, class Exec>
void require_finite_guess(CgProblem<Scalar, Exec>& problem, BlockRef<Scalar const> const& B,
                          BlockRef<Scalar const> const& X) {
  std::vector<bool> solved;
  for (real_t<Scalar> const largest :
       problem.fold("Blockspan::cg::largest", LargestTerms<Scalar>{B}, B.columns))
    solved.push_back(std::isfinite(largest));
  solvers::require_finite(problem, "conjugate_gradient", "the start X", X, solved);
}

/// Everything of the report that sums up the columns.
template <class Scalar, class Exec>
void conclude(CgProblem<Scalar, Exec>& problem, CgReport<real_t<Scalar>>& report) {
  report.status = Status::converged;
  for (auto const& column : report.columns)
    if (!column.success()) {
      report.status = column.status;
      break;
    }
  if (report.status == Status::operator_not_finite && report.trouble.empty())
    report.trouble = "the operator gave NaN or Inf";
  report.norm_a = problem.norm_a();
  report.counters = [&] {
    auto counters = problem.counters;
    counters.cycles = report.counters.cycles;
    return counters;
  }();
  double const total = report.seconds.total;
  report.seconds = problem.seconds;
  report.seconds.total = total;
}

/// How k columns are divided into groups, with the reason.
struct CgGroups {
  bool block;
  int width;
  std::string reason;
};

template <class Scalar, class Exec>
CgGroups choose_groups(LinearOperator<Scalar, Exec> const& A,
                       CgOptions<Scalar, Exec> const& options, std::int64_t rows, int k) {
  auto const for_columns =
      reason_for_columns<real_t<Scalar>>(block_facts(A, options.preconditioner, rows, k));
  bool const automatic = options.method == CgMethod::automatic;
  bool const block = automatic ? k > 1 && for_columns.empty() : options.method == CgMethod::block;
  bool const chosen = automatic && runs_on_host_v<Exec>;
  int const most = !block ? k : chosen ? widest_on_hosts : widest_useful_block;
  int const widest = options.widest_block > 0 ? std::min(options.widest_block, most) : most;
  int const width = group_width(k, widest);
  auto reason = reason_of(options.method, for_columns, k, width);
  if (options.inner) reason += "; corrections in " + options.inner->name();
  return {block, width, reason};
}

/// Solves group after group. Overwrites X and the columns, method, reason and trouble of the
/// report.
template <class Scalar, class Exec>
void solve_groups(CgProblem<Scalar, Exec>& problem, CgControl<Scalar, Exec>& control,
                  CgGroups const& groups, BlockRef<Scalar const> const& B,
                  BlockRef<Scalar> const& X) {
  auto const& options = control.options();
  auto& report = control.report();
  int const k = static_cast<int>(B.columns);
  report.reason = groups.reason;
  CgTools<Scalar, Exec> tools(problem, control, groups.width);
  if (options.null_space.extent(1) > 0)
    tools.null_space.take(problem, options.null_space);
  else if (problem.a().entries().annihilates_constants(problem.exec))
    tools.null_space.take_constant(problem);
  bool block_ran = false, pseudo_block_ran = false;
  std::string fall_back;
  for (int first = 0; first < k; first += groups.width) {
    int const count = std::min(groups.width, k - first);
    CgGroup<Scalar, Exec> group(problem, tools, B, column_range(X, first, count), first,
                                groups.block);
    group.solve();
    block_ran = block_ran || group.block_ran();
    pseudo_block_ran = pseudo_block_ran || group.pseudo_block_ran();
    if (!group.trouble().empty()) report.trouble = group.trouble();
    if (!group.fall_back().empty() && fall_back.empty()) fall_back = group.fall_back();
    if (!group.switched().empty() && report.reason.find(group.switched()) == std::string::npos)
      report.reason += "; then pseudo-block: " + group.switched();
  }
  report.null_vectors = tools.null_space.count();
  if (!fall_back.empty()) report.reason += fell_back(report, fall_back);
  report.method = block_ran && pseudo_block_ran                      ? "block, then pseudo_block"
                  : block_ran || (groups.block && !pseudo_block_ran) ? "block"
                                                                     : "pseudo_block";
}

template <class Scalar, class Exec>
CgReport<real_t<Scalar>> solve_cg(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                                  BlockRef<Scalar const> const& B, BlockRef<Scalar> const& X,
                                  CgOptions<Scalar, Exec> const& options) {
  auto const space = A.row_space();
  space.communicator().run_agreed([&] {
    options.validate(B.columns);
    check_shapes<Scalar, Exec>(A, B, X, options);
  });
  CgReport<real_t<Scalar>> report;
  int const k = static_cast<int>(B.columns);
  report.columns.resize(k);
  CgProblem<Scalar, Exec> problem(exec, A, options);
  CgControl<Scalar, Exec> control(options, report, space.communicator());
  bool const any = k > 0 && problem.global_rows() > 0;
  if (any && options.use_guess) require_finite_guess<Scalar, Exec>(problem, B, X);
  if (any)
    solve_groups(problem, control, choose_groups(A, options, problem.global_rows(), k), B, X);
  else
    for (auto& column : report.columns) column.status = Status::zero_rhs;
  exec.fence("Blockspan::cg: done");
  report.seconds.total = control.elapsed();
  conclude<Scalar, Exec>(problem, report);
  return report;
}

}  // namespace krylov
}  // namespace blockspan
