#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <blockspan/solvers/exact/near.hpp>

namespace blockspan::exact {

/// All pairs of an interval. Marks are the ends and every shift, each with its count; a cell lies
/// between neighbouring marks, and the counts at both alone say how many pairs it holds.
template <class Scalar, class Exec>
class Interval {
 public:
  explicit Interval(Pencil<Scalar, Exec>& pencil) : pencil_(pencil), report_(pencil.report) {}

  /// Returns the pairs, ascending.
  Pairs<Scalar, Exec> solve(double a, double b) {
    auto const ends = pencil_.ends(a, b);
    report_.from = ends.from.shift, report_.to = ends.to.shift;
    if (!ends.trusted()) {
      bool const singular = !ends.null_rows.empty();
      report_.status = singular ? Status::singular_pencil : Status::not_converged;
      report_.proof = Proof::uncountable;
      report_.trouble = singular ? in_words_singular(ends.null_rows)
                                 : in_words_uncountable(ends.from.trusted ? ends.to : ends.from,
                                                        pencil_.factors().scaled_size());
      return {};
    }
    if ((ends.from.moved() && std::isfinite(a)) || (ends.to.moved() && std::isfinite(b)))
      report_.notes.push_back(sentence("The ends were moved outward to ", ends.from.shift, ", ",
                                       ends.to.shift, ", where the count is certain."));
    report_.counted = ends.number();
    marks_ = {ends.from, ends.to};
    report_.status = Status::converged;
    while (work()) {
    }
    finish();
    return select(pencil_, found_, sorted_order(found_.size(), [&](int i, int j) {
                    return found_.values[i] < found_.values[j];
                  }));
  }

 private:
  struct Cell {
    double from = 0, to = 0;
    std::int64_t missing = 0;
    bool holds(double value) const { return from < value && value < to; }
  };
  static constexpr int most_tries = 4;

  /// How many of those missing a run looks for: a slice, or all where a second run would find few.
  std::int64_t one_run(std::int64_t missing) const {
    std::int64_t const slice = pencil_.options.slice;
    return 2 * missing <= 3 * slice ? missing : slice;
  }

  std::vector<Cell> cells() const {
    std::vector<Cell> all;
    for (std::size_t i = 0; i + 1 < marks_.size(); ++i) {
      double const from = marks_[i].shift, to = marks_[i + 1].shift;
      all.push_back(
          {from, to,
           marks_[i + 1].count - marks_[i].count - number_within(found_.values, from, to)});
    }
    return all;
  }

  /// Works on the leftmost cell that misses pairs; false where there is none, or no more to try.
  bool work() {
    for (Cell const& cell : cells())
      if (cell.missing > 0) return work_on(cell);
    return false;
  }

  bool work_on(Cell const& cell) {
    double const shift = place_in(cell);
    auto const placed = pencil_.place(shift, Move::both, cell.to - cell.from);
    ++report_.shifts;
    bool const usable = placed.at.trusted && cell.holds(placed.at.shift) && !touches(placed.at);
    if (usable)
      marks_.insert(
          std::upper_bound(marks_.begin(), marks_.end(), placed.at.shift,
                           [](double place, ShiftCount const& mark) { return place < mark.shift; }),
          placed.at);
    std::int64_t const before = static_cast<std::int64_t>(found_.size());
    bool const goes_on = runs_at(placed.at.shift, cell);
    bool const is_new = static_cast<std::int64_t>(found_.size()) > before;
    tries_ = is_new ? 0 : tries_ + 1;
    return goes_on && tries_ < most_tries;
  }

  /// The interval of a pair that was found holds the place.
  bool touches(ShiftCount const& at) const {
    for (std::size_t j = 0; j < found_.size(); ++j)
      if (std::abs(found_.values[j] - at.shift) <= found_.bounds[j]) return true;
    return false;
  }

  /// Where to factor next in a cell: the middle of what the last run did not reach, or a little
  /// beyond its reach where the cell misses more than a run finds.
  double place_in(Cell const& cell) const {
    constexpr double others[] = {0.5, 0.27, 0.73, 0.4};
    double const width = cell.to - cell.from;
    if (tries_ > 0) return cell.from + others[tries_] * width;
    double from = cell.from, to = cell.to;
    if (reach_ > 0) {
      double const left = last_ - reach_, right = last_ + reach_;
      if (right > from && right < to && left <= from)
        from = right;
      else if (left > from && left < to && right >= to)
        to = left;
    }
    double const slice = pencil_.options.slice;
    double const q = static_cast<double>(cell.missing);
    if (one_run(cell.missing) == cell.missing) return (from + to) / 2;
    double const step = reach_ > 0 && from > cell.from ? 0.9 * reach_ : slice / (2 * q) * width;
    return std::min(from + step, (from + to) / 2);
  }

  /// One run, and more at the same place while it finds copies of one value only.
  bool runs_at(double shift, Cell const& cell) {
    for (int again = 0; again < 16; ++again) {
      std::int64_t const need = marks_missing(cell);
      if (need <= 0) return true;
      int const wanted = static_cast<int>(one_run(need));
      auto const locked =
          select(pencil_, found_, indices_within(found_.values, cell.from, cell.to));
      Lanczos<Scalar, Exec> run(pencil_,
                                {.shift = shift,
                                 .wanted = wanted,
                                 .may_leave = false,
                                 .found = static_cast<std::int64_t>(found_.size()),
                                 .all = report_.counted,
                                 .number = ++runs_},
                                with_mass(pencil_, locked));
      auto const end = run.run();
      if (end == RunEnd::mass_negative || end == RunEnd::not_finite) {
        report_.status = end == RunEnd::mass_negative ? Status::mass_not_positive_definite
                                                      : Status::operator_not_finite;
        return false;
      }
      int const count = end == RunEnd::exhausted ? run.finite() : run.accepted();
      bool const cluster = keep(run, count, shift, cell);
      if (end == RunEnd::interrupted) return false;
      // next to an eigenvalue only that one can be had: the others from elsewhere
      if (!cluster || end == RunEnd::badly_placed || end == RunEnd::stalled) break;
    }
    return true;
  }

  std::int64_t marks_missing(Cell const& cell) const {
    std::int64_t sum = 0;
    for (Cell const& part : cells())
      if (part.from >= cell.from && part.to <= cell.to) sum += part.missing;
    return sum;
  }

  /// Adds the new pairs of the cell; true where all lie at one distance and more are missing.
  bool keep(Lanczos<Scalar, Exec>& run, int count, double shift, Cell const& cell) {
    last_ = shift, reach_ = 0;
    auto const pairs = take_pairs(pencil_, run, count);
    std::vector<int> news;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (int j = 0; j < static_cast<int>(pairs.size()); ++j) {
      double const distance = std::abs(pairs.values[j] - shift);
      reach_ = std::max(reach_, distance);
      if (!cell.holds(pairs.values[j])) continue;
      news.push_back(j);
      least = std::min(least, distance), most = std::max(most, distance);
    }
    if (news.empty()) return false;
    found_ = join(pencil_, found_, select(pencil_, pairs, news));
    return most - least <= 1e-6 * most && marks_missing(cell) > 0;
  }

  void finish() {
    constexpr double largest_error = 1e-9;
    report_.found = static_cast<std::int64_t>(found_.size());
    for (Cell const& cell : cells())
      if (cell.missing > 0) report_.missing.push_back({cell.from, cell.to, cell.missing});
    bool fits = report_.found == report_.counted;
    for (std::size_t j = 0; j < found_.size(); ++j) {
      fits = fits && found_.errors[j] <= largest_error;
      for (ShiftCount const& mark : {marks_.front(), marks_.back()})
        fits = fits && std::abs(found_.values[j] - mark.shift) > found_.bounds[j];
    }
    if (report_.status != Status::converged) return;
    if (!report_.missing.empty()) {
      report_.proof = Proof::missing;
      report_.status = Status::missing_pairs;
      auto const& cell = report_.missing.front();
      report_.trouble = sentence(report_.counted - report_.found, " of ", report_.counted,
                                 " missing: (", cell.from, ", ", cell.to, ") lacks ", cell.number,
                                 "; tried ", report_.shifts, " shifts");
    } else if (fits) {
      report_.proof = Proof::proved;
    } else {
      report_.proof = Proof::uncountable;
      report_.trouble = "the errors of the pairs found reach beyond the places of the counts";
    }
  }

  Pencil<Scalar, Exec>& pencil_;
  ExactReport& report_;
  std::vector<ShiftCount> marks_;
  Pairs<Scalar, Exec> found_;
  int tries_ = 0, runs_ = 0;
  double last_ = 0, reach_ = 0;  ///< the last shift, and how far its run came
};

}  // namespace blockspan::exact
