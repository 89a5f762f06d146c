#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <Kokkos_Timer.hpp>

#include <blockspan/multigrid/hierarchy/coarsening.hpp>
#include <blockspan/multigrid/setup/keep_near_null.hpp>
#include <blockspan/multigrid/setup/strength.hpp>

namespace blockspan::levels {

/// theta of strengths by pulses, on every level.
inline constexpr double pulse_theta = 0.25;

/// omega of the prolongator's smoothing: minimizes the maximum of t (1 - omega t)^2 on [0, 1],
/// which bounds the energy of its columns (Vanek, Mandel and Brezina 1996).
inline constexpr double damping = 4.0 / 3;

/// Up to this share of entries of A between nodes that are not strong neighbours, these entries
/// smooth the prolongator too: they are at interfaces of coefficients, rather than anisotropy.
inline constexpr double tolerated_weak_entries = 0.25;

template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::use_given(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                         Spectrum const& spectrum, std::size_t number) {
  Kokkos::Timer timer;
  auto const& given = setup.options.prolongators[number];
  constexpr auto where = "blockspan::multigrid";
  require(given.numRows() == A.numRows(), where, "the prolongator of level ", number, " has ",
          given.numRows(), " rows, the level has ", A.numRows());
  T.pattern = {given.numRows(), given.numCols(),
               kept_array<int>(exec, setup.arena, given.numRows() + 1),
               kept_array<int>(exec, setup.arena, static_cast<std::int64_t>(given.nnz()))};
  T.values = given.values;
  Kokkos::deep_copy(exec, T.pattern.offsets, given.graph.row_map);
  Kokkos::deep_copy(exec, T.pattern.indices, given.graph.entries);
  require(is_in_order(exec, T.pattern.ref()), where, "the prolongator of level ", number,
          " has rows whose columns do not ascend");
  report.smoothed = false;
  form(exec, setup, spectrum);
  report.nodes = A.numRows();
  report.aggregates = given.numCols();
  report.prolongator_nonzeros = prolongator.entries();
  report.seconds = timer.seconds();
}

template <class Scalar, class Exec>
bool Coarsening<Scalar, Exec>::coarsen(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                       Spectrum const& spectrum, std::size_t number) {
  Kokkos::Timer timer;
  std::int64_t const rows = A.numRows(), q = static_cast<std::int64_t>(near_null.extent(1));
  bool const pulses = setup.options.pulses && q == 1 && nodes.largest == 1;
  report.theta = pulses ? pulse_theta : std::ldexp(setup.options.theta, -static_cast<int>(number));
  twice = pulses;
  report.nodes = nodes.count;
  if (supernodes.begin == nullptr) supernodes = find_supernodes(exec, pattern(), nodes.groups());
  auto const weights = spectrum.factors.data();
  auto const strong = strong_graph(
      exec, setup.arena,
      pulses
          ? pulse_graph<Exec, Scalar>(exec, setup.arena, ref(), weights, spectrum.upper, near_null)
          : node_graph(exec, setup.arena, ref(), weights, nodes, supernodes),
      report.theta);
  auto aggregates = aggregate(exec, setup.arena, strong);
  for (int more = 0; more < 2 && 3 * aggregates.count * q > rows; ++more)
    if (q > 1) aggregates = aggregate_again(exec, setup.arena, strong, aggregates);
  setup.charge(exec, &MultigridSeconds::graph);
  report.rounds = aggregates.rounds;
  report.aggregates = aggregates.count;
  report.largest = aggregates.largest;
  report.left_out = aggregates.left_out;
  bool found = aggregates.count > 0 && static_cast<double>(aggregates.count) <= 0.8 * nodes.count;
  if (found) {
    T = make_tentative<Scalar>(exec, setup.arena, near_null, nodes, aggregates);
    found = T.pattern.columns <= 0.85 * static_cast<double>(rows);
  }
  if (found) {
    auto const leave_out = [&](double tolerated) {
      filtered = filter(exec, setup.arena, pattern(), nodes, strong.edges, tolerated);
      setup.charge(exec, &MultigridSeconds::tentative);
    };
    leave_out(pulses ? 0 : tolerated_weak_entries);
    for (;;) {
      if (!form(exec, setup, spectrum)) {
        report.smoothed = true;
        leave_out(0);
        form(exec, setup, spectrum);
      }
      auto const spent = drop_null_columns<Exec, Scalar>(
          exec, setup.arena, ref(), {prolongator.ref(), P.data()},
          {restrictor.pattern.ref(), R.data()}, {coarse.ref(), C.data()}, T.origin,
          most_rows_of_node, T.kept);
      report.spent += spent;
      if (spent == 0) break;
      form_tentative(exec, setup.arena, T);
    }
    report.prolongator_nonzeros = prolongator.entries();
  }
  report.seconds = timer.seconds();
  return found && T.pattern.columns > 0;
}

template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::refresh(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                       Spectrum const& spectrum) {
  if (!setup.keep_prolongators) form_prolongator(exec, setup, spectrum);
  form_values(exec, setup);
}

/// Patterns and values; false: with the entries between weak neighbours C would be too dense.
template <class Scalar, class Exec>
bool Coarsening<Scalar, Exec>::form(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                    Spectrum const& spectrum) {
  // T and R built here have the same columns in all rows of a node, and products have those of
  // their left factor
  bool const made = setup.options.prolongators.empty();
  auto const groups = nodes.groups();
  constexpr auto any = std::numeric_limits<std::int64_t>::max();
  if (!made) supernodes = find_supernodes(exec, pattern(), groups);
  tentative_supernodes = made ? groups : find_supernodes(exec, T.pattern.ref(), groups);
  auto& smoothed = report.smoothed;
  if (smoothed) {
    auto const of_S = filtered.pattern.ref();
    bool const same = filtered.whole && of_S.entries == pattern().entries;
    filtered_supernodes = same ? supernodes : find_supernodes(exec, of_S, groups);
    prolongator_supernodes = filtered_supernodes;
    find_smoothed(exec, setup, spectrum);
    smoothed = form_products(exec, setup, static_cast<std::int64_t>(A.nnz()));
  }
  if (!smoothed && filtered.tolerant) return false;
  if (!smoothed) {
    prolongator = T.pattern;
    prolongator_supernodes = tentative_supernodes;
    form_products(exec, setup, any);
  }
  if constexpr (!values_with_patterns) {
    P = report.smoothed ? kept_array<Scalar>(exec, setup.arena, prolongator.entries()) : T.values;
    R = kept_array<Scalar>(exec, setup.arena, prolongator.entries());
    C = kept_array<Scalar>(exec, setup.arena, coarse.entries());
    setup.charge(exec, &MultigridSeconds::patterns);
    refresh(exec, setup, spectrum);
  }
  return true;
}

/// P = S T, or S S T: the pattern, on hosts also the values.
template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::find_smoothed(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                             [[maybe_unused]] Spectrum const& spectrum) {
  auto const of_S = filtered.pattern.ref();
  if constexpr (!values_with_patterns) {
    prolongator = multiply_patterns(exec, setup.arena, of_S, T.pattern.ref(), filtered_supernodes,
                                    tentative_supernodes);
    if (!twice) return;
    smoothed_once = prolongator;
    prolongator = multiply_patterns(exec, setup.arena, of_S, smoothed_once.ref(),
                                    filtered_supernodes, filtered_supernodes);
  } else {
    form_smoother(exec, setup, spectrum);
    auto const multiply = [&](MatrixRef<Scalar, int, int> const& by, Supernodes const& alike) {
      constexpr auto any = std::numeric_limits<std::int64_t>::max();
      return *multiply_on_host<Exec, Scalar>(exec, setup.arena, {of_S, S.data()}, by,
                                             filtered_supernodes, alike, true, any);
    };
    auto made = multiply({T.pattern.ref(), T.values.data()}, tentative_supernodes);
    if (twice) {
      smoothed_once = made.pattern;
      made = multiply({smoothed_once.ref(), made.values.data()}, filtered_supernodes);
    }
    prolongator = made.pattern;
    P = kept_array<Scalar>(exec, setup.arena, prolongator.entries());
    Kokkos::deep_copy(exec, P, made.values);
    restore_near_null(exec);
  }
}

/// R, A P and C for the pattern of P; false: C would have more than `most` entries.
template <class Scalar, class Exec>
bool Coarsening<Scalar, Exec>::form_products(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                             std::int64_t most) {
  auto const aggregates = T.nodes.groups();
  bool const made = setup.options.prolongators.empty();
  restrictor = transposed(exec, setup.arena, prolongator);
  auto const of_R = restrictor.pattern.ref();
  coarse_supernodes = made ? aggregates : find_supernodes(exec, of_R, aggregates);
  if constexpr (!values_with_patterns) {
    product = multiply_patterns(exec, setup.arena, pattern(), prolongator.ref(), supernodes,
                                prolongator_supernodes);
    InterruptionCheck::step();
    coarse =
        multiply_patterns(exec, setup.arena, of_R, product.ref(), coarse_supernodes, supernodes);
    return coarse.entries() <= most;
  } else {
    constexpr auto any = std::numeric_limits<std::int64_t>::max();
    if (!report.smoothed) P = T.values;
    R = kept_array<Scalar>(exec, setup.arena, prolongator.entries());
    setup.charge(exec, &MultigridSeconds::patterns);
    gather_conjugates<Exec, Scalar>(exec, restrictor.places, P, R);
    auto const AP =
        multiply_on_host<Exec, Scalar>(exec, setup.arena, ref(), {prolongator.ref(), P.data()},
                                       supernodes, prolongator_supernodes, true, any);
    InterruptionCheck::step();
    auto const RAP = multiply_on_host<Exec, Scalar>(exec, setup.arena, {of_R, R.data()},
                                                    {AP->pattern.ref(), AP->values.data()},
                                                    coarse_supernodes, supernodes, true, most);
    if (RAP) {
      product = AP->pattern;
      coarse = RAP->pattern;
      C = kept_array<Scalar>(exec, setup.arena, coarse.entries());
      take_mean(exec, RAP->values);
    }
    setup.charge(exec, &MultigridSeconds::values);
    return RAP.has_value();
  }
}

/// Values of P and R.
template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::form_prolongator(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                                Spectrum const& spectrum) {
  if (report.smoothed) {
    form_smoother(exec, setup, spectrum);
    smooth(exec, setup);
    restore_near_null(exec);
  }
  gather_conjugates<Exec, Scalar>(exec, restrictor.places, P, R);
}

/// Values of S.
template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::form_smoother(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                             Spectrum const& spectrum) {
  auto const of_S = filtered.pattern.ref();
  if (static_cast<std::int64_t>(S.extent(0)) != of_S.entries)
    S = kept_array<Scalar>(exec, setup.arena, of_S.entries);
  gather(exec, filtered.source, A.values.data(), S);
  auto upper = spectrum.upper;
  auto weights = spectrum.factors;
  if (!filtered.whole) {
    if (T.vectors == 1)
      each_by_lanes(exec, "Blockspan::multigrid_add_left_out", of_S.rows,
                    lanes_for(of_S.entries, of_S.rows),
                    AddLeftOut<Scalar, Exec>{ref(), of_S, near_null, S.data()});
    auto const F = matrix_of<Scalar, Exec>(filtered.pattern, S);
    if (!filtered_op)
      filtered_op = std::make_shared<MatrixOperator<Scalar, Exec> const>(
          exec, F, SpmmPlanOptions{.columns = 1});
    auto const of_F = level_spectrum(exec, setup, *filtered_op, F);
    upper = of_F.upper;
    weights = of_F.factors;
    setup.charge(exec, &MultigridSeconds::spectrum);
  }
  double const factor = upper > 0 ? damping / upper : 0;
  each_by_lanes(exec, "Blockspan::multigrid_smooth", of_S.rows, lanes_for(of_S.entries, of_S.rows),
                SmoothRows<Scalar>{of_S, weights.data(), factor, S.data()});
  exec.fence("Blockspan::multigrid_smoother");  // the weights may be freed on return
}

/// Corrects P in rows where A lacks entries.
template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::restore_near_null(Exec const& exec) {
  if (cut_rows.extent(0) > 0)
    keep_near_null<Exec, Scalar>(exec, cut_rows, near_null, T, prolongator, P);
}

/// P := S T, or S S T.
template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::smooth(Exec const& exec, SetupRun<Scalar, Exec>& setup) {
  auto const of_S = filtered.pattern.ref();
  auto const multiply = [&](Pattern<Exec> const& from, Array<Scalar, Exec> const& values,
                            Supernodes const& alike, Pattern<Exec> const& to,
                            Array<Scalar, Exec> const& result) {
    multiply_values<Exec, Scalar>(exec, setup.arena, {of_S, S.data()}, {from.ref(), values.data()},
                                  to, result, filtered_supernodes, alike);
  };
  if (!twice) return multiply(T.pattern, T.values, tentative_supernodes, prolongator, P);
  auto const once = scratch_array<Scalar>(exec, setup.arena, smoothed_once.entries());
  multiply(T.pattern, T.values, tentative_supernodes, smoothed_once, once);
  multiply(smoothed_once, once, filtered_supernodes, prolongator, P);
  exec.fence("Blockspan::multigrid_smooth");  // the borrowed arrays may be reused after this
}

/// The values of the next level's matrix.
template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::form_values(Exec const& exec, SetupRun<Scalar, Exec>& setup) {
  auto const of_AP = scratch_array<Scalar>(exec, setup.arena, product.entries()),
             of_RAP = scratch_array<Scalar>(exec, setup.arena, coarse.entries());
  multiply_values<Exec, Scalar>(exec, setup.arena, ref(), {prolongator.ref(), P.data()}, product,
                                of_AP, supernodes, prolongator_supernodes);
  multiply_values<Exec, Scalar>(exec, setup.arena, {restrictor.pattern.ref(), R.data()},
                                {product.ref(), of_AP.data()}, coarse, of_RAP, coarse_supernodes,
                                supernodes);
  take_mean(exec, of_RAP);
  setup.charge(exec, &MultigridSeconds::values);
}

/// C := the mean of R A P and its adjoint, which differ only by rounding.
template <class Scalar, class Exec>
void Coarsening<Scalar, Exec>::take_mean(Exec const& exec, Array<Scalar, Exec> const& of_RAP) {
  auto const pattern = coarse.ref();
  each_by_lanes(exec, "Blockspan::multigrid_hermitian", pattern.rows,
                lanes_for(pattern.entries, pattern.rows),
                HermitianRows<Scalar>{pattern, of_RAP.data(), C.data()});
}

}  // namespace blockspan::levels
