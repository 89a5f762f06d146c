#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <blockspan/sparse/symmetry.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::apps {

/// A, read from `source`, with what rounding left of its asymmetry taken away, and a note on that.
/// Throws Error unless A is Hermitian to rounding, with one entry and its mirror, counted from 1.
template <class Exec, class Matrix>
Matrix take_hermitian(Exec const& exec, std::string const& source, Matrix const& A,
                      std::vector<std::string>& notes) {
  constexpr bool complex = is_complex_v<typename Matrix::non_const_value_type>;
  auto const found = find_asymmetry(exec, A);
  if (found) {
    if (found.exact) return A;
    notes.push_back(source + ": the matrix is " + (complex ? "Hermitian" : "symmetric") +
                    " to rounding only; the mean of it and its " + (complex ? "conjugate " : "") +
                    "transpose was taken");
    return hermitian_mean(exec, A);
  }
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
