#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <blockspan/solvers/cg/block/block_cg.hpp>
#include <blockspan/solvers/cg/columns/pseudo_block_cg.hpp>
#include <blockspan/solvers/cg/inner_cycle.hpp>
#include <blockspan/solvers/cg/null_space.hpp>
#include <blockspan/solvers/cg/solution.hpp>

namespace blockspan::krylov {

/// Blocks and methods, shared by all groups of columns.
template <class Scalar, class Exec>
struct CgTools {
  CgTools(CgProblem<Scalar, Exec>& problem, CgControl<Scalar, Exec>& control_, int most)
      : control(control_), blocks(problem.exec, problem.rows(), most), most_(most) {}

  PseudoBlockCg<Scalar, Exec>& pseudo_block(CgProblem<Scalar, Exec>& problem) {
    if (!pseudo_block_)
      pseudo_block_ = std::make_unique<PseudoBlockCg<Scalar, Exec>>(problem, blocks, most_);
    return *pseudo_block_;
  }
  BlockCg<Scalar, Exec>& block(CgProblem<Scalar, Exec>& problem) {
    if (!block_) block_ = std::make_unique<BlockCg<Scalar, Exec>>(problem, blocks, most_);
    return *block_;
  }

  CgControl<Scalar, Exec>& control;
  CgBlocks<Scalar, Exec> blocks;
  NullSpace<Scalar, Exec> null_space;  ///< as far as it is known
  int last_entry_search = -1;          ///< iterations before the last search in A's entries

 private:
  int most_;
  std::unique_ptr<PseudoBlockCg<Scalar, Exec>> pseudo_block_;
  std::unique_ptr<BlockCg<Scalar, Exec>> block_;
};

/// Z := its part in the null space of A, by solves of A Y = A Z; returns the sizes of A Z. block:
/// the method of these solves.
template <class Scalar, class Exec>
ImageSizes<real_t<Scalar>> refine_null_vectors(CgProblem<Scalar, Exec>& problem,
                                               CgControl<Scalar, Exec>& control,
                                               Block<Scalar, Exec> const& Z, bool block);

/// The frame around both methods for one group of columns: norms, residuals from A itself,
/// verdicts, cycles. Residuals, norms and goals of column j are in units of a power of two near its
/// largest entry, so that right-hand sides near 1e-200 and 1e200 cost what others do.
template <class Scalar, class Exec>
class CgGroup {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Limits = CgThresholds<Real>;
  using Options = CgOptions<Scalar, Exec>;

  CgGroup(CgProblem<Scalar, Exec>& problem, CgTools<Scalar, Exec>& tools,
          BlockRef<Scalar const> const& B, BlockRef<Scalar> const& X, int first, bool block)
      : problem_(problem),
        tools_(tools),
        control_(tools.control),
        options_(control_.options()),
        b_(column_range(B, first, X.columns)),
        solution_(problem, X, options_.use_guess),
        first_(first),
        block_(block),
        columns_(X.columns),
        norms_(X.columns, Real(1)) {
    if (options_.inner) inner_.emplace(problem, tools.blocks, control_, *options_.inner);
  }

  /// Where something throws, X is left with the best iterates so far.
  void solve() {
    control_.begin_group(first_, static_cast<int>(columns_.size()));
    ++problem_.counters.groups;
    try {
      run_cycles();
    } catch (...) {
      leave_in_the_middle();
      throw;
    }
  }

  bool block_ran() const { return block_ran_; }
  bool pseudo_block_ran() const { return pseudo_block_ran_; }
  std::string const& trouble() const { return trouble_; }
  std::string const& switched() const { return switched_; }
  /// Why columns fell back to the working precision; empty: none did.
  std::string const& fall_back() const { return fall_back_; }

 private:
  void run_cycles() {
    if (measure_right_hand_sides()) first_residuals();
    judge();
    while (!open_.empty() || resume_deferred()) {
      run_cycle();
      verify();
      if (null_space().count() > 0 && !null_space().given()) note_parts();
      if (singular_suspected_) search();
      judge();
    }
    finish();
  }

  struct Column {
    Real unit = 1;      ///< power of two near the largest entry of b
    Real goal = 0;      ///< for ||r||, in units
    Real residual = 0;  ///< the last true one, in units
    Real best = std::numeric_limits<Real>::infinity();
    Real rounding = 0;              ///< errors that the last residual counts with, in units
    Real noise = 0;                 ///< what the rounding errors of its product may be, in units
    std::optional<Status> failure;  ///< the status of the last cycle

    /// What the recurrences aim at.
    Real reachable_goal() const { return std::max(goal - rounding, goal / 2); }
  };

  CgColumn<Real>& report(int j) { return control_.report().columns[first_ + j]; }

  void close(int j, Status status) {
    report(j).status = status;
    control_.column_done();
  }

  /// Chooses the units, and closes columns that need no solve. False if none is left.
  bool measure_right_hand_sides() {
    auto const timer = problem_.time(problem_.seconds.verify);
    auto const largest =
        problem_.fold("Blockspan::cg::largest", LargestTerms<Scalar>{b_}, b_.columns);
    for (int j = 0; j < static_cast<int>(columns_.size()); ++j) {
      if (!std::isfinite(largest[j])) {
        close(j, Status::nonfinite_rhs);
        report(j).residual = report(j).backward_error = std::numeric_limits<Real>::quiet_NaN();
      } else if (largest[j] == 0) {
        solution_.set_zero(j);
        zero_.push_back(j);
        close(j, Status::zero_rhs);
      } else {
        columns_[j].unit = std::ldexp(Real(1), exponent_near(largest[j]));
        open_.push_back(j);
      }
    }
    all_ = open_;
    std::vector<Real> inverse;
    for (int const j : open_) inverse.push_back(1 / columns_[j].unit);
    solution_.scale(open_, inverse);
    in_units_ = true;
    return !open_.empty();
  }

  /// R of the open columns into the residual block, A X of them in `spare` where with_product; the
  /// norms, in units.
  std::vector<Real> true_residuals(std::vector<bool> const& with_product) {
    auto const timer = problem_.time(problem_.seconds.verify);
    int const width = static_cast<int>(open_.size());
    numbers_.assign(open_.begin(), open_.end());
    for (int const j : open_) numbers_.push_back(1 / columns_[j].unit);
    for (int c = 0; c < width; ++c) numbers_.push_back(with_product[c] ? 1 : 0);
    TrueResidualTerms<Scalar> const terms{b_, block_ref<Exec>(tools_.blocks.spare(width)),
                                          block_ref<Exec>(tools_.blocks.residual(width)),
                                          problem_.on_device(numbers_)};
    auto squares = problem_.fold("Blockspan::cg::true_residuals", terms, width);
    if (null_space().given()) squares = project_residuals();
    for (Real& value : squares) value = std::sqrt(value);
    if (std::find(with_product.begin(), with_product.end(), true) != with_product.end())
      settle_doubts(with_product, squares);
    return squares;
  }

  /// Residuals that are at their goals but for what their own rounding errors may be are computed
  /// anew in twice the precision, or where the operator cannot, count with an estimate of these.
  void settle_doubts(std::vector<bool> const& with_product, std::vector<Real>& residuals);

  NullSpace<Scalar, Exec>& null_space() { return tools_.null_space; }

  /// R without its part in the null space, whose sizes go to null_parts_; sums of squares.
  std::vector<Real> project_residuals();

  /// Measures the parts of the open residuals (in units) in the null space. A column is
  /// inconsistent if that part is above the goal, and larger than errors of the null vectors
  /// explain.
  void note_parts();

  /// A cycle met a singular A: searches its null vectors, and the columns of B with a part along
  /// them.
  void search();

  bool find_null_vectors();

  /// Whether the curvature of all columns of Z is zero, as far as twice the precision shows; where
  /// A does not know its entries, nothing speaks against it.
  bool vanishes(View const& Z);

  /// Null vectors found in the entries of A; false: no new ones. Runs again, with more work
  /// allowed, once the iterations have taken several times as much.
  bool look_at_entries();

  /// Keeps the columns of Z that A maps to zero, to rounding, and that are longer than `least`.
  bool keep_null_vectors(View const& Z, ImageSizes<Real> const& sizes,
                         std::vector<Real> const& least, bool of_residuals);

  /// Whether the leading `columns` of the residual block of a cycle have parts along null vectors
  /// that a search in the entries of A finds only now.
  bool null_parts_appeared(int columns);

  /// ||b||, and R from the start; a start worse than zero becomes zero.
  void first_residuals() {
    int const width = static_cast<int>(open_.size());
    std::vector<bool> with_product(width, false);
    auto norms = true_residuals(with_product);
    for (int c = 0; c < width; ++c) {
      int const j = open_[c];
      auto& column = columns_[j];
      norms_[j] = column.residual = norms[c];
      column.goal = control_.goal(j, norms[c], column.unit);
    }
    if (null_space().count() > 0) {
      note_parts();
      auto const fails = [&](int j) { return columns_[j].failure.has_value(); };
      if (std::any_of(open_.begin(), open_.end(), fails) && look_at_entries()) note_parts();
    }
    if (!options_.use_guess) return;
    auto const given = norms;
    with_product.assign(width, true);
    product_of_solution();
    norms = true_residuals(with_product);
    bool rejected = false;
    for (int c = 0; c < width; ++c) {
      if (norms[c] <= given[c]) continue;
      with_product[c] = false;
      rejected = true;
      solution_.set_zero(open_[c]);
      ++problem_.counters.guesses_rejected;
    }
    if (rejected) norms = true_residuals(with_product);
    for (int c = 0; c < width; ++c) columns_[open_[c]].residual = norms[c];
  }

  /// A X of the open columns.
  void product_of_solution() {
    int const width = static_cast<int>(open_.size());
    solution_.gather(open_, tools_.blocks.direction(width));
    if (null_space().shortens()) {
      null_space().project_out(problem_, tools_.blocks.direction(width));
      solution_.put_back(open_, tools_.blocks.direction(width));
    }
    problem_.apply_a(tools_.blocks.direction(width), tools_.blocks.spare(width));
  }

  void verify() {
    std::vector<bool> with_product;
    bool any = false;
    for (int const j : open_) {
      with_product.push_back(!solution_.is_zero(j));
      any = any || with_product.back();
    }
    if (any) product_of_solution();
    auto const norms = true_residuals(with_product);
    for (std::size_t c = 0; c < open_.size(); ++c) columns_[open_[c]].residual = norms[c];
  }

  /// Closes columns by their true residuals; packs R of those that stay open.
  void judge() {
    std::vector<int> still, positions;
    control_.check_limits();
    for (int c = 0; c < static_cast<int>(open_.size()); ++c) {
      int const j = open_[c];
      auto& column = columns_[j];
      Real const residual = column.residual, relative = residual / norms_[j];
      Real const before = column.best;
      bool const best = residual <= before;  // an X that did not change stays the best
      solution_.note(j, best);
      if (best) column.best = residual;
      report(j).cycle_residuals.push_back(relative);
      control_.set_residual(j, relative);
      if (auto const status = verdict(column, before)) {
        // without a clear null space A may be regular after all
        bool const unclear = *status == Status::inconsistent && null_space().blurred();
        close(j, unclear || *status == Status::singular ? why_singular(c) : *status);
      } else if (inner_ && !inner_->may_help(residual, before)) {
        deferred_.push_back(j);
      } else {
        still.push_back(j);
        positions.push_back(c);
      }
    }
    int const before = static_cast<int>(open_.size());
    open_ = still;
    if (!open_.empty()) scale_residuals(before, positions);
  }

  /// The status of a column that ended as if A were singular, which a vector must show: X, which
  /// grows along null vectors, R, which ends as one, or those that were found. Open column c.
  Status why_singular(int c);

  std::optional<Status> verdict(Column const& column, Real before) {
    if (column.residual + column.rounding <= column.goal) return Status::converged;
    if (inner_ && inner_->cycles() > 0) return control_.stopped();
    if (!std::isfinite(column.residual))
      return column.failure.value_or(Status::operator_not_finite);
    if (column.failure) return column.failure;
    bool const slow = !(column.residual <= Limits::progress * before);
    if (completed_ >= 2 && slow) return fallback_status_.value_or(Status::attainable_limit);
    if (control_.stopped()) return control_.stopped();
    if (hit_iteration_cap_) return fallback_status_;
    if (control_.cycle() - inner_cycles_ >= options_.max_cycles) return Status::max_iterations;
    return std::nullopt;
  }

  /// Reopens the columns that the inner solver could not finish, from their best iterates. False:
  /// none.
  bool resume_deferred();

  /// R of the next cycle: the open columns side by side, in [1, 2) by powers of two.
  void scale_residuals(int width, std::vector<int> const& positions) {
    auto const timer = problem_.time(problem_.seconds.verify);
    scales_.clear();
    std::vector<Real> factors;
    for (int const j : open_) {
      scales_.push_back(std::ldexp(Real(1), std::ilogb(columns_[j].residual)));
      factors.push_back(1 / scales_.back());
    }
    auto& blocks = tools_.blocks;
    int const now = static_cast<int>(open_.size());
    problem_.select_scaled(block_ref<Exec>(blocks.residual(width)), positions, factors,
                           blocks.spare(now));
    problem_.synchronize("Blockspan::cg: numbers of the host");
    blocks.swap_residual();
  }

  /// One cycle for the open columns, by the method of the group.
  void run_cycle();

  /// What the end of a cycle means for the next one.
  void after_block(CgCycle<Real> const& cycle, BlockCg<Scalar, Exec> const& method);
  void after_pseudo_block(CgCycle<Real> const& cycle, PseudoBlockCg<Scalar, Exec> const& method);

  /// On with pseudo-block. `fallback_status`: the status of columns that it cannot finish in twenty
  /// times the steps so far (it never needed more than fifteen times those of the block).
  void switch_to_pseudo_block(std::optional<Status> fallback_status, std::string const& why);

  /// The best iterates, zeros, and backward errors.
  void finish();

  /// X in its own units, after an exception; what fails here as well is not told.
  void leave_in_the_middle() noexcept;

  /// X in its own units; columns whose solution the format does not hold are
  /// Status::out_of_range. sizes: of X in the units of B.
  void leave_units(std::vector<ScaledSize> const& sizes);

  CgProblem<Scalar, Exec>& problem_;
  CgTools<Scalar, Exec>& tools_;
  CgControl<Scalar, Exec>& control_;
  Options const& options_;
  BlockRef<Scalar const> b_;
  CgSolution<Scalar, Exec> solution_;
  int first_;
  bool block_;
  std::vector<Column> columns_;
  std::vector<Real> norms_;  ///< ||b_j|| in units
  std::vector<int> all_, open_, zero_;
  bool in_units_ = false;  ///< X is in the units of B
  std::vector<Real> scales_, numbers_;
  std::optional<Status> fallback_status_;
  int switched_limit_ = 0;
  bool hit_iteration_cap_ = false;
  int completed_ = 0, conjugacy_lost_ = 0;
  bool not_hermitian_ = false;
  bool singular_suspected_ = false;    ///< the last cycle met a singular A
  int searches_ = 0;                   ///< for vectors that it maps to zero
  bool stopped_by_null_part_ = false;  ///< the last cycle ended because of parts along such vectors
  std::vector<Real> null_parts_;       ///< of the open columns along the null space, in units
  std::optional<InnerCycle<Scalar, Exec>> inner_;  ///< until columns need the working precision
  int inner_cycles_ = 0;
  std::vector<int> deferred_;  ///< open columns that wait for the working precision
  bool block_ran_ = false, pseudo_block_ran_ = false;
  std::string trouble_, switched_, fall_back_;
};

}  // namespace blockspan::krylov
