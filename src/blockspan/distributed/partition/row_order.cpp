#include <array>
#include <limits>
#include <numeric>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/halo/exchange_lists.hpp>
#include <blockspan/distributed/levels/whole_graph.hpp>
#include <blockspan/distributed/row_order.hpp>
#include <blockspan/sparse/host/permuted.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace {

/// Global columns owned by other ranks, ascending.
std::vector<std::int64_t> ghosts_of(RowPartition const& partition, int rank,
                                    RowPattern const& pattern) {
  std::vector<std::int64_t> ghosts;
  for (std::int64_t const column : pattern.columns)
    if (column < partition.first(rank) || column >= partition.last(rank)) ghosts.push_back(column);
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  return ghosts;
}

/// One value per row, accessed by global index: of local rows and of halo rows.
template <class T>
class ValueOfRow {
 public:
  ValueOfRow(Communicator const& ranks, RowPartition const& partition, RowPattern const& pattern,
             std::vector<T> const& local)
      : first_(partition.first(ranks.rank())), local_(local) {
    auto const halo =
        make_halo_exchange(ranks, partition, ghosts_of(partition, ranks.rank(), pattern));
    ghosts_ = halo.rows;
    of_ghosts_ = distributed::values_of_halo(ranks, halo, local);
  }
  T operator()(std::int64_t row) const {
    auto const here = row - first_;
    if (here >= 0 && here < static_cast<std::int64_t>(local_.size()))
      return local_[static_cast<std::size_t>(here)];
    auto const place = std::lower_bound(ghosts_.begin(), ghosts_.end(), row) - ghosts_.begin();
    return of_ghosts_[static_cast<std::size_t>(place)];
  }

 private:
  std::int64_t first_;
  std::vector<T> const& local_;
  std::vector<std::int64_t> ghosts_;
  std::vector<T> of_ghosts_;
};

}  // namespace

void distributed::require_pattern(char const* where, Communicator const& ranks,
                                  RowPartition const& partition, RowPattern const& pattern) {
  ranks.run_agreed([&] {
    auto const& [offsets, columns] = pattern;
    std::int64_t const rows = partition.rows(ranks.rank()), all = partition.global_rows();
    require(pattern.rows() == rows, where, pattern.rows(), " rows, this rank has ", rows);
    require(
        std::is_sorted(offsets.begin(), offsets.end()) &&
            (offsets.empty() || (offsets.front() == 0 && offsets.back() == std::ssize(columns))),
        where, "row offsets that do not ascend from 0 to the number of columns");
    for (std::int64_t const column : columns)
      require(column >= 0 && column < all, where, "an entry in column ", column + 1, " of ", all);
  });
}

RowOrder::RowOrder(Communicator ranks, RowPartition from, RowPartition to,
                   std::vector<std::int64_t> places)
    : ranks_(std::move(ranks)),
      from_(std::move(from)),
      to_(std::move(to)),
      places_(std::move(places)) {
  constexpr auto where = "RowOrder";
  int const me = ranks_.rank();
  ranks_.run_agreed([&] {
    require(from_.ranks() == ranks_.size() && to_.ranks() == ranks_.size(), where, from_.ranks(),
            " and ", to_.ranks(), " parts for ", ranks_.size(), " ranks");
    require(from_.global_rows() == to_.global_rows(), where, from_.global_rows(), " rows become ",
            to_.global_rows());
    require(static_cast<std::int64_t>(places_.size()) == from_.rows(me), where, places_.size(),
            " places of ", from_.rows(me), " rows");
    for (std::size_t i = 0; i < places_.size(); ++i)
      require(places_[i] >= 0 && places_[i] < to_.global_rows(), where, "row ",
              from_.first(me) + static_cast<std::int64_t>(i) + 1, " has the place ", places_[i] + 1,
              " of ", to_.global_rows());
  });
  leaving_.resize(places_.size());
  std::iota(leaving_.begin(), leaving_.end(), std::int64_t{0});
  auto const place = [&](std::int64_t row) { return places_[static_cast<std::size_t>(row)]; };
  std::sort(leaving_.begin(), leaving_.end(),
            [&](std::int64_t a, std::int64_t b) { return place(a) < place(b); });
  std::vector<std::int64_t> targets, numbers;
  for (std::int64_t const row : leaving_) {
    targets.push_back(place(row));
    numbers.push_back(from_.first(me) + row);
  }
  sends_ = parts_by_owner(to_, targets);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks_.size()), 0);
  for (auto const& part : sends_) counts[static_cast<std::size_t>(part.rank)] = part.count;
  std::int64_t all = 0;
  auto const coming = ranks_.transpose(counts);
  for (int r = 0; r < ranks_.size(); ++r)
    if (auto const count = coming[static_cast<std::size_t>(r)]; count > 0) {
      receives_.push_back({r, all, count});
      all += count;
    }
  auto const exchange = [&](std::vector<std::int64_t> const& sent) {
    return distributed::exchange_parts<std::int64_t>(
        ranks_, sends_, sent, distributed::even_offsets(sent.size()), receives_,
        distributed::even_offsets(static_cast<std::size_t>(all)));
  };
  arriving_ = exchange(targets);
  auto const arrived = exchange(numbers);
  ranks_.run_agreed([&] {
    originals_.assign(static_cast<std::size_t>(to_.rows(me)), -1);
    for (std::size_t i = 0; i < arriving_.size(); ++i) {
      arriving_[i] -= to_.first(me);
      auto& original = originals_[static_cast<std::size_t>(arriving_[i])];
      require(original < 0, where, "rows ", original + 1, " and ", arrived[i] + 1,
              " have the same place");
      original = arrived[i];
    }
    require(arriving_.size() == originals_.size(), where, arriving_.size(), " rows have the ",
            originals_.size(), " places of rank ", me);
  });
}

std::vector<std::int64_t> RowOrder::renumbered(RowPattern const& rows) const {
  distributed::require_pattern("RowOrder", ranks_, from_, rows);
  ValueOfRow<std::int64_t> const place(ranks_, from_, rows, places_);
  std::vector<std::int64_t> numbers;
  numbers.reserve(rows.columns.size());
  for (std::int64_t const column : rows.columns) numbers.push_back(place(column));
  return numbers;
}

RowOrder order_by_parts(Communicator const& ranks, RowPartition const& from,
                        RowPattern const& pattern, std::vector<int> const& part) {
  auto const parts = static_cast<std::size_t>(ranks.size());
  ranks.run_agreed([&] {
    require(static_cast<std::int64_t>(part.size()) == pattern.rows(), "order_by_parts", part.size(),
            " parts of ", pattern.rows(), " rows");
    for (int const p : part)
      require(p >= 0 && p < ranks.size(), "order_by_parts", "part ", p, " of ", ranks.size());
  });
  distributed::require_pattern("order_by_parts", ranks, from, pattern);
  ValueOfRow<int> const part_of(ranks, from, pattern, part);
  // kinds of rows, in order: interior rows of part p, other rows of part p, interior rows of part p
  // + 1, ...
  std::vector<std::size_t> kind;
  std::vector<std::int64_t> counts(2 * parts, 0);
  for (std::int64_t i = 0; i < pattern.rows(); ++i) {
    int const mine = part[static_cast<std::size_t>(i)];
    bool const inner = std::ranges::all_of(
        pattern.row(i), [&](std::int64_t column) { return part_of(column) == mine; });
    kind.push_back(2 * static_cast<std::size_t>(mine) + (inner ? 0 : 1));
    ++counts[kind.back()];
  }
  auto const all = distributed::gather_lists(ranks, counts);
  std::vector<std::int64_t> cuts = {0}, next(2 * parts);
  std::int64_t place = 0;
  for (std::size_t k = 0; k < 2 * parts; ++k) {
    for (std::size_t r = 0; r < parts; ++r) {
      if (r == static_cast<std::size_t>(ranks.rank())) next[k] = place;
      place += all[r * 2 * parts + k];
    }
    if (k % 2 == 1) cuts.push_back(place);
  }
  std::vector<std::int64_t> places;
  for (std::size_t const k : kind) places.push_back(next[k]++);
  return RowOrder(ranks, from, RowPartition(std::move(cuts)), std::move(places));
}

RowOrder order_by_cuthill_mckee(Communicator const& ranks, RowPartition const& from,
                                RowPattern const& pattern, std::int64_t chunk) {
  auto const whole = distributed::collect_pattern(ranks, from, pattern);
  std::vector<std::int64_t> places, cuts;
  std::int64_t unit = 0;
  ranks.run_agreed([&] {
    if (ranks.rank() != 0) return;
    auto const of_row = sparse::rcm_places(distributed::whole_graph(whole));
    places.assign(of_row.begin(), of_row.end());
    auto const rows = from.global_rows();
    unit = unit_of_cuts(rows, chunk, ranks.size());
    std::vector<std::int64_t> entries(static_cast<std::size_t>(ceil_div(rows, unit)), 0);
    for (std::size_t i = 0; i < places.size(); ++i)
      entries[static_cast<std::size_t>(places[i] / unit)] +=
          whole.offsets[i + 1] - whole.offsets[i];
    auto const to = cut_for_sums(std::move(entries), rows, unit, ranks.size());
    cuts = to.cuts(), unit = to.unit();
  });
  ranks.broadcast(cuts, 0);
  ranks.broadcast(std::span(&unit, 1), 0);
  auto mine = distributed::deal<std::int64_t>(ranks, 0, pattern.rows(), [&](int r) {
    return std::vector<std::int64_t>(places.begin() + from.first(r), places.begin() + from.last(r));
  });
  return RowOrder(ranks, from, RowPartition(std::move(cuts), unit), std::move(mine));
}

std::vector<int> brick_parts(std::span<std::int64_t const, 3> grid, int unknowns,
                             std::int64_t first, std::int64_t last, int parts) {
  std::array<std::int64_t, 3> counts{1, 1, parts};
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t x = 1; x <= parts; ++x)
    for (std::int64_t y = 1; parts % x == 0 && y <= parts / x; ++y) {
      if (parts / x % y != 0) continue;
      std::array<std::int64_t, 3> const tried{x, y, parts / x / y};
      double surface = 0;  // planes across each axis, relative to the volume
      for (std::size_t axis = 0; axis < 3; ++axis)
        surface += static_cast<double>(tried[axis] - 1) / static_cast<double>(grid[axis]);
      bool const fits =
          tried[0] <= grid[0] && tried[1] <= grid[1] && (tried[2] <= grid[2] || least > 1e300);
      if (fits && surface < least) least = surface, counts = tried;
    }
  std::vector<int> result;
  for (auto row = first; row < last; ++row) {
    std::int64_t const point = row / unknowns;
    std::array const at{point % grid[0], point / grid[0] % grid[1], point / grid[0] / grid[1]};
    std::int64_t part = 0;
    for (std::size_t axis = 3; axis-- > 0;)
      part = part * counts[axis] + at[axis] * counts[axis] / grid[axis];
    result.push_back(static_cast<int>(part));
  }
  return result;
}

}  // namespace blockspan
