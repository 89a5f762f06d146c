#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/solvers/lowest_pairs.hpp>

#include "interruption.hpp"
#include "operators.hpp"
#include "solvers/automatic.hpp"
#include "solvers/solvers.hpp"
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
nb::dict progress_of(LobpcgProgress<Real> const& progress, int before) {
  nb::dict result;
  result["iteration"] = before + progress.iteration;
  result["converged"] = progress.converged;
  result["wanted"] = progress.wanted;
  result["active"] = progress.active;
  result["eigenvalues"] = progress.eigenvalues;
  result["backward_errors"] = progress.backward_errors;
  return result;
}

template <class Scalar>
LobpcgOptions<Scalar, Exec> options_of(Request const& request) {
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
class Solve final : private CourseOfSolve<Scalar, Request, LobpcgOptions<Scalar, Exec>,
                                          LobpcgReport<real_t<Scalar>>> {
  using Course =
      CourseOfSolve<Scalar, Request, LobpcgOptions<Scalar, Exec>, LobpcgReport<real_t<Scalar>>>;
  using Course::report_, Course::ended_;
  using Course::request_, Course::interruption_, Course::options_, Course::automatic_;

 public:
  using Real = real_t<Scalar>;
  using Linear = LinearOperator<Scalar, Exec>;

  Solve(Request const& request, Interruption& interruption, Automatic<Scalar>* automatic)
      : Course(request, interruption, options_of<Scalar>(request), automatic) {
    options_.monitor = [this](LobpcgProgress<Real> const& progress) { return goes_on(progress); };
  }

  /// M, B: null for none, Y: of no columns. Without the GIL.
  void run(Exec const& exec, Linear const& a, Linear const* b, Linear const* M,
           Block<Scalar, Exec> const& X, ConstBlock<Scalar, Exec> const& Y) {
    options_.constraints = Y;
    options_.preconditioner = M;
    if (automatic_ != nullptr) this->begin();
    auto const once_more = [&] {
      return b == nullptr ? lobpcg(exec, a, X, options_) : lobpcg(exec, a, *b, X, options_);
    };
    report_ = once_more();
    if (automatic_ == nullptr || !automatic_->late() || ended_ ||
        report_.status != Status::stopped_by_monitor)
      return;
    Kokkos::Timer const timer;
    if (!automatic_->change(interruption_, report_.iterations)) return;
    double const setup = timer.seconds();
    options_.continue_from(static_cast<int>(X.extent(1)));
    Course::go_on(once_more, setup, report_.iterations, setup + report_.seconds.total);
  }

  nb::dict result(Operator const* M) const {
    return this->with_preconditioner(report_of(report_), M);
  }

 private:
  bool goes_on(LobpcgProgress<Real> const& progress) {
    std::span const errors(progress.backward_errors);
    auto const wanted = std::min(errors.size(), static_cast<std::size_t>(progress.wanted));
    bool const due =
        automatic_ != nullptr && automatic_->due(errors.first(wanted), progress.iteration);
    if (report_.iterations > 0 && progress.iteration == 0) return true;  // seen at the end of them
    return Course::goes_on(due, [&] { return progress_of(progress, report_.iterations); });
  }
};

/// What the matrices whose entries are known make of a solve whose caller names no preconditioner.
struct Entries {
  Matrix const *A, *B;  ///< null: not known
};

/// Nothing where the choice is the caller's, and for the highest pairs of one matrix.
template <class Scalar>
std::optional<Automatic<Scalar>> automatic_of(Entries const& entries, bool pencil,
                                              LinearOperator<Scalar, Exec> const& a, int columns,
                                              Request const& request) {
  auto const* const crs = entries_of<Scalar>(entries.A);
  bool const one_method = !request.checkpoint.empty() || !request.resume.empty();
  auto const word = default_of_eigenpairs(request.largest, pencil, one_method);
  if (crs == nullptr || word == "none" || request.path == "dense") return {};
  auto const exec = instance_to_wait_for(request.stream);
  if (word == "jacobi") return std::optional<Automatic<Scalar>>(std::in_place, exec, *crs);
  return std::optional<Automatic<Scalar>>(std::in_place, exec, SolveKind::eigenpairs, *crs,
                                          entries_of<Scalar>(entries.B), a, columns,
                                          request.tolerance, true);
}

/// The smallest pairs by factors, where these are the better way (lowest_pairs_by_factors): without
/// a start, a block or a callback of the caller's. No report: iterate.
template <class Scalar>
LowestByFactors<Scalar, Exec> by_factors(Entries const& entries, bool pencil, bool constrained,
                                         Request const& request, Interruption& interruption) {
  if constexpr (has_factors && std::is_same_v<real_t<Scalar>, double>) {
    bool const plain = request.path == "automatic" && request.block == 0 &&
                       request.guess_columns == 0 && !constrained && request.monitor.is_none() &&
                       request.checkpoint.empty() && request.resume.empty();
    bool const asks_smallest =
        !request.largest && !request.certify && request.criterion != "relative";
    if (!plain || !asks_smallest || entries.A == nullptr || (pencil && entries.B == nullptr))
      return {};
    ExactOptions options;
    options.max_steps = request.max_iterations;
    options.time_limit = request.time_limit;
    options.seed = request.seed;
    options.monitor = [&](ExactProgress const&) {
      return interruption.goes_on(request.monitor, [] { return nb::dict(); });
    };
    return lowest_pairs_by_factors(instance_to_wait_for(request.stream),
                                   *entries_of<Scalar>(entries.A), entries_of<Scalar>(entries.B),
                                   {.pairs = request.wanted, .tolerance = request.tolerance},
                                   std::move(options));
  } else {
    (void)entries, (void)pencil, (void)constrained, (void)request, (void)interruption;
    return {};
  }
}

/// What is reported of pairs that factors have found. X: takes the vectors.
template <class Scalar>
nb::dict result_of(LowestByFactors<Scalar, Exec> const& found, Block<Scalar, Exec> const& X,
                   Interruption const& interruption) {
  auto const& exact = *found.report;
  Kokkos::deep_copy(Exec(), blocks::column_range(X, 0, static_cast<int>(found.X.extent(1))),
                    found.X);
  Exec().fence("Blockspan::python::lobpcg");
  auto result = report_of(lobpcg_report_of(exact, found.reason));
  result["preconditioner"] = "none";
  result["notes"] = exact.notes;
  result["seconds"]["setup"] = exact.seconds.analysis;
  result["raised"] = interruption.raised();
  return result;
}

template <class Scalar>
nb::dict solve(Operator const& A, Operator const* B, Operator const* M, Entries const& entries,
               Array const& X, std::optional<ConstArray> const& Y, Request const& request) {
  Interruption interruption;
  auto const block = row_major_block<Scalar>(X, "X");
  ConstBlock<Scalar, Exec> constraints;
  if (Y) constraints = row_major_block<Scalar const>(*Y, "Y");
  auto const& a = operator_of<Scalar>(A, "A").linear();
  auto const* const b = optional_operator<Scalar>(B, "B");
  auto const* const m = optional_operator<Scalar>(M, "M");
  auto const found = [&] {
    WithoutGil const without_gil;
    return by_factors<Scalar>(entries, B != nullptr, Y.has_value(), request, interruption);
  }();
  if (found.report) return result_of(found, block, interruption);
  int const columns = request.block > 0 ? request.block : static_cast<int>(block.extent(1));
  auto automatic = interruptible([&] {
    OperatorLocks const locks{&A};
    return automatic_of<Scalar>(entries, B != nullptr, a, columns, request);
  });
  Solve<Scalar> solve(request, interruption, automatic ? &*automatic : nullptr);
  {
    WithoutGil const without_gil;
    OperatorLocks const locks{&A, B, M};
    InterruptionCheck const check(interruption.as_check());
    solve.run(instance_to_wait_for(request.stream), a, b, m, block, constraints);
  }
  auto result = solve.result(M);
  if (!found.note.empty()) result["notes"].attr("append")(found.note);
  return result;
}

Facts lobpcg_of(Operator const& A, Operator const* B, Operator const* M, Matrix const* entries,
                Matrix const* mass_entries, Array const& X, std::optional<ConstArray> const& Y,
                int wanted, int block, bool largest, double tolerance, std::string const& criterion,
                std::string const& path, int max_iterations, int guess_columns, std::uint64_t seed,
                bool certify, double time_limit, std::string const& checkpoint,
                std::string const& resume, nb::object monitor, Stream stream) {
  Request const request{wanted,     block,     max_iterations, guess_columns,      largest,
                        certify,    tolerance, time_limit,     criterion,          path,
                        checkpoint, resume,    seed,           std::move(monitor), stream};
  Entries const known{entries, mass_entries};
  return with_scalar(A.type(),
                     [&]<class Scalar>() { return solve<Scalar>(A, B, M, known, X, Y, request); });
}

}  // namespace

void bind_lobpcg(nb::module_& m) {
  m.def("lobpcg", &lobpcg_of, nb::arg("A"), nb::arg("B").none(), nb::arg("M").none(),
        nb::arg("entries").none(), nb::arg("mass_entries").none(), nb::arg("X").noconvert(),
        nb::arg("Y").noconvert().none(), nb::kw_only(), nb::arg("wanted"), nb::arg("block"),
        nb::arg("largest"), nb::arg("tolerance"), nb::arg("criterion"), nb::arg("path"),
        nb::arg("max_iterations"), nb::arg("guess_columns"), nb::arg("seed"), nb::arg("certify"),
        nb::arg("time_limit"), nb::arg("checkpoint"), nb::arg("resume"), nb::arg("monitor").none(),
        nb::arg("stream"));
}

}  // namespace blockspan::python
