#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/multigrid/setup/team_product.hpp>
#include <blockspan/multigrid/setup/workers.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::levels {

/// Hosts: accumulates the sums of a row, indexed by column, with a two-level bitmap of the columns
/// present. A branch on whether a column is new would be mispredicted, so bits are always set, and
/// read in order.
template <class Scalar>
class RowSums {
 public:
  explicit RowSums(std::int64_t columns)
      : sums_(static_cast<std::size_t>(columns)),
        marks_(static_cast<std::size_t>(columns / 64 + 1)),
        of_marks_(marks_.size() / 64 + 1) {}

  /// Adds factor * values to the sums of ascending columns.
  void add(Scalar factor, int const* columns, Scalar const* values, int count) {
    if (count == 0) return;
    least_ = std::min(least_, columns[0]);
    most_ = std::max(most_, columns[count - 1]);
    for (int k = 0; k < count; ++k) {
      auto const column = static_cast<std::size_t>(columns[k]);
      sums_[column] += factor * values[k];
      marks_[column / 64] |= std::uint64_t{1} << column % 64;
      of_marks_[column / 4096] |= std::uint64_t{1} << column / 64 % 64;
    }
  }

  /// Returns the number of columns, which are written in order with their sums, and clears all.
  int take(int* columns, Scalar* sums) {
    int found = 0;
    for (int block = least_ / 4096; block <= most_ / 4096; ++block)
      each_mark(of_marks_, block, [&](int word) {
        each_mark(marks_, word, [&](int column) {
          columns[found] = column;
          sums[found++] = std::exchange(sums_[static_cast<std::size_t>(column)], Scalar(0));
        });
      });
    least_ = std::numeric_limits<int>::max();
    most_ = 0;
    return found;
  }

 private:
  using Marks = std::vector<std::uint64_t>;
  template <class Each>
  static void each_mark(Marks& all, int word, Each const& each) {
    for (auto marks = std::exchange(all[static_cast<std::size_t>(word)], 0); marks != 0;
         marks &= marks - 1)
      each(64 * word + std::countr_zero(marks));
  }

  std::vector<Scalar> sums_;
  Marks marks_, of_marks_;
  int least_ = std::numeric_limits<int>::max(), most_ = 0;
};

/// The values of C = A B in a known pattern, row by row (Gustavson 1978,
/// doi:10.1145/355791.355796): one entry of a row of A after another, so that every sum has one
/// order. Hosts; for devices see team_product.hpp.
template <class Exec, class Scalar>
struct ProductValues {
  MatrixRef<Scalar, int, int> A, B;
  PatternRef<int, int> C;
  Supernodes supernodes_A, supernodes_B;
  Scalar* values;
  Workers workers;
  Integers<Exec> places;  ///< position of each column in the current rows; empty: search

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    auto const range = workers.rows_of(worker);
    int* const table = table_of(worker);
    for (std::int64_t group = range.first; group < range.last; group += range.step) {
      std::int64_t const i = supernodes_A.first(group);
      int const first = C.row_offsets[i];
      rows(group, table, C.column_indices + first, C.row_offsets[i + 1] - first, values + first);
    }
  }

  KOKKOS_FUNCTION int* table_of(std::int64_t worker) const {
    return places.extent(0) > 0 ? places.data() + worker * C.columns : nullptr;
  }

  /// The rows of a group, consecutive in `to`; keys: their columns.
  KOKKOS_FUNCTION void rows(std::int64_t group, int* table, int const* keys, int count,
                            Scalar* to) const {
    std::int64_t const i = supernodes_A.first(group);
    for (int k = 0; table && k < count; ++k) table[keys[k]] = k;
    int const from = A.pattern.row_offsets[i], length = A.pattern.row_offsets[i + 1] - from;
    for (int r = 0; r < supernodes_A.rows(group); ++r) {
      Scalar* const sums = to + r * count;
      Scalar const* const of_A = A.values + r * length;
      for (int k = 0; k < count; ++k) sums[k] = Scalar(0);
      for (int a = from; a < from + length;) {
        int const taken = supernodes_B.run_length(A.pattern.column_indices, a, from + length, 3);
        Entries const entries{A.pattern.column_indices[a], count, keys, table};
        if (taken == 3)
          add<3>(entries, of_A + a, sums);
        else if (taken == 2)
          add<2>(entries, of_A + a, sums);
        else
          add<1>(entries, of_A + a, sums);
        a += taken;
      }
    }
  }

  /// The sums of a single row.
  void add_up(std::int64_t row, RowSums<Scalar>& to) const {
    for (int a = A.pattern.row_offsets[row]; a < A.pattern.row_offsets[row + 1]; ++a) {
      int const k = A.pattern.column_indices[a];
      int const begin = B.pattern.row_offsets[k], end = B.pattern.row_offsets[k + 1];
      to.add(A.values[a], B.pattern.column_indices + begin, B.values + begin, end - begin);
    }
  }

 private:
  struct Entries {
    int row_of_B, count;
    int const *keys, *table;  ///< the columns of the row of C, and their positions
  };

  /// sums += of_A[0] B_k + ... + of_A[n - 1] B_{k + n - 1}; these rows have the same columns.
  template <int n>
  KOKKOS_FUNCTION void add(Entries const& to, Scalar const* of_A, Scalar* sums) const {
    int const begin = B.pattern.row_offsets[to.row_of_B],
              length = B.pattern.row_offsets[to.row_of_B + 1] - begin;
    int from = 0;  // columns ascend in both
    for (int b = begin; b < begin + length; ++b) {
      int const column = B.pattern.column_indices[b];
      int const place = to.table ? to.table[column] : place_of(to.keys, from, to.count, column);
      from = place + 1;
      Scalar sum = sums[place];
      for (int e = 0; e < n; ++e) sum += of_A[e] * B.values[b + e * length];
      sums[place] = sum;
    }
  }
};

/// Hosts: the entries of C that a worker has computed, until their final positions are known.
template <class T>
class FoundEntries {
 public:
  /// Storage for the next `count` entries.
  T* room(std::size_t count) {
    if (used_ + count > size_) grow(std::max(used_ + count, 2 * size_));
    return all_.get() + used_;
  }
  void keep(std::size_t count) { used_ += count; }
  T const* data() const { return all_.get(); }
  std::size_t size() const { return used_; }

 private:
  void grow(std::size_t size) {
    auto larger = std::make_unique_for_overwrite<T[]>(size);
    std::copy_n(all_.get(), used_, larger.get());
    all_ = std::move(larger);
    size_ = size;
  }

  std::unique_ptr<T[]> all_;
  std::size_t used_ = 0, size_ = 0;
};

/// Hosts: sorts the columns of rows.
class ColumnOrder {
 public:
  explicit ColumnOrder(std::int64_t columns) : marks_(static_cast<std::size_t>(columns / 64 + 1)) {}

  /// keys: distinct. By a bitmap that is read in order, if the columns are close to each other.
  void sort(int* keys, int count) {
    auto const [least, most] = std::minmax_element(keys, keys + count);
    if (count < 5 || (*most - *least) / 64 > 4 * count) return std::sort(keys, keys + count);
    auto const first = static_cast<std::size_t>(*least / 64),
               last = static_cast<std::size_t>(*most / 64);
    for (int k = 0; k < count; ++k)
      marks_[static_cast<std::size_t>(keys[k] / 64)] |= std::uint64_t{1} << keys[k] % 64;
    for (std::size_t word = first; word <= last; ++word)
      for (auto marks = std::exchange(marks_[word], 0); marks != 0; marks &= marks - 1)
        *keys++ = static_cast<int>(64 * word) + std::countr_zero(marks);
  }

 private:
  std::vector<std::uint64_t> marks_;  ///< zero between calls
};

/// Hosts: computes the rows of C = A B into lists of the workers, and copies them to their final
/// positions when all are counted, so that the columns are found only once. With values if `of` is
/// given.
template <class Exec, class Scalar>
class ListedProduct {
 public:
  using Values = ProductValues<Exec, Scalar>;

  ListedProduct(BoundRows const& bound, ProductRows<Exec> const& rows, Values const* of)
      : bound_(bound),
        rows_(rows),
        of_(of),
        single_rows_(rows.dense && rows.supernodes_A.most == 1 && rows.supernodes_B.most == 1),
        lists_(static_cast<std::size_t>(rows.workers.count)) {}

  /// Stores counts in rows.offsets. False: there are more than `most` entries. Error of kind
  /// out_of_memory.
  bool find(Exec const& exec, std::int64_t most) {
    std::atomic<bool> memory_is_short = false, too_many = false;
    each(exec, "Blockspan::multigrid_find_product", rows_.workers.count, [&](std::int64_t worker) {
      try {  // no exception may leave a parallel region
        if (!find_rows(worker, most)) too_many = true;
      } catch (std::bad_alloc const&) {
        memory_is_short = true;
      }
    });
    if (memory_is_short)
      fail(ErrorKind::out_of_memory, "Blockspan::multigrid",
           "out of memory: no room for a product");
    return !too_many;
  }

  /// offsets: of the rows of C.
  void place(Exec const& exec, Integers<Exec> const& offsets, int* indices, Scalar* values) const {
    auto const& supernodes = rows_.supernodes_A;
    each(exec, "Blockspan::multigrid_fill_product", rows_.workers.count, [&](std::int64_t worker) {
      auto const& list = lists_[static_cast<std::size_t>(worker)];
      auto const range = rows_.workers.rows_of(worker);
      int const* from = list.columns.data();
      for (std::int64_t group = range.first; group < range.last; ++group) {
        std::int64_t const i = supernodes.first(group);
        int const found = offsets(i + 1) - offsets(i);
        for (int r = 0; r < supernodes.rows(group); ++r)
          std::copy_n(from, found, indices + offsets(i + r));
        from += found;
      }
      if (of_ != nullptr)
        std::copy_n(list.values.data(), list.values.size(),
                    values + offsets(supernodes.first(range.first)));
    });
  }

 private:
  struct List {
    FoundEntries<int> columns;    ///< of each group once
    FoundEntries<Scalar> values;  ///< of all rows
  };

  bool find_rows(std::int64_t worker, std::int64_t most) {
    auto& list = lists_[static_cast<std::size_t>(worker)];
    auto const& supernodes = rows_.supernodes_A;
    auto const range = rows_.workers.rows_of(worker);
    bool const at_once = of_ != nullptr && single_rows_;
    RowSums<Scalar> sums(at_once ? rows_.B.columns : 0);
    ColumnOrder order(at_once ? 0 : rows_.B.columns);
    // the entries of A and B together usually suffice: untouched pages cost nothing, while a
    // growing list touches new pages each time
    auto const expected =
        static_cast<std::size_t>((rows_.A.entries + rows_.B.entries) / rows_.workers.count);
    list.columns.room(expected);
    if (of_ != nullptr) list.values.room(expected);
    std::int64_t entries = 0;
    for (std::int64_t group = range.first; group < range.last && entries <= most; ++group) {
      // bounded by the number of columns: counting the products of a row costs as much as computing
      // some of them
      int const rows = supernodes.rows(group),
                bound = at_once ? static_cast<int>(rows_.B.columns) : bound_.bound(group);
      int* const keys = list.columns.room(static_cast<std::size_t>(bound) + 1);
      int found = 0;
      if (at_once) {
        of_->add_up(group, sums);
        found = sums.take(keys, list.values.room(static_cast<std::size_t>(bound)));
      } else {
        found = rows_.columns(worker, group, bound, keys);
        order.sort(keys, found);
      }
      list.columns.keep(static_cast<std::size_t>(found));
      for (int r = 0; r < rows; ++r) rows_.offsets(supernodes.first(group) + r) = found;
      auto const count = std::int64_t{found} * rows;
      entries += count;
      if (of_ == nullptr) continue;
      if (!at_once)
        of_->rows(group, of_->table_of(worker), keys, found,
                  list.values.room(static_cast<std::size_t>(count)));
      list.values.keep(static_cast<std::size_t>(count));
    }
    return entries <= most;
  }

  BoundRows const& bound_;
  ProductRows<Exec> const& rows_;
  Values const* of_;
  /// All groups are single rows, and there is a table entry for every column.
  bool single_rows_;
  std::vector<List> lists_;
};

/// A product: the pattern of C = A B, and its values.
template <class Exec, class Scalar>
struct Product {
  Pattern<Exec> pattern;
  Array<Scalar, Exec> values;
};

/// Hosts: C = A B in one pass; the values, in a scratch array of the arena, are those of
/// multiply_values (if with_values; else only patterns are used). Nothing if C would have more than
/// `most` entries. Fences.
template <class Exec, class Scalar>
std::optional<Product<Exec, Scalar>> multiply_on_host(Exec const& exec, Arena<Exec>& arena,
                                                      MatrixRef<Scalar, int, int> const& A,
                                                      MatrixRef<Scalar, int, int> const& B,
                                                      Supernodes const& supernodes_A,
                                                      Supernodes const& supernodes_B,
                                                      bool with_values, std::int64_t most) {
  auto const &a = A.pattern, &b = B.pattern;
  BoundRows const bound{a, b, groups_of_rows(supernodes_A, a.rows), supernodes_B, nullptr, nullptr};
  bool const dense = b.columns * static_cast<std::int64_t>(exec.concurrency()) <= (1 << 27);
  auto const widest =
      most_each(exec, "Blockspan::multigrid_bounds", dense ? 0 : bound.supernodes_A.groups,
                [=](std::int64_t group, std::int64_t& most_of_row) {
                  int const of_row = bound.bound(group);
                  if (of_row > most_of_row) most_of_row = of_row;
                });
  Product<Exec, Scalar> C{{static_cast<int>(a.rows),
                           static_cast<int>(b.columns),
                           kept_array<int>(exec, arena, a.rows + 1),
                           {}},
                          {}};
  auto const rows = with_workers<Exec>(exec, arena, bound, {}, C.pattern.offsets, widest, dense);
  auto const places =
      scratch_array<int>(exec, arena, with_values && dense ? rows.tables.extent(0) : 0);
  ProductValues<Exec, Scalar> const values{
      A, B, C.pattern.ref(), bound.supernodes_A, supernodes_B, nullptr, rows.workers, places};
  ListedProduct<Exec, Scalar> product(bound, rows, with_values ? &values : nullptr);
  if (!product.find(exec, most)) return std::nullopt;
  auto const entries = offsets_of_counts(exec, C.pattern.offsets);
  if (entries > most) return std::nullopt;
  C.pattern.indices = kept_array<int>(exec, arena, entries);
  if (with_values) C.values = scratch_array<Scalar>(exec, arena, C.pattern.entries());
  product.place(exec, C.pattern.offsets, C.pattern.indices.data(), C.values.data());
  exec.fence("Blockspan::multigrid_product");
  return C;
}

/// The values of A B; the pattern of C contains that of A B. Asynchronous, except on hosts where a
/// table is used.
template <class Exec, class Scalar>
void multiply_values(Exec const& exec, Arena<Exec>& arena, MatrixRef<Scalar, int, int> const& A,
                     MatrixRef<Scalar, int, int> const& B, Pattern<Exec> const& C,
                     Array<Scalar, Exec> const& values, Supernodes supernodes_A = {},
                     Supernodes const& supernodes_B = {}) {
  supernodes_A = groups_of_rows(supernodes_A, C.rows);
  if constexpr (!runs_on_host_v<Exec>) {
    using Rows = TeamProductValues<Scalar>;
    // rows longer than the scratch are slow, and unused scratch reduces the number of resident
    // teams
    std::int64_t const mean = C.rows > 0 ? C.entries() / C.rows + 1 : 1;
    std::int64_t const wanted = supernodes_A.most > 1 ? mean + mean / 2 : 4 * mean;
    ProductTeams const teams(B.pattern, wanted, Rows::bytes_of_place(supernodes_A),
                             warp_size_v<Exec>);
    teams.launch(exec, "Blockspan::multigrid_multiply", supernodes_A.groups,
                 Rows{A, B, C.ref(), supernodes_A, supernodes_B, values.data(), teams.room});
  } else {
    std::int64_t const table = C.columns * static_cast<std::int64_t>(sizeof(int));
    Workers const workers(exec, supernodes_A.groups, table);
    bool const dense = workers.count * table <= std::int64_t{1} << 29;
    auto const places = scratch_array<int>(exec, arena, dense ? workers.count * C.columns : 0);
    each(exec, "Blockspan::multigrid_multiply", workers.count,
         ProductValues<Exec, Scalar>{A, B, C.ref(), supernodes_A, supernodes_B, values.data(),
                                     workers, places});
    if (dense) exec.fence("Blockspan::multigrid_multiply");  // the table is freed on return
  }
}

}  // namespace blockspan::levels
