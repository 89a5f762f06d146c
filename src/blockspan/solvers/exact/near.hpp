#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/solvers/exact/pairs.hpp>

namespace blockspan::exact {

template <class... Parts>
std::string sentence(Parts const&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// The pairs nearest a shift, and their number by counts.
template <class Scalar, class Exec>
class Near {
 public:
  Near(Pencil<Scalar, Exec>& pencil, double sigma)
      : pencil_(pencil),
        report_(pencil.report),
        sigma_(sigma),
        by_ratio_(pencil.options.form == Spectral::cayley),
        wanted_(pencil.options.pairs) {}

  /// Returns the pairs, ascending.
  Pairs<Scalar, Exec> solve() {
    wanted_ = static_cast<int>(std::min<std::int64_t>(wanted_, pencil_.rows()));
    if (!place(sigma_, Move::both, 0)) return {};
    if (report_.counts.back().moved()) {
      auto const& at = report_.counts.back();
      report_.notes.push_back(sentence("The shift ", in_full(pencil_.shown(sigma_)),
                                       " is an eigenvalue, or nearly one: moved to ",
                                       in_full(pencil_.shown(at.shift)), "."));
    }
    auto const end = search();
    if (found_.size() == 0 && end != RunEnd::exhausted) return {};
    sort_by_distance();
    if (end == RunEnd::converged || end == RunEnd::exhausted) {
      report_.status = Status::converged;
      all_ = end == RunEnd::exhausted;
      if (pencil_.options.count) prove();
    }
    return nearest();
  }

 private:
  /// From the shift; by ratio 1 over the magnitude of an eigenvalue of the Cayley transform.
  double distance(double value) const {
    double const length = std::abs(value - sigma_);
    return by_ratio_ ? length / std::abs(value + sigma_) : length;
  }
  /// A small length over this is no less than the distance that it makes.
  double unit() const { return by_ratio_ ? std::abs(sigma_) / 2 : 1; }

  /// The ends of all that is nearer than r, which by ratio is below 1.
  std::pair<double, double> reach(double r) const {
    if (!by_ratio_) return {sigma_ - r, sigma_ + r};
    double const q = (1 + r) / (1 - r);
    return {sigma_ > 0 ? sigma_ / q : sigma_ * q, sigma_ > 0 ? sigma_ * q : sigma_ / q};
  }

  /// Distances that count as equal: to rounding, and to the errors of the pairs.
  bool same_distance(double a, double b) const {
    return std::abs(a - b) <= std::max(1e-8 * std::max(a, b), slack_);
  }

  /// Factors at a shift; false where every shift is singular. An uncertain one serves as well.
  bool place(double shift, Move move, double scale) {
    auto const placed = pencil_.place(shift, move, scale);
    ++report_.shifts;
    shift_ = placed.at.shift;
    certain_ = placed.at;
    if (placed.null_rows.empty() && std::isfinite(placed.at.rho)) return true;
    if (placed.null_rows.empty()) {  // no factors that serve
      report_.proof = Proof::uncountable;
      report_.trouble = pencil_.words_uncountable(placed.at);
      return false;
    }
    report_.status = Status::singular_pencil;
    report_.trouble = in_words_singular(placed.null_rows);
    return false;
  }

  bool fails(RunEnd end) {
    if (end == RunEnd::mass_negative) {
      report_.status = Status::mass_not_positive_definite;
      report_.trouble = sentence("x^H ", pencil_.exchanged() ? "K" : "M", " x < 0 for a vector x");
    } else if (end == RunEnd::not_finite) {
      report_.status = Status::operator_not_finite;
    } else {
      return false;
    }
    return true;
  }

  /// Runs, and anew where the shift is badly placed.
  RunEnd search() {
    constexpr int most_moves = 6;
    RunTask task{.shift = shift_, .wanted = wanted_, .by_ratio = by_ratio_};
    double factor = 1e-3;
    WithMass<Scalar, Exec> const none{pencil_.new_block("none", 0), pencil_.new_block("none", 0)};
    for (int moves = 0;; ++moves) {
      task.may_move = task.may_leave = moves < most_moves;
      task.number = moves;
      Lanczos<Scalar, Exec> run(pencil_, task, none);
      auto end = run.run();
      if (fails(end)) return end;
      bool const moves_on = end == RunEnd::badly_placed || end == RunEnd::far_away;
      bool const kept = moves_on || keep(run, end),
                 lost = !kept && (end == RunEnd::converged || end == RunEnd::exhausted);
      if (lost) end = task.may_move ? RunEnd::badly_placed : RunEnd::stalled;
      if (end == RunEnd::badly_placed || end == RunEnd::far_away) {
        double const to = end == RunEnd::far_away ? run.nearer()
                                                  : sigma_ + (moves % 2 == 0 ? 1 : -1) *
                                                                 run.beside(factor, moves, lost);
        if (end == RunEnd::badly_placed) {
          if (moves % 2 == 1) factor *= 4;
          task.wanted = wanted_ + (pencil_.options.block > 0 ? pencil_.options.block : 8) / 2;
          report_.notes.push_back(sentence("The shift ", in_full(pencil_.shown(shift_)),
                                           " is next to an eigenvalue: moved to ",
                                           in_full(pencil_.shown(to)), "."));
        }
        if (!place(to, Move::both, 0)) return RunEnd::not_finite;
        task.shift = shift_;
        continue;
      }
      if (lost) report_.status = Status::stagnated;
      return end;
    }
  }

  /// The pairs of a run that converged (of an interrupted one those that are wanted, too), and the
  /// Ritz values behind them. False: there is no pair among them, but rounding errors of the shift.
  bool keep(Lanczos<Scalar, Exec>& run, RunEnd end) {
    int count = run.accepted();
    if (end == RunEnd::exhausted) count = run.finite();
    accepted_ = count;
    if (end == RunEnd::stalled) report_.status = Status::stagnated;
    if (end == RunEnd::interrupted || end == RunEnd::stalled)
      count = std::min<int>(std::max(count, wanted_), static_cast<int>(run.theta().size()));
    found_ = take_pairs(pencil_, run, count);
    if (count > 0 && found_.size() == 0) return false;
    others_.clear();
    for (std::size_t j = count; j < run.theta().size(); ++j)
      if (run.theta()[j] != 0) others_.push_back(distance(shift_ + 1 / run.theta()[j]));
    for (std::size_t j = count; j < run.theta().size(); ++j)
      if (run.theta()[j] != 0) {
        report_.next_eigenvalue = shift_ + 1 / run.theta()[j];
        break;
      }
    return true;
  }

  void sort_by_distance() {
    found_ = select(pencil_, found_, sorted_order(found_.size(), [&](int a, int b) {
                      return distance(found_.values[a]) < distance(found_.values[b]);
                    }));
    auto const leading = std::min<std::size_t>(wanted_, found_.size());
    slack_ = 0;
    for (std::size_t j = 0; j < leading; ++j)
      slack_ = std::max(slack_, 2 * found_.bounds[j] / unit());
  }

  /// Half-way from the last wanted pair to the next value that differs from it.
  double radius() const {
    auto const last = std::min<std::size_t>(wanted_, found_.size()) - 1;
    double const d = distance(found_.values[last]);
    double next = std::numeric_limits<double>::infinity();
    auto const look = [&](double other) {
      if (other > d && !same_distance(other, d)) next = std::min(next, other);
    };
    for (double const value : found_.values) look(distance(value));
    for (double const other : others_) look(other);
    if (std::isfinite(next)) return (d + next) / 2;
    if (by_ratio_) return (d + 1) / 2;
    return d > 0 ? 2 * d : std::max(std::abs(sigma_), 1.0);
  }

  std::int64_t inside(double from, double to) const {
    return number_within(found_.values, from, to);
  }

  /// Counts at both ends; where nothing is below the shift itself, the lower one needs no factors.
  bool count_within(double r) {
    CountedEnds ends;
    auto const [low, high] = reach(r);
    if (certain_.trusted && certain_.count == 0) {
      auto const placed = pencil_.place(high, Move::up, high - sigma_);
      ends.from = certain_, ends.to = placed.at;
      ends.from.shift = ends.from.asked = std::min(low, certain_.shift);
    } else {
      ends = pencil_.ends(low, high);
    }
    report_.from = ends.from.shift, report_.to = ends.to.shift;
    if (!ends.trusted()) {
      pencil_.refuse(ends);
      return false;
    }
    report_.counted = ends.number();
    return true;
  }

  void prove() {
    if (found_.size() == 0) return;
    auto const below = certain_;
    double const r = radius();
    if (by_ratio_ && !(r < 1)) {
      report_.proof = Proof::uncountable;
      report_.trouble =
          "too few eigenvalues have the sign of the shift: those of the other are no "
          "interval together with them";
      return;
    }
    if (!count_within(r)) return;
    for (int tries = 0; tries < 3; ++tries) {
      std::int64_t const need = report_.counted - inside(report_.from, report_.to);
      if (need <= 0 || need > 8 * std::max(wanted_, 1) || all_) break;
      if (!complete(static_cast<int>(need), tries)) break;
    }
    certain_ = below;
    judge();
  }

  /// Looks for `need` more pairs with those inside locked, and for more where some of the nearest
  /// lay outside; false where it did not converge.
  bool complete(int need, int tries) {
    if (!place(shift_, Move::both, 0)) return false;
    auto const locked =
        select(pencil_, found_, indices_within(found_.values, report_.from, report_.to));
    Lanczos<Scalar, Exec> run(pencil_,
                              {.shift = shift_,
                               .wanted = need << tries,
                               .may_move = false,
                               .may_leave = false,
                               .by_ratio = by_ratio_,
                               .number = 100 + need},
                              pencil_.with_mass(locked.X));
    auto const end = run.run();
    if (end != RunEnd::converged && end != RunEnd::exhausted) {
      if (end == RunEnd::interrupted) report_.status = Status::converged;
      return false;
    }
    auto const more = take_pairs(pencil_, run, run.accepted());
    auto const news = indices_within(more.values, report_.from, report_.to);
    if (news.empty()) return true;  // others were nearer the shift: more of them next
    found_ = join(pencil_, locked, select(pencil_, more, news));
    sort_by_distance();
    return true;
  }

  /// Every interval of a pair inside lies inside, and the pairs are pairs.
  bool fits() const {
    constexpr double largest_error = 1e-9;
    for (std::size_t j = 0; j < found_.size(); ++j) {
      double const value = found_.values[j], bound = found_.bounds[j];
      bool const in = report_.from < value && value < report_.to;
      if (in != (report_.from < value - bound && value + bound < report_.to)) return false;
      if (in && !(found_.errors[j] <= largest_error)) return false;
    }
    return true;
  }

  void judge() {
    report_.found = inside(report_.from, report_.to);
    std::int64_t const lacking = report_.counted - report_.found;
    if (lacking == 0 && fits()) {
      report_.proof = Proof::proved;
      if (report_.counted > wanted_) say_tied();
      return;
    }
    if (lacking > 0 && is_tied()) {
      report_.proof = Proof::tied;
      say_tied();
      return;
    }
    if (lacking == 0 || lacking < 0) {
      report_.proof = Proof::uncountable;
      report_.trouble = "the errors of the pairs found reach beyond the places of the counts";
      return;
    }
    report_.proof = Proof::missing;
    report_.status = Status::missing_pairs;
    report_.missing = {{report_.from, report_.to, lacking}};
    report_.trouble = sentence(lacking, " of ", report_.counted,
                               " missing: ", pencil_.shown(report_.from, report_.to), " holds ",
                               report_.counted, " eigenvalues, ", report_.found, " were found");
  }

  void say_tied() {
    auto const last = std::min<std::size_t>(wanted_, found_.size()) - 1;
    double const d = distance(found_.values[last]);
    std::int64_t nearer = 0;
    for (double const value : found_.values)
      if (distance(value) < d && !same_distance(distance(value), d)) ++nearer;
    report_.notes.push_back(sentence(wanted_ - nearer, " of ", report_.counted - nearer,
                                     " that lie equally near ", in_full(pencil_.shown(sigma_)),
                                     ": all of ", pencil_.shown(report_.from, report_.to),
                                     " are an interval."));
  }

  /// Whether nothing nearer than the last pair is missing, by counts next to its distance.
  bool is_tied() {
    auto const last = std::min<std::size_t>(wanted_, found_.size()) - 1;
    double const d = distance(found_.values[last]);
    double const length = std::max({d * unit(), std::abs(sigma_), std::abs(shift_ - sigma_)});
    bool const accurate =
        slack_ * unit() <= std::max(1e-8 * length, 1e-12 * pencil_.factors().scaled_size());
    if (!accurate || !fits()) return false;
    double const r = d * (1 - 1e-7) - slack_;
    for (double const value : found_.values)
      if (distance(value) > r && !same_distance(distance(value), d) && report_.from < value &&
          value < report_.to)
        return false;
    if (!(r > 0)) return true;
    auto const [low, high] = reach(r);
    auto const ends = pencil_.ends(low, high);
    // moved outward they may hold some of the tied ones
    return ends.trusted() && ends.number() == inside(ends.from.shift, ends.to.shift);
  }

  /// The wanted ones, ascending.
  Pairs<Scalar, Exec> nearest() {
    auto order = sorted_order(std::min<std::size_t>(wanted_, found_.size()),
                              [&](int a, int b) { return found_.values[a] < found_.values[b]; });
    return select(pencil_, found_, order);
  }

  Pencil<Scalar, Exec>& pencil_;
  ExactReport& report_;
  double sigma_, shift_ = 0;
  bool by_ratio_;
  ShiftCount certain_;
  int wanted_, accepted_ = 0;
  bool all_ = false;  ///< no more finite eigenvalues
  double slack_ = 0;  ///< errors of the wanted pairs
  Pairs<Scalar, Exec> found_;
  std::vector<double> others_;  ///< distances of Ritz values that did not converge
};

}  // namespace blockspan::exact
