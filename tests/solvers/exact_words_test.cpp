// What exact methods say of problems that are not as they should be, and in whose numbers.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/lowest_pairs.hpp>

#include "solvers/exact_pencils.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Config>
class ExactWords : public ExactTest<Config> {
 protected:
  static ExactOptions buckling(int pairs) { return {.pairs = pairs, .form = Spectral::buckling}; }
  static ExactOptions resumed(std::string const& path) {
    ExactOptions options{.slice = 10};
    options.resume = path;
    return options;
  }
};
TYPED_TEST_SUITE(ExactWords, ExactConfigs, ConfigNames);

/// Where a monitor has said stop it is not asked again, a badly placed shift or not.
TYPED_TEST(ExactWords, AMonitorIsAskedNoMoreOnceItStops) {
  auto const K = this->chain(60);
  double const place = this->chain_spectrum(60)[19];
  for (double const off : {0.0, 1e-12, 1e-9, 1e-3}) {
    int calls = 0;
    ExactOptions options{.pairs = 5};
    options.monitor = [&](ExactProgress const&) { return ++calls > 1; };
    auto const report = this->near(K, nullptr, place + off, options);
    EXPECT_EQ(calls, 1) << off;
    EXPECT_EQ(report.status, Status::stopped_by_monitor) << off;
    EXPECT_EQ(report.proof, Proof::none) << off;
  }
}

}  // namespace
}  // namespace blockspan::test
