#include <KokkosGraph_RCM.hpp>

#include <blockspan/sparse/host/permuted.hpp>

namespace blockspan::sparse {

std::vector<int> rcm_places(Neighbours<int> const& graph) {
  std::size_t const n = graph.vertices();
  std::vector<int> places(n);
  if (n <= 2) {  // not supported by Kokkos Kernels
    for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<int>(n - 1 - i);
    return places;
  }
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using Offsets = Kokkos::View<std::size_t const*, Kokkos::HostSpace, Unmanaged>;
  using Indices = Kokkos::View<int const*, Kokkos::HostSpace, Unmanaged>;
  using Labels = Kokkos::View<int*, Kokkos::HostSpace>;
  Labels const labels = KokkosGraph::Experimental::graph_rcm<Kokkos::HostSpace::device_type,
                                                             Offsets, Indices, Labels>(
      Offsets(graph.offsets.data(), graph.offsets.size()),
      Indices(graph.indices.data(), graph.indices.size()));
  for (std::size_t i = 0; i < n; ++i) places[i] = labels(i);
  return places;
}

}  // namespace blockspan::sparse
