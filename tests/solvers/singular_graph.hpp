#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include <blockspan/sparse/host/host_csr.hpp>

#include "solvers/test_matrix.hpp"
#include "support/blocks.hpp"

namespace blockspan::test {

/// The same matrix as the library keeps it on the host.
template <class Scalar>
auto host_csr_of(TestMatrix<Scalar> const& A) {
  std::size_t entries = 0, at = 0;
  for (auto const& row : A.rows) entries += row.size();
  auto const host = blockspan::sparse::zero_csr<Scalar, int, int>(A.order(), A.order(), entries);
  for (int i = 0; i < A.order(); ++i) {
    for (auto const& e : A.rows[i]) host.indices(at) = e.column, host.values(at++) = e.value;
    host.offsets(i + 1) = static_cast<int>(at);
  }
  return host;
}

/// A number in (-1, 1) by its place.
inline double noise(int i, int j) { return std::sin(12.9898 * (i + 1) + 78.233 * (j + 1)); }

/// A = D L D^H with the Laplacian L of a graph. D^-H times the indicator of each of its components
/// is a basis of the null space; D has magnitudes 10^(-spread) to 10^spread, and phases.
template <class Scalar>
struct SingularGraph {
  TestMatrix<Scalar> A;
  std::vector<Scalar> d;
  std::vector<int> component;  ///< of every vertex
  int components;

  SingularGraph(std::vector<int> const& component_, int components_, double spread)
      : A(static_cast<int>(component_.size())), component(component_), components(components_) {
    using Real = real_t<Scalar>;
    for (int i = 0; i < A.order(); ++i) {
      Scalar value(static_cast<Real>(std::pow(10.0, spread * noise(i, 7))));
      if constexpr (is_complex_v<Scalar>) {
        Real const phase = static_cast<Real>(3 * noise(i, 5));
        value = Scalar(value.real() * std::cos(phase), value.real() * std::sin(phase));
      }
      d.push_back(value);
    }
  }

  void join(int i, int j, double w) {
    Scalar const weight(static_cast<real_t<Scalar>>(w));
    A.add(i, i, weight * d[i] * blockspan::conjugate(d[i]));
    A.add(j, j, weight * d[j] * blockspan::conjugate(d[j]));
    A.add(i, j, -weight * d[i] * blockspan::conjugate(d[j]));
    A.add(j, i, -weight * d[j] * blockspan::conjugate(d[i]));
  }

  /// Component c's null vector.
  Scalar null(int i, int c) const {
    return component[i] == c ? Scalar(1) / blockspan::conjugate(d[i]) : Scalar(0);
  }

  /// Of b along component c's null vector z: z^H b and ||z||^2.
  struct Part {
    std::complex<double> dot = 0;
    double length = 0;
  };
  Part part(HostBlock<Scalar> const& B, int j, int c) const {
    Part result;
    for (int i = 0; i < A.order(); ++i) {
      std::complex<double> const z(wide(null(i, c)));
      result.dot += std::conj(z) * std::complex<double>(wide(B(i, j)));
      result.length += std::norm(z);
    }
    return result;
  }

  /// ||N^H b|| / ||b||: null vectors of different components are orthogonal.
  double outside(HostBlock<Scalar> const& B, int j) const {
    double all = 0, size = 0;
    for (int i = 0; i < A.order(); ++i) size += std::norm(std::complex<double>(wide(B(i, j))));
    for (int c = 0; c < components; ++c) {
      auto const [dot, length] = part(B, j, c);
      all += std::norm(dot) / length;
    }
    return std::sqrt(all / size);
  }

  /// Column j without its part outside the range.
  void make_consistent(HostBlock<Scalar>& B, int j) const {
    for (int c = 0; c < components; ++c) {
      auto const [dot, length] = part(B, j, c);
      Scalar factor;
      if constexpr (is_complex_v<Scalar>)
        factor = Scalar(dot.real() / length, dot.imag() / length);
      else
        factor = dot.real() / length;
      for (int i = 0; i < A.order(); ++i) B(i, j) -= factor * null(i, c);
    }
  }
};

/// A graph of the given numbers of vertices and components with weights over six orders of
/// magnitude: each vertex is joined to the next one of its component and to two by chance.
template <class Scalar>
SingularGraph<Scalar> random_graph(int n, int components, double spread) {
  std::vector<int> component;
  for (int v = 0; v < n; ++v) component.push_back(v % components);
  SingularGraph<Scalar> graph(component, components, spread);
  int const members = n / components;
  for (int v = 0; v < n; ++v)
    for (int t = 0; t < 3; ++t) {
      int const at = v / components;
      double const chance = 0.5 + 0.499 * noise(v, t);
      int const other = t == 0 ? (at + 1) % members : static_cast<int>(chance * members);
      if (other != at)
        graph.join(v, v % components + components * other, std::pow(10, noise(t, v)));
    }
  return graph;
}

/// `copies` grids of width x height vertices, weights 1/2 to 2.
template <class Scalar>
SingularGraph<Scalar> grid_graphs(int width, int height, int copies, double spread) {
  int const members = width * height;
  std::vector<int> component;
  for (int v = 0; v < copies * members; ++v) component.push_back(v / members);
  SingularGraph<Scalar> graph(component, copies, spread);
  for (int v = 0; v < copies * members; ++v) {
    if (v % width + 1 < width) graph.join(v, v + 1, std::exp2(noise(v, 1)));
    if (v % members + width < members) graph.join(v, v + width, std::exp2(noise(v, 2)));
  }
  return graph;
}

}  // namespace blockspan::test
