#include <algorithm>
#include <limits>

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

/// Whether each row reads rows of other ranks.
std::vector<bool> boundary_rows(RowPartition const& partition, int rank,
                                std::span<std::int64_t const> offsets,
                                std::span<std::int64_t const> columns) {
  std::int64_t const first = partition.first(rank), last = partition.last(rank);
  std::vector<bool> boundary(static_cast<std::size_t>(partition.rows(rank)));
  for (std::size_t i = 0; i < boundary.size(); ++i)
    for (auto k = offsets[i]; k < offsets[i + 1]; ++k) {
      std::int64_t const column = columns[static_cast<std::size_t>(k)];
      require(column >= 0 && column < partition.global_rows(), "split_rows", "row ",
              first + static_cast<std::int64_t>(i) + 1, " has an entry in column ", column + 1,
              " of ", partition.global_rows());
      if (column < first || column >= last) boundary[i] = true;
    }
  return boundary;
}

}  // namespace

SplitRows split_rows(RowPartition const& partition, int rank, std::span<std::int64_t const> offsets,
                     std::span<std::int64_t const> columns) {
  constexpr auto where = "split_rows";
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  std::int64_t const first = partition.first(rank), n = partition.rows(rank);
  require(n <= most, where, "rank ", rank, " has ", n, " rows, more than 32 bits can number");
  require(static_cast<std::int64_t>(offsets.size()) == n + 1, where, offsets.size(),
          " row offsets of ", n, " rows");
  auto const boundary = boundary_rows(partition, rank, offsets, columns);
  SplitRows split;
  for (std::int64_t i = 0, start = 0; i < n; ++i) {
    if (boundary[static_cast<std::size_t>(i)]) start = i + 1;
    if (i + 1 - start > split.tail - split.head) split.head = start, split.tail = i + 1;
  }
  auto const at = [&](std::int64_t row) { return offsets[static_cast<std::size_t>(row)]; };
  auto const begin = columns.begin();
  auto& packed = split.packed;
  packed.assign(begin, begin + at(split.head));
  packed.insert(packed.end(), begin + at(split.tail), begin + at(n));
  std::sort(packed.begin(), packed.end());
  packed.erase(std::unique(packed.begin(), packed.end()), packed.end());
  packed.shrink_to_fit();
  require(static_cast<std::int64_t>(packed.size()) <= most, where, "the rows of rank ", rank,
          " read ", packed.size(), " rows, more than 32 bits can number");
  auto const place = [&](std::int64_t row) {
    return std::lower_bound(packed.begin(), packed.end(), row) - packed.begin();
  };
  split.lower = place(first);
  split.own = place(first + n) - split.lower;
  split.columns.resize(columns.size());
  for (std::int64_t k = 0; k < at(n); ++k) {
    std::int64_t const column = columns[static_cast<std::size_t>(k)];
    bool const inside = k >= at(split.head) && k < at(split.tail);
    split.columns[static_cast<std::size_t>(k)] =
        static_cast<int>(inside ? column - first : place(column));
  }
  return split;
}

}  // namespace blockspan
