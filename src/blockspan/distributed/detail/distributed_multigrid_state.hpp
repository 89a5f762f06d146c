#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/distributed/detail/coarse_rows.hpp>
#include <blockspan/distributed/detail/gathered_level.hpp>
#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/multigrid/detail/narrow_blocks.hpp>
#include <blockspan/multigrid/detail/v_cycle.hpp>
#include <blockspan/operators/block_jacobi.hpp>

namespace blockspan::detail {

/// The unknowns of nodes, of which the first one may have begun on the rank before.
template <class Exec>
NodePartition<Exec> nodes_of_rows(Exec const& exec, std::int64_t first, std::int64_t rows,
                                  int size) {
  NodePartition<Exec> nodes;
  std::int64_t const before = first % size;
  nodes.count = rows == 0 ? 0 : static_cast<int>((before + rows + size - 1) / size);
  nodes.of_row = new_array<int>(exec, rows);
  nodes.begin = new_array<int>(exec, nodes.count + 1);
  nodes.largest = size;
  auto const of_row = nodes.of_row, begin = nodes.begin;
  int const count = nodes.count;
  each(
      exec, "Blockspan::multigrid_nodes", rows,
      KOKKOS_LAMBDA(std::int64_t i) { of_row(i) = static_cast<int>((before + i) / size); });
  each(
      exec, "Blockspan::multigrid_nodes", count + 1, KOKKOS_LAMBDA(std::int64_t i) {
        begin(i) = static_cast<int>(i == 0 ? 0 : i == count ? rows : i * size - before);
      });
  return nodes;
}

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
                            DistributedMultigridOptions const& on_ranks)
      : first(std::move(A)),
        options(asked),
        cycle(asked.degree),
        single(asked.degree),
        narrow(first->row_space()) {
    Kokkos::Timer timer;
    check(exec);
    if (set_up(exec, on_ranks.rows_gathered)) {
      tell_work();
      levels_on_ranks = static_cast<int>(cycle.levels.size()) - 1;
      // as on one rank, an inverse alone stays as it is
      bool const alone = levels_on_ranks == 0 && gathered->levels.size() == 1;
      if constexpr (has_single)
        if (options.precision == MultigridPrecision::single && !alone) round_cycle(exec);
    }
    report.seconds = timer.seconds();
  }

  std::shared_ptr<Matrix const> first;
  std::shared_ptr<Operator const> product;  ///< of `first`
  Options options;
  std::unique_ptr<Hierarchy<Scalar, Exec>> gathered;
  VCycle<Scalar, Exec, Operator> cycle;
  VCycle<Single, Exec, DistributedOperator<Single, Exec>> single;  ///< in place of `cycle`
  NarrowBlocks<Scalar, Single, Exec> narrow;
  double factor = 1;  ///< of the matrices of `single`
  int levels_on_ranks = 0;
  MultigridReport report;

  Communicator const& ranks() const { return first->row_space().communicator(); }

  void check(Exec const& exec) {
    std::int64_t const n = first->local_rows(), from = first->row_space().first_row();
    auto const d = static_cast<std::int64_t>(options.coordinates.extent(1));
    ranks().together([&] {
      auto plain = options;
      plain.near_null = {}, plain.coordinates = {}, plain.block_size = 0;
      plain.validate(n);
      require(options.adaptive == 0 && options.prolongators.empty(), where,
              "on ranks there are no adaptive near-null vectors and no hierarchies made elsewhere");
      require(options.near_null.extent(1) == 0 ||
                  options.near_null.extent(0) == static_cast<std::size_t>(n),
              where, "the near-null vectors have ", options.near_null.extent(0),
              " rows, this rank has ", n);
      require(options.block_size >= 0 && options.block_size <= 16, where,
              "the option block_size is ", options.block_size, ", not between 0 and 16");
      if (d == 0) return;
      std::int64_t const nodes = n == 0 ? 0 : (from + n - 1) / d - from / d + 1;
      require((d == 2 || d == 3) && first->partition().global_rows() % d == 0, where,
              "coordinates have ", d, " columns, the matrix ", first->partition().global_rows(),
              " rows");
      require(options.coordinates.extent(0) == static_cast<std::size_t>(nodes), where,
              "there are coordinates of ", options.coordinates.extent(0), " nodes, ", nodes,
              " have rows here");
    });
    if (d > 0) options.block_size = static_cast<int>(d);
    if (options.block_size > 0) return;
    int found = 1;
    auto const block = first->diagonal_block(exec);
    ranks().together([&] {
      if (ranks().rank() == 0) found = blockspan::find_block_size(exec, block);
    });
    ranks().broadcast(std::span(&found, 1), 0);
    options.block_size = first->partition().global_rows() % found == 0 ? found : 1;
  }

  /// All levels; false: the matrix is of no use here.
  bool set_up(Exec const& exec, std::int64_t rows_gathered) {
    auto A = first;
    Start start;
    for (int number = 0;; ++number) {
      auto& level = cycle.levels.emplace_back();
      level.rows = A->local_rows();
      std::int64_t const all = A->partition().global_rows();
      bool const gather = number + 1 == options.max_levels || all < rows_gathered * ranks().size();
      auto const block = A->diagonal_block(exec);
      if (number == 0 || !gather)
        if (!measure(exec, level, A, block, number)) return false;
      if (number == 0) {
        start.near_null =
            near_null_on_ranks<Scalar, Exec>(exec, options, *level.A, level.smoother->factors());
        start.nodes =
            nodes_of_rows(exec, A->row_space().first_row(), level.rows, options.block_size);
        report.near_null = static_cast<int>(start.near_null.extent(1));
      }
      auto next = gather ? nullptr : coarsen(exec, *A, block, number, start);
      if (!next) return finish(exec, *A, number, start);
      A = next;
    }
  }

  MultigridLevelReport facts(Matrix const& A, double upper) const {
    MultigridLevelReport told;
    told.rows = A.partition().global_rows();
    told.nonzeros = A.nonzeros();
    told.upper = upper;
    return told;
  }

  /// The operator of a level and its smoother.
  template <class Level>
  bool measure(Exec const& exec, Level& level, std::shared_ptr<Matrix const> const& A,
               CrsMatrix<Scalar, Exec> const& block, int number) {
    level.A =
        std::make_shared<Operator const>(exec, A, SpmmPlanOptions{.columns = options.columns});
    if (number == 0) product = level.A;
    auto const factors = ranks().together([&] { return jacobi(exec, block).factors(); });
    auto const spectrum = chebyshev_setup<Scalar, Exec>(exec, *level.A, factors,
                                                        ChebyshevOptions{.seed = options.seed});
    bool const zero = !(spectrum.upper > 0) && spectrum.estimate.finite;
    double const upper = zero ? 1 : spectrum.upper;
    report.levels.push_back(facts(*A, spectrum.upper));
    if (!spectrum.usable() && !zero) {
      if (!spectrum.estimate.finite) fail(where, spectrum.fault);
      report.status = MultigridStatus::indefinite;
      report.message = "level " + std::to_string(number) + ": " + spectrum.fault +
                       "; chebyshev and multigrid do not apply";
      return false;
    }
    level.smoother = std::make_shared<typename Level::Smoother>(
        *level.A, factors, cycle.lower(upper), upper, options.degree);
    return true;
  }

  /// Marks of the local rows that read rows of other ranks.
  Integers<Exec> cut_rows(Exec const& exec, Matrix const& A) const {
    std::vector<int> marks(static_cast<std::size_t>(A.local_rows()), 0);
    for (auto const which : {Matrix::head, Matrix::tail}) {
      auto const& part = A.part(which);
      auto const rows = host_rows(part.matrix, {{0, part.rows()}}, -A.lower_rows());
      for (std::int64_t i = 0; i < part.rows(); ++i)
        for (auto k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k)
          if (rows.columns[k] < 0 || rows.columns[k] >= A.own_rows())
            marks[static_cast<std::size_t>(part.first + i)] = 1;
    }
    return to_exec<Exec, int>(exec, "Blockspan::multigrid", std::span<int const>(marks));
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
    auto const step = ranks().together([&] {
      std::shared_ptr<Hierarchy<Scalar, Exec>> made;
      if (A.local_rows() > 0)
        made = std::make_shared<Hierarchy<Scalar, Exec>>(exec, block, options_of(number), start);
      return made;
    });
    bool const stuck = step && step->levels.size() < 2;
    if (ranks().any(stuck)) return nullptr;
    auto& level = cycle.levels.back();
    std::int64_t const coarse = step ? step->levels[1].A.numRows() : 0;
    std::vector<std::int64_t> cuts = {0};
    for (std::int64_t const rows : ranks().gather(coarse)) cuts.push_back(cuts.back() + rows);
    std::int64_t const from = cuts[static_cast<std::size_t>(ranks().rank())];
    if (step) level.P = step->levels[0].P_matrix(), level.R = step->levels[0].R_matrix();
    ranks().together([&] {
      SpmmPlanOptions const plan{.columns = options.columns};
      level.p.emplace(exec, level.P, plan);
      level.r.emplace(exec, level.R, plan);
    });
    LocalRows<Scalar> P;
    CrsMatrix<Scalar, Exec> own;
    if (step) P = host_rows(level.P, rows_at_cuts(A), from), own = step->levels[1].A;
    auto const halo_P = rows_of_halo(ranks(), A.halo(), P);
    auto const across =
        ranks().together([&] { return coarse_entries_across(A, P, halo_P, from, coarse); });
    tell_step(step ? step->levels[0].report : MultigridLevelReport{});
    if (step) start.near_null = step->levels[1].near_null, start.nodes = step->levels[1].nodes;
    return std::make_shared<Matrix const>(exec, ranks(), RowPartition(std::move(cuts)), own,
                                          across);
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

  /// Of all rows, with their near-null vectors row by row and the numbers of rows of all nodes.
  std::unique_ptr<Hierarchy<Scalar, Exec>> hierarchy_of(Exec const& exec,
                                                        LocalRows<Scalar> const& rows,
                                                        std::vector<Scalar> const& vectors,
                                                        std::vector<int> const& sizes, int largest,
                                                        int number) const {
    require(rows.offsets.back() <= std::numeric_limits<int>::max(), where,
            "the gathered level has ", rows.offsets.back(), " entries");
    auto const n = static_cast<std::int64_t>(rows.offsets.size()) - 1;
    auto const of = [&]<class To, class From>(std::vector<From> const& from, To*) {
      return to_exec<Exec, To>(exec, "Blockspan::multigrid", std::span<From const>(from));
    };
    int* const integers = nullptr;
    CrsMatrix<Scalar, Exec> const whole("Blockspan::multigrid", static_cast<int>(n),
                                        static_cast<int>(n), static_cast<int>(rows.offsets.back()),
                                        of(rows.values, static_cast<Scalar*>(nullptr)),
                                        of(rows.offsets, integers), of(rows.columns, integers));
    Start start;
    std::size_t const q = n > 0 ? vectors.size() / static_cast<std::size_t>(n) : 1;
    start.near_null = allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", n, q);
    auto const B = Kokkos::create_mirror_view(start.near_null);
    for (std::size_t k = 0; k < vectors.size(); ++k) B(k / q, k % q) = vectors[k];
    Kokkos::deep_copy(exec, start.near_null, B);
    std::vector<int> firsts = {0}, of_row;
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      firsts.push_back(firsts.back() + sizes[node]);
      of_row.insert(of_row.end(), static_cast<std::size_t>(sizes[node]), static_cast<int>(node));
    }
    start.nodes = {static_cast<int>(sizes.size()), of(of_row, integers), of(firsts, integers),
                   largest};
    exec.fence("Blockspan::multigrid: gathered level");
    auto below = options_of(number);
    below.max_levels = options.max_levels - number;
    below.columns = 1;
    return std::make_unique<Hierarchy<Scalar, Exec>>(exec, whole, below, start);
  }

  /// The levels from here on, whole on every rank.
  bool finish(Exec const& exec, Matrix const& A, int number, Start const& mine) {
    auto const rows = gather_rows(ranks(), A.global_rows(exec));
    auto const host_vectors =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mine.near_null);
    std::vector<Scalar> vectors;
    for (std::size_t i = 0; i < host_vectors.extent(0); ++i)
      for (std::size_t j = 0; j < host_vectors.extent(1); ++j)
        vectors.push_back(host_vectors(i, j));
    vectors = gather_lists(ranks(), vectors);
    auto const begin = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mine.nodes.begin);
    std::vector<int> sizes;
    for (int i = 0; i < mine.nodes.count; ++i) sizes.push_back(begin(i + 1) - begin(i));
    // a node that is cut is a node on each side
    sizes = gather_lists(ranks(), sizes);
    int const largest = ranks().largest(mine.nodes.largest);
    gathered =
        ranks().together([&] { return hierarchy_of(exec, rows, vectors, sizes, largest, number); });
    auto const& told = gathered->report;
    if (static_cast<int>(report.levels.size()) > number) report.levels.pop_back();
    report.levels.insert(report.levels.end(), told.levels.begin(), told.levels.end());
    report.status = told.status == MultigridStatus::no_coarsening && number > 0
                        ? MultigridStatus::unknown
                        : told.status;
    report.message = told.message;
    report.notes = told.notes;
    report.exact_last = told.exact_last;
    report.null_vectors = told.null_vectors;
    if (!told.usable()) return false;
    auto& level = cycle.levels.back();
    level.A = nullptr, level.smoother = nullptr;
    level.solver = std::make_shared<GatheredLevel<Scalar, Exec>>(
        exec, A.row_space(), *gathered, options.degree, options.columns, 1);
    return true;
  }

  /// The cycle in single precision, in place of the one that the setup made. All of it local, but
  /// for agreeing that it worked.
  void round_cycle(Exec const& exec) {
    factor = factor_below_one(first->norm_bound());
    SpmmPlanOptions const plan{.columns = options.columns};
    for (auto const& from : cycle.levels) {
      auto& level = single.levels.emplace_back();
      level.rows = from.rows;
      auto const A = ranks().together([&] {
        using Rows = DistributedMatrix<Single, Exec>;
        if (from.solver) {
          level.solver = std::make_shared<GatheredLevel<Single, Exec>>(
              exec, from.solver->row_space(), *gathered, options.degree, options.columns, factor);
          return std::shared_ptr<Rows const>();
        }
        level.P = rounded<Single>(exec, from.P, 1), level.R = rounded<Single>(exec, from.R, 1);
        level.p.emplace(exec, level.P, plan), level.r.emplace(exec, level.R, plan);
        auto const& wide = from.A->matrix();
        std::array<typename Rows::Matrix::values_type, 3> values;
        for (auto const which : {Matrix::head, Matrix::interior, Matrix::tail})
          values[which] = rounded<Single>(exec, wide.part(which).matrix, factor).values;
        return std::make_shared<Rows const>(wide, factor, values);
      });
      if (!A) continue;
      level.A = std::make_shared<DistributedOperator<Single, Exec> const>(exec, A, plan);
      using Smoother = typename std::remove_reference_t<decltype(level)>::Smoother;
      level.smoother = std::make_shared<Smoother>(
          *level.A, rounded_weights<Single, Exec>(exec, from.smoother->factors(), 1 / factor),
          static_cast<real_t<Single>>(from.smoother->lower()),
          static_cast<real_t<Single>>(from.smoother->upper()), options.degree);
    }
    exec.fence("Blockspan::multigrid: rounded levels");
    cycle.levels.clear();
    gathered.reset();
    report.single = true;
  }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const {
    if constexpr (has_single)
      if (report.single) return narrow.apply(exec, single, factor, X, Y);
    cycle.apply(exec, X, Y);
  }

  void tell_work() {
    double nonzeros = 0, rows = 0, work = 0;
    for (auto const& level : report.levels) {
      auto const entries = static_cast<double>(level.nonzeros);
      nonzeros += entries, rows += static_cast<double>(level.rows);
      work += 2 * options.degree * entries + 2 * static_cast<double>(level.prolongator_nonzeros);
    }
    auto const fine = std::max(1.0, static_cast<double>(first->nonzeros()));
    report.complexity = std::max(nonzeros / fine, 1.0);
    report.grid_complexity =
        rows / std::max(1.0, static_cast<double>(first->partition().global_rows()));
    report.products = work / fine;
  }
};

}  // namespace blockspan::detail
