#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/communication/row_space.hpp>
#include <blockspan/distributed/halo.hpp>
#include <blockspan/distributed/halo/pack_rows.hpp>
#include <blockspan/distributed/partition/local_rows.hpp>
#include <blockspan/distributed/reading/host_rows.hpp>
#include <blockspan/distributed/row_partition.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

/// A square sparse matrix whose rows are distributed over ranks. The longest run of rows that read
/// only local rows of X is multiplied while the halo is exchanged. The rows before and after it
/// read a packed block of the rows of X that they need, in global order, so that every row is
/// summed as on one rank.
///
/// Memory of a rank: its entries, at least 12 bytes each, and O(rows + halo + ranks). No rank holds
/// an array of global length.
template <class Scalar, class Exec>
class DistributedMatrix {
 public:
  using non_const_value_type = Scalar;  ///< as in CrsMatrix
  using Real = real_t<Scalar>;
  using Matrix = CrsMatrix<Scalar, Exec>;
  using Device = typename Matrix::device_type;
  using Indices = Kokkos::View<int*, Device>;

  /// A range of local rows that begins at `first`.
  struct Part {
    std::int64_t first = 0;
    Matrix matrix;
    std::int64_t rows() const { return matrix.numRows(); }
  };
  enum RowPart { lower_boundary, interior, upper_boundary };

  /// Called by all ranks: `rows` are those that `partition` assigns to this rank; the partition is
  /// the same on all. Fences the instance. Throws Error, on all ranks, for a column outside the
  /// matrix, for more rows or entries on a rank than 32 bits can count, and where memory is short.
  DistributedMatrix(Exec const& exec, Communicator const& ranks, RowPartition partition,
                    LocalRows<Scalar> const& rows)
      : partition_(std::move(partition)) {
    constexpr auto where = "DistributedMatrix";
    auto const split = ranks.run_agreed([&] {
      require_partition(ranks);
      require(std::is_sorted(rows.offsets.begin(), rows.offsets.end()) && !rows.offsets.empty() &&
                  rows.offsets.front() == 0,
              where, "row offsets that do not ascend from 0");
      require(rows.columns.size() == rows.values.size() &&
                  rows.offsets.back() == static_cast<std::int64_t>(rows.columns.size()),
              where, rows.columns.size(), " columns, ", rows.values.size(), " values, ",
              rows.offsets.back(), " entries by the row offsets");
      require_numbers(ranks, rows.offsets.back());
      return split_rows(partition_, ranks.rank(), rows.offsets, rows.columns);
    });
    make(exec, ranks, rows, split, nullptr);
  }

  /// The same for rows that are given in two parts: entries in local columns in memory of Exec, as
  /// a square matrix `own` with sorted rows, and entries in columns of other ranks in host memory,
  /// as `across`, which has the same rows with sorted global columns. Memory and time of the host:
  /// O(rows + entries of the rows before and after the interior). Shares the arrays of `own`.
  DistributedMatrix(Exec const& exec, Communicator const& ranks, RowPartition partition,
                    Matrix const& own, LocalRows<Scalar> const& across)
      : partition_(std::move(partition)) {
    SplitRows split;
    auto const rows = ranks.run_agreed([&] {
      require_partition(ranks);
      require_numbers(ranks, static_cast<std::int64_t>(own.nnz()) + across.offsets.back());
      std::int64_t const n = partition_.rows(ranks.rank()), first = partition_.first(ranks.rank());
      auto const [head, tail] =
          interior_rows(partition_, ranks.rank(), across.offsets, across.columns);
      auto ends = distributed::rows_at_ends(own, across, head, n - tail, first);
      split = split_rows(partition_, ranks.rank(), ends.offsets, ends.columns);
      return ends;
    });
    make(exec, ranks, rows, split, &own);
  }

  /// On one rank, which owns all rows: shares the arrays of A, whose columns may be unsorted. One
  /// pass over A, for the bounds; fences the instance. Throws Error if A is not square, or its
  /// order is not that of the partition.
  DistributedMatrix(Exec const& exec, Communicator const& ranks, RowPartition partition, Matrix A)
      : partition_(std::move(partition)), measured_(false) {
    require_partition(ranks);
    require(
        ranks.size() == 1 && A.numRows() == A.numCols() && A.numRows() == partition_.global_rows(),
        "DistributedMatrix", "a matrix of ", A.numRows(), " x ", A.numCols(), " for ",
        partition_.global_rows(), " rows on ", ranks.size(), " ranks");
    space_ = RowSpace(ranks, partition_.cuts(), support::runs_on_host_v<Exec> ? unit_of_sums() : 0);
    parts_[upper_boundary].first = A.numRows();
    parts_[interior].matrix = std::move(A);
    bounds_ = operators::row_bounds(exec, sparse::matrix_ref<Exec>(whole()));
    nonzeros_ = local_nonzeros();
  }

  /// With the pattern and the exchange of `from`; `values` of its parts must be `factor` times
  /// those of `from`, each rounded once. No message.
  template <class Wide>
  DistributedMatrix(DistributedMatrix<Wide, Exec> const& from, real_t<Wide> factor,
                    std::array<typename Matrix::values_type, 3> const& values)
      : partition_(from.partition_),
        space_(from.space_),
        halo_(from.halo_),
        lower_(from.lower_),
        own_(from.own_),
        nonzeros_(from.nonzeros_),
        packed_from_(from.packed_from_),
        sent_(from.sent_),
        measured_(from.measured_),
        annihilates_constants_(from.annihilates_constants_) {
    for (auto const which : {lower_boundary, interior, upper_boundary}) {
      auto const& part = from.parts_[which];
      parts_[which].first = part.first;
      parts_[which].matrix =
          Matrix("Blockspan::distributed::matrix", part.matrix.numRows(), part.matrix.numCols(),
                 static_cast<int>(part.matrix.nnz()), values[which], part.matrix.graph.row_map,
                 part.matrix.graph.entries);
    }
    real_t<Wide> const norm = factor * from.bounds_.norm;
    real_t<Wide> const rounding = 4 * unit_roundoff<Scalar> * norm;
    bounds_.norm = static_cast<Real>(norm + rounding);
    bounds_.lowest = static_cast<Real>(factor * from.bounds_.lowest - rounding);
    for (auto const& entry : from.diagonal_) diagonal_.push_back(static_cast<Real>(factor * entry));
  }

  /// Updates a matrix that was made of `own` and `across` with values of the same patterns, for
  /// `own` in the same arrays. Called by all ranks; fences the instance. Memory and time of the
  /// host as for the constructor. Throws Error, on all ranks, where memory is short.
  void refresh(Exec const& exec, Matrix const& own, LocalRows<Scalar> const& across) {
    Communicator const ranks = space_.communicator();
    ranks.run_agreed([&] {
      auto const ends =
          distributed::rows_at_ends(own, across, parts_[lower_boundary].rows(),
                                    parts_[upper_boundary].rows(), space_.first_row());
      Scalar const* from = ends.values.data();
      for (auto const which : {lower_boundary, upper_boundary}) {
        auto const& values = parts_[which].matrix.values;
        Kokkos::deep_copy(exec, values,
                          Kokkos::View<Scalar const*, Kokkos::HostSpace>(from, values.extent(0)));
        from += values.extent(0);
      }
      exec.fence("Blockspan::distributed: values of the host");
      take_facts(exec);
    });
    measure(ranks);
  }

  RowPartition const& partition() const { return partition_; }
  /// The row space for sums: hosts join them by units if the partition is at chunk boundaries;
  /// devices contribute one node per rank, which needs fewer messages and kernels.
  RowSpace const& row_space() const { return space_; }
  /// The same, but by units on devices too: sums then have the same bits for any number of ranks.
  /// Throws Error, on all ranks, if the partition is not at chunk boundaries.
  RowSpace row_space_by_units() const {
    bool const alone = partition_.ranks() == 1;
    std::int64_t const rows = partition_.global_rows(), chunk = blocks::chunk_rows<Exec>(rows);
    std::int64_t const unit = alone ? unit_of_cuts(rows, chunk, 1) : unit_of_sums();
    if (unit > 0) return {space_.communicator(), partition_.cuts(), unit};
    int r = 1;
    while (r + 1 < partition_.ranks() && partition_.first(r) % chunk == 0) ++r;
    fail("DistributedMatrix", "the same bits for any number of ranks need cuts at multiples of ",
         chunk, " rows, and a partition with that unit: rank ", r, " begins at row ",
         partition_.first(r), ", the unit is ", partition_.unit());
  }
  std::int64_t local_rows() const { return partition_.rows(space_.communicator().rank()); }
  std::int64_t local_nonzeros() const {
    std::int64_t entries = 0;
    for (auto const& part : parts_) entries += static_cast<std::int64_t>(part.matrix.nnz());
    return entries;
  }
  std::int64_t nonzeros() const { return nonzeros_; }  ///< of all ranks

  Part const& part(RowPart which) const { return parts_[which]; }
  /// The matrix, on one rank; throws Error on several.
  Matrix const& whole() const {
    require(partition_.ranks() == 1, "DistributedMatrix", "its rows are on ", partition_.ranks(),
            " ranks");
    return parts_[interior].matrix;
  }
  HaloExchange const& halo() const { return halo_; }
  /// Numbers of rows of the packed block: of lower ranks, of this rank, and of all ranks in total.
  std::int64_t lower_rows() const { return lower_; }
  std::int64_t own_rows() const { return own_; }
  std::int64_t packed_rows() const { return own_ + static_cast<std::int64_t>(halo_.rows.size()); }
  Indices const& packed_from() const { return packed_from_; }  ///< local indices of the own rows
  Indices const& sent_rows() const { return sent_; }

  Real norm_bound() const { return bounds_.norm; }
  Real eigenvalue_lower_bound() const { return bounds_.lowest; }
  /// The RowMeasures of W A over the rows of all ranks; weights: W of the local rows. Called by all
  /// ranks; fences the instance. O(nonzeros).
  operators::RowMeasures<Scalar> measure_rows(Exec const& exec, Real const* weights) const {
    auto const& ranks = space_.communicator();
    auto mine = ranks.run_agreed(
        [&] { return distributed::measure_parts<Exec, Scalar>(exec, parts(), weights); });
    if (mine.indefinite_row >= 0) mine.indefinite_row += space_.first_row();
    return ranks.fold(mine, [](auto all, auto const& some) {
      all.join(some);
      return all;
    });
  }
  /// Fences the instance, as does diagonal().
  bool annihilates_constants(Exec const& exec) const {
    if (measured_) return annihilates_constants_;
    return operators::rows_sum_to_zero(exec, sparse::matrix_ref<Exec>(whole()));
  }
  /// The real parts of the diagonal entries of the local rows.
  std::vector<Real> diagonal(Exec const& exec) const {
    if (measured_) return diagonal_;
    return operators::real_diagonal(exec, sparse::matrix_ref<Exec>(whole()));
  }

  /// 1 for the local rows with entries in columns of other ranks, else 0. Fences the instance.
  Indices cut_rows(Exec const& exec) const {
    return distributed::cut_rows<Exec, Scalar>(exec, parts(), local_rows());
  }

  /// The square matrix of the local rows and columns, for preconditioners without couplings across
  /// ranks (jacobi, block_jacobi and others). On one rank the matrix itself, sharing its arrays;
  /// else a copy, and it fences the instance.
  Matrix diagonal_block(Exec const& exec) const;

  /// The local rows in host memory, as they were given. Fences the instance.
  LocalRows<Scalar> global_rows(Exec const& exec) const;

 private:
  template <class, class>
  friend class DistributedMatrix;
  using Offsets = Kokkos::View<int*, Device>;

  /// The unit of sums over rows; 0 if the partition is not at chunk boundaries.
  std::int64_t unit_of_sums() const {
    std::int64_t const unit = partition_.unit();
    if (unit == 0 || unit % blocks::chunk_rows<Exec>(partition_.global_rows()) != 0) return 0;
    for (int r = 0; r < partition_.ranks(); ++r)
      if (partition_.rows(r) > RowSpace::most_units * unit) return 0;
    return unit;
  }

  void require_partition(Communicator const& ranks) const {
    require(partition_.ranks() == ranks.size(), "DistributedMatrix", "a partition for ",
            partition_.ranks(), " ranks, there are ", ranks.size());
  }
  static void require_numbers(Communicator const& ranks, std::int64_t entries) {
    require(entries <= std::numeric_limits<int>::max(), "DistributedMatrix", entries,
            " entries on rank ", ranks.rank(), ", more than 32-bit indices allow");
  }

  /// own: has the interior rows, which are empty in `rows`; null: `rows` has all rows.
  void make(Exec const& exec, Communicator const& ranks, LocalRows<Scalar> const& rows,
            SplitRows const& split, Matrix const* own) {
    lower_ = split.lower, own_ = split.own;
    space_ = RowSpace(ranks, partition_.cuts(), support::runs_on_host_v<Exec> ? unit_of_sums() : 0);
    std::vector<std::int64_t> ghosts(split.packed.begin(), split.packed.begin() + lower_);
    ghosts.insert(ghosts.end(), split.packed.begin() + lower_ + own_, split.packed.end());
    halo_ = make_halo_exchange(ranks, partition_, std::move(ghosts));
    ranks.run_agreed([&] {
      place(exec, rows, split);
      if (own && split.tail > split.head)
        parts_[interior].matrix =
            distributed::rows_between<Exec, Scalar>(exec, *own, split.head, split.tail);
      take_facts(exec);
    });
    measure(ranks);
  }

  /// Copies the three parts to memory of Exec; they share arrays of columns and values.
  void place(Exec const& exec, LocalRows<Scalar> const& rows, SplitRows const& split) {
    constexpr auto label = "Blockspan::distributed::matrix";
    auto const values = distributed::to_exec<Exec, Scalar>(exec, label, std::span(rows.values));
    auto const columns = distributed::to_exec<Exec, int>(exec, label, std::span(split.columns));
    std::int64_t const n = static_cast<std::int64_t>(rows.offsets.size()) - 1;
    auto const packed = static_cast<std::int64_t>(split.packed.size());
    std::array<std::int64_t, 4> const cuts{0, split.head, split.tail, n};
    for (int p = 0; p < 3; ++p) {
      std::vector<std::int64_t> offsets(rows.offsets.begin() + cuts[p],
                                        rows.offsets.begin() + cuts[p + 1] + 1);
      std::int64_t const first = offsets.front();
      for (auto& offset : offsets) offset -= first;
      std::pair<std::int64_t, std::int64_t> const range(first, first + offsets.back());
      parts_[p].first = cuts[p];
      parts_[p].matrix = Matrix(
          label, static_cast<int>(cuts[p + 1] - cuts[p]),
          static_cast<int>(p == interior ? n : packed), static_cast<int>(offsets.back()),
          Kokkos::subview(values, range),
          distributed::to_exec<Exec, int>(exec, label, std::span<std::int64_t const>(offsets)),
          Kokkos::subview(columns, range));
    }
    std::vector<std::int64_t> own(split.packed.begin() + lower_,
                                  split.packed.begin() + lower_ + own_);
    for (auto& row : own) row -= space_.first_row();
    packed_from_ = distributed::to_exec<Exec, int>(exec, label, std::span<std::int64_t const>(own));
    sent_ = distributed::to_exec<Exec, int>(exec, label, std::span<std::int64_t const>(halo_.sent));
  }

  std::array<distributed::RowsOfRank<Scalar>, 3> parts() const {
    return {rows_of(lower_boundary), rows_of(interior), rows_of(upper_boundary)};
  }
  distributed::RowsOfRank<Scalar> rows_of(RowPart which) const {
    auto const& part = parts_[which];
    return {part.first, sparse::matrix_ref<Exec>(part.matrix),
            which == interior ? nullptr : packed_from_.data(), static_cast<int>(lower_),
            static_cast<int>(own_)};
  }

  /// Computes the facts of the local rows.
  void take_facts(Exec const& exec) {
    bounds_ = {}, annihilates_constants_ = true;
    diagonal_.clear();
    bounds_.lowest = std::numeric_limits<Real>::infinity();
    for (auto const which : {lower_boundary, interior, upper_boundary}) {
      auto const facts = distributed::facts_of_rows<Exec, Scalar>(exec, rows_of(which));
      if (parts_[which].rows() == 0) continue;
      bounds_.norm = larger(bounds_.norm, facts.bounds.norm);
      bounds_.lowest = -larger(-bounds_.lowest, -facts.bounds.lowest);
      annihilates_constants_ = annihilates_constants_ && facts.annihilates_constants;
      diagonal_.insert(diagonal_.end(), facts.diagonal.begin(), facts.diagonal.end());
    }
  }
  /// The larger value; NaN if one is NaN.
  static Real larger(Real a, Real b) { return a > b || a != a ? a : b; }

  /// Combines the bounds of all ranks into those of the matrix.
  void measure(Communicator const& ranks) {
    bounds_.norm = ranks.largest(bounds_.norm);
    bounds_.lowest = ranks.least(bounds_.lowest);
    if (partition_.global_rows() == 0) bounds_.lowest = 0;
    annihilates_constants_ = ranks.all(annihilates_constants_);
    nonzeros_ = ranks.sum(local_nonzeros());
  }

  RowPartition partition_;
  RowSpace space_;
  HaloExchange halo_;
  std::int64_t lower_ = 0, own_ = 0, nonzeros_ = 0;
  std::array<Part, 3> parts_;
  Indices packed_from_, sent_;
  operators::RowBounds<Real> bounds_;
  bool measured_ = true;  ///< the next two are set; else they are computed on demand
  bool annihilates_constants_ = true;
  std::vector<Real> diagonal_;
};

template <class Scalar, class Exec>
LocalRows<Scalar> DistributedMatrix<Scalar, Exec>::global_rows(Exec const& exec) const {
  auto const host = [&](auto const& view) {
    auto const mirror = Kokkos::create_mirror_view(view);
    Kokkos::deep_copy(exec, mirror, view);
    exec.fence("Blockspan::distributed: rows");
    return mirror;
  };
  auto const from = host(packed_from_);
  std::int64_t const first = space_.first_row();
  auto const packed_row = [&](std::int64_t place) {
    bool const own = place >= lower_ && place < lower_ + own_;
    auto const index = static_cast<std::size_t>(place < lower_ ? place : place - own_);
    return own ? first + from(static_cast<std::size_t>(place - lower_)) : halo_.rows[index];
  };
  LocalRows<Scalar> result;
  for (int p = 0; p < 3; ++p) {
    auto const& matrix = parts_[p].matrix;
    auto const rows = host(matrix.graph.row_map);
    auto const entries = host(matrix.graph.entries);
    auto const values = host(matrix.values);
    auto const before = static_cast<std::int64_t>(result.columns.size());
    for (std::int64_t i = 0; i < parts_[p].rows(); ++i)
      result.offsets.push_back(before + rows(i + 1));
    for (std::size_t k = 0; k < values.extent(0); ++k) {
      result.columns.push_back(p == interior ? first + entries(k) : packed_row(entries(k)));
      result.values.push_back(values(k));
    }
  }
  return result;
}

template <class Scalar, class Exec>
auto DistributedMatrix<Scalar, Exec>::diagonal_block(Exec const& exec) const -> Matrix {
  if (partition_.ranks() == 1) return whole();
  return distributed::local_columns<Exec, Scalar>(exec, parts(), local_rows());
}

}  // namespace blockspan
