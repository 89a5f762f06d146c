#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <blockspan/solvers/exact/orthogonalize.hpp>

namespace blockspan::exact {

/// How a run ended.
enum class RunEnd {
  converged,
  exhausted,     ///< the basis spans the range of OP: all finite eigenvalues are found
  badly_placed,  ///< the shift is so near one eigenvalue that its rounding errors hide the others
  far_away,      ///< the wanted eigenvalues are much closer to each other than to the shift
  stalled,       ///< not converged within the maximum number of steps
  interrupted,   ///< the report's status says why
  not_finite,
  mass_negative
};

/// The goal of a run.
struct RunTask {
  double shift = 0;                 ///< the shift of the factors
  int wanted = 1;                   ///< pairs nearest the shift, at most
  bool may_move = true;             ///< whether the run may end as badly_placed
  bool may_leave = true;            ///< whether the run may end as far_away
  bool by_ratio = false;            ///< Cayley transform: the largest |1 + 2 sigma theta| first
  std::int64_t found = 0, all = 0;  ///< for the monitor
  int number = 0;                   ///< index of the run, part of the seed of its random columns
  /// `enough` pairs suffice if at least `below` are in (from, shift) and `above` in (shift, to).
  int enough = std::numeric_limits<int>::max();
  double from = 0, to = 0;
  std::int64_t below = 0, above = 0;
};

/// Block Lanczos on OP = (K - sigma M)^-1 M, self-adjoint in <x, y> = x^H M y, orthogonal to locked
/// pairs, with full reorthogonalization and thick restart: OP V = V T + Q R E^H, T = V^H M OP V.
/// Sources: Grimes, Lewis and Simon 1994; Wu and Simon 2000.
template <class Scalar, class Exec>
class Lanczos {
 public:
  /// locked: n x q, M-orthonormal.
  Lanczos(Pencil<Scalar, Exec>& pencil, RunTask const& task, WithMass<Scalar, Exec> const& locked)
      : pencil_(pencil), task_(task), locked_(static_cast<int>(locked.x.extent(1))) {
    auto const& options = pencil.options;
    auto const free = std::max<std::int64_t>(pencil.rows() - locked_, 1);
    block_ = static_cast<int>(std::min<std::int64_t>(options.block > 0 ? options.block : 8, free));
    std::int64_t const suits = std::max(2 * task.wanted + 10 * block_, 24);
    std::int64_t const asked =
        options.basis > 0 ? std::max(options.basis, task.wanted + 2 * block_) : suits;
    most_ = static_cast<int>(std::min(asked, free));
    v_ = pencil.new_pair("basis", locked_ + most_ + block_);
    z_ = pencil.new_pair("step", block_);
    t_ = solvers::small_matrix<Scalar>(most_ + block_, most_ + block_);
    Kokkos::deep_copy(t_, Scalar(0));
    if (locked_ == 0) return;
    Kokkos::deep_copy(pencil.exec, blocks::column_range(v_.x, 0, locked_), locked.x);
    if (pencil.generalized())
      Kokkos::deep_copy(pencil.exec, blocks::column_range(v_.mx, 0, locked_), locked.mx);
  }

  RunEnd run() {
    for (RunEnd end = fill();;) {
      if (end != RunEnd::converged) return end;
      if (width_ == 0) return columns_ > 0 ? RunEnd::not_finite : RunEnd::exhausted;
      end = step();
      if (end != RunEnd::converged) return end;
      bool const goes_on =
          pencil_.proceed({0, 0, task_.shift, accepted_, task_.wanted, task_.found, task_.all, 0});
      bool const full = columns_ + width_ > most_ || width_ == 0;
      if (goes_on && !full && !due()) continue;
      if (!ritz()) return RunEnd::not_finite;
      // before any is accepted: rounding errors of the first exceed the residuals of the others
      if (task_.may_move && (hides_others() || is_badly_placed()))
        return goes_on ? RunEnd::badly_placed : RunEnd::interrupted;
      if (suffices(accepted_)) return RunEnd::converged;
      if (width_ == 0) return RunEnd::exhausted;
      if (!goes_on) return RunEnd::interrupted;
      if (task_.may_leave && is_far_away()) return RunEnd::far_away;
      if (steps_ >= most_steps) return RunEnd::stalled;
      if (full) restart();
    }
  }

  /// Ritz values of OP, largest magnitude (or as by_ratio says) first, and the residuals of their
  /// pairs in the norm of M.
  std::vector<double> const& theta() const { return theta_; }
  std::vector<double> const& residuals() const { return residual_; }
  /// The number of leading pairs that have converged.
  int accepted() const { return accepted_; }
  /// After `exhausted`: the number of theta that are not rounding errors of the largest.
  int finite() const {
    double const most = std::accumulate(theta_.begin(), theta_.end(), 0.0, [](double a, double b) {
      return std::max(a, std::abs(b));
    });
    return static_cast<int>(std::count_if(theta_.begin(), theta_.end(), [&](double theta) {
      return std::abs(theta) > 1e-13 * most;
    }));
  }

  /// X = OP x / theta for the leading Ritz vectors x, without another solve. X: n x count.
  void vectors(Block<Scalar, Exec> const& X) {
    int const count = static_cast<int>(X.extent(1));
    auto const C = solvers::small_matrix<Scalar>(columns_ + width_, count);
    for (int c = 0; c < count; ++c) {
      for (int i = 0; i < columns_; ++i) C(i, c) = s_(i, order_[c]);
      for (int i = 0; i < width_; ++i) C(columns_ + i, c) = tail(i, order_[c]) / theta_[c];
    }
    combine(pencil_.exec, Scalar(1), blocks::column_range(v_.x, locked_, columns_ + width_), C,
            Scalar(0), X, pencil_.workspace);
  }

  /// Orthogonalizes X against the locked pairs.
  void project(Block<Scalar, Exec> const& X) {
    if (locked_ == 0) return;
    auto const H = solvers::small_matrix<Scalar>(locked_, static_cast<int>(X.extent(1)));
    gram(pencil_.exec, blocks::column_range(v_.mx, 0, locked_), X, H, pencil_.workspace);
    combine(pencil_.exec, Scalar(-1), blocks::column_range(v_.x, 0, locked_), H, Scalar(1), X,
            pencil_.workspace);
  }

  /// The distance of the next shift after badly_placed: `factor` times that of the last wanted
  /// eigenvalue; if that is hidden, farther with every move. nearer(): the shift after far_away.
  double beside(double factor, int moves, bool hidden) const {
    return hidden || hides_others() ? 1e-9 * std::pow(1e3, moves) * scale()
                                    : factor / std::abs(theta_[last_wanted()]);
  }
  double nearer() const {
    double near = 0, far = 0;
    spread(near, far);
    return task_.shift + near - (far - near) / 10;
  }

 private:
  static constexpr int most_steps = 500;  // at most 160 were observed with a good shift

  int least() const { return std::min(task_.wanted, task_.enough); }  ///< pairs that may suffice

  /// The last of the wanted values that is not a rounding error of the first.
  std::size_t last_wanted() const {
    int const there = width_ == 0 ? std::max(finite(), 1) : static_cast<int>(theta_.size());
    return static_cast<std::size_t>(std::min(least(), there)) - 1;
  }

  /// Signed distances of the nearest and farthest wanted value; false: they are on both sides.
  bool spread(double& near, double& far) const {
    auto const all = static_cast<std::size_t>(std::max(task_.wanted, block_));
    auto const last = std::min(all, theta_.size()) - 1;
    near = 1 / theta_.front(), far = 1 / theta_[last];
    for (std::size_t j = 0; j <= last; ++j)
      if (theta_[j] * theta_.front() <= 0) return false;
    return true;
  }

  /// Appends OP times random columns to the basis until the next block has block_ columns.
  RunEnd fill() {
    for (int tries = 0; tries < 3 && width_ < block_; ++tries) {
      int const first = locked_ + columns_ + width_;
      int const count = std::min(block_ - width_, static_cast<int>(v_.x.extent(1)) - first);
      if (count <= 0) break;
      auto const Z = blocks::column_range(z_.x, 0, count);
      auto const W = blocks::column_range(z_.mx, 0, count);
      fill_random(pencil_.exec, Z, pencil_.options.seed + 7919 * task_.number, random_,
                  pencil_.row_space().first_row());
      random_ += count;
      pencil_.mass(Z, W);
      auto const Y = pencil_.new_block("random", count);
      pencil_.solve(W, Y);
      Kokkos::deep_copy(pencil_.exec, Z, Y);
      // unit columns: the rank decision is relative to them
      auto const norms = Kokkos::View<double*, Kokkos::HostSpace>("norms", count);
      column_norms(pencil_.exec, Z, norms, pencil_.workspace);
      for (int j = 0; j < count; ++j) norms(j) = norms(j) > 0 ? 1 / norms(j) : 0;
      scale_columns(pencil_.exec, norms, Z);
      auto const found = extend(pencil_, v_, first, {Z, W}, 0);
      if (!found.finite) return RunEnd::not_finite;
      if (found.negative) return RunEnd::mass_negative;
      if (found.rank == 0) break;
      width_ += found.rank;
    }
    return RunEnd::converged;
  }

  /// One Lanczos step: applies OP to the last block.
  RunEnd step() {
    int const first = locked_ + columns_;
    auto const Z = blocks::column_range(z_.x, 0, width_);
    auto const W = blocks::column_range(z_.mx, 0, width_);
    pencil_.solve(blocks::column_range(v_.mx, first, width_), Z);
    // OP is self-adjoint: of the preceding blocks only the last is coupled to this one
    auto const found = extend(pencil_, v_, first + width_, {Z, W}, first - before_);
    ++pencil_.report.steps;
    if (!found.finite) return RunEnd::not_finite;
    if (found.negative) return RunEnd::mass_negative;
    for (int j = 0; j < width_; ++j)
      for (int i = 0; i < columns_ + width_; ++i) {
        Scalar const value = found.H(locked_ + i, j);
        bool const inner = i >= columns_;
        t_(i, columns_ + j) = value;
        if (!inner) t_(columns_ + j, i) = conjugate(value);
      }
    for (int j = 0; j < width_; ++j)
      for (int i = 0; i <= j; ++i) {
        int const a = columns_ + i, b = columns_ + j;
        Scalar const mean = (t_(a, b) + conjugate(t_(b, a))) / 2.0;
        t_(a, b) = mean, t_(b, a) = conjugate(mean);
      }
    r_ = found.R, before_ = width_;
    columns_ += width_;
    width_ = found.rank;
    added_ += before_;
    ++steps_;
    return width_ < block_ ? fill() : RunEnd::converged;
  }

  bool due() const {
    return (columns_ >= 3 * least() / 2 + block_ && added_ >= wait_) ||
           (steps_ == 6 && columns_ > task_.wanted);
  }

  /// Schedules the next check for when the wanted pairs will have converged, by extrapolating the
  /// decrease of their residuals since the last check; it accelerates.
  void plan_check() {
    int count = least();
    while (count < columns_ && !suffices(count)) ++count;
    double worst = 1;
    for (int j = 0; j < std::min(count, columns_); ++j)
      worst = std::max(worst, residual_[j] / (pencil_.options.tolerance * std::abs(theta_[j])));
    double const excess = std::log(worst), rate = (excess_ - excess) / added_;
    double const left = rate > 0 ? 0.8 * excess / rate : columns_;
    double const most = std::max(16, columns_ / 5);
    wait_ = static_cast<int>(std::clamp(left, columns_ / 32.0, most));
    excess_ = excess;
  }

  /// (R S(last block, :))(i, column): the coupling of a Ritz vector to the next block.
  Scalar tail(int i, int column) const {
    if (i >= static_cast<int>(r_.extent(0))) return Scalar(0);  // a random column
    Scalar sum(0);
    for (int l = 0; l < before_; ++l) sum += r_(i, l) * s_(columns_ - before_ + l, column);
    return sum;
  }

  /// The Ritz pairs of T.
  bool ritz() {
    solvers::PhaseTimer<Exec> const timer(nullptr, pencil_.report.seconds.dense);
    s_ = solvers::small_matrix<Scalar>(columns_, columns_);
    solvers::copy_small(solvers::part(t_, 0, columns_, 0, columns_), s_);
    std::vector<double> values;
    if (lapack::hermitian_eigen(s_, values) != 0) return false;
    order_.resize(columns_);
    std::iota(order_.begin(), order_.end(), 0);
    double const centre = task_.by_ratio ? -0.5 / task_.shift : 0;
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return std::abs(values[a] - centre) > std::abs(values[b] - centre);
    });
    theta_.clear(), residual_.clear();
    int const rows = static_cast<int>(r_.extent(0));
    for (int const column : order_) {
      double sum = 0;
      for (int i = 0; i < rows; ++i) sum += squared_magnitude(tail(i, column));
      theta_.push_back(values[column]);
      residual_.push_back(std::sqrt(sum));
    }
    accepted_ = 0;
    while (accepted_ < columns_ && is_within(accepted_, 1)) ++accepted_;
    plan_check();
    added_ = 0;
    return true;
  }

  /// Whether the leading `count` pairs reach the goal of the run.
  bool suffices(int count) const {
    if (count >= task_.wanted) return true;
    if (count < task_.enough) return false;
    std::int64_t below = 0, above = 0;
    for (int j = 0; j < count; ++j) {
      double const value = task_.shift + 1 / theta_[j];
      if (task_.from < value && value < task_.shift) ++below;
      if (task_.shift < value && value < task_.to) ++above;
    }
    return below >= task_.below && above >= task_.above;
  }

  bool is_within(int j, double factor) const {
    return theta_[j] != 0 &&
           residual_[j] <= factor * pencil_.options.tolerance * std::abs(theta_[j]);
  }

  bool is_badly_placed() const {
    return std::abs(theta_.front()) > 1e6 * std::abs(theta_[last_wanted()]);
  }

  double scale() const { return std::max(std::abs(task_.shift), pencil_.factors().scaled_size()); }
  /// Whether the basis ended with fewer pairs than wanted because the components of the others are
  /// below the rounding errors of the first. With massless rows the others may be infinite instead,
  /// unless the shift is an eigenvalue up to rounding.
  bool hides_others() const {
    auto const free = std::min<std::int64_t>(least(), pencil_.rows() - locked_);
    if (width_ > 0 || finite() >= free) return false;
    return !pencil_.factors().massless_rows() || std::abs(theta_.front()) * 1e-10 * scale() > 1;
  }

  bool is_far_away() const {
    double near = 0, far = 0;
    return steps_ == 6 && columns_ > task_.wanted && spread(near, far) &&
           std::abs(far - near) < 0.3 * std::abs(near);
  }

  /// Keeps the Ritz vectors of the largest theta and the last block.
  void restart() {
    int const converged = static_cast<int>(std::count_if(
        order_.begin(), order_.end(), [&, j = 0](int) mutable { return is_within(j++, 1); }));
    int keep = std::max(task_.wanted + block_, most_ / 2) + converged / 4;
    keep = std::max(1, std::min({keep, most_ - 2 * block_, columns_ - 1}));
    auto const C = solvers::small_matrix<Scalar>(columns_, keep);
    for (int c = 0; c < keep; ++c)
      for (int i = 0; i < columns_; ++i) C(i, c) = s_(i, order_[c]);
    auto const& exec = pencil_.exec;
    solvers::PhaseTimer const timer(&exec, pencil_.report.seconds.orthogonalization);
    auto const shrink = [&](Block<Scalar, Exec> const& V) {
      combine_in_place(exec, blocks::column_range(V, locked_, columns_), C, pencil_.workspace);
      auto const last = pencil_.new_block("last", width_);  // the two ranges may overlap
      Kokkos::deep_copy(exec, last, blocks::column_range(V, locked_ + columns_, width_));
      Kokkos::deep_copy(exec, blocks::column_range(V, locked_ + keep, width_), last);
    };
    shrink(v_.x);
    if (pencil_.generalized()) shrink(v_.mx);
    Kokkos::deep_copy(t_, Scalar(0));
    for (int c = 0; c < keep; ++c) t_(c, c) = theta_[c];
    columns_ = keep;
    before_ = keep;  // the next block is coupled to all of them
  }

  Pencil<Scalar, Exec>& pencil_;
  RunTask task_;
  int locked_, block_ = 1, most_ = 1;
  int columns_ = 0;  ///< of the basis, to which OP was applied; the next block follows them
  int width_ = 0;    ///< its columns
  int before_ = 0;   ///< preceding columns coupled to it: a block, or all after a restart
  int steps_ = 0, accepted_ = 0;
  int added_ = 0;      ///< columns since the last check of convergence
  int wait_ = 16;      ///< columns until the next check
  double excess_ = 0;  ///< log of the largest residual over its bound at the last check
  std::int64_t random_ = 0;
  WithMass<Scalar, Exec> v_, z_;
  SmallMatrix<Scalar> t_, r_, s_;
  std::vector<int> order_;
  std::vector<double> theta_, residual_;
};

}  // namespace blockspan::exact
