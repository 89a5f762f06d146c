#include "common/ranks/ranks.hpp"

#include <algorithm>
#include <numeric>

#include "common/files/words.hpp"

namespace blockspan::apps {

double RanksReport::imbalance(std::vector<std::int64_t> const& counts) {
  auto const sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (sum == 0) return 1;
  auto const largest = *std::max_element(counts.begin(), counts.end());
  return static_cast<double>(largest) * static_cast<double>(counts.size()) /
         static_cast<double>(sum);
}

std::string RanksReport::in_words() const {
  return grouped(static_cast<long long>(rows.size())) + " by " + transport + ", rows " +
         (partition == "contiguous" ? "in their order" : "by " + partition) + "; the largest has " +
         formatted("%.2f", imbalance(rows)) + " of the mean rows and " +
         formatted("%.2f", imbalance(nonzeros)) + " of the mean nonzeros; up to " +
         grouped(*std::max_element(halo_rows.begin(), halo_rows.end())) + " halo rows of " +
         grouped(*std::max_element(neighbours.begin(), neighbours.end())) + " neighbours, " +
         grouped(*std::max_element(received_bytes.begin(), received_bytes.end())) +
         " bytes a product";
}

}  // namespace blockspan::apps
