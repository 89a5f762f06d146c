#pragma once

#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <blockspan/sparse/matrix_market.hpp>

#include "solvers/test_matrix.hpp"
#include "support/counters.hpp"

namespace blockspan::test {

/// One problem of the file of reference eigenvalues.
struct Truth {
  std::string kind, matrix, mass;  ///< kind: std, gen, lap, adj, ...
  std::string which;
  std::vector<double> eigenvalues;
  std::vector<double> attainable;  ///< relative, 0 where the eigenvalue is 0
};

/// The folder of real matrices, if there is one.
inline std::optional<std::string> matrix_folder() {
  char const* const folder = std::getenv("BLOCKSPAN_MATRIX_DIR");
  if (folder == nullptr || !std::ifstream(std::string(folder) + "/eigenvalues.json")) return {};
  return folder;
}

/// The problem named like "std:nos4 smallest".
inline Truth find_truth(std::string const& folder, std::string const& name) {
  static auto const all = nlohmann::json::parse(std::ifstream(folder + "/eigenvalues.json"));
  for (auto const& item : all) {
    std::string const problem = item["problem"];
    std::string const key = problem.substr(0, problem.find(',')) + " " + std::string(item["which"]);
    if (key != name) continue;
    Truth truth;
    truth.kind = problem.substr(0, problem.find(':'));
    truth.matrix = item["matrix"];
    if (!item["mass"].is_null()) truth.mass = item["mass"];
    truth.which = item["which"];
    truth.eigenvalues = item["eigenvalues"].get<std::vector<double>>();
    for (auto const& value : item["attainable_relative_accuracy"])
      truth.attainable.push_back(value.is_null() ? 0.0 : value.get<double>());
    return truth;
  }
  throw std::runtime_error("no reference eigenvalues for " + name);
}

template <class Scalar>
TestMatrix<Scalar> read_test_matrix(std::string const& folder, std::string const& name) {
  Kokkos::DefaultHostExecutionSpace const host;
  note_matrix_read(name);
  auto const A = read_matrix_market<Scalar>(host, folder + "/" + name + ".mtx.gz");
  TestMatrix<Scalar> result(A.numRows());
  for (int i = 0; i < result.order(); ++i)
    for (int k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
      result.add(i, A.graph.entries(k), A.values(k));
  return result;
}

/// The graph of the pattern of A + A^T without its diagonal, as 0/1 adjacency G or Laplacian D - G.
template <class Scalar>
TestMatrix<Scalar> graph_of(TestMatrix<Scalar> const& A, bool laplacian) {
  std::vector<std::set<int>> neighbours(A.order());
  for (int i = 0; i < A.order(); ++i)
    for (auto const& e : A.rows[i])
      if (e.column != i) neighbours[i].insert(e.column), neighbours[e.column].insert(i);
  TestMatrix<Scalar> result(A.order());
  for (int i = 0; i < A.order(); ++i) {
    if (laplacian) result.add(i, i, Scalar(static_cast<double>(neighbours[i].size())));
    for (int const j : neighbours[i]) result.add(i, j, Scalar(laplacian ? -1 : 1));
  }
  return result;
}

template <class Scalar>
TestMatrix<Scalar> truth_matrix(std::string const& folder, Truth const& truth) {
  auto const A = read_test_matrix<Scalar>(folder, truth.matrix);
  if (truth.kind == "lap") return graph_of(A, true);
  if (truth.kind == "adj") return graph_of(A, false);
  return A;
}

/// ||r||_{B^-1} = sqrt(r^H B^-1 r) by Jacobi-preconditioned conjugate gradients in extended
/// precision.
template <class Scalar>
long double dual_norm(TestMatrix<Scalar> const& B,
                      std::vector<std::complex<long double>> const& r) {
  using Vector = std::vector<std::complex<long double>>;
  std::size_t const n = r.size();
  Vector z(n), residual = r, p(n), q(n), s(n);
  std::vector<long double> d(n);
  for (std::size_t i = 0; i < n; ++i) d[i] = wide(B.diagonal(static_cast<int>(i))).real();
  auto const inner = [&](Vector const& x, Vector const& y) {
    long double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += (std::conj(x[i]) * y[i]).real();
    return sum;
  };
  for (std::size_t i = 0; i < n; ++i) p[i] = s[i] = residual[i] / d[i];
  long double rho = inner(residual, s), first = rho;
  for (int step = 0; step < 2000 && rho > 1e-24L * first; ++step) {
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = 0;
      for (auto const& e : B.rows[i]) q[i] += wide(e.value) * p[e.column];
    }
    long double const alpha = rho / inner(p, q);
    for (std::size_t i = 0; i < n; ++i) z[i] += alpha * p[i], residual[i] -= alpha * q[i];
    for (std::size_t i = 0; i < n; ++i) s[i] = residual[i] / d[i];
    long double const next = inner(residual, s);
    for (std::size_t i = 0; i < n; ++i) p[i] = s[i] + next / rho * p[i];
    rho = next;
  }
  return std::sqrt(std::max(0.0L, inner(r, z)));
}

}  // namespace blockspan::test
