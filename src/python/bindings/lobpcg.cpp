#include <optional>

#include <blockspan/solvers/lobpcg.hpp>

#include "interruption.hpp"
#include "operators.hpp"
#include "solvers.hpp"
#include <nanobind/stl/optional.h>

namespace blockspan::python {

namespace {

struct Request {
  int wanted, block, max_iterations, guess_columns;
  bool largest, certify;
  double tolerance, time_limit;
  std::string criterion, path, checkpoint, resume;
  std::uint64_t seed;
  nb::object monitor;
  Stream stream;
};

Criterion criterion_of(std::string const& name) {
  if (name == "digits") return Criterion::digits;
  if (name == "backward") return Criterion::backward;
  if (name == "relative") return Criterion::relative;
  fail("blockspan.lobpcg", "criterion='", name, "'; there are 'digits', 'backward' and 'relative'");
}

SolvePath path_of(std::string const& name) {
  if (name == "automatic") return SolvePath::automatic;
  if (name == "iterative") return SolvePath::iterative;
  if (name == "dense") return SolvePath::dense;
  fail("blockspan.lobpcg", "path='", name, "'; there are 'automatic', 'iterative' and 'dense'");
}

template <class Real>
nb::dict progress_of(LobpcgProgress<Real> const& progress) {
  nb::dict result;
  result["iteration"] = progress.iteration;
  result["converged"] = progress.converged;
  result["wanted"] = progress.wanted;
  result["active"] = progress.active;
  result["eigenvalues"] = progress.eigenvalues;
  result["backward_errors"] = progress.backward_errors;
  return result;
}

template <class Scalar>
LobpcgOptions<Scalar, Exec> options_of(Request const& request, Interruption& interruption) {
  using Real = real_t<Scalar>;
  LobpcgOptions<Scalar, Exec> options;
  options.wanted = request.wanted;
  options.block = request.block;
  options.which = request.largest ? Which::largest : Which::smallest;
  options.tolerance = static_cast<Real>(request.tolerance);
  options.criterion = criterion_of(request.criterion);
  options.path = path_of(request.path);
  options.max_iterations = request.max_iterations;
  options.guess_columns = request.guess_columns;
  options.seed = request.seed;
  options.time_limit = request.time_limit;
  options.checkpoint = request.checkpoint;
  options.resume = request.resume;
  options.certify = request.certify;
  options.monitor = [&interruption, &request](LobpcgProgress<Real> const& progress) {
    return interruption.goes_on(request.monitor, [&] { return progress_of(progress); });
  };
  return options;
}

nb::dict counters_of(LobpcgCounters const& counters) {
  nb::dict result;
  result["operator_columns"] = counters.operator_columns;
  result["mass_columns"] = counters.mass_columns;
  result["preconditioner_columns"] = counters.preconditioner_columns;
  result["operator_applications"] = counters.operator_applications;
  result["mass_applications"] = counters.mass_applications;
  result["preconditioner_applications"] = counters.preconditioner_applications;
  result["batches"] = counters.batches;
  result["restarts"] = counters.restarts;
  result["probes"] = counters.probes;
  result["columns_dropped"] = counters.columns_dropped;
  result["preconditioner_dropped"] = counters.preconditioner_dropped;
  return result;
}

nb::dict seconds_of(LobpcgSeconds const& seconds) {
  nb::dict result;
  result["total"] = seconds.total;
  result["operator"] = seconds.operator_a;
  result["mass"] = seconds.operator_b;
  result["preconditioner"] = seconds.preconditioner;
  result["gram"] = seconds.gram;
  result["update"] = seconds.update;
  result["dense"] = seconds.dense;
  result["residual"] = seconds.residual;
  return result;
}

template <class Real>
nb::dict report_of(LobpcgReport<Real> const& report) {
  nb::dict result;
  result["status"] = in_words(report.status);
  result["path"] = report.path;
  result["path_reason"] = report.path_reason;
  result["trouble"] = report.trouble;
  result["iterations"] = report.iterations;
  result["eigenvalues"] = report.eigenvalues;
  result["backward_errors"] = report.backward_errors;
  result["relative_residuals"] = report.relative_residuals;
  result["norm_a"] = report.norm_a;
  result["norm_b"] = report.norm_b;
  result["error_bounds"] = report.error_bounds;
  result["pair_status"] = in_words(report.pair_status);
  result["unused_rows"] = report.unused_rows;
  result["orthogonality_loss"] = report.orthogonality_loss;
  result["checkpoint_fault"] = report.checkpoint_fault;
  nb::list history;
  for (auto const& line : report.history)
    history.append(
        nb::make_tuple(line.iteration, line.active, line.eigenvalues, line.backward_errors));
  result["history"] = history;
  if (!report.certificate.radius.empty())
    result["certificate"] =
        nb::make_tuple(report.certificate.radius, report.certificate.gap_radius,
                       report.certificate.orthogonality_loss, report.certificate.rigorous);
  result["counters"] = counters_of(report.counters);
  result["seconds"] = seconds_of(report.seconds);
  return result;
}

template <class Scalar>
nb::dict solve(Operator const& A, Operator const* B, Operator const* M, Array const& X,
               std::optional<ConstArray> const& Y, Request const& request) {
  Interruption interruption;
  auto options = options_of<Scalar>(request, interruption);
  auto const block = row_major_block<Scalar>(X, "X");
  if (Y) options.constraints = row_major_block<Scalar const>(*Y, "Y");
  auto const& a = operator_of<Scalar>(A, "A").linear();
  auto const* const b = optional_operator<Scalar>(B, "B");
  options.preconditioner = optional_operator<Scalar>(M, "M");
  LobpcgReport<real_t<Scalar>> report;
  {
    WithoutGil const without_gil;
    OperatorLocks const locks{&A, B, M};
    InterruptionCheck const check(interruption.as_check());
    auto const exec = instance_to_wait_for(request.stream);
    report = b == nullptr ? lobpcg(exec, a, block, options) : lobpcg(exec, a, *b, block, options);
  }
  auto result = report_of(report);
  result["raised"] = interruption.raised();
  return result;
}

Facts lobpcg_of(Operator const& A, Operator const* B, Operator const* M, Array const& X,
                std::optional<ConstArray> const& Y, int wanted, int block, bool largest,
                double tolerance, std::string const& criterion, std::string const& path,
                int max_iterations, int guess_columns, std::uint64_t seed, bool certify,
                double time_limit, std::string const& checkpoint, std::string const& resume,
                nb::object monitor, Stream stream) {
  Request const request{wanted,     block,     max_iterations, guess_columns,      largest,
                        certify,    tolerance, time_limit,     criterion,          path,
                        checkpoint, resume,    seed,           std::move(monitor), stream};
  return with_scalar(A.type(),
                     [&]<class Scalar>() { return solve<Scalar>(A, B, M, X, Y, request); });
}

}  // namespace

void bind_lobpcg(nb::module_& m) {
  m.def("lobpcg", &lobpcg_of, nb::arg("A"), nb::arg("B").none(), nb::arg("M").none(),
        nb::arg("X").noconvert(), nb::arg("Y").noconvert().none(), nb::kw_only(), nb::arg("wanted"),
        nb::arg("block"), nb::arg("largest"), nb::arg("tolerance"), nb::arg("criterion"),
        nb::arg("path"), nb::arg("max_iterations"), nb::arg("guess_columns"), nb::arg("seed"),
        nb::arg("certify"), nb::arg("time_limit"), nb::arg("checkpoint"), nb::arg("resume"),
        nb::arg("monitor").none(), nb::arg("stream"));
}

}  // namespace blockspan::python
