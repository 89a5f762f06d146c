#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/halo.hpp>

// Exchanges of lists in host memory. All ranks call these functions together.

namespace blockspan::distributed {

/// Sends lists of elements, one per row, to the ranks that need them, and returns the received
/// ones. The list of row r is the elements [offsets[r], offsets[r + 1]). A rank may also send to
/// itself.
template <class T>
std::vector<T> exchange_parts(Communicator const& ranks, std::span<HaloPart const> sends,
                              std::span<T const> sent, std::span<std::int64_t const> from,
                              std::span<HaloPart const> receives,
                              std::span<std::int64_t const> to) {
  std::vector<T> received(static_cast<std::size_t>(to.back()));
  auto const part = [](auto* data, std::span<std::int64_t const> offsets, HaloPart const& rows) {
    auto const first = offsets[static_cast<std::size_t>(rows.first)],
               last = offsets[static_cast<std::size_t>(rows.first + rows.count)];
    return std::span(data + first, static_cast<std::size_t>(last - first));
  };
  std::vector<Incoming> in;
  std::vector<Outgoing> out;
  std::span<T const> own;
  for (auto const& rows : sends) {
    auto const elements = part(sent.data(), from, rows);
    if (rows.rank == ranks.rank())
      own = elements;
    else
      out.push_back({rows.rank, std::as_bytes(elements)});
  }
  for (auto const& rows : receives) {
    auto const elements = part(received.data(), to, rows);
    if (rows.rank == ranks.rank())
      std::copy(own.begin(), own.end(), elements.begin());
    else
      in.push_back({rows.rank, std::as_writable_bytes(elements)});
  }
  if (auto const pending = ranks.start(std::move(in), std::move(out))) pending->finish();
  return received;
}

/// Offsets of rows with `each` elements.
inline std::vector<std::int64_t> even_offsets(std::size_t rows, std::int64_t each = 1) {
  std::vector<std::int64_t> offsets(rows + 1);
  for (std::size_t r = 0; r <= rows; ++r) offsets[r] = static_cast<std::int64_t>(r) * each;
  return offsets;
}

/// Sends the lists of the halo's sent rows; returns those of the halo's rows.
template <class T>
std::vector<T> exchange_lists(Communicator const& ranks, HaloExchange const& halo,
                              std::vector<T> const& sent, std::vector<std::int64_t> const& from,
                              std::vector<std::int64_t> const& to) {
  return exchange_parts<T>(ranks, halo.sends, sent, from, halo.receives, to);
}

/// The same for one value per row.
template <class T>
std::vector<T> exchange_values(Communicator const& ranks, HaloExchange const& halo,
                               std::vector<T> const& sent) {
  return exchange_lists(ranks, halo, sent, even_offsets(sent.size()),
                        even_offsets(halo.rows.size()));
}

/// From one value of each local row: the values of the halo's rows.
template <class T>
std::vector<T> values_of_halo(Communicator const& ranks, HaloExchange const& halo,
                              std::vector<T> const& local) {
  std::vector<T> sent;
  for (std::int64_t const row : halo.sent) sent.push_back(local[static_cast<std::size_t>(row)]);
  return exchange_values(ranks, halo, sent);
}

/// The lists of all ranks, concatenated, on each rank; if one lacks the memory, all throw.
template <class T>
std::vector<T> gather_lists(Communicator const& ranks, std::vector<T> const& mine) {
  std::vector<std::int64_t> sizes = ranks.gather(static_cast<std::int64_t>(mine.size()));
  std::int64_t all = 0;
  for (auto& size : sizes) all += size, size *= static_cast<std::int64_t>(sizeof(T));
  auto result = ranks.run_agreed([&] { return std::vector<T>(static_cast<std::size_t>(all)); });
  ranks.gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(result)), sizes);
  return result;
}

/// The same on `root` only; empty on other ranks. If the root lacks the memory, all throw.
template <class T>
std::vector<T> collect_lists(Communicator const& ranks, int root, std::vector<T> const& mine) {
  auto const sizes = ranks.gather(static_cast<std::int64_t>(mine.size()));
  auto all = ranks.run_agreed([&] {
    auto const count = std::reduce(sizes.begin(), sizes.end());
    return std::vector<T>(ranks.rank() == root ? static_cast<std::size_t>(count) : 0);
  });
  std::vector<Incoming> in;
  std::vector<Outgoing> out;
  if (ranks.rank() != root) {
    out.push_back({root, std::as_bytes(std::span(mine))});
  } else {
    std::size_t first = 0;
    for (int r = 0; r < ranks.size(); ++r) {
      auto const count = static_cast<std::size_t>(sizes[static_cast<std::size_t>(r)]);
      auto const place = std::span(all).subspan(first, count);
      if (r == root)
        std::copy(mine.begin(), mine.end(), place.begin());
      else
        in.push_back({r, std::as_writable_bytes(place)});
      first += count;
    }
  }
  if (auto const pending = ranks.start(std::move(in), std::move(out))) pending->finish();
  return all;
}

/// The rows of all ranks, in order, on each rank or on `root` only. Rows: has lists `offsets`, from
/// 0, `columns` and optionally `values`.
template <class Rows>
Rows gather_rows(Communicator const& ranks, Rows const& mine, std::optional<int> root = {}) {
  auto const gather = [&](auto const& list) {
    return root ? collect_lists(ranks, *root, list) : gather_lists(ranks, list);
  };
  auto lengths = ranks.run_agreed([&] {
    auto each = mine.offsets;
    std::adjacent_difference(each.begin(), each.end(), each.begin());
    each.erase(each.begin());
    return each;
  });
  lengths = gather(lengths);
  Rows all;
  all.columns = gather(mine.columns);
  if constexpr (requires { mine.values; }) all.values = gather(mine.values);
  ranks.run_agreed([&] {
    all.offsets.resize(lengths.size() + 1);
    std::inclusive_scan(lengths.begin(), lengths.end(), all.offsets.begin() + 1);
  });
  return all;
}

}  // namespace blockspan::distributed
