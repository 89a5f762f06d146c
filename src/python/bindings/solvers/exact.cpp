#include <type_traits>
#include <utility>

#include <blockspan/solvers/exact.hpp>

#include "interruption.hpp"
#include "matrix.hpp"
#include "runtime.hpp"
#include "solvers/solvers.hpp"
#include <nanobind/stl/optional.h>

namespace blockspan::python {

namespace {

struct Request {
  int pairs, max_steps;
  double tolerance, time_limit;
  std::string mode;
  bool count;
  std::uint64_t seed;
  nb::object monitor;
};

Spectral form_of(std::string const& mode) {
  if (mode == "normal") return Spectral::normal;
  if (mode == "buckling") return Spectral::buckling;
  if (mode == "cayley") return Spectral::cayley;
  fail("blockspan", "mode='", mode, "'; there are 'normal', 'buckling' and 'cayley'");
}

nb::dict progress_of(ExactProgress const& now) {
  nb::dict result;
  result["steps"] = now.steps;
  result["factorizations"] = now.factorizations;
  result["shift"] = now.shift;
  result["converged"] = now.converged;
  result["wanted"] = now.wanted;
  result["found"] = now.found;
  result["all"] = now.all;
  return result;
}

ExactOptions options_of(Request const& request, Interruption& interruption) {
  ExactOptions options;
  options.pairs = request.pairs;
  options.tolerance = request.tolerance;
  options.count = request.count;
  options.form = form_of(request.mode);
  options.seed = request.seed;
  options.max_steps = request.max_steps;
  options.time_limit = request.time_limit;
  options.monitor = [&interruption, &request](ExactProgress const& now) {
    return interruption.goes_on(request.monitor, [&] { return progress_of(now); });
  };
  return options;
}

/// As ShiftCount of the package.
nb::tuple count_of(ShiftCount const& at) {
  return nb::make_tuple(at.asked, at.shift, at.count, at.rho, at.null_pivots, at.static_pivots,
                        at.trusted);
}

nb::dict counters_of(ExactReport const& report) {
  nb::dict result;
  result["shifts"] = report.shifts;
  result["factorizations"] = report.factorizations;
  result["steps"] = report.steps;
  result["solved_columns"] = report.solved_columns;
  result["factor_entries"] = report.factor_entries;
  result["factor_bytes"] = report.factor_bytes;
  return result;
}

nb::dict seconds_of(ExactSeconds const& seconds) {
  nb::dict result;
  result["total"] = seconds.total;
  result["analysis"] = seconds.analysis;
  result["factorization"] = seconds.factorization;
  result["solve"] = seconds.solve;
  result["mass"] = seconds.mass;
  result["orthogonalization"] = seconds.orthogonalization;
  result["dense"] = seconds.dense;
  return result;
}

nb::dict report_of(ExactReport const& report) {
  nb::dict result;
  result["status"] = in_words(report.status);
  result["proof"] = std::string(to_string(report.proof));
  result["trouble"] = report.trouble;
  result["notes"] = report.notes;
  result["iterations"] = report.steps;
  result["eigenvalues"] = report.eigenvalues;
  result["backward_errors"] = report.backward_errors;
  result["error_bounds"] = report.error_bounds;
  result["pair_status"] = in_words(report.pair_status);
  result["norm_a"] = report.norm_k;
  result["norm_b"] = report.norm_m;
  result["orthogonality_loss"] = report.orthogonality_loss;
  result["next_eigenvalue"] = report.next_eigenvalue;
  nb::list counts, missing;
  for (auto const& at : report.counts) counts.append(count_of(at));
  for (auto const& cell : report.missing)
    missing.append(nb::make_tuple(cell.from, cell.to, cell.number));
  result["counts"] = counts;
  result["missing"] = missing;
  result["interval"] = nb::make_tuple(report.from, report.to);
  result["counted"] = report.counted;
  result["found"] = report.found;
  result["library"] = report.library;
  result["counters"] = counters_of(report);
  result["seconds"] = seconds_of(report.seconds);
  return result;
}

/// use(K, M or null) for matrices of double precision. Throws Error where this build has no
/// factors.
template <class Use>
Facts with_factors(Matrix const& K, Matrix const* M, Use const& use) {
  return with_scalar(K.type(), [&]<class Scalar>() -> nb::dict {
    if constexpr (!has_factors) {
      fail("blockspan", "this build is without the component direct");
    } else if constexpr (!std::is_same_v<real_t<Scalar>, double>) {
      fail("blockspan", "factors are of double precision, and the matrix has ", K.type());
    } else {
      auto const& k = static_cast<MatrixOf<Scalar> const&>(K);
      require(M == nullptr || M->type() == K.type(), "blockspan", "the mass has another type");
      auto const* const m = static_cast<MatrixOf<Scalar> const*>(M);
      return use(k.crs(), m == nullptr ? nullptr : &m->crs());
    }
  });
}

Facts near_of(Matrix const& K, Matrix const* M, Array const& X, double sigma, int pairs,
              double tolerance, std::string const& mode, bool count, int max_steps,
              double time_limit, std::uint64_t seed, nb::object monitor) {
  Request const request{pairs, max_steps, tolerance, time_limit,
                        mode,  count,     seed,      std::move(monitor)};
  return with_factors(K, M, [&]<class Crs>(Crs const& k, Crs const* m) {
    Interruption interruption;
    auto const options = options_of(request, interruption);
    auto const block = row_major_block<typename Crs::value_type>(X, "X");
    ExactReport report;
    {
      WithoutGil const without_gil;
      report = eigenpairs_near(Exec(), k, m, sigma, block, options);
    }
    auto result = report_of(report);
    result["raised"] = interruption.raised();
    return result;
  });
}

/// The vectors as an array of NumPy's, which keeps their memory.
template <class Scalar>
nb::object to_numpy(Block<Scalar, Exec> const& X) {
  using View = Block<Scalar, Exec>;
  nb::capsule const owner(new View(X),
                          [](void* data) noexcept { delete static_cast<View*>(data); });
  using Result = nb::ndarray<nb::numpy, std_t<Scalar>, nb::ndim<2>>;
  return nb::cast(Result(X.data(), {X.extent(0), X.extent(1)}, owner));
}

Facts inside_of(Matrix const& K, Matrix const* M, double a, double b, double tolerance,
                std::string const& mode, int max_steps, double time_limit, std::uint64_t seed,
                nb::object monitor) {
  Request const request{1, max_steps, tolerance, time_limit, mode, true, seed, std::move(monitor)};
  return with_factors(K, M, [&]<class Crs>(Crs const& k, Crs const* m) {
    Interruption interruption;
    auto const options = options_of(request, interruption);
    Block<typename Crs::value_type, Exec> X;
    ExactReport report;
    {
      WithoutGil const without_gil;
      report = eigenpairs_in(Exec(), k, m, a, b, X, options);
      auto const found = static_cast<std::int64_t>(report.eigenvalues.size());
      if (found < static_cast<std::int64_t>(X.extent(1))) Kokkos::resize(X, X.extent(0), found);
    }
    auto result = report_of(report);
    result["eigenvectors"] = to_numpy(X);
    result["raised"] = interruption.raised();
    return result;
  });
}

Facts counted_of(Matrix const& K, Matrix const* M, double a, double b, std::string const& mode) {
  return with_factors(K, M, [&]<class Crs>(Crs const& k, Crs const* m) {
    ExactOptions options;
    options.form = form_of(mode);
    EigenCount count;
    {
      WithoutGil const without_gil;
      count = count_eigenvalues(Exec(), k, m, a, b, options);
    }
    nb::dict result;
    result["number"] = count.number;
    result["trusted"] = count.trusted;
    result["low"] = count_of(count.from);
    result["high"] = count_of(count.to);
    result["trouble"] = count.trouble;
    result["notes"] = count.notes;
    return result;
  });
}

}  // namespace

void bind_exact(nb::module_& m) {
  m.def("eigenpairs_near", &near_of, nb::arg("K"), nb::arg("M").none(), nb::arg("X").noconvert(),
        nb::arg("sigma"), nb::kw_only(), nb::arg("pairs"), nb::arg("tolerance"), nb::arg("mode"),
        nb::arg("count"), nb::arg("max_iterations"), nb::arg("time_limit"), nb::arg("seed"),
        nb::arg("monitor").none());
  m.def("eigenpairs_in", &inside_of, nb::arg("K"), nb::arg("M").none(), nb::arg("a"), nb::arg("b"),
        nb::kw_only(), nb::arg("tolerance"), nb::arg("mode"), nb::arg("max_iterations"),
        nb::arg("time_limit"), nb::arg("seed"), nb::arg("monitor").none());
  m.def("count_eigenvalues", &counted_of, nb::arg("K"), nb::arg("M").none(), nb::arg("a"),
        nb::arg("b"), nb::kw_only(), nb::arg("mode"));
}

}  // namespace blockspan::python
