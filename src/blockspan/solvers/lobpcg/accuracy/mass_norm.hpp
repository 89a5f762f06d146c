#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/solvers/common/problem.hpp>

namespace blockspan::eigen {

/// A norm of B^-1 that bounds eigenvalues: ||r||_(B^-1) <= factor ||r||_D^-1, D the diagonal of B
/// where that is known, else the identity. With a lift all this is of B + lift A: where some rows
/// have almost no mass relative to their stiffness, the norm of B^-1 gives no useful bound of small
/// eigenvalues, but that of (B + A / tau)^-1 does, tau above them.
template <class Real, class RowValues>
struct MassNorm {
  Real factor = 1, lift = 0;
  Real largest_weight = 1;  ///< square root of the largest 1 / d_ii
  bool measured = false;
  RowValues weights, roots;  ///< 1 / d_ii, and their square roots
  std::string words;

  /// Throws where memory is short. Fences exec.
  template <class Exec>
  void set_diagonal(Exec const& exec, Communicator const& ranks, std::vector<Real> const& d) {
    auto inverse = d, root = d;
    for (Real& value : inverse) value = 1 / value;
    for (Real& value : root) value = 1 / std::sqrt(value);
    weights = to_device<RowValues>(exec, "Blockspan::lobpcg::mass", inverse);
    roots = to_device<RowValues>(exec, "Blockspan::lobpcg::mass", root);
    constexpr Real none = std::numeric_limits<Real>::infinity();
    largest_weight =
        1 / std::sqrt(ranks.least(d.empty() ? none : *std::min_element(d.begin(), d.end())));
  }
};

}  // namespace blockspan::eigen
