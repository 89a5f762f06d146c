#include "support/compare.hpp"

#include <algorithm>
#include <cstring>

#include "support/instantiations.hpp"

namespace blockspan::test {

template <class Scalar>
::testing::AssertionResult matches(HostBlock<Scalar> const& actual,
                                   Reference<Scalar> const& wanted) {
  if (actual.rows() != wanted.rows || actual.columns() != wanted.columns)
    return ::testing::AssertionFailure() << "shapes differ";
  struct Miss {
    long double excess;
    std::int64_t i, j;
  };
  std::vector<Miss> misses;
  for (std::int64_t i = 0; i < wanted.rows; ++i)
    for (std::int64_t j = 0; j < wanted.columns; ++j) {
      long double const error = std::abs(extended(actual(i, j)) - wanted.value(i, j));
      if (!(error <= wanted.bound(i, j))) misses.push_back({error - wanted.bound(i, j), i, j});
    }
  if (misses.empty()) return ::testing::AssertionSuccess();
  auto const worse = [](Miss const& a, Miss const& b) {
    return !(a.excess <= b.excess) && b.excess == b.excess;
  };
  std::stable_sort(misses.begin(), misses.end(), worse);
  auto result = ::testing::AssertionFailure() << misses.size() << " entries are off;";
  for (std::size_t m = 0; m < std::min<std::size_t>(3, misses.size()); ++m) {
    auto const [excess, i, j] = misses[m];
    result << " (" << i << ", " << j << "): " << actual(i, j) << " instead of "
           << wanted.value(i, j) << ", allowed " << wanted.bound(i, j) << ";";
  }
  return result;
}

template <class Scalar>
bool same_bits(HostBlock<Scalar> const& A, HostBlock<Scalar> const& B) {
  if (A.rows() != B.rows() || A.columns() != B.columns()) return false;
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t j = 0; j < A.columns(); ++j)
      if (std::memcmp(&A(i, j), &B(i, j), sizeof(Scalar)) != 0) return false;
  return true;
}

#define INSTANTIATE(Scalar)                                                                        \
  template ::testing::AssertionResult matches(HostBlock<Scalar> const&, Reference<Scalar> const&); \
  template bool same_bits(HostBlock<Scalar> const&, HostBlock<Scalar> const&);
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
