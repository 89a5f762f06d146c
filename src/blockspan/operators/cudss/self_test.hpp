#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/cudss/solver.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::operators::cudss {

/// A copy where Exec computes, queued: the data have to stay until then.
template <class Exec, class T>
Kokkos::View<T*, typename Exec::memory_space> copied(Exec const& exec, std::string const& label,
                                                     T const* data, std::size_t size) {
  using View = Kokkos::View<T*, typename Exec::memory_space>;
  auto const view = allocate<View>(exec, "Blockspan::cudss::" + label, size);
  Kokkos::deep_copy(exec, view,
                    Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(data, size));
  return view;
}

/// A lower triangle by rows, and how many of its eigenvalues are negative.
template <class Scalar>
struct KnownInertia {
  std::vector<int> offsets{0}, columns;
  std::vector<Scalar> values;
  std::int64_t negative = 0;

  void add(int column, Scalar value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void end_row() { offsets.push_back(static_cast<int>(columns.size())); }
};

/// A path of 40 unit springs with d on the diagonal, eigenvalues d - 2 cos(k pi / 41).
template <class Scalar>
KnownInertia<Scalar> path(double d, std::int64_t negative, Scalar bond) {
  KnownInertia<Scalar> A;
  for (int i = 0; i < 40; ++i) {
    if (i > 0) A.add(i - 1, bond);
    A.add(i, Scalar(d));
    A.end_row();
  }
  A.negative = negative;
  return A;
}

/// Ten conditions on 30 unknowns with a mass each: one negative eigenvalue a condition.
template <class Scalar>
KnownInertia<Scalar> saddle_point(Scalar bond) {
  KnownInertia<Scalar> A;
  for (int i = 0; i < 40; ++i) {
    if (i >= 10) A.add((i - 10) / 3, bond);
    A.add(i, Scalar(i >= 10 ? 1 : 0));
    A.end_row();
  }
  A.negative = 10;
  return A;
}

/// Whether the library counts right on this device: empty, or what it does wrong. Older versions
/// had settings with which it counted nothing.
template <class Scalar, class Exec>
std::string self_test(Exec const& exec, Library const& library) {
  Scalar bond(-1);
  if constexpr (is_complex_v<Scalar>) bond = Scalar(-0.6, 0.8);
  for (auto const& A : {path(1, 13, bond), path(0, 20, bond), saddle_point(bond)}) {
    auto const offsets = copied(exec, "offsets", A.offsets.data(), A.offsets.size());
    auto const columns = copied(exec, "columns", A.columns.data(), A.columns.size());
    auto const values = copied(exec, "values", A.values.data(), A.values.size());
    exec.fence("Blockspan::cudss::self_test");
    auto const rows = static_cast<std::int64_t>(A.offsets.size()) - 1;
    use_device_of(exec);
    Solver solver(library, native_stream(exec),
                  {rows, static_cast<std::int64_t>(A.columns.size()), offsets.data(),
                   columns.data(), values.data(), is_complex_v<Scalar>});
    solver.analyse();
    solver.factor();
    exec.fence("Blockspan::cudss::self_test");
    auto const found = solver.inertia();
    if (found.negative != A.negative || found.positive != rows - A.negative)
      return "cuDSS " + library.version + " counts " + std::to_string(found.negative) +
             " negative pivots where there are " + std::to_string(A.negative) + " of " +
             std::to_string(rows);
  }
  return {};
}

}  // namespace blockspan::operators::cudss
