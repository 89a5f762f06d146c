#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <blockspan/sparse/symmetry.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

#include "common/files/words.hpp"

namespace blockspan::apps {

/// Nothing takes the place of a matrix that is not Hermitian.
inline constexpr auto not_mended = []<class Matrix>(Matrix const&) -> std::optional<Matrix> {
  return {};
};

/// A, read from `source`, with a note where it is Hermitian to rounding only; or, with
/// `symmetrize`, the mean of A and its conjugate transpose, with a note that this was asked for.
/// Where A is neither, what mend(A) gives, an optional matrix; else throws Error with the worst
/// entry and its mirror, counted from 1.
template <class Exec, class Matrix, class Mend>
Matrix take_hermitian(Exec const& exec, std::string const& source, Matrix const& A, bool symmetrize,
                      std::vector<std::string>& notes, Mend const& mend) {
  constexpr bool complex = is_complex_v<typename Matrix::non_const_value_type>;
  auto const found = find_asymmetry(exec, A);
  if (found.exact()) return A;
  std::string const symmetric = complex ? "Hermitian" : "symmetric";
  std::string const apart = "the largest relative difference of an entry and its mirror is " +
                            formatted("%.2g", found.difference);
  if (symmetrize) {
    notes.push_back(source +
                    ": --symmetrize: the problem is that of the mean of the matrix and its " +
                    (complex ? "conjugate " : "") + "transpose, and so are residuals; " + apart);
    return hermitian_mean(exec, A);
  }
  if (found) {
    notes.push_back(source + ": the matrix is " + symmetric + " to rounding only; " + apart);
    return A;
  }
  if (std::optional<Matrix> mended = mend(A)) return *mended;
  std::ostringstream text;
  // enough digits to see the difference
  text.precision(std::clamp(3 - static_cast<int>(std::floor(std::log10(found.difference))), 6, 17));
  std::int64_t const row = found.row + 1, column = found.column + 1;
  text << "the matrix is not " << symmetric << ": entry (" << row << ", " << column << ") is "
       << found.entry;
  if (row == column)
    text << ", and on the diagonal it must be real";
  else
    text << ", but entry (" << column << ", " << row << ") is " << found.mirror;
  text << "; --symmetrize takes the mean of the matrix and its " << (complex ? "conjugate " : "")
       << "transpose";
  fail(source, text.str());
}

}  // namespace blockspan::apps
