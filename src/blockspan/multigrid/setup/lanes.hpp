#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/backend.hpp>

// Loops over long rows, or rows whose entries adjacent threads would read far apart: on devices the
// lanes of a team thread share a row.

namespace blockspan::levels {

/// Loops, sums, maxima and prefix sums over a row by one thread ...
struct OneLane {
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void each(int count, Body const& body) const {
    for (int p = 0; p < count; ++p) body(p);
  }
  template <class T, class Term>
  KOKKOS_FORCEINLINE_FUNCTION T sum(int count, Term const& term) const {
    T total(0);
    for (int p = 0; p < count; ++p) total += term(p);
    return total;
  }
  /// At least zero.
  template <class T, class Value>
  KOKKOS_FORCEINLINE_FUNCTION T largest(int count, Value const& value) const {
    T most(0);
    for (int p = 0; p < count; ++p)
      if (value(p) > most) most = value(p);
    return most;
  }
  /// body(p, number) for each marked p, in ascending order; number: how many were marked before.
  template <class Marked, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void number(int count, Marked const& marked, Body const& body) const {
    int found = 0;
    for (int p = 0; p < count; ++p)
      if (marked(p)) body(p, found++);
  }
};
/// ... or by the lanes of a team thread, in an order that depends only on the number of lanes.
template <class Team>
struct ManyLanes {
  Team const& team;
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void each(int count, Body const& body) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), body);
  }
  template <class T, class Term>
  KOKKOS_FORCEINLINE_FUNCTION T sum(int count, Term const& term) const {
    T total(0);
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, count), [&](int p, T& sum) { sum += term(p); }, total);
    return total;
  }
  template <class T, class Value>
  KOKKOS_FORCEINLINE_FUNCTION T largest(int count, Value const& value) const {
    T found(0);
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, count),
        [&](int p, T& most) {
          if (value(p) > most) most = value(p);
        },
        Kokkos::Max<T>(found));
    return count > 0 && found > 0 ? found : T(0);
  }
  template <class Marked, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void number(int count, Marked const& marked, Body const& body) const {
    Kokkos::parallel_scan(Kokkos::ThreadVectorRange(team, count),
                          [&](int p, int& found, bool final) {
                            if (!marked(p)) return;
                            if (final) body(p, found);
                            ++found;
                          });
  }
};

template <class Team>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t number_of_thread(Team const& team) {
  return std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
}

template <class Kernel>
struct RowsByLanes {
  Kernel kernel;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { kernel(OneLane{}, i); }
  template <class Team>
  requires requires(Team const& team) { team.league_rank(); }
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const i = number_of_thread(team);
    if (i < rows) kernel(ManyLanes<Team>{team}, i);
  }
};

/// Runs kernel(lanes, i) for 0 <= i < rows. On devices with `lanes` lanes, a power of two up to 32.
/// Asynchronous.
template <class Exec, class Kernel>
void each_by_lanes(Exec const& exec, char const* label, std::int64_t rows, int lanes,
                   Kernel const& kernel) {
  if (rows <= 0) return;
  RowsByLanes<Kernel> const all{kernel, rows};
  if constexpr (runs_on_host_v<Exec>) {
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows), all);
  } else {
    constexpr int threads = 128;
    int const of_team = threads / lanes;
    Kokkos::parallel_for(
        label,
        Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>(
            exec, static_cast<int>((rows + of_team - 1) / of_team), of_team, lanes),
        all);
  }
}

/// Number of lanes for rows of the given mean length.
inline int lanes_for(std::int64_t entries, std::int64_t rows) {
  int lanes = 1;
  while (lanes < 32 && lanes * rows < entries) lanes *= 2;
  return lanes;
}

}  // namespace blockspan::levels
