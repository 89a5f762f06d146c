#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <blockspan/distributed/halo.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

std::vector<HaloPart> parts_by_owner(RowPartition const& partition,
                                     std::span<std::int64_t const> rows) {
  std::vector<HaloPart> parts;
  std::size_t i = 0;
  while (i < rows.size()) {
    int const rank = partition.owner(rows[i]);
    auto const end = std::lower_bound(rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(),
                                      partition.last(rank));
    auto const next = static_cast<std::size_t>(end - rows.begin());
    parts.push_back({rank, static_cast<std::int64_t>(i), static_cast<std::int64_t>(next - i)});
    i = next;
  }
  return parts;
}

HaloExchange make_halo_exchange(Communicator const& ranks, RowPartition const& partition,
                                std::vector<std::int64_t> rows) {
  HaloExchange halo;
  halo.rows = std::move(rows);
  halo.receives = parts_by_owner(partition, halo.rows);
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(ranks.size()), 0);
  for (auto const& part : halo.receives) wanted[static_cast<std::size_t>(part.rank)] = part.count;
  auto const asked = ranks.transpose(wanted);
  std::int64_t count = 0;
  for (int r = 0; r < ranks.size(); ++r)
    if (auto const here = asked[static_cast<std::size_t>(r)]; here > 0) {
      halo.sends.push_back({r, count, here});
      count += here;
    }
  halo.sent.resize(static_cast<std::size_t>(count));
  auto const part_of = [](auto& list, HaloPart const& part) {
    return std::span(list).subspan(static_cast<std::size_t>(part.first),
                                   static_cast<std::size_t>(part.count));
  };
  std::vector<Incoming> in;
  std::vector<Outgoing> out;
  for (auto const& part : halo.sends)
    in.push_back({part.rank, std::as_writable_bytes(part_of(halo.sent, part))});
  for (auto const& part : halo.receives)
    out.push_back({part.rank, std::as_bytes(part_of(halo.rows, part))});
  if (auto const pending = ranks.start(std::move(in), std::move(out))) pending->finish();
  std::int64_t const first = partition.first(ranks.rank());
  for (auto& row : halo.sent) row -= first;
  return halo;
}

namespace {

/// The rows that the boundaries read, in global order. This rank's rows, which are many, are
/// numbered by a scan; those of other ranks, which are few, are sorted.
class PackedPlaces {
 public:
  PackedPlaces(std::int64_t first, std::int64_t rows) : first_(first), own_(as_size(rows), none) {}

  void read(std::int64_t column) {
    if (is_own(column))
      own_[as_size(column - first_)] = wanted;
    else
      others_.push_back(column);
  }
  /// After all reads: sets `packed`, `lower` and `own` of `split`.
  void number(int rank, SplitRows& split) {
    std::sort(others_.begin(), others_.end());
    others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
    auto const higher = std::lower_bound(others_.begin(), others_.end(), first_);
    split.lower = higher - others_.begin();
    split.own = std::count(own_.begin(), own_.end(), wanted);
    std::int64_t const all = split.own + static_cast<std::int64_t>(others_.size());
    require(all <= std::numeric_limits<int>::max(), "split_rows", "the rows of rank ", rank,
            " read ", all, " rows, more than 32-bit indices allow");
    auto& packed = split.packed;
    packed.reserve(as_size(all));
    packed.assign(others_.begin(), higher);
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (own_[i] == wanted) {
        own_[i] = static_cast<int>(packed.size());
        packed.push_back(first_ + static_cast<std::int64_t>(i));
      }
    packed.insert(packed.end(), higher, others_.end());
    lower_ = split.lower, owned_ = split.own;
  }
  int operator()(std::int64_t column) const {
    if (is_own(column)) return own_[as_size(column - first_)];
    auto const at = std::lower_bound(others_.begin(), others_.end(), column) - others_.begin();
    return static_cast<int>(at < lower_ ? at : at + owned_);
  }

 private:
  static constexpr int none = -1, wanted = -2;
  static std::size_t as_size(std::int64_t count) { return static_cast<std::size_t>(count); }
  bool is_own(std::int64_t column) const {
    return column >= first_ && column - first_ < static_cast<std::int64_t>(own_.size());
  }

  std::int64_t first_, lower_ = 0, owned_ = 0;
  std::vector<int> own_;  ///< index of each local row in the packed list
  std::vector<std::int64_t> others_;
};

}  // namespace

std::pair<std::int64_t, std::int64_t> interior_rows(RowPartition const& partition, int rank,
                                                    std::span<std::int64_t const> offsets,
                                                    std::span<std::int64_t const> columns) {
  std::int64_t const first = partition.first(rank), last = partition.last(rank);
  std::int64_t head = 0, tail = 0, start = 0;
  for (std::int64_t i = 0; i < last - first; ++i) {
    for (auto k = offsets[static_cast<std::size_t>(i)];
         k < offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      std::int64_t const column = columns[static_cast<std::size_t>(k)];
      require(column >= 0 && column < partition.global_rows(), "split_rows", "row ", first + i + 1,
              " has an entry in column ", column + 1, " of ", partition.global_rows());
      if (column < first || column >= last) start = i + 1;
    }
    if (i + 1 - start > tail - head) head = start, tail = i + 1;
  }
  return {head, tail};
}

SplitRows split_rows(RowPartition const& partition, int rank, std::span<std::int64_t const> offsets,
                     std::span<std::int64_t const> columns) {
  constexpr auto where = "split_rows";
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  std::int64_t const first = partition.first(rank), n = partition.rows(rank);
  require(n <= most, where, "rank ", rank, " has ", n, " rows, more than 32-bit indices allow");
  require(static_cast<std::int64_t>(offsets.size()) == n + 1, where, offsets.size(),
          " row offsets of ", n, " rows");
  SplitRows split;
  std::tie(split.head, split.tail) = interior_rows(partition, rank, offsets, columns);
  auto const at = [&](std::int64_t row) { return offsets[static_cast<std::size_t>(row)]; };
  auto const column_of = [&](std::int64_t k) { return columns[static_cast<std::size_t>(k)]; };
  std::int64_t const head = at(split.head), tail = at(split.tail), end = at(n);
  PackedPlaces place(first, n);
  for (std::int64_t k = 0; k < head; ++k) place.read(column_of(k));
  for (std::int64_t k = tail; k < end; ++k) place.read(column_of(k));
  place.number(rank, split);
  split.columns.resize(columns.size());
  for (std::int64_t k = 0; k < end; ++k)
    split.columns[static_cast<std::size_t>(k)] =
        k >= head && k < tail ? static_cast<int>(column_of(k) - first) : place(column_of(k));
  return split;
}

}  // namespace blockspan
