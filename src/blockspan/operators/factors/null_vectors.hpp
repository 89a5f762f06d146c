#pragma once

#include <cstdint>
#include <vector>

#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::operators {

/// Candidates for orthonormal null vectors of a Hermitian positive semidefinite A, found from its
/// entries; at most 32, none where A is not semidefinite. The caller verifies them: small pivots
/// prove nothing.
///   1. Ones on each component of the graph whose rows add up to zero, and on every second,
///      third or sixth row where their columns do (translations of elastic bodies).
///   2. A = L D L^H within the envelope of the reverse Cuthill-McKee order, where that takes at
///      most `work` multiplications: L^-H e_k of each pivot k that vanishes relative to its
///      diagonal entry, refined by these factors.
/// On one thread of the host. O(entries log(row)) and the factors; empty where `work` does not
/// suffice for the graph. For offsets of int and std::size_t.
///
/// Source: George and Liu 1981, Computer Solution of Large Sparse Positive Definite Systems,
/// chapter 4 (envelopes).
template <class Scalar, class Offset>
std::vector<std::vector<Scalar>> null_vectors_of(
    HostCsr<Scalar const, Offset const, int const> const& A, std::int64_t work);

/// The array itself where hosts compute, else a copy. Waits for the instance.
template <class Exec, class T>
HostArray<T const> array_to_host(Exec const& exec, T const* data, std::int64_t count) {
  if constexpr (runs_on_host_v<Exec>) {
    return {data, static_cast<std::size_t>(count)};
  } else {
    auto const host = allocate<HostArray<T>>(exec, "Blockspan::null_vectors", count);
    copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(exec, host.data(), data,
                                                                        count);
    exec.fence("Blockspan::null_vectors");
    return host;
  }
}

template <class Exec, class Scalar, class Offset, class Ordinal>
Block<Scalar, Exec> null_vectors_of(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                                    std::int64_t work) {
  using Result = Block<Scalar, Exec>;
  constexpr std::int64_t look = 150;  // cost of the graph, in multiplications an entry
  auto const& [rows, columns, entries, offsets, indices, block] = A.pattern;
  if (look * entries > work || rows == 0) return Result();
  auto const vectors = null_vectors_of(
      HostCsr<Scalar const, Offset const, Ordinal const>{
          rows, columns, array_to_host(exec, offsets, rows + 1),
          array_to_host(exec, indices, entries), array_to_host(exec, A.values, entries)},
      work);
  if (vectors.empty()) return Result();
  auto const Z = allocate<Result>(exec, "Blockspan::null_vectors", rows, vectors.size());
  auto const host = Kokkos::create_mirror_view(Z);
  for (std::size_t j = 0; j < vectors.size(); ++j)
    for (std::size_t i = 0; i < vectors[j].size(); ++i) host(i, j) = vectors[j][i];
  Kokkos::deep_copy(exec, Z, host);
  exec.fence("Blockspan::null_vectors");  // the host's block ends with this call
  return Z;
}

}  // namespace blockspan::operators
