#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include <blockspan/solvers/exact.hpp>
#include <blockspan/solvers/exact/counting.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace exact {

namespace {

constexpr char const* where = "blockspan::exact";
constexpr int most_moves = 12;

/// Rows in both.
std::vector<std::int64_t> common(std::vector<std::int64_t> const& a,
                                 std::vector<std::int64_t> const& b) {
  std::vector<std::int64_t> both;
  for (auto const row : a)
    if (std::find(b.begin(), b.end(), row) != b.end()) both.push_back(row);
  return both;
}

}  // namespace

PlacedCount trusted_count(operators::PencilFactors& factors, double shift, Move move,
                          double scale) {
  PlacedCount result;
  double step = std::max({1e-10 * std::abs(shift), 1e-13 * scale, 1e-13 * factors.scaled_size()});
  if (step == 0) step = 1e-13;  // a matrix of zeros
  for (int moves = 0; moves <= most_moves; ++moves) {
    double place = shift;
    if (moves > 0) {
      bool const down = move == Move::down || (move == Move::both && moves % 2 == 0);
      place = down ? shift - step : shift + step;
      if (move != Move::both || moves % 2 == 0) step *= 10;
    }
    result.at = factors.factor(place);
    result.at.asked = shift;
    ++result.factorizations;
    auto const rows = result.at.null_pivots > 0 ? factors.null_rows() : std::vector<std::int64_t>();
    result.null_rows = moves == 0 ? rows : common(result.null_rows, rows);
    if (result.at.trusted) {
      result.null_rows.clear();
      return result;
    }
    // singular wherever it is looked at; where every row has mass, rather next to an eigenvalue
    if (moves >= 4 && !result.null_rows.empty() && factors.massless_rows()) return result;
  }
  if (!factors.massless_rows()) result.null_rows.clear();
  return result;
}

namespace {

/// Whether no eigenvalue shows at up to 2^72 times `reach`, signed, from start + reach on, where
/// `count` are below: that of a graded pencil is the same on both sides of a gap, too.
bool stays(operators::PencilFactors& factors, double start, double reach, std::int64_t count,
           int& factorizations) {
  for (int doublings = 24; doublings <= 72; doublings += 24) {
    double const far = std::ldexp(reach, doublings);
    if (!std::isfinite(start + 1.1 * far)) return true;
    auto at = factors.factor(start + far);
    if (!at.trusted) at = factors.factor(start + 1.1 * far), ++factorizations;  // was one there?
    ++factorizations;
    if (!at.trusted) return factors.massless_rows();  // beside whose M the rest of K is lost
    if (at.count != count) return false;
  }
  return true;
}

/// A place beyond all eigenvalues: below for sign -1. The factors are those of any place.
PlacedCount beyond(operators::PencilFactors& factors, double other, int sign) {
  double reach = std::max(factors.scaled_size(), std::isfinite(other) ? std::abs(other) : 0.0);
  if (!(reach > 0)) reach = 1;
  PlacedCount found;
  int tried = 0;
  std::int64_t before = -1;
  for (int grow = 0; grow < 24; ++grow, reach *= 64) {
    double const start = std::isfinite(other) ? other : 0;
    found = trusted_count(factors, start + sign * reach, sign < 0 ? Move::down : Move::up, reach);
    tried += found.factorizations;
    bool const all = sign < 0 ? found.at.count == 0 : found.at.count == factors.rows();
    // a singular M has a constant number of negative pivots far below, and of positive ones above
    if (found.at.trusted &&
        (all || (found.at.count == before && stays(factors, start, sign * reach, before, tried))))
      break;
    if (!found.at.trusted && before >= 0) break;  // nor is it further out
    before = found.at.trusted ? found.at.count : -1;
  }
  found.factorizations = tried;
  return found;
}

}  // namespace

CountedEnds count_ends(operators::PencilFactors& factors, double a, double b) {
  CountedEnds ends;
  double const width = std::isfinite(a) && std::isfinite(b) ? b - a : 0;
  auto const low =
      std::isfinite(a) ? trusted_count(factors, a, Move::down, width) : beyond(factors, b, -1);
  ends.from = low.at, ends.factorizations = low.factorizations, ends.null_rows = low.null_rows;
  if (!low.at.trusted) return ends;
  auto const high =
      std::isfinite(b) ? trusted_count(factors, b, Move::up, width) : beyond(factors, a, 1);
  ends.to = high.at, ends.factorizations += high.factorizations;
  ends.null_rows.insert(ends.null_rows.end(), high.null_rows.begin(), high.null_rows.end());
  return ends;
}

std::string in_words_singular(std::vector<std::int64_t> const& rows) {
  std::ostringstream out;
  out << "K - sigma M is singular for every sigma: unknown " << rows.front() + 1;
  if (rows.size() > 1) out << " and " << rows.size() - 1 << " more";
  out << " (counted from 1) " << (rows.size() > 1 ? "have" : "has")
      << " neither stiffness nor mass of its own";
  return out.str();
}

std::string in_words_uncountable(ShiftCount const& at, double size, bool exchanged) {
  std::ostringstream out;
  double const least = 1e-15 * size;
  out << "no place near " << in_full(exchanged ? 1 / at.asked : at.asked)
      << " where the signs of all pivots are certain: eigenvalues there are "
      << (exchanged ? "above" : "below") << " what double precision tells from "
      << (exchanged ? "infinity" : "zero") << " (about " << (exchanged ? 1 / least : least) << ")";
  return out.str();
}

std::string in_words_untrusted(CountedEnds const& ends, double size, bool exchanged) {
  if (!ends.null_rows.empty()) return in_words_singular(ends.null_rows);
  if (!ends.falls())
    return in_words_uncountable(ends.from.trusted ? ends.to : ends.from, size, exchanged);
  std::ostringstream out;
  out << "the number of negative pivots falls from " << ends.from.count << " to " << ends.to.count
      << " between the ends: the " << (exchanged ? "stiffness" : "mass")
      << " matrix is not positive semidefinite";
  return out.str();
}

std::string in_words_interval(double from, double to, bool exchanged) {
  if (!exchanged) return "(" + in_full(from) + ", " + in_full(to) + ")";
  std::string const low = in_full(1 / to), high = in_full(1 / from);
  if (from < 0 && to > 0) return "(-inf, " + high + ") and (" + low + ", inf)";
  return "(" + low + ", " + high + ")";
}

std::string in_words_negative(std::vector<double> const& diagonal, std::int64_t first_row,
                              bool exchanged) {
  auto const found = std::find_if(diagonal.begin(), diagonal.end(), [](double d) { return d < 0; });
  if (found == diagonal.end()) return "";
  std::ostringstream out;
  out << "the diagonal entry of row " << first_row + (found - diagonal.begin()) + 1 << " of the "
      << (exchanged ? "stiffness" : "mass") << " matrix is " << *found << " (rows counted from 1)";
  return out.str();
}

EigenCount count(operators::PencilFactors& factors, double a, double b, Spectral form) {
  bool const exchanged = form == Spectral::buckling;
  auto const ends = exchanged ? count_ends(factors, 1 / b, 1 / a) : count_ends(factors, a, b);
  EigenCount result;
  result.from = ends.from, result.to = ends.to;
  result.trusted = ends.trusted();
  if (exchanged) {
    std::swap(result.from, result.to);
    for (ShiftCount* const end : {&result.from, &result.to})
      end->asked = 1 / end->asked, end->shift = 1 / end->shift;
  }
  result.number = result.trusted ? ends.number() : 0;
  std::ostringstream note;
  if (!result.trusted)
    result.trouble = in_words_untrusted(ends, factors.scaled_size(), exchanged);
  else if ((result.from.moved() && std::isfinite(a)) || (result.to.moved() && std::isfinite(b)))
    note << "The ends were moved outward to "
         << in_words_interval(result.from.shift, result.to.shift, false)
         << ", where the count is certain.";
  if (!note.str().empty()) result.notes.push_back(note.str());
  return result;
}

void require_shift(double sigma, Spectral form) {
  require(std::isfinite(sigma), where, "the shift is ", sigma);
  require(form != Spectral::buckling || sigma != 0, where,
          "the buckling form works in 1 / lambda: the shift may not be zero");
  require(form != Spectral::cayley || sigma != 0, where,
          "the Cayley form measures lambda by its ratio to the shift, which may not be zero");
}

void require_interval(double a, double b, Spectral form) {
  require(!std::isnan(a) && !std::isnan(b) && a < b, where, "the interval from ", in_full(a),
          " to ", in_full(b), " is empty");
  require(form != Spectral::buckling || (std::isfinite(a) && std::isfinite(b) && (a > 0 || b < 0)),
          where, "the buckling form works in 1 / lambda: the interval from ", in_full(a), " to ",
          in_full(b), " must be finite and on one side of zero");
}

}  // namespace exact

void ExactOptions::validate() const {
  constexpr char const* name = "blockspan::ExactOptions";
  require(pairs >= 1, name, "pairs is ", pairs, ", must be at least 1");
  require(tolerance > 0 && tolerance < 1, name, "tolerance is ", tolerance,
          ", must be between 0 and 1");
  require(block >= 0, name, "block is ", block, ", must not be negative");
  require(basis >= 0, name, "basis is ", basis, ", must not be negative");
  require(slice >= 1, name, "slice is ", slice, ", must be at least 1");
  require(max_steps >= 1, name, "max_steps is ", max_steps, ", must be at least 1");
  require(time_limit > 0, name, "time_limit is ", time_limit, ", must be positive");
}

}  // namespace blockspan
