#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/solvers/exact/interval_state.hpp>
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
    auto const& options = pencil_.options;
    if (!options.checkpoint.empty() || !options.resume.empty())
      problem_ = problem_of(pencil_, a, b);
    if (!options.resume.empty()) {
      state_ = read_interval(pencil_, problem_);
      state_.give(report_);
    } else if (!count_ends(a, b)) {
      return {};
    }
    auto const &from = state_.marks.front(), &to = state_.marks.back();
    report_.from = from.shift, report_.to = to.shift;
    if ((from.moved() && std::isfinite(a)) || (to.moved() && std::isfinite(b)))
      report_.notes.push_back(sentence("The ends were moved outward to ",
                                       pencil_.shown(from.shift, to.shift),
                                       ", where the count is certain."));
    report_.counted = to.count - from.count;
    report_.status = Status::converged;
    while (work()) {
    }
    polish_all();
    finish();
    return select(pencil_, state_.found, sorted_order(state_.found.size(), [&](int i, int j) {
                    return state_.found.values[i] < state_.found.values[j];
                  }));
  }

 private:
  struct Cell {
    double from = 0, to = 0;
    std::int64_t missing = 0;
    bool holds(double value) const { return from < value && value < to; }
  };
  static constexpr int most_tries = 4;

  bool count_ends(double a, double b) {
    auto const ends = pencil_.ends(a, b);
    report_.from = ends.from.shift, report_.to = ends.to.shift;
    state_.marks = {ends.from, ends.to};
    if (ends.trusted()) return true;
    report_.status = ends.null_rows.empty() ? Status::not_converged : Status::singular_pencil;
    pencil_.refuse(ends);
    return false;
  }

  /// Pairs of different runs may be in each other by rounding of the inverse at the shift of one.
  void polish_all() {
    auto& found = state_.found;
    auto const worst = std::max_element(found.errors.begin(), found.errors.end());
    if (worst == found.errors.end() || *worst <= pencil_.options.tolerance) return;
    polish(pencil_, found.X, pencil_.energies(found.X, found.values));
    found.errors = judge_pairs(pencil_, found.X, found.values).errors;
  }

  /// Keeps what there was before the run at work, which a resumed solve does again: the same bits
  /// as without a break. The report says what failed.
  void save() {
    if (pencil_.options.checkpoint.empty()) return;
    saved_ = pencil_.seconds();
    try {
      write_interval(pencil_, problem_, before_);
      report_.checkpoint_fault.clear();
    } catch (Error const& error) {
      report_.checkpoint_fault = error.what();
    }
  }

  /// Runs that share what is missing.
  std::int64_t runs_for(std::int64_t missing) const {
    std::int64_t const slice = pencil_.options.slice;
    return std::max<std::int64_t>((2 * missing + slice) / (2 * slice), 1);
  }

  std::vector<Cell> cells() const {
    std::vector<Cell> all;
    for (std::size_t i = 0; i + 1 < state_.marks.size(); ++i) {
      double const from = state_.marks[i].shift, to = state_.marks[i + 1].shift;
      all.push_back({from, to,
                     state_.marks[i + 1].count - state_.marks[i].count -
                         number_within(state_.found.values, from, to)});
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
    constexpr double renewed_after = 600;       // seconds
    if (!pencil_.options.checkpoint.empty()) {  // else no pairs are held twice
      before_ = state_;
      before_.take(report_);
      if (pencil_.is_past(saved_ + renewed_after)) save();
    }
    double const shift = place_in(cell);
    auto const placed = pencil_.place(shift, Move::both, cell.to - cell.from);
    ++report_.shifts;
    bool const usable = placed.at.trusted && cell.holds(placed.at.shift) && !touches(placed.at);
    if (usable)
      state_.marks.insert(
          std::upper_bound(state_.marks.begin(), state_.marks.end(), placed.at.shift,
                           [](double place, ShiftCount const& mark) { return place < mark.shift; }),
          placed.at);
    std::int64_t const before = static_cast<std::int64_t>(state_.found.size());
    bool const goes_on = runs_at(placed.at.shift, cell);
    bool const is_new = static_cast<std::int64_t>(state_.found.size()) > before;
    state_.tries = is_new ? 0 : state_.tries + 1;
    return goes_on && state_.tries < most_tries;
  }

  /// The interval of a pair that was found holds the place.
  bool touches(ShiftCount const& at) const {
    for (std::size_t j = 0; j < state_.found.size(); ++j)
      if (std::abs(state_.found.values[j] - at.shift) <= state_.found.bounds[j]) return true;
    return false;
  }

  /// Where to factor next in a cell: in the widest stretch without a pair found, half a slice away
  /// from those beside it, by their density.
  double place_in(Cell const& cell) const {
    constexpr double others[] = {0.5, 0.27, 0.73, 0.4};
    if (state_.tries > 0) return cell.from + others[state_.tries] * (cell.to - cell.from);
    auto known = state_.found.values;
    std::sort(known.begin(), known.end());
    auto const [from, to] = widest_gap(known, cell);
    double const width = to - from, all = static_cast<double>(cell.missing);
    double const runs = static_cast<double>(runs_for(cell.missing)), slice = all / runs;
    double const below = density(known, from, -1), above = density(known, to, 1);
    if (below == 0 && above == 0)  // whole slices on both sides, if they are equally wide
      return from + (std::ceil(runs / 2) - 0.5) / runs * width;
    // edge x + slope x^2 / 2 pairs lie within x of the edge, and all in the gap
    double const edge = std::min(below > 0 ? below : above, 2 * all / width);
    double const slope = 2 * (all / width - edge) / width;
    double const x = slice / (edge + std::sqrt(edge * edge + slope * slice));
    return below > 0 ? from + x : to - x;
  }

  /// Between neighbours of the ends of the cell and the pairs found in it, which are ascending.
  static std::pair<double, double> widest_gap(std::vector<double> const& known, Cell const& cell) {
    double last = cell.from, from = last, to = last;
    auto const look = [&](double next) {
      if (next - last > to - from) from = last, to = next;
      last = next;
    };
    for (double const value : known)
      if (cell.holds(value)) look(value);
    look(cell.to);
    return {from, to};
  }

  /// Of the pairs known on that side of a place; 0: too few to say.
  static double density(std::vector<double> const& sorted, double place, int side) {
    constexpr std::ptrdiff_t few = 4, most = 32;
    auto const first = std::lower_bound(sorted.begin(), sorted.end(), place);
    auto const last = std::upper_bound(sorted.begin(), sorted.end(), place);
    auto const count = std::min(most, side < 0 ? last - sorted.begin() : sorted.end() - first);
    if (count < few) return 0;
    double const length = side < 0 ? place - *(last - count) : *(first + count - 1) - place;
    return length > 0 ? static_cast<double>(count) / length : 0;
  }

  /// One run, and more at the same place while it finds copies of one value only.
  bool runs_at(double shift, Cell const& cell) {
    for (int again = 0; again < 16; ++again) {
      std::int64_t const need = marks_missing(cell);
      if (need <= 0) return true;
      auto const locked =
          select(pencil_, state_.found, indices_within(state_.found.values, cell.from, cell.to));
      Lanczos<Scalar, Exec> run(pencil_, task(shift, cell, need), pencil_.with_mass(locked.X));
      auto const end = run.run();
      if (end == RunEnd::mass_negative || end == RunEnd::not_finite) {
        report_.status = end == RunEnd::mass_negative ? Status::mass_not_positive_definite
                                                      : Status::operator_not_finite;
        return false;
      }
      int const count = end == RunEnd::exhausted ? run.finite() : run.accepted();
      bool const cluster = keep(run, count, shift, cell);
      // one that was to stop has looked for converged pairs earlier than without a break
      if (report_.status != Status::converged) {
        save();
        return false;
      }
      // next to an eigenvalue only that one can be had: the others from elsewhere
      if (!cluster || end == RunEnd::badly_placed || end == RunEnd::stalled) break;
    }
    return true;
  }

  /// A slice around the shift, and all on a side of it that holds little more than its share: what
  /// is left there would take a run of its own.
  RunTask task(double shift, Cell const& cell, std::int64_t need) {
    RunTask run{.shift = shift,
                .may_leave = false,
                .found = static_cast<std::int64_t>(state_.found.size()),
                .all = report_.counted,
                .number = ++state_.runs,
                .from = cell.from,
                .to = cell.to};
    std::int64_t const runs = runs_for(need), slice = (need + runs - 1) / runs;
    run.wanted = static_cast<int>(slice);
    bool const counts = std::any_of(state_.marks.begin(), state_.marks.end(),
                                    [&](ShiftCount const& mark) { return mark.shift == shift; });
    if (!counts) return run;
    auto const asked = [&](double from, double to) {
      std::int64_t const side = marks_missing({from, to});
      return runs == 1 || 5 * side <= 4 * slice ? side : std::int64_t{0};
    };
    run.below = asked(cell.from, shift), run.above = asked(shift, cell.to);
    run.enough = runs == 1 ? static_cast<int>(need) : run.wanted;
    if (run.below > 0 || run.above > 0) run.wanted = static_cast<int>((3 * slice + 1) / 2);
    return run;
  }

  std::int64_t marks_missing(Cell const& cell) const {
    std::int64_t sum = 0;
    for (Cell const& part : cells())
      if (part.from >= cell.from && part.to <= cell.to) sum += part.missing;
    return sum;
  }

  /// Adds the new pairs of the cell; true where all lie at one distance and more are missing.
  bool keep(Lanczos<Scalar, Exec>& run, int count, double shift, Cell const& cell) {
    auto const pairs = take_pairs(pencil_, run, count);
    std::vector<int> news;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (int j = 0; j < static_cast<int>(pairs.size()); ++j) {
      double const distance = std::abs(pairs.values[j] - shift);
      if (!cell.holds(pairs.values[j])) continue;
      news.push_back(j);
      least = std::min(least, distance), most = std::max(most, distance);
    }
    if (news.empty()) return false;
    state_.found = join(pencil_, state_.found, select(pencil_, pairs, news));
    return most - least <= 1e-6 * most && marks_missing(cell) > 0;
  }

  void finish() {
    constexpr double largest_error = 1e-9;
    report_.found = static_cast<std::int64_t>(state_.found.size());
    std::int64_t lacking = 0;
    for (Cell const& cell : cells()) {
      if (cell.missing <= 0) continue;
      report_.missing.push_back({cell.from, cell.to, cell.missing});
      lacking += cell.missing;
    }
    bool fits = report_.found == report_.counted;
    for (std::size_t j = 0; j < state_.found.size(); ++j) {
      fits = fits && state_.found.errors[j] <= largest_error;
      for (ShiftCount const& mark : {state_.marks.front(), state_.marks.back()})
        fits = fits && std::abs(state_.found.values[j] - mark.shift) > state_.found.bounds[j];
    }
    if (report_.status != Status::converged) return;
    if (!report_.missing.empty()) {
      report_.proof = Proof::missing;
      report_.status = Status::missing_pairs;
      auto const& cell = report_.missing.front();
      report_.trouble = sentence(lacking, " of ", report_.counted,
                                 " missing: ", pencil_.shown(cell.from, cell.to), " lacks ",
                                 cell.number, "; tried ", report_.shifts, " shifts");
    } else if (fits) {
      report_.proof = Proof::proved;
    } else {
      report_.proof = Proof::uncountable;
      report_.trouble = "the errors of the pairs found reach beyond the places of the counts";
    }
  }

  Pencil<Scalar, Exec>& pencil_;
  ExactReport& report_;
  IntervalState<Scalar, Exec> state_, before_;  ///< now, and before the run at work
  IntervalProblem problem_;
  double saved_ = 0;  ///< when the last checkpoint was written
};

}  // namespace blockspan::exact
