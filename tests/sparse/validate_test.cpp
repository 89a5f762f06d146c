#include <limits>

#include <gtest/gtest.h>

#include <blockspan/sparse/validate.hpp>

#include "sparse/dense.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
class Validate : public ::testing::Test {
 protected:
  auto check(std::vector<int> const& offsets, std::vector<int> const& indices,
             ValidateOptions const& options = {}) {
    return validate(Exec(), make_matrix<double, Exec>(offsets, indices, values(indices.size()), 4),
                    options);
  }
  std::vector<double> values(std::size_t size) const { return std::vector<double>(size, 1.0); }
};
TYPED_TEST_SUITE(Validate, Backends, ConfigNames);

TYPED_TEST(Validate, SoundMatricesPassUnsortedAndRepeatedOnesToo) {
  EXPECT_TRUE(this->check({0, 2, 2, 3}, {0, 3, 1}));
  EXPECT_TRUE(this->check({0, 4}, {3, 1, 1, 0}));
  EXPECT_TRUE(this->check({0}, {}));
  EXPECT_TRUE(this->check({}, {}));
  EXPECT_TRUE(this->check({0, 0, 0}, {}));
  EXPECT_TRUE(validate(TypeParam(), CrsMatrix<double, TypeParam>()));
}

TYPED_TEST(Validate, EachFaultIsNamedWithRowPositionAndValues) {
  struct Case {
    std::vector<int> offsets, indices;
    std::int64_t row, position;
    std::string fault;
  };
  std::vector<Case> const cases{
      {{1, 2, 3}, {0, 1, 2}, 0, -1, "the first row offset is 1, not 0"},
      {{0, 2, 1, 3}, {0, 1, 2}, 1, -1, "row offsets fall in row 1: it starts at 2 and ends at 1"},
      {{0, 2}, {0, 1, 2}, 1, -1, "the last row offset is 2, the number of entries 3"},
      {{0, 4}, {0, 1, 2}, 1, -1, "the last row offset is 4, the number of entries 3"},
      {{0, 2000000000, 2000000001, 3},
       {0, 1, 2},
       1,
       -1,
       "the offset of row 1 is 2000000000, outside the 3 entries"},
      {{0, -5, 3}, {0, 1, 2}, 0, -1, "row offsets fall in row 0: it starts at 0 and ends at -5"},
      {{0, 1, 1, 3}, {0, 1, 4}, 2, 2, "row 2, position 2: column index 4 is outside [0, 4)"},
      {{0, 1, 3}, {0, -1, 9}, 1, 1, "row 1, position 1: column index -1 is outside [0, 4)"},
  };
  for (auto const& expected : cases) {
    auto const report = this->check(expected.offsets, expected.indices);
    EXPECT_FALSE(report.valid);
    EXPECT_EQ(report.fault, expected.fault);
    EXPECT_EQ(report.row, expected.row);
    EXPECT_EQ(report.position, expected.position);
  }
}

TYPED_TEST(Validate, SizesMustAgree) {
  auto A = make_matrix<double, TypeParam>({0, 2}, {0, 1}, this->values(2), 4);
  A.values = on_device<TypeParam>(this->values(3));
  EXPECT_EQ(validate(TypeParam(), A).fault, "the matrix has 2 column indices and 3 values");
}

TYPED_TEST(Validate, ValuesAreLookedAtOnlyWhenAsked) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const A = make_matrix<double, TypeParam>({0, 1, 3}, {0, 1, 2}, {1, 2, nan}, 3);
  EXPECT_TRUE(validate(TypeParam(), A));
  auto const report = validate(TypeParam(), A, {.finite = true});
  EXPECT_EQ(report.fault, "row 1, position 2: the value in column 2 is nan");
  using Complex = Kokkos::complex<float>;
  auto const C = make_matrix<Complex, TypeParam>({0, 1}, {0}, {Complex(0, HUGE_VALF)}, 3);
  EXPECT_FALSE(validate(TypeParam(), C, {.finite = true}));
}

TYPED_TEST(Validate, TheFirstOfManyFaultsIsReportedEveryTime) {
  std::vector<int> indices(100000, 2);
  for (std::size_t p = 31337; p < indices.size(); p += 3) indices[p] = 4;
  for (int run = 0; run < 5; ++run) {
    auto const report = this->check({0, 31337, 31337, 100000}, indices);
    EXPECT_EQ(report.position, 31337);
    EXPECT_EQ(report.row, 2);
  }
}

TYPED_TEST(Validate, WideIndexTypesWork) {
  std::size_t const huge = std::numeric_limits<std::size_t>::max();
  auto const good =
      make_matrix<float, TypeParam, std::size_t, std::int64_t>({0, 1}, {1}, {1.0f}, 2);
  EXPECT_TRUE(validate(TypeParam(), good));
  auto const bad =
      make_matrix<float, TypeParam, std::size_t, std::int64_t>({0, huge, 1}, {1}, {1.0f}, 2);
  EXPECT_FALSE(validate(TypeParam(), bad));
  auto const far = make_matrix<float, TypeParam, std::size_t, std::int64_t>(
      {0, 1}, {std::int64_t(1) << 32}, {1.0f}, 2);
  EXPECT_EQ(validate(TypeParam(), far).position, 0);
}

}  // namespace
}  // namespace blockspan::test
