#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include <blockspan/distributed/factored_pencil.hpp>
#include <blockspan/solvers/exact.hpp>

#include "../errors.hpp"
#include "matrix.hpp"
#include "solves.hpp"

namespace blockspan::capi {

/// Exact methods need the component direct and double precision.
#if defined(BLOCKSPAN_HAS_DIRECT)
template <class Scalar>
inline constexpr bool has_exact = std::is_same_v<real_t<Scalar>, double>;
#else
template <class Scalar>
inline constexpr bool has_exact = false;
#endif

template <class Scalar>
[[noreturn]] void no_exact(std::string const& where) {
#if defined(BLOCKSPAN_HAS_DIRECT)
  not_built(where + ": exact pairs are found in double precision only");
#else
  not_built(where +
            ": the library was built without direct (apt-get install libmumps-seq-dev, then "
            "-DBlockspan_ENABLE_DIRECT=ON)");
#endif
}

inline ExactOptions library_options(char const* where, blockspan_exact_options const& given) {
  ExactOptions o;
  o.pairs = given.pairs;
  o.tolerance = given.tolerance;
  o.block = given.block;
  o.basis = given.basis;
  o.slice = given.slice;
  o.count = given.count != 0;
  o.form = choice<Spectral>(where, "form", given.form, 2);
  o.memory_limit = given.memory_limit;
  o.seed = given.seed;
  o.max_steps = given.max_steps;
  o.time_limit = given.time_limit;
  require(given.reserved == 0, where, "reserved is not 0");
  if (given.monitor != nullptr)
    o.monitor = [monitor = given.monitor, user = given.monitor_user](ExactProgress const& p) {
      blockspan_progress const seen{
          sizeof(blockspan_progress), p.steps, p.converged, p.wanted, 0, nullptr, nullptr};
      return monitor(user, &seen) == 0;
    };
  return o;
}

inline JsonText json_of(ShiftCount const& count) {
  JsonText json;
  json.add("asked", count.asked)
      .add("shift", count.shift)
      .add("count", count.count)
      .add("rho", count.rho)
      .add("trusted", count.trusted);
  return json;
}

inline JsonText json_of(ExactReport const& report) {
  std::vector<JsonText> counts, missing;
  for (auto const& count : report.counts) counts.push_back(json_of(count));
  for (auto const& gap : report.missing)
    missing.push_back(JsonText().add("from", gap.from).add("to", gap.to).add("number", gap.number));
  JsonText json;
  json.add("solver", "exact")
      .add("status", to_string(report.status))
      .add("proof", to_string(report.proof))
      .add("trouble", report.trouble)
      .add("notes", report.notes)
      .add("eigenvalues", report.eigenvalues)
      .add("backward_errors", report.backward_errors)
      .add("error_bounds", report.error_bounds)
      .add("certain_digits", report.certain_digits)
      .add("pair_status", names_of(report.pair_status))
      .add("next_eigenvalue", report.next_eigenvalue)
      .add("orthogonality_loss", report.orthogonality_loss)
      .add("counts", counts)
      .add("from", report.from)
      .add("to", report.to)
      .add("counted", report.counted)
      .add("found", report.found)
      .add("missing", missing)
      .add("factorizations", report.factorizations)
      .add("steps", report.steps)
      .add("solved_columns", report.solved_columns)
      .add("factor_bytes", report.factor_bytes)
      .add("library", report.library)
      .add("analysis_seconds", report.seconds.analysis)
      .add("seconds", report.seconds.total);
  return json;
}

/// Copies the first `room` pairs of `report`, which fit the caller's arrays, and the summary.
inline void give_report(Context& context, ExactReport report, std::int64_t room, Results& results) {
  auto const pairs = static_cast<std::int64_t>(report.eigenvalues.size());
  if (results.found) *results.found = pairs;
  if (pairs > room) {
    if (report.converged()) report.status = Status::missing_pairs;
    report.notes.push_back("X has " + std::to_string(room) + " columns: the first of " +
                           std::to_string(pairs) + " pairs are in it");
  }
  context.report = json_of(report).text();
  if (pairs > room) {
    auto const kept = static_cast<std::size_t>(room);
    report.eigenvalues.resize(kept), report.backward_errors.resize(kept);
    report.pair_status.resize(kept);
  }
  give_pairs(report, results);
  auto& summary = results.summary;
  summary.proof = static_cast<std::int32_t>(report.proof);
  summary.iterations = report.steps;
  summary.operator_applications = report.factorizations;
}

template <class Derived, class Scalar, class Exec>
void FactoredMatrix<Derived, Scalar, Exec>::near(Operator const* M, double sigma,
                                                 blockspan_block const* X,
                                                 blockspan_exact_options const& options,
                                                 Results& results) const {
  constexpr auto where = "blockspan_eigenpairs_near";
  if constexpr (has_exact<Scalar>) {
    require_result<Scalar, Exec>(where, "X", X, this->library().rows());
    auto const* const other = this->mass(where, M);
    auto const o = library_options(where, options);
    using Rows = RowMajor<Scalar, Exec>;
    Rows const x(this->exec(), *X, Rows::Use::write);
    auto const report = eigenpairs_near(this->exec(), own(), other, sigma, x.view(), o);
    x.give_back(this->exec());
    this->exec().fence(where);
    give_report(this->context(), report, X->columns, results);
  } else {
    (void)M, (void)sigma, (void)X, (void)options, (void)results;
    no_exact<Scalar>(where);
  }
}

template <class Derived, class Scalar, class Exec>
void FactoredMatrix<Derived, Scalar, Exec>::inside(Operator const* M, double from, double to,
                                                   blockspan_block const* X,
                                                   blockspan_exact_options const& options,
                                                   Results& results) const {
  constexpr auto where = "blockspan_eigenpairs_in";
  if constexpr (has_exact<Scalar>) {
    require_result<Scalar, Exec>(where, "X", X, this->library().rows());
    auto const* const other = this->mass(where, M);
    Block<Scalar, Exec> found;
    auto const report =
        eigenpairs_in(this->exec(), own(), other, from, to, found, library_options(where, options));
    auto const pairs = static_cast<std::int64_t>(report.eigenvalues.size());
    blockspan_block kept = *X;
    kept.columns = std::min(pairs, X->columns);
    if (kept.columns > 0)
      convert_block(this->exec(), blocks::column_range(found, 0, static_cast<int>(kept.columns)),
                    strided<Scalar, Exec>(kept));
    this->exec().fence(where);
    give_report(this->context(), report, X->columns, results);
  } else {
    (void)M, (void)from, (void)to, (void)X, (void)options, (void)results;
    no_exact<Scalar>(where);
  }
}

template <class Derived, class Scalar, class Exec>
bool FactoredMatrix<Derived, Scalar, Exec>::count(Operator const* M, double from, double to,
                                                  blockspan_exact_options const& options,
                                                  std::int64_t& number) const {
  constexpr auto where = "blockspan_count_eigenvalues";
  if constexpr (has_exact<Scalar>) {
    auto const* const other = this->mass(where, M);
    auto const found =
        count_eigenvalues(this->exec(), own(), other, from, to, library_options(where, options));
    number = found.number;
    this->context().report = JsonText()
                                 .add("solver", "count")
                                 .add("number", found.number)
                                 .add("trusted", found.trusted)
                                 .add("trouble", found.trouble)
                                 .add("notes", found.notes)
                                 .add("from", json_of(found.from))
                                 .add("to", json_of(found.to))
                                 .text();
    return found.trusted;
  } else {
    (void)M, (void)from, (void)to, (void)options, (void)number;
    no_exact<Scalar>(where);
  }
}

}  // namespace blockspan::capi
