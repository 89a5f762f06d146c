// Blockspan's product against that of cuSPARSE.
#include <blockspan/operators/cusparse_operator.hpp>

#include "operators/peers.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Config>
class CusparseOperator : public ::testing::Test {};
TYPED_TEST_SUITE(CusparseOperator, Configs, ConfigNames);

TYPED_TEST(CusparseOperator, AgreesOrSaysThatItIsAbsent) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const make = [&](auto const& A, CusparseAlgorithm algorithm = CusparseAlgorithm::csr_alg2) {
    return cusparse_operator(exec, A, algorithm);
  };
  if constexpr (blockspan::support::on_cuda_v<Exec>) {
    expect_agreement<Scalar>(exec, make);
    for (auto const algorithm : {CusparseAlgorithm::csr_alg1, CusparseAlgorithm::fastest})
      expect_agreement<Scalar>(exec, [&](auto const& A) { return make(A, algorithm); },
                               {band<Scalar>(45)});
  } else {
    try {
      make(to_device(exec, band<Scalar>(5)));
      ADD_FAILURE() << "nothing was thrown";
    } catch (Error const& error) {
      EXPECT_THAT(error.what(), HasSubstr("needs the CUDA backend"));
    }
  }
}

}  // namespace
}  // namespace blockspan::test
