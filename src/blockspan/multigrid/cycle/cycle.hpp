#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <blockspan/multigrid/cycle/v_cycle.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>
#include <blockspan/multigrid/hierarchy/rounded.hpp>

namespace blockspan::levels {

/// The V cycle over the levels of a Hierarchy, in their precision or rounded to a lower one. The
/// last level is solved as the hierarchy specifies, or smoothed. Called by all ranks.
template <class Value, class Exec, class Levels>
class Cycle {
 public:
  using Real = real_t<Value>;

  /// The matrices are `factor` times those of the hierarchy: the result must be multiplied by
  /// `factor`.
  Cycle(Exec const& exec, Arena<Exec>& arena, Levels const& from, int degree, int columns,
        double factor)
      : degree_(degree), columns_(columns), cycle_(degree) {
    cycle_.levels.resize(from.levels.size());
    for (std::size_t l = 0; l < cycle_.levels.size(); ++l) make(exec, arena, from, l, factor);
  }

  /// Updates the values from the same hierarchy.
  void refresh(Exec const& exec, Levels const& from, double factor) {
    cycle_.forget_slices();
    for (std::size_t l = 0; l < cycle_.levels.size(); ++l) {
      auto& level = cycle_.levels[l];
      bool const last = l + 1 == cycle_.levels.size();
      from.communicator().run_agreed([&] {
        if (last && solver_) return from.ranks().refresh_solver(exec, from, factor, *solver_);
        if constexpr (!is_same) {
          from.ranks().round(exec, from.levels[l], factor, *level.A);
          if (!last) round_values(exec, from.levels[l].P, 1, level.P.values);
          if (!last) round_values(exec, from.levels[l].R, 1, level.R.values);
        }
        auto const [lower, upper] = interval(from.levels[l], last);
        level.smoother->refresh(weights(exec, from.levels[l], factor), lower, upper);
      });
    }
    exec.fence("Blockspan::multigrid_refresh");
  }

  /// Level 0 of the hierarchy is another matrix now, whose values are used without a copy.
  void replace_first(Exec const& exec, Arena<Exec>& arena, Levels const& from) {
    cycle_.forget_slices();
    make(exec, arena, from, 0, 1);
  }

  /// Y = M^-1 X; rows contiguous. Allocates if X is wider than before.
  void apply(Exec const& exec, ConstBlock<Value, Exec> const& X,
             Block<Value, Exec> const& Y) const {
    cycle_.apply(exec, X, Y);
  }

 private:
  using Ranks = std::remove_cvref_t<decltype(std::declval<Levels const&>().ranks())>;
  using Steps = VCycle<Value, Exec, typename Ranks::template Operator<Value>>;
  using Smoother = typename Steps::Level::Smoother;
  static constexpr bool is_same = std::is_same_v<Value, typename Levels::Wide>;

  void make(Exec const& exec, Arena<Exec>& arena, Levels const& from, std::size_t l,
            double factor) {
    auto& level = cycle_.levels[l];
    auto const& wide = from.levels[l];
    auto const ranks = from.communicator();
    bool const last = l + 1 == cycle_.levels.size();
    level.rows = wide.A.numRows();
    if (last)
      level.solver = solver_ = ranks.run_agreed([&] {
        return from.ranks().template solver<Value>(exec, arena, from, degree_, columns_, factor);
      });
    if (level.solver) return;
    if constexpr (is_same)
      level.A = wide.op;
    else
      level.A = from.ranks().template rounded<Value>(exec, arena, wide, factor, columns_);
    ranks.run_agreed([&] {
      auto const [lower, upper] = interval(wide, last);
      level.smoother = std::make_shared<Smoother>(*level.A, weights(exec, wide, factor), lower,
                                                  upper, last ? 8 : degree_);
      if (last) return void(level.solver = level.smoother);
      level.P = blockspan::levels::rounded<Value>(exec, arena, wide.P_matrix(), 1);
      level.R = blockspan::levels::rounded<Value>(exec, arena, wide.R_matrix(), 1);
      plan_transfers(exec, level, columns_);
    });
  }

  /// W for the matrix factor A.
  static auto weights(Exec const& exec, typename Levels::Level const& from, double factor) {
    return rounded_weights<Value, Exec>(exec, from.spectrum.factors, 1 / factor);
  }

  /// The smoothing interval of a level, or of the Chebyshev steps that replace the solution on the
  /// last one.
  std::pair<Real, Real> interval(typename Levels::Level const& from, bool last) const {
    Real const upper = from.spectrum.upper > 0 ? static_cast<Real>(from.spectrum.upper) : Real(1);
    return {last ? upper / Real(100) : cycle_.lower(upper), upper};
  }

  int degree_, columns_;
  Steps cycle_;
  std::shared_ptr<typename Ranks::template Solver<Value>> solver_;  ///< null: smoothed instead
};

}  // namespace blockspan::levels
