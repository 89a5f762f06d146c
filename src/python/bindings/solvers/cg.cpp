#include <algorithm>
#include <optional>

#include <blockspan/solvers/conjugate_gradient.hpp>

#include "interruption.hpp"
#include "operators.hpp"
#include "solvers/automatic.hpp"
#include "solvers/solvers.hpp"
#include <nanobind/stl/optional.h>

namespace blockspan::python {

namespace {

struct Request {
  double tolerance, absolute_tolerance, time_limit;
  bool use_guess;
  int max_iterations;
  std::string method;
  nb::object monitor;
  Stream stream;
};

CgMethod method_of(std::string const& name) {
  if (name == "auto") return CgMethod::automatic;
  if (name == "block") return CgMethod::block;
  if (name == "columns") return CgMethod::pseudo_block;
  fail("blockspan.cg", "method='", name,
       "'; there are 'auto', 'block' (one Krylov space for all columns) and 'columns' (a "
       "recurrence a column)");
}

template <class Real>
nb::dict progress_of(CgProgress<Real> const& progress, int before) {
  nb::dict result;
  result["iteration"] = before + progress.iteration;
  result["converged"] = progress.converged;
  result["columns"] = progress.columns;
  result["residuals"] = progress.residuals;
  return result;
}

template <class Real>
nb::dict report_of(CgReport<Real> const& report) {
  nb::dict result;
  result["status"] = in_words(report.status);
  result["iterations"] = report.iterations;
  result["method"] = report.method;
  result["reason"] = report.reason;
  result["trouble"] = report.trouble;
  result["null_vectors"] = report.null_vectors;
  nb::list columns;
  for (auto const& column : report.columns)
    columns.append(nb::make_tuple(in_words(column.status), column.iterations, column.residual,
                                  column.backward_error));
  result["columns"] = columns;
  nb::list history;
  for (auto const& line : report.history)
    history.append(nb::make_tuple(line.iteration, line.directions, line.residuals));
  result["history"] = history;
  nb::dict counters;
  counters["operator_applications"] = report.counters.operator_applications;
  counters["operator_columns"] = report.counters.operator_columns;
  counters["preconditioner_applications"] = report.counters.preconditioner_applications;
  counters["preconditioner_columns"] = report.counters.preconditioner_columns;
  counters["cycles"] = report.counters.cycles;
  counters["groups"] = report.counters.groups;
  result["counters"] = counters;
  nb::dict seconds;
  seconds["total"] = report.seconds.total;
  seconds["product"] = report.seconds.product;
  seconds["preconditioner"] = report.seconds.preconditioner;
  seconds["update"] = report.seconds.update;
  seconds["gram"] = report.seconds.gram;
  seconds["dense"] = report.seconds.dense;
  seconds["verify"] = report.seconds.verify;
  result["seconds"] = seconds;
  return result;
}

template <class Scalar>
CgOptions<Scalar, Exec> options_of(Request const& request) {
  using Real = real_t<Scalar>;
  CgOptions<Scalar, Exec> options;
  options.tolerance = static_cast<Real>(request.tolerance);
  options.absolute_tolerance = static_cast<Real>(request.absolute_tolerance);
  options.use_guess = request.use_guess;
  options.max_iterations = request.max_iterations;
  options.method = method_of(request.method);
  options.time_limit = request.time_limit;
  return options;
}

template <class Scalar>
class Solve final
    : private CourseOfSolve<Scalar, Request, CgOptions<Scalar, Exec>, CgReport<real_t<Scalar>>> {
  using Course = CourseOfSolve<Scalar, Request, CgOptions<Scalar, Exec>, CgReport<real_t<Scalar>>>;
  using Course::report_, Course::ended_;
  using Course::request_, Course::interruption_, Course::options_, Course::automatic_;

 public:
  using Real = real_t<Scalar>;
  using Linear = LinearOperator<Scalar, Exec>;

  Solve(Request const& request, Interruption& interruption, Automatic<Scalar>* automatic)
      : Course(request, interruption, options_of<Scalar>(request), automatic) {
    options_.monitor = [this](CgProgress<Real> const& progress) { return goes_on(progress); };
  }

  /// M: null for none. Without the GIL.
  template <class BView, class XView>
  void run(Exec const& exec, Linear const& a, Linear const* M, BView const& b, XView const& x) {
    auto const once_more = [&] { return solve_spd(exec, a, b, x, options_); };
    options_.preconditioner = M;
    if (automatic_ != nullptr) this->begin();
    report_ = once_more();
    if (automatic_ == nullptr) return;
    while (automatic_->late() && !ended_ && !report_.converged()) {
      Kokkos::Timer const setup;
      if (!automatic_->change(interruption_, report_.iterations)) return;
      go_on(once_more, setup.seconds());
    }
    Kokkos::Timer const setup;
    if (report_.blames_preconditioner() && automatic_->mend()) go_on(once_more, setup.seconds());
  }

  nb::dict result(Operator const* M) const {
    return this->with_preconditioner(report_of(report_), M);
  }

 private:
  bool goes_on(CgProgress<Real> const& progress) {
    bool const due =
        automatic_ != nullptr && automatic_->due(progress.group_residuals(),
                                                 progress.group_iteration, progress.groups_after());
    return Course::goes_on(due, [&] { return progress_of(progress, report_.iterations); });
  }

  template <class Once>
  void go_on(Once const& once_more, double setup) {
    options_.use_guess = true;
    Course::go_on(once_more, setup, report_.most_iterations(), timer_.seconds());
  }

  Kokkos::Timer timer_;
};

template <class Scalar>
nb::dict solve(Operator const& A, Operator const* M, Matrix const* entries, ConstArray const& B,
               Array const& X, Request const& request) {
  Interruption interruption;
  auto const b = strided_block<Scalar const>(B, "B");
  auto const x = strided_block<Scalar>(X, "X");
  auto const& a = operator_of<Scalar>(A, "A").linear();
  auto const* const m = optional_operator<Scalar>(M, "M");
  std::optional<Automatic<Scalar>> automatic;
  if (auto const* const crs = entries_of<Scalar>(entries))
    automatic.emplace(instance_to_wait_for(request.stream), SolveKind::system, *crs, nullptr, a,
                      std::max(1, static_cast<int>(x.extent(1))), request.tolerance,
                      !request.use_guess && request.absolute_tolerance == 0);
  Solve<Scalar> solve(request, interruption, automatic ? &*automatic : nullptr);
  {
    WithoutGil const without_gil;
    OperatorLocks const locks{&A, M};
    solve.run(instance_to_wait_for(request.stream), a, m, b, x);
  }
  return solve.result(M);
}

Facts cg_of(Operator const& A, Operator const* M, Matrix const* entries, ConstArray const& B,
            Array const& X, double tolerance, double absolute_tolerance, bool use_guess,
            int max_iterations, std::string const& method, double time_limit, nb::object monitor,
            Stream stream) {
  Request const request{tolerance, absolute_tolerance, time_limit, use_guess, max_iterations,
                        method,    std::move(monitor), stream};
  return with_scalar(A.type(),
                     [&]<class Scalar>() { return solve<Scalar>(A, M, entries, B, X, request); });
}

}  // namespace

void bind_cg(nb::module_& m) {
  m.def("cg", &cg_of, nb::arg("A"), nb::arg("M").none(), nb::arg("entries").none(),
        nb::arg("B").noconvert(), nb::arg("X").noconvert(), nb::kw_only(), nb::arg("tolerance"),
        nb::arg("absolute_tolerance"), nb::arg("use_guess"), nb::arg("max_iterations"),
        nb::arg("method"), nb::arg("time_limit"), nb::arg("monitor").none(), nb::arg("stream"));
}

}  // namespace blockspan::python
