#pragma once

#include <vector>

#include <blockspan/operators/factors/direct_factors.hpp>

namespace blockspan::operators {

/// Throws Error with the first entry that is not finite.
void require_finite(char const* where, char const* what, HostHermitian const& A);

/// Powers of two s_i such that s_i s_j a_ij has a diagonal of about one, or rows whose largest
/// entry is about one where the diagonal is small against them; 1 for rows without entries.
std::vector<double> symmetric_scaling(HostHermitian const& A);

/// The values of the lower triangle of S A S, in the order of the places.
std::vector<double> scaled_triangle(HostHermitian const& A, std::vector<double> const& scaling);

/// The diagonal of S S, each entry `parts` times.
std::vector<double> squares(std::vector<double> const& scaling, int parts);

/// Row and column indices of these values, from 1.
struct Places {
  std::vector<int> rows, columns;
  void add(HostHermitian const& A);
  void add_diagonal(int order);
};

/// The least a_ii / m_ii, which the least eigenvalue of the pencil is never above; rows without
/// mass are left out. M: null for the identity.
double least_quotient(HostHermitian const& A, HostHermitian const* M);

/// A sigma that makes A + sigma M positive definite for a diagonal M, by Gershgorin's circles of
/// M^-1 A (rows without mass are left out); a first guess for others. M: null for the identity.
double definite_shift(HostHermitian const& A, HostHermitian const* M);

}  // namespace blockspan::operators
