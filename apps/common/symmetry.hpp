#pragma once

#include <sstream>
#include <string>

#include <blockspan/sparse/symmetry.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::apps {

/// Throws Error unless A, read from `source`, is Hermitian, with one entry and its mirror, counted
/// from 1.
template <class Exec, class Matrix>
void require_hermitian(Exec const& exec, std::string const& source, Matrix const& A) {
  constexpr bool complex = is_complex_v<typename Matrix::non_const_value_type>;
  auto const found = find_asymmetry(exec, A);
  if (found) return;
  std::ostringstream text;
  text.precision(9);  // what differs by 1e-6 is seen to differ
  text << "entry (" << found.row + 1 << ", " << found.column + 1 << ") is " << found.entry;
  if (found.row == found.column)
    text << ", and on the diagonal it must be real";
  else
    text << ", but entry (" << found.column + 1 << ", " << found.row + 1 << ") is " << found.mirror;
  fail(source,
       complex ? "the matrix is not Hermitian: " : "the matrix is not symmetric: ", text.str());
}

}  // namespace blockspan::apps
