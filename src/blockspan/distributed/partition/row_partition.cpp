#include <algorithm>
#include <utility>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/distributed/row_partition.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

RowPartition::RowPartition(std::vector<std::int64_t> cuts, std::int64_t unit)
    : cuts_(std::move(cuts)), unit_(unit) {
  constexpr auto where = "RowPartition";
  require(cuts_.size() >= 2 && cuts_.front() == 0, where, "cuts of at least one rank, from row 0");
  for (std::size_t r = 0; r + 1 < cuts_.size(); ++r) {
    require(cuts_[r] <= cuts_[r + 1], where, "rank ", r, " begins at row ", cuts_[r],
            ", the next one at ", cuts_[r + 1]);
    require(unit == 0 || cuts_[r] % unit == 0 || cuts_[r] == cuts_.back(), where, "rank ", r,
            " begins at row ", cuts_[r], ", no multiple of ", unit);
  }
}

int RowPartition::owner(std::int64_t row) const {
  auto const next = std::upper_bound(cuts_.begin(), cuts_.end(), row);
  return static_cast<int>(next - cuts_.begin()) - 1;
}

RowPartition cut_by_weight(std::span<std::int64_t const> weights, std::int64_t rows,
                           std::int64_t unit, int ranks) {
  constexpr auto where = "cut_by_weight";
  require(ranks >= 1 && unit >= 1 && rows >= 0, where, rows, " rows in units of ", unit, " for ",
          ranks, " ranks");
  auto const units = ceil_div(rows, unit);
  require(static_cast<std::int64_t>(weights.size()) == units, where, weights.size(), " weights of ",
          units, " units");
  bool const weightless =
      std::all_of(weights.begin(), weights.end(), [](auto w) { return w == 0; });
  auto const weight = [&](std::int64_t u) {
    return weightless ? std::int64_t{1} : weights[static_cast<std::size_t>(u)];
  };
  std::int64_t total = 0;
  for (std::int64_t u = 0; u < units; ++u) total += weight(u);
  std::vector<std::int64_t> cuts{0};
  std::int64_t u = 0, before = 0;
  for (int r = 1; r < ranks; ++r) {
    double const share = static_cast<double>(total) / ranks * r;
    // the cut is moved beyond a unit if more than half of it belongs to the lower ranks
    while (u < units && static_cast<double>(before) + static_cast<double>(weight(u)) / 2 < share)
      before += weight(u++);
    cuts.push_back(std::min(u * unit, rows));
  }
  cuts.push_back(rows);
  return RowPartition(std::move(cuts), unit > 1 ? unit : 0);
}

RowPartition cut_for_sums(std::vector<std::int64_t> entries, std::int64_t rows, std::int64_t unit,
                          int ranks) {
  auto weights = std::move(entries);
  for (std::size_t u = 0; u < weights.size(); ++u) {
    auto const first = static_cast<std::int64_t>(u) * unit;
    weights[u] += std::min(first + unit, rows) - first;
  }
  for (;; unit *= 2) {
    auto partition = cut_by_weight(weights, rows, unit, ranks);
    bool fits = true;
    for (int r = 0; r < ranks; ++r) fits = fits && partition.rows(r) <= RowSpace::most_units * unit;
    if (fits) return partition;
    std::size_t const pairs = (weights.size() + 1) / 2;
    for (std::size_t u = 0; u < pairs; ++u)
      weights[u] = weights[2 * u] + (2 * u + 1 < weights.size() ? weights[2 * u + 1] : 0);
    weights.resize(pairs);
  }
}

std::int64_t unit_of_cuts(std::int64_t rows, std::int64_t chunk, int ranks) {
  std::int64_t unit = chunk;
  while (ceil_div(rows, unit) > std::int64_t{RowSpace::most_units / 2} * ranks) unit *= 2;
  return unit;
}

}  // namespace blockspan
