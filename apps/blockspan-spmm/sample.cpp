#include "blockspan-spmm/sample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace blockspan::apps {

namespace {

/// i-th point of the golden-ratio sequence in [0, 1): every beginning of it is spread evenly.
double spread(std::int64_t i) {
  double const point = 0.6180339887498949 * static_cast<double>(i);
  return point - std::floor(point);
}

}  // namespace

std::vector<std::int64_t> choose_rows(std::vector<std::int64_t> const& lengths,
                                      std::int64_t limit) {
  auto const rows = static_cast<std::int64_t>(lengths.size());
  std::vector<std::int64_t> chosen(lengths.size());
  std::iota(chosen.begin(), chosen.end(), std::int64_t{0});
  std::int64_t const all = std::accumulate(lengths.begin(), lengths.end(), rows);
  if (all <= limit) return chosen;

  auto const longest = std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
  chosen = {0, rows - 1, longest};
  auto const cost = [&](std::int64_t row) { return lengths[static_cast<std::size_t>(row)] + 1; };
  std::int64_t left = limit;  // for the others: one huge row must not take it all
  for (std::int64_t i = 1; i <= rows && left > 0; ++i) {
    auto const row = std::min(rows - 1, static_cast<std::int64_t>(spread(i) * double(rows)));
    if (cost(row) > left) continue;  // a shorter one may still fit
    left -= cost(row);
    chosen.push_back(row);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace blockspan::apps
