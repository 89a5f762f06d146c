#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <blockspan/sparse/host/graph_pattern.hpp>
#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::sparse {

/// The new index of every vertex in reverse Cuthill-McKee order. For ordinals of 32 and 64 bits.
template <class Ordinal>
std::vector<Ordinal> rcm_places(Neighbours<Ordinal> const& graph);

/// from = inverse of `places`, both on the device.
template <class Ordering, class Exec, class Ordinal>
Ordering to_ordering(Exec const& exec, std::vector<Ordinal> const& places) {
  HostArray<Ordinal> const to("Blockspan::ordering_to", places.size()),
      from("Blockspan::ordering_from", places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    to(i) = places[i];
    from(static_cast<std::size_t>(places[i])) = static_cast<Ordinal>(i);
  }
  Ordering const ordering{array_to_device(exec, from), array_to_device(exec, to)};
  exec.fence("Blockspan::ordering");  // the host arrays are freed when this call returns
  return ordering;
}

/// The new indices of an ordering, on the host. Throws Error unless from and to are inverse to each
/// other.
template <class Ordering>
auto to_places(Ordering const& ordering) {
  Kokkos::HostSpace const host;
  auto const to = Kokkos::create_mirror_view_and_copy(host, ordering.to);
  auto const from = Kokkos::create_mirror_view_and_copy(host, ordering.from);
  auto const n = to.extent(0);
  require(from.extent(0) == n, "reorder", "the ordering has ", from.extent(0),
          " rows in one direction and ", n, " in the other");
  std::vector<typename Ordering::View::value_type> places(to.data(), to.data() + n);
  for (std::size_t i = 0; i < n; ++i) {
    bool const inside = places[i] >= 0 && static_cast<std::size_t>(places[i]) < n;
    require(inside && static_cast<std::size_t>(from(static_cast<std::size_t>(places[i]))) == i,
            "reorder", "row ", i, " goes to ", places[i],
            ", which is no place or does not come from there");
  }
  return places;
}

/// Moves row and column i to places[i]; rows of the result are sorted.
template <class Scalar, class Offset, class Ordinal>
auto permuted(HostCsr<Scalar const, Offset const, Ordinal const> const& A,
              std::vector<Ordinal> const& places) {
  constexpr auto where = "reorder";
  require(A.rows == A.columns, where, "a new order of rows and columns needs a square matrix, not ",
          A.rows, " x ", A.columns);
  require(static_cast<std::int64_t>(places.size()) == A.rows, where, "the ordering has ",
          places.size(), " rows, the matrix ", A.rows);
  require_walkable<Offset, Ordinal>(where, A.columns, A.offsets, A.indices);
  auto const rows = places.size();
  auto const B = zero_csr<Scalar, Offset, Ordinal>(A.rows, A.columns, A.indices.extent(0));
  for (std::size_t i = 0; i < rows; ++i)
    B.offsets(static_cast<std::size_t>(places[i]) + 1) = A.offsets(i + 1) - A.offsets(i);
  for (std::size_t k = 0; k < rows; ++k) B.offsets(k + 1) += B.offsets(k);
  std::vector<Offset> order;  // of a row's entries
  for (std::size_t i = 0; i < rows; ++i) {
    auto const place = [&](Offset p) { return places[static_cast<std::size_t>(A.indices(p))]; };
    order.resize(static_cast<std::size_t>(A.offsets(i + 1) - A.offsets(i)));
    std::iota(order.begin(), order.end(), A.offsets(i));
    std::stable_sort(order.begin(), order.end(),
                     [&](Offset p, Offset q) { return place(p) < place(q); });
    Offset out = B.offsets(static_cast<std::size_t>(places[i]));
    for (Offset const p : order) {
      B.indices(out) = place(p);
      B.values(out++) = A.values(p);
    }
  }
  return B;
}

/// max |i - j| over the entries, 0 without any.
template <class Offset, class Ordinal>
std::int64_t bandwidth(HostPattern<Offset, Ordinal> const& A) {
  std::int64_t widest = 0;
  for_each_edge(A, [&](std::size_t i, std::size_t j) {
    widest = std::max<std::int64_t>(widest, i > j ? i - j : j - i);
  });
  return widest;
}

}  // namespace blockspan::sparse
