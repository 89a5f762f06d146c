#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <blockspan/operators/pencil_factors.hpp>

namespace blockspan::exact {

/// Where a shift goes whose count cannot be trusted.
enum class Move { down, up, both };

/// A count at the asked place or the nearest one beside it where it can be trusted; the factors are
/// those of that place.
struct PlacedCount {
  ShiftCount at;
  int factorizations = 0;
  std::vector<std::int64_t> null_rows;  ///< unknowns that are null at every place that was tried
};

/// scale: a length of the spectrum around (the radius of a disc, the width of a gap; 0: unknown).
/// Steps of max(1e-10 |shift|, 1e-13 scale, 1e-13 times the size of the scaled pencil), tenfold
/// each time, 12 at most.
PlacedCount trusted_count(operators::PencilFactors& factors, double shift, Move move, double scale);

/// Both ends of (a, b), moved outward. Infinite ends become places beyond all eigenvalues, which
/// needs a definite M.
struct CountedEnds {
  ShiftCount from, to;
  int factorizations = 0;
  std::vector<std::int64_t> null_rows;
  bool trusted() const { return from.trusted && to.trusted && number() >= 0; }
  /// Certain counts that fall prove that M is not semidefinite.
  bool falls() const { return from.trusted && to.trusted && number() < 0; }
  std::int64_t number() const { return to.count - from.count; }
};
CountedEnds count_ends(operators::PencilFactors& factors, double a, double b);

/// "unknown 11 has neither stiffness nor mass" and the like.
std::string in_words_singular(std::vector<std::int64_t> const& rows);
std::string in_words_uncountable(ShiftCount const& at, double size, bool exchanged);
/// Why ends are not trusted.
std::string in_words_untrusted(CountedEnds const& ends, double size, bool exchanged);

/// "(1, 2)"; exchanged: of 1 / from and 1 / to, "(-inf, -1) and (2, inf)" where zero is between.
std::string in_words_interval(double from, double to, bool exchanged);

}  // namespace blockspan::exact
