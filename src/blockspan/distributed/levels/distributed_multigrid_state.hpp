#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/distributed/halo/gathered_rows.hpp>
#include <blockspan/distributed/levels/gathered_level.hpp>
#include <blockspan/distributed/levels/step_on_ranks.hpp>
#include <blockspan/multigrid/cycle/narrow_blocks.hpp>
#include <blockspan/multigrid/cycle/v_cycle.hpp>
#include <blockspan/multigrid/hierarchy/level_reports.hpp>
#include <blockspan/operators/block_jacobi.hpp>

namespace blockspan::distributed {

template <class Scalar, class Exec>
struct DistributedMultigridState {
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Operator = DistributedOperator<Scalar, Exec>;
  using Options = MultigridOptions<Scalar, Exec>;
  using Start = HierarchyStart<Scalar, Exec>;
  static constexpr bool has_single = contains_v<single_t<Scalar>, SpmmScalars>;
  using Single = std::conditional_t<has_single, single_t<Scalar>, Scalar>;
  static constexpr auto where = "blockspan::multigrid";

  DistributedMultigridState(Exec const& exec, std::shared_ptr<Matrix const> A, Options const& asked,
                            DistributedMultigridOptions const& asked_on_ranks)
      : first(std::move(A)),
        options(asked),
        on_ranks(asked_on_ranks),
        cycle(asked.degree),
        single(asked.degree),
        narrow(first->row_space()) {
    Kokkos::Timer timer;
    check(exec);
    if (set_up(exec)) {
      form_cycle(exec);
      sum_up_levels(report, options.degree, work_of_level(report.levels.back(), options.degree));
    }
    report.seconds = timer.seconds();
  }

  std::shared_ptr<Matrix const> first;
  std::shared_ptr<Operator const> product;  ///< of `first`
  Options options;
  DistributedMultigridOptions on_ranks;

  // The setup: levels on ranks, in double precision, and those that every rank has whole.
  VCycle<Scalar, Exec, Operator> cycle;  ///< without a solver where `single` is there
  std::vector<StepOnRanks<Scalar, Exec>> steps;
  CrsMatrix<Scalar, Exec> whole;  ///< of the gathered level
  std::unique_ptr<Hierarchy<Scalar, Exec>> gathered;
  RowSpace gathered_rows;

  std::shared_ptr<GatheredLevel<Scalar, Exec>> below;
  VCycle<Single, Exec, DistributedOperator<Single, Exec>> single;  ///< in place of `cycle`
  std::shared_ptr<GatheredLevel<Single, Exec>> single_below;
  NarrowBlocks<Scalar, Single, Exec> narrow;
  double factor = 1;  ///< of the matrices of `single`
  MultigridReport report;
  bool complete = false;  ///< all levels are there, and none was refused
  bool ready = false;     ///< a setup or refresh came to its end

  Communicator const& ranks() const { return first->row_space().communicator(); }

  void check(Exec const& exec) {
    std::int64_t const n = first->local_rows(), from = first->row_space().first_row();
    auto const d = static_cast<std::int64_t>(options.coordinates.extent(1));
    ranks().together([&] {
      auto plain = options;
      plain.near_null = {}, plain.coordinates = {}, plain.block_size = 0;
      plain.validate(n);
      require(options.prolongators.empty(), where,
              "on ranks there are no hierarchies made elsewhere");
      require(options.near_null.extent(1) == 0 ||
                  options.near_null.extent(0) == static_cast<std::size_t>(n),
              where, "near_null has ", options.near_null.extent(0), " rows, this rank has ", n);
      require(options.near_null.extent(1) <= 16, where, "near_null has ",
              options.near_null.extent(1), " vectors, where 16 at most are taken");
      require(options.block_size >= 0 && options.block_size <= 16, where, "block_size is ",
              options.block_size, ", not between 0 and 16");
      if (d == 0) return;
      std::int64_t const nodes = n == 0 ? 0 : (from + n - 1) / d - from / d + 1;
      require((d == 2 || d == 3) && first->partition().global_rows() % d == 0, where,
              "coordinates has ", d, " columns, the matrix ", first->partition().global_rows(),
              " rows");
      require(options.coordinates.extent(0) == static_cast<std::size_t>(nodes), where,
              "coordinates has ", options.coordinates.extent(0), " nodes, ", nodes,
              " have rows here");
    });
    if (d > 0) options.block_size = static_cast<int>(d);
    if (options.block_size > 0) return;
    int found = 1;
    auto const block = diagonal_block(exec, *first);
    ranks().together([&] {
      if (ranks().rank() == 0) found = blockspan::find_block_size(exec, block);
    });
    ranks().broadcast(std::span(&found, 1), 0);
    options.block_size = first->partition().global_rows() % found == 0 ? found : 1;
  }

  auto diagonal_block(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A) const {
    return ranks().together([&] { return A.diagonal_block(exec); });
  }

  /// All levels; false: the matrix is of no use here.
  bool set_up(Exec const& exec) {
    auto A = first;
    Start start;
    for (int number = 0;; ++number) {
      auto& level = cycle.levels.emplace_back();
      level.rows = A->local_rows();
      std::int64_t const all = A->partition().global_rows();
      bool const gather =
          number + 1 == options.max_levels || all < on_ranks.rows_gathered * ranks().size();
      auto const block = diagonal_block(exec, *A);
      if (number == 0 || !gather)
        if (!measure(exec, level, A, block, static_cast<std::size_t>(number))) return false;
      if (number == 0) {
        start.near_null = near_null_vectors<Scalar, Exec>(
            exec, options, *level.A, nullptr, level.smoother->factors(), level.smoother->upper());
        start.nodes =
            nodes_of_rows(exec, A->row_space().first_row(), level.rows, options.block_size);
        report.near_null = static_cast<int>(start.near_null.extent(1));
      }
      auto next = gather ? nullptr : coarsen(exec, *A, block, number, start);
      if (!next) return finish(exec, *A, number, start);
      A = next;
    }
  }

  /// The operator of a level and its smoother, or the latter anew.
  template <class Level>
  bool measure(Exec const& exec, Level& level, std::shared_ptr<Matrix const> const& A,
               CrsMatrix<Scalar, Exec> const& block, std::size_t number) {
    if (!level.A || &level.A->matrix() != A.get()) {
      level.smoother = nullptr;
      level.A =
          std::make_shared<Operator const>(exec, A, SpmmPlanOptions{.columns = options.columns});
    }
    if (number == 0) product = level.A;
    auto const factors = ranks().together([&] { return jacobi(exec, block).factors(); });
    auto const spectrum = chebyshev_setup<Scalar, Exec>(exec, *level.A, factors,
                                                        ChebyshevOptions{.seed = options.seed});
    bool const zero = is_zero(spectrum);
    double const upper = zero ? 1 : spectrum.upper;
    if (report.levels.size() == number) report.levels.emplace_back();
    auto& told = report.levels[number];
    told.rows = A->partition().global_rows();
    told.nonzeros = A->nonzeros();
    told.upper = spectrum.upper;
    if (!spectrum.usable() && !zero) {
      if (!spectrum.estimate.finite) fail(where, spectrum.fault);
      reject_indefinite(report, number, spectrum.fault);
      return false;
    }
    if (level.smoother)
      level.smoother->refresh(factors, cycle.lower(upper), upper);
    else
      level.smoother = std::make_shared<typename Level::Smoother>(
          *level.A, factors, cycle.lower(upper), upper, options.degree);
    return true;
  }

  Options options_of(int number) const {
    auto result = options;
    result.theta = std::ldexp(options.theta, -number);
    result.near_null = {}, result.coordinates = {};
    return result;
  }

  /// The next level's matrix, its near-null vectors and nodes in `start`; null where a rank finds
  /// none.
  std::shared_ptr<Matrix const> coarsen(Exec const& exec, Matrix const& A,
                                        CrsMatrix<Scalar, Exec> const& block, int number,
                                        Start& start) {
    start.cut_rows = cut_rows(exec, A);
    StepOnRanks<Scalar, Exec> step;
    step.block = block;
    if (!step.make_local(exec, A, options_of(number), start)) return nullptr;
    step.make_coarse(exec, A);
    tell_step(step.local ? step.local->levels[0].report : MultigridLevelReport{});
    if (step.local) {
      auto const &from = step.local->levels[0], &to = step.local->levels[1];
      auto& level = cycle.levels.back();
      level.P = from.P_matrix(), level.R = from.R_matrix();
      start.near_null = to.near_null, start.nodes = to.nodes;
    }
    steps.push_back(std::move(step));
    return steps.back().coarse;
  }

  void tell_step(MultigridLevelReport const& mine) {
    auto& told = report.levels.back();
    told.theta = std::ldexp(options.theta, -static_cast<int>(report.levels.size() - 1));
    told.nodes = ranks().sum(mine.nodes);
    told.aggregates = ranks().sum(mine.aggregates);
    told.largest = ranks().largest(mine.largest);
    told.left_out = ranks().sum(mine.left_out);
    told.spent = ranks().sum(mine.spent);
    told.rounds = ranks().largest(mine.rounds);
    told.prolongator_nonzeros = ranks().sum(mine.prolongator_nonzeros);
    told.smoothed = ranks().all(mine.smoothed);
    told.seconds = ranks().largest(mine.seconds);
  }

  /// The levels from here on, whole on every rank.
  bool finish(Exec const& exec, Matrix const& A, int number, Start const& mine) {
    auto all = gather_level(exec, A, mine);
    auto below_here = options_of(number);
    below_here.max_levels = options.max_levels - number;
    below_here.columns = 1;
    gathered = ranks().together([&] {
      return std::make_unique<Hierarchy<Scalar, Exec>>(exec, all.matrix, below_here, all.start);
    });
    whole = std::move(all.matrix);
    gathered_rows = A.row_space();
    auto& level = cycle.levels.back();
    level.A = nullptr, level.smoother = nullptr;
    return tell_gathered();
  }

  /// False: they are of no use.
  bool tell_gathered() {
    auto const& told = gathered->report;
    report.levels.resize(steps.size());
    report.levels.insert(report.levels.end(), told.levels.begin(), told.levels.end());
    report.status = told.status == MultigridStatus::no_coarsening && !steps.empty()
                        ? MultigridStatus::unknown
                        : told.status;
    report.message = told.message;
    report.notes = told.notes;
    report.exact_last = told.exact_last;
    report.null_vectors = told.null_vectors;
    return complete = told.usable();
  }

  void require_pattern(Exec const& exec, Matrix const& A) const {
    ranks().together([&] {
      require(same_pattern(exec, A, *first), "blockspan::DistributedMultigrid::refresh",
              "the matrix has another pattern");
    });
  }

  /// Values of another matrix with the pattern of the first; false: only a setup can take them.
  bool refresh(Exec const& exec, std::shared_ptr<Matrix const> A, bool keep_prolongators) {
    if (!complete) return false;
    Kokkos::Timer timer;
    complete = false;
    first = A;
    product = nullptr;
    report.status = MultigridStatus::unknown;
    report.message.clear(), report.notes.clear();
    report.smallest = report.largest = 0, report.predicted_iterations = 0;
    report.phases = {};
    for (std::size_t number = 0; number < steps.size(); ++number) {
      auto& step = steps[number];
      auto const block = diagonal_block(exec, *A);
      Kokkos::deep_copy(exec, step.block.values, block.values);
      if (!measure(exec, cycle.levels[number], A, step.block, number)) return true;
      if (!step.refresh(exec, *A, keep_prolongators)) return false;
      A = step.coarse;
    }
    gather_values(exec, *A, whole);
    ranks().together([&] { gathered->refresh(exec, whole, keep_prolongators); });
    if (tell_gathered()) form_cycle(exec);
    report.seconds = timer.seconds();
    return true;
  }

  /// What a product reads, of a setup that is new or has new values.
  void form_cycle(Exec const& exec) {
    // as on one rank, an inverse alone stays as it is
    bool const alone = steps.empty() && gathered->levels.size() == 1;
    report.single = has_single && options.precision == MultigridPrecision::single && !alone;
    if constexpr (has_single)
      if (report.single) factor = factor_below_one(first->norm_bound());
    if (!report.single)
      ranks().together([&] { form_wide(exec); });
    else if constexpr (has_single)
      for (std::size_t number = 0; number < cycle.levels.size(); ++number)
        round_level(exec, number);
    exec.fence("Blockspan::multigrid: levels of the cycle");
    ready = true;
  }

  void form_wide(Exec const& exec) {
    if (below) return below->refresh(exec, *gathered, 1);
    for (std::size_t number = 0; number < steps.size(); ++number)
      plan_transfers(exec, cycle.levels[number], options.columns);
    below = std::make_shared<GatheredLevel<Scalar, Exec>>(exec, gathered_rows, *gathered,
                                                          options.degree, options.columns, 1);
    cycle.levels.back().solver = below;
  }

  /// A level of `single`, or its values anew. All of it local, but for agreeing that it worked.
  void round_level(Exec const& exec, std::size_t number) {
    auto const& from = cycle.levels[number];
    bool const made = number < single.levels.size();
    if (!made) single.levels.emplace_back().rows = from.rows;
    auto& level = single.levels[number];
    if (number == steps.size())
      return ranks().together([&] {
        if (made) return single_below->refresh(exec, *gathered, factor);
        single_below = std::make_shared<GatheredLevel<Single, Exec>>(
            exec, gathered_rows, *gathered, options.degree, options.columns, factor);
        level.solver = single_below;
      });
    using Rows = DistributedMatrix<Single, Exec>;
    auto const& wide = from.A->matrix();
    auto const weights = ranks().together(
        [&] { return rounded_weights<Single, Exec>(exec, from.smoother->factors(), 1 / factor); });
    auto const lower = static_cast<real_t<Single>>(from.smoother->lower()),
               upper = static_cast<real_t<Single>>(from.smoother->upper());
    if (made) {
      round_values(exec, from.P.values, 1, level.P.values);
      round_values(exec, from.R.values, 1, level.R.values);
      for (auto const which : {Matrix::head, Matrix::interior, Matrix::tail})
        round_values(
            exec, wide.part(which).matrix.values, factor,
            level.A->matrix().part(static_cast<typename Rows::Which>(which)).matrix.values);
      return level.smoother->refresh(weights, lower, upper);
    }
    auto const A = ranks().together([&] {
      level.P = rounded<Single>(exec, from.P, 1), level.R = rounded<Single>(exec, from.R, 1);
      plan_transfers(exec, level, options.columns);
      std::array<typename Rows::Matrix::values_type, 3> values;
      for (auto const which : {Matrix::head, Matrix::interior, Matrix::tail})
        values[which] = rounded<Single>(exec, wide.part(which).matrix, factor).values;
      return std::make_shared<Rows const>(wide, factor, values);
    });
    level.A = std::make_shared<DistributedOperator<Single, Exec> const>(
        exec, A, SpmmPlanOptions{.columns = options.columns});
    using Smoother = typename std::remove_reference_t<decltype(level)>::Smoother;
    level.smoother = std::make_shared<Smoother>(*level.A, weights, lower, upper, options.degree);
  }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const {
    if constexpr (has_single)
      if (report.single) return narrow.apply(exec, single, factor, X, Y);
    cycle.apply(exec, X, Y);
  }
};

}  // namespace blockspan::distributed
