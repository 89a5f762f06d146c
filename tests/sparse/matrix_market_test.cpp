#include <gtest/gtest.h>

#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/validate.hpp>

#include "sparse/dense.hpp"
#include "support/files.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

std::string const banner = "%%MatrixMarket matrix ";

template <class Config>
class MatrixMarket : public ::testing::Test {
 protected:
  auto read(std::string const& text) {
    return read_matrix_market<typename Config::Scalar>(typename Config::Exec(),
                                                       write_text(folder / "a.mtx", text));
  }

  TemporaryFolder folder;
};
TYPED_TEST_SUITE(MatrixMarket, EveryConfig, ConfigNames);

TYPED_TEST(MatrixMarket, ReadsARealGeneralMatrixSortedOntoTheBackend) {
  using Exec = typename TypeParam::Exec;
  auto const A = this->read(
      banner + "coordinate real general\n3 4 5\n3 4 -2.5\n1 3 1\n1 1 4e-1\n3 1 0\n1 2 7\n");
  EXPECT_EQ(A.numRows(), 3);
  EXPECT_EQ(A.numCols(), 4);
  EXPECT_EQ(A.nnz(), 5);
  EXPECT_TRUE(validate(Exec(), A, {.finite = true}));
  EXPECT_TRUE(HostCopy(A).sorted_and_unique());
  using Scalar = typename TypeParam::Scalar;
  double const four_tenths = static_cast<double>(real_t<Scalar>(0.4));
  EXPECT_EQ(
      entries_of(A),
      (Entries{
          {{0, 0}, four_tenths}, {{0, 1}, 7.0}, {{0, 2}, 1.0}, {{2, 0}, 0.0}, {{2, 3}, -2.5}}));
}

TYPED_TEST(MatrixMarket, ExpandsSymmetricSkewSymmetricAndPatternFiles) {
  Entries const symmetric{{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{0, 1}, 2.0}};
  EXPECT_EQ(entries_of(this->read(banner + "coordinate integer symmetric\n2 2 2\n1 1 1\n2 1 2\n")),
            symmetric);
  EXPECT_EQ(entries_of(this->read(banner + "array real symmetric\n2 2\n1\n2\n0\n")),
            (Entries{{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{0, 1}, 2.0}, {{1, 1}, 0.0}}));
  Entries const skew{{{1, 0}, 2.0}, {{0, 1}, -2.0}, {{2, 1}, 3.0}, {{1, 2}, -3.0}};
  EXPECT_EQ(
      entries_of(this->read(banner + "coordinate real skew-symmetric\n3 3 2\n2 1 2\n3 2 3\n")),
      skew);
  EXPECT_EQ(entries_of(this->read(banner + "array real skew-symmetric\n3 3\n2\n4\n3\n")),
            (Entries{{{1, 0}, 2.0},
                     {{0, 1}, -2.0},
                     {{2, 0}, 4.0},
                     {{0, 2}, -4.0},
                     {{2, 1}, 3.0},
                     {{1, 2}, -3.0}}));
  EXPECT_EQ(entries_of(this->read(banner + "coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n")),
            (Entries{{{0, 0}, 1.0}, {{1, 0}, 1.0}, {{0, 1}, 1.0}}));
}

TYPED_TEST(MatrixMarket, ReadsComplexFilesIntoComplexScalarsOnly) {
  std::string const text = banner + "coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 2 -3\n";
  if constexpr (is_complex_v<typename TypeParam::Scalar>) {
    EXPECT_EQ(entries_of(this->read(text)),
              (Entries{{{0, 0}, 1.0}, {{1, 0}, {2.0, -3.0}}, {{0, 1}, {2.0, 3.0}}}));
    EXPECT_EQ(entries_of(this->read(banner + "coordinate complex symmetric\n2 2 1\n2 1 2 -3\n")),
              (Entries{{{1, 0}, {2.0, -3.0}}, {{0, 1}, {2.0, -3.0}}}));
    EXPECT_EQ(entries_of(this->read(banner + "array complex hermitian\n2 2\n1 0\n2 -3\n4 0\n")),
              (Entries{{{0, 0}, 1.0}, {{1, 0}, {2.0, -3.0}}, {{0, 1}, {2.0, 3.0}}, {{1, 1}, 4.0}}));
  } else {
    EXPECT_THROW(this->read(text), MatrixMarketError);
  }
}

TYPED_TEST(MatrixMarket, ReadsEmptyMatricesAndEmptyRows) {
  EXPECT_EQ(this->read(banner + "coordinate real general\n0 0 0\n").numRows(), 0);
  EXPECT_EQ(this->read(banner + "array real general\n0 3\n").numCols(), 3);
  auto const A = this->read(banner + "coordinate real general\n5 3 1\n4 2 1\n");
  EXPECT_EQ(A.numRows(), 5);
  EXPECT_EQ(entries_of(A), (Entries{{{3, 1}, 1.0}}));
}

class MatrixMarketText : public ::testing::Test {
 protected:
  Entries read(std::string const& text) {
    return entries_of(read_matrix_market<double>(host, write_text(folder / "a.mtx", text)));
  }
  Kokkos::DefaultHostExecutionSpace host;
  TemporaryFolder folder;
};

TEST_F(MatrixMarketText, AnyCaseSpacingLineEndAndCommentIsFine) {
  Entries const expected{{{0, 1}, 1500.0}, {{1, 0}, -0.25}};
  EXPECT_EQ(read("%%matrixmarket MATRIX Coordinate DOUBLE GENERAL\n2 2 2\n1 2 1.5D+03\n2 1 -.25\n"),
            expected);
  EXPECT_EQ(read("%%MatrixMarket  matrix\tcoordinate real general \r\n% note\r\n\r\n  2\t2   2\r\n"
                 "\t1 2 +1.5d3  \r\n   \r\n%between\r\n  % indented\r\n+2 1 -2.5E-1\r\n\r\n% end"),
            expected);
  EXPECT_EQ(read(banner + "coordinate real general\n2 2 2\n1 2 1500.\n2 1 -0.25"), expected);
  EXPECT_EQ(read(banner + "coordinate real general\n2 2 2\n001 2 0.0015d006\n2 0001 -25e-2\n"),
            expected);
}

TEST_F(MatrixMarketText, AByteOrderMarkAndWordsBehindTheBannerAreFine) {
  Entries const expected{{{0, 0}, 2.0}};
  std::string const rest = "coordinate real general\n1 1 1\n1 1 2\n";
  EXPECT_EQ(read("\xef\xbb\xbf" + banner + rest), expected);
  EXPECT_EQ(read(banner + "coordinate real general written by hand % today\n1 1 1\n1 1 2\n"),
            expected);
}

TEST_F(MatrixMarketText, HermitianWithoutImaginaryPartsIsSymmetric) {
  for (std::string const field : {"real", "integer"})
    EXPECT_EQ(read(banner + "coordinate " + field + " hermitian\n2 2 2\n1 1 3\n2 1 -4\n"),
              (Entries{{{0, 0}, 3.0}, {{0, 1}, -4.0}, {{1, 0}, -4.0}}));
  EXPECT_EQ(read(banner + "coordinate pattern hermitian\n2 2 1\n2 1\n"),
            (Entries{{{0, 1}, 1.0}, {{1, 0}, 1.0}}));
  EXPECT_EQ(read(banner + "array real hermitian\n2 2\n1\n2\n5\n"),
            (Entries{{{0, 0}, 1.0}, {{0, 1}, 2.0}, {{1, 0}, 2.0}, {{1, 1}, 5.0}}));
}

TEST_F(MatrixMarketText, IntegersMayHaveAPointOrAnExponent) {
  auto const one = [&](std::string const& number) {
    return read(banner + "coordinate integer general\n1 1 1\n1 1 " + number + "\n")
        .at({0, 0})
        .real();
  };
  EXPECT_EQ(one("1e+16"), 1e16);
  EXPECT_EQ(one("-1.250e2"), -125.0);
  EXPECT_EQ(one("12.000"), 12.0);
  EXPECT_EQ(one("1200D-2"), 12.0);
  EXPECT_EQ(one("0.0e-7"), 0.0);
  EXPECT_EQ(one("0.00012e5"), 12.0);
  for (std::string const fraction :
       {"1.5", "1e-1", "12.5e0", "1205e-2", "9007199254740993.5", "1e-400", "0.00012e4"})
    EXPECT_THROW(one(fraction), MatrixMarketError) << fraction;
  EXPECT_THROW(one("1e400"), MatrixMarketError);
}

TEST_F(MatrixMarketText, NumbersAreRoundedCorrectlyAndTinyOnesBecomeZero) {
  auto const one = [&](std::string const& field, std::string const& number) {
    return read(banner + "coordinate " + field + " general\n1 1 1\n1 1 " + number + "\n")
        .at({0, 0})
        .real();
  };
  EXPECT_EQ(one("real", "0.1"), 0.1);
  EXPECT_EQ(one("real", "1.7976931348623157e308"), 1.7976931348623157e308);
  EXPECT_EQ(one("real", "4.9406564584124654e-324"), 4.9406564584124654e-324);
  EXPECT_EQ(one("real", "1e-400"), 0.0);
  EXPECT_EQ(one("real", "0.000e999999999999999999999"), 0.0);
  EXPECT_EQ(one("real", "0." + std::string(400, '0') + "1e401"), 1.0);
  EXPECT_EQ(one("integer", "-7"), -7.0);
  EXPECT_EQ(one("integer", "+9007199254740993"), 9007199254740992.0);
  auto const tiny =
      write_text(folder / "t.mtx", banner + "coordinate real general\n1 1 1\n1 1 -1d-400\n");
  EXPECT_TRUE(std::signbit(HostCopy(read_matrix_market<double>(host, tiny)).values(0)));
  auto const path = write_text(
      folder / "f.mtx", banner + "coordinate real general\n1 1 1\n1 1 1.00000017881393433\n");
  EXPECT_EQ(HostCopy(read_matrix_market<float>(host, path)).values(0), 1.0000002384185791f);
}

TEST_F(MatrixMarketText, RepeatedEntriesAddUp) {
  EXPECT_EQ(read(banner + "coordinate real general\n2 2 5\n2 1 1\n1 1 5\n2 1 2\n2 2 1\n2 1 4\n"),
            (Entries{{{0, 0}, 5.0}, {{1, 0}, 7.0}, {{1, 1}, 1.0}}));
  EXPECT_EQ(read(banner + "coordinate real symmetric\n2 2 2\n2 1 1\n2 1 2\n"),
            (Entries{{{0, 1}, 3.0}, {{1, 0}, 3.0}}));
}

TEST_F(MatrixMarketText, RepeatedEntriesOfAMirroredFileStayExactMirrors) {
  std::string body;
  for (char const* value :
       {"1e16 1", "1 0.1", "-1e16 1e-17", "0.1 -3", "0.3 1e17", "0.3 -1e17", "0.3 0.7"})
    body += std::string("2 1 ") + value + "\n";
  auto const path =
      write_text(folder / "h.mtx", banner + "coordinate complex hermitian\n2 2 7\n" + body);
  auto const entries = entries_of(read_matrix_market<Kokkos::complex<double>>(host, path));
  EXPECT_EQ(entries.at({0, 1}), std::conj(entries.at({1, 0})));
}

TEST_F(MatrixMarketText, EitherTriangleStandsForBoth) {
  Entries const expected{{{0, 0}, 1.0}, {{0, 1}, 2.0}, {{1, 0}, 2.0}, {{0, 2}, 3.0}, {{2, 0}, 3.0}};
  std::string const head = banner + "coordinate real symmetric\n3 3 3\n1 1 1\n";
  EXPECT_EQ(read(head + "2 1 2\n3 1 3\n"), expected);
  EXPECT_EQ(read(head + "1 2 2\n1 3 3\n"), expected);
  EXPECT_EQ(read(head + "2 1 2\n1 3 3\n"), expected);
  EXPECT_EQ(read(banner + "coordinate real skew-symmetric\n2 2 1\n1 2 4\n"),
            (Entries{{{0, 1}, 4.0}, {{1, 0}, -4.0}}));
}

TEST_F(MatrixMarketText, TheHeaderAloneTellsFieldAndSize) {
  auto const header = read_matrix_market_header(write_text(
      folder / "a.mtx", banner + "Coordinate Complex Hermitian\n%\n\n7 7 12\nnever read"));
  EXPECT_EQ(header.rows, 7);
  EXPECT_EQ(header.columns, 7);
  EXPECT_EQ(header.entries, 12);
  EXPECT_STREQ(to_string(header.format), "coordinate");
  EXPECT_STREQ(to_string(header.field), "complex");
  EXPECT_STREQ(to_string(header.symmetry), "hermitian");
  auto const array = read_matrix_market_header(
      write_text(folder / "b.mtx", banner + "array real skew-symmetric\n4 4\n"));
  EXPECT_EQ(array.entries, 6);
}

TEST_F(MatrixMarketText, BlocksComeFromArraysAndFromCoordinates) {
  auto const X = read_block<double>(
      write_text(folder / "x.mtx", banner + "array real general\n3 2\n1\n2\n3\n4\n5\n6\n"));
  ASSERT_EQ(X.extent(0), 3u);
  ASSERT_EQ(X.extent(1), 2u);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) EXPECT_EQ(X(i, j), 1 + i + 3 * j);
  auto const Y = read_block<Kokkos::complex<float>>(write_text(
      folder / "y.mtx", banner + "coordinate complex hermitian\n2 2 2\n2 1 1 2\n2 2 5 0\n"));
  EXPECT_EQ(Y(0, 0), Kokkos::complex<float>(0, 0));
  EXPECT_EQ(Y(0, 1), Kokkos::complex<float>(1, -2));
  EXPECT_EQ(Y(1, 0), Kokkos::complex<float>(1, 2));
  EXPECT_EQ(Y(1, 1), Kokkos::complex<float>(5, 0));
  auto const Z = read_block<double>(
      write_text(folder / "z.mtx", banner + "array integer skew-symmetric\n2 2\n8\n"));
  EXPECT_EQ(Z(0, 1), -8.0);
  EXPECT_EQ(Z(1, 0), 8.0);
}

}  // namespace
}  // namespace blockspan::test
