#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/distributed/halo/gathered_rows.hpp>
#include <blockspan/distributed/levels/coarse_rows.hpp>
#include <blockspan/distributed/levels/gathered_level.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>

// The policy of a Hierarchy whose rows are distributed over ranks. On one rank: OneRank.

namespace blockspan::distributed {

template <class Exec, class View>
bool same_integers(Exec const& exec, View const& a, View const& b) {
  auto const count = static_cast<std::int64_t>(a.extent(0));
  return a.extent(0) == b.extent(0) && count_each(
                                           exec, "Blockspan::multigrid_same_pattern", count,
                                           KOKKOS_LAMBDA(std::int64_t k, std::int64_t & sum) {
                                             sum += a(k) == b(k) ? 0 : 1;
                                           }) == 0;
}

/// Whether this rank's rows have the same columns in A and B, in the same order. Fences.
template <class Scalar, class Exec>
bool same_pattern(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                  DistributedMatrix<Scalar, Exec> const& B) {
  if (A.partition().cuts() != B.partition().cuts() || A.halo().rows != B.halo().rows ||
      !same_integers(exec, A.packed_from(), B.packed_from()))
    return false;
  using Matrix = DistributedMatrix<Scalar, Exec>;
  for (auto const which : {Matrix::lower_boundary, Matrix::interior, Matrix::upper_boundary}) {
    auto const &a = A.part(which), &b = B.part(which);
    if (a.first != b.first ||
        !same_integers(exec, a.matrix.graph.row_map, b.matrix.graph.row_map) ||
        !same_integers(exec, a.matrix.graph.entries, b.matrix.graph.entries))
      return false;
  }
  return true;
}

/// A distributed level: `A`, P and R are those of this rank without the columns of other ranks; the
/// operator is that of all ranks.
template <class Scalar, class Exec>
struct LevelOnRanks : HierarchyLevel<Scalar, Exec, DistributedOperator<Scalar, Exec>> {
  using Matrix = DistributedMatrix<Scalar, Exec>;

  std::shared_ptr<Matrix const> matrix;
  std::shared_ptr<Matrix> coarse;                           ///< matrix of the next level
  std::shared_ptr<MatrixOperator<Scalar, Exec> const> own;  ///< operator of A
};

/// The policy of a Hierarchy whose rows are distributed over ranks. Each rank coarsens its own
/// rows; coarse matrices include the entries across ranks. The first level with few rows is
/// gathered: every rank has all of it, as level 0 of a hierarchy of its own. All ranks call
/// together.
template <class Scalar, class Exec>
class ManyRanks {
 public:
  using Rows = DistributedMatrix<Scalar, Exec>;
  using Matrix = std::shared_ptr<Rows const>;
  template <class Value>
  using Operator = DistributedOperator<Value, Exec>;
  template <class Value>
  using Solver = GatheredLevel<Value, Exec>;
  using Level = LevelOnRanks<Scalar, Exec>;
  using Levels = Hierarchy<Scalar, Exec, ManyRanks>;
  using Setup = SetupRun<Scalar, Exec>;

  /// rows_gathered: a level with fewer rows per rank is gathered.
  explicit ManyRanks(std::int64_t rows_gathered) : rows_gathered_(rows_gathered) {}

  static std::int64_t local_entries(Matrix const& A) { return A->local_nonzeros(); }
  static std::int64_t local_rows(Matrix const& A) { return A->local_rows(); }

  ManyRanks fresh() const { return ManyRanks(rows_gathered_); }
  void require_pattern(Exec const& exec, Levels const& all, Matrix const& A) const {
    ranks_of(*A).run_agreed([&] {
      require(same_pattern(exec, *A, *all.levels[0].matrix),
              "blockspan::DistributedMultigrid::refresh", "the matrix has another pattern");
    });
  }

  void take(Exec const& exec, Setup& setup, Levels& all, Matrix const& A) {
    auto& first = all.levels[0];
    first.matrix = A;
    ranks_of(*A).run_agreed([&] {
      auto const block = A->diagonal_block(exec);
      if (first.op)  // its plan is kept
        Kokkos::deep_copy(exec, block_.values, block.values);
      else
        block_ = block;
      first.A = ordered_.of(exec, setup.arena, block_);
    });
    if (first.op && &first.op->matrix() == A.get()) return;
    ++all.generation;
    make_operator(exec, all, 0);
  }

  void make_operator(Exec const& exec, Levels& all, std::size_t number) const {
    auto& level = all.levels[number];
    if (number > 0) level.matrix = all.levels[number - 1].coarse;
    if (is_solved(all, number)) return;
    level.op = std::make_shared<Operator<Scalar> const>(
        exec, level.matrix, SpmmPlanOptions{.columns = all.options.columns});
  }

  void count(Level& level) const {
    level.report.rows = level.matrix->partition().global_rows();
    level.report.nonzeros = level.matrix->nonzeros();
  }

  ChebyshevSetup<Scalar, Exec> spectrum(Exec const& exec, Setup& setup, Level const& level) const {
    auto const factors = jacobi(exec, level.A, ranks_of(*level.matrix)).factors();
    return bounded_by_rows(level_spectrum(exec, setup, *level.op, factors),
                           level.matrix->measure_rows(exec, factors.data()));
  }

  bool is_last(Levels const& all, std::size_t number) const {
    auto const& matrix = *all.levels[number].matrix;
    return static_cast<int>(number) + 1 == all.options.max_levels ||
           matrix.partition().global_rows() < rows_gathered_ * ranks_of(matrix).size();
  }
  bool is_solved(Levels const& all, std::size_t number) const {
    bool const is_gathered = gathered_ && number + 1 == all.levels.size();
    return number > 0 && (is_gathered || is_last(all, number));
  }

  /// False if a rank finds no coarse rows.
  bool coarsen(Exec const& exec, Setup& setup, Levels& all) const {
    std::size_t const number = all.levels.size() - 1;
    auto& level = all.levels[number];
    auto const& A = *level.matrix;
    auto const& ranks = ranks_of(A);
    if (!ranks.all(ranks.run_agreed([&] { return coarsen_own(exec, setup, level, number); })))
      return false;
    std::vector<std::int64_t> cuts = {0};
    for (std::int64_t const rows : ranks.gather(std::int64_t{level.coarse_matrix().numRows()}))
      cuts.push_back(cuts.back() + rows);
    RowPartition partition(std::move(cuts));
    auto const across = entries_across(level, partition.first(ranks.rank()));
    level.coarse =
        std::make_shared<Rows>(exec, ranks, std::move(partition), level.coarse_matrix(), across);
    return true;
  }

  /// The values of the next level; false if the rows of a rank are unusable by themselves.
  bool refresh(Exec const& exec, Setup& setup, Levels& all, std::size_t number) const {
    auto& level = all.levels[number];
    auto const& ranks = ranks_of(*level.matrix);
    bool const usable = ranks.all(ranks.run_agreed([&] {
      if (level.A.numRows() == 0) return true;
      auto const spectrum = own_spectrum(exec, setup, level);
      if (!spectrum) return false;
      level.refresh(exec, setup, *spectrum);
      return true;
    }));
    if (!usable) return false;
    level.coarse->refresh(exec, level.coarse_matrix(),
                          entries_across(level, level.coarse->row_space().first_row()));
    return true;
  }

  /// Builds or updates the hierarchy of the last level and below, on every rank.
  void solve_last(Exec const& exec, Setup& setup, Levels& all) {
    std::size_t const number = all.levels.size() - 1;
    auto& level = all.levels[number];
    auto const& ranks = ranks_of(*level.matrix);
    if (gathered_) {
      gather_values(exec, *level.matrix, whole_);
      ranks.run_agreed([&] { gathered_->refresh(exec, whole_, setup.keep_prolongators); });
      return setup.charge(gathered_->report.phases);
    }
    auto const rows = gather_level(exec, *level.matrix, {level.near_null, level.nodes});
    auto options = all.options;
    options.theta = std::ldexp(options.theta, -static_cast<int>(number));
    options.max_levels -= static_cast<int>(number);
    options.columns = 1;
    options.near_null = {}, options.coordinates = {};
    whole_ = rows.matrix;
    gathered_ = ranks.run_agreed([&] {
      return std::make_unique<WholeHierarchy<Scalar, Exec>>(exec, whole_, options,
                                                            OneRank<Scalar, Exec>(), &rows.start);
    });
    if (number > 0) level.op = nullptr;
    setup.charge(gathered_->report.phases);
  }

  void report_last(Levels& all) const {
    auto& report = all.report;
    auto const& below = gathered_->report;
    report.levels.insert(report.levels.end(), below.levels.begin(), below.levels.end());
    bool const below_others = all.levels.size() > 1;
    report.status = below_others && below.status == MultigridStatus::no_coarsening
                        ? MultigridStatus::unknown
                        : below.status;
    report.message = below.message;
    report.notes.insert(report.notes.end(), below.notes.begin(), below.notes.end());
    report.exact_last = below.exact_last;
    report.null_vectors = below.null_vectors;
  }
  double work_of_last(Levels const& /*all*/) const {
    return gathered_->ranks().work_of_last(*gathered_);
  }

  // For cycles; see OneRank.
  double norm(Exec const& /*exec*/, Level const& level) const { return level.matrix->norm_bound(); }
  template <class Value>
  auto rounded(Exec const& exec, Arena<Exec>& arena, Level const& level, double factor,
               int columns) const {
    using Rounded = DistributedMatrix<Value, Exec>;
    auto const matrix = ranks_of(*level.matrix).run_agreed([&] {
      std::array<typename Rounded::Matrix::values_type, 3> values;
      for (auto const which : {Rows::lower_boundary, Rows::interior, Rows::upper_boundary})
        values[which] =
            blockspan::levels::rounded<Value>(exec, arena, level.matrix->part(which).matrix, factor)
                .values;
      return std::make_shared<Rounded const>(*level.matrix, factor, values);
    });
    return std::make_shared<Operator<Value> const>(exec, matrix,
                                                   SpmmPlanOptions{.columns = columns});
  }
  template <class Value>
  void round(Exec const& exec, Level const& level, double factor,
             DistributedOperator<Value, Exec> const& to) const {
    using RowPart = typename DistributedMatrix<Value, Exec>::RowPart;
    for (auto const which : {Rows::lower_boundary, Rows::interior, Rows::upper_boundary})
      round_values(exec, level.matrix->part(which).matrix.values, factor,
                   to.matrix().part(static_cast<RowPart>(which)).matrix.values);
  }
  template <class Value>
  auto solver(Exec const& exec, Arena<Exec>& arena, Levels const& all, int degree, int columns,
              double factor) const {
    return std::make_shared<Solver<Value>>(exec, arena, all.levels.back().matrix->row_space(),
                                           *gathered_, degree, columns, factor);
  }
  template <class Value>
  void refresh_solver(Exec const& exec, Levels const& /*all*/, double factor,
                      GatheredLevel<Value, Exec>& to) const {
    to.refresh(exec, *gathered_, factor);
  }

 private:
  static Communicator const& ranks_of(Rows const& A) { return A.row_space().communicator(); }

  /// The spectrum of W A for this rank's own entries; none if it is unusable.
  static std::optional<ChebyshevSetup<Scalar, Exec>> own_spectrum(Exec const& exec, Setup& setup,
                                                                  Level const& level) {
    auto spectrum = level_spectrum(exec, setup, *level.own, level.A);
    if (!spectrum.usable() && !is_zero(spectrum)) return std::nullopt;
    return spectrum;
  }

  /// Coarsens the rows of this rank; false if there are no coarse rows.
  static bool coarsen_own(Exec const& exec, Setup& setup, Level& level, std::size_t number) {
    if (level.A.numRows() == 0) {
      level.T.near_null = level.near_null;
      level.T.nodes = level.nodes;
      return true;
    }
    level.cut_rows = level.matrix->cut_rows(exec);
    level.own = std::make_shared<MatrixOperator<Scalar, Exec> const>(
        exec, level.A, SpmmPlanOptions{.columns = setup.options.columns});
    auto const spectrum = own_spectrum(exec, setup, level);
    return spectrum && level.coarsen(exec, setup, *spectrum, number);
  }

  /// The contributions of entries across ranks to the next level's rows; `first`: global index of
  /// the first local one.
  static LocalRows<Scalar> entries_across(Level const& level, std::int64_t first) {
    auto const& A = *level.matrix;
    auto const& ranks = ranks_of(A);
    LocalRows<Scalar> P;
    if (level.A.numRows() > 0) P = host_rows(level.P_matrix(), rows_at_cuts(A), first);
    auto const halo_P = rows_of_halo(ranks, A.halo(), P);
    return ranks.run_agreed([&] {
      return coarse_entries_across(A, P, halo_P, first, level.coarse_matrix().numRows());
    });
  }

  std::int64_t rows_gathered_;
  CrsMatrix<Scalar, Exec> block_;  ///< diagonal block of level 0
  OrderedMatrix<Scalar, Exec> ordered_;
  CrsMatrix<Scalar, Exec> whole_;  ///< matrix of the gathered level
  std::unique_ptr<WholeHierarchy<Scalar, Exec>> gathered_;
};

}  // namespace blockspan::distributed
