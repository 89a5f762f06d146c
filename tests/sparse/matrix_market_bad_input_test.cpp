#include <gtest/gtest.h>

#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/validate.hpp>

#include "sparse/dense.hpp"
#include "support/files.hpp"

namespace blockspan::test {
namespace {

using namespace std::string_literals;
#ifdef KOKKOS_ENABLE_SERIAL
using Reader = Kokkos::Serial;  // thousands of tiny matrices: no thread team for each
#else
using Reader = Kokkos::DefaultHostExecutionSpace;
#endif

std::string const banner = "%%MatrixMarket matrix ";
std::string const real = banner + "coordinate real general\n";
std::string const array = banner + "array real general\n";

struct BadInput {
  std::string name;
  std::string text;
  std::int64_t line;
  std::int64_t column;
  std::string token;
  std::string expected;  ///< part of what the message says should stand there
};

std::ostream& operator<<(std::ostream& out, BadInput const& bad) { return out << bad.name; }

std::vector<BadInput> const bad_inputs{
    {"Empty", "", 1, 1, "end of file", "%%MatrixMarket"},
    {"NoBanner", "3 3 1\n1 1 1\n", 1, 1, "3", "%%MatrixMarket"},
    {"BlankFirstLine", "\n" + real + "1 1 0\n", 1, 1, "end of line", "%%MatrixMarket"},
    {"BannerMisspelt", "%%MatrixMarkt matrix coordinate real general\n1 1 0\n", 1, 1,
     "%%MatrixMarkt", "%%MatrixMarket"},
    {"Vector", "%%MatrixMarket vector coordinate real general\n", 1, 16, "vector", "matrix"},
    {"UnknownFormat", banner + "sparse real general\n", 1, 23, "sparse", "coordinate or array"},
    {"UnknownField", banner + "coordinate quaternion general\n", 1, 34, "quaternion",
     "complex or pattern"},
    {"UnknownSymmetry", banner + "coordinate real diagonal\n", 1, 39, "diagonal", "skew-symmetric"},
    {"BannerCutShort", banner + "coordinate real\n1 1 0\n", 1, 38, "end of line", "general"},
    {"PatternArray", banner + "array pattern general\n1 1\n", 1, 29, "pattern",
     "arrays have values"},
    {"PatternSkew", banner + "coordinate pattern skew-symmetric\n1 1 0\n", 1, 42, "skew-symmetric",
     "general or symmetric"},
    {"ComplexIntoReal", banner + "coordinate complex general\n1 1 1\n1 1 1 1\n", 1, 34, "complex",
     "scalar is real"},
    {"NoSize", real + "% only comments\n\n", 4, 1, "end of file", "size"},
    {"SizeOfAnArray", real + "3 3\n", 2, 4, "end of line", "number of entries"},
    {"SizeTooLong", real + "3 3 1 7\n", 2, 7, "7", "end of the line"},
    {"SizeNegative", real + "3 -3 1\n", 2, 3, "-3", "number of columns"},
    {"SizeNotANumber", real + "three 3 1\n", 2, 1, "three", "number of rows"},
    {"SizeFraction", real + "3.0 3 1\n", 2, 1, "3.0", "number of rows"},
    {"SizeBeyond64Bits", real + "3 3 99999999999999999999\n", 2, 5, "99999999999999999999",
     "number of entries"},
    {"RowsBeyondOrdinal", real + "2147483648 3 1\n1 1 1\n", 2, 1, "2147483648", "32-bit ordinals"},
    {"ColumnsBeyondOrdinal", real + "3 3000000000 1\n1 1 1\n", 2, 3, "3000000000",
     "32-bit ordinals"},
    {"EntriesBeyondOffset", real + "100000 100000 2147483648\n1 1 1\n", 2, 15, "2147483648",
     "32-bit offsets"},
    {"ArrayBeyondOffset", array + "100000 100000\n1\n", 2, 8, "10000000000", "32-bit offsets"},
    {"ArrayBeyond64Bits", array + "4294967296 4294967296\n1\n", 2, 12, "4294967296", "2^63"},
    {"SymmetricNotSquare", banner + "coordinate real symmetric\n3 4 0\n", 2, 3, "4",
     "as many columns as rows"},
    {"HugeStatedCount", real + "3 3 2000000000\n1 1 1\n", 4, 1, "end of file",
     "entry 2 of 2000000000"},
    {"HugeStatedRows", real + "2000000000 3 2\n1 1 1\n", 4, 1, "end of file", "entry 2 of 2"},
    {"TooFewEntries", real + "3 3 3\n1 1 1\n2 2 2\n", 5, 1, "end of file", "entry 3 of 3"},
    {"TooManyEntries", real + "3 3 2\n1 1 1\n2 2 2\n 3 3 3\n", 5, 2, "3",
     "end of the file after 2 entries"},
    {"TextAfterTheEntries", real + "3 3 1\n1 1 1\nthe end\n", 4, 1, "the",
     "end of the file after 1 entries"},
    {"TruncatedValue", real + "3 3 2\n1 1 1\n2 2", 4, 4, "end of line", "finite number"},
    {"TruncatedIndex", real + "3 3 2\n1 1 1\n2", 4, 2, "end of line", "column index"},
    {"RowZero", real + "3 3 2\n1 1 1\n0 2 1\n", 4, 1, "0", "row index from 1 to 3"},
    {"ColumnZero", real + "3 3 2\n1 1 1\n1 0 1\n", 4, 3, "0", "column index from 1 to 3"},
    {"RowTooLarge", real + "3 3 2\n1 1 1\n4 2 1\n", 4, 1, "4", "row index from 1 to 3"},
    {"ColumnTooLarge", real + "3 3 2\n1 1 1\n  2   44 1\n", 4, 7, "44", "column index from 1 to 3"},
    {"IndexBeyond64Bits", real + "3 3 1\n99999999999999999999999 1 1\n", 3, 1,
     "99999999999999999999999", "row index"},
    {"IndexNegative", real + "3 3 1\n-1 1 1\n", 3, 1, "-1", "row index"},
    {"IndexFraction", real + "3 3 1\n1 1.0 1\n", 3, 3, "1.0", "column index"},
    {"TwoEntriesOnALine", real + "3 3 2\n1 1 1 2 2 2\n", 3, 7, "2", "end of the line"},
    {"TrailingCharacters", real + "3 3 1\n1 1 1.5abc\n", 3, 5, "1.5abc", "finite number"},
    {"TrailingWord", real + "3 3 1\n1 1 1.5 abc\n", 3, 9, "abc", "end of the line"},
    {"CommentBehindAnEntry", real + "3 3 1\n1 1 1.5 % note\n", 3, 9, "%", "end of the line"},
    {"ValueMissing", real + "3 3 1\n1 1\n", 3, 4, "end of line", "finite number"},
    {"ValueInPattern", banner + "coordinate pattern general\n3 3 1\n1 1 1\n", 3, 5, "1",
     "end of the line"},
    {"ImaginaryInReal", real + "3 3 1\n1 1 1 2\n", 3, 7, "2", "end of the line"},
    {"FractionInInteger", banner + "coordinate integer general\n3 3 1\n1 1 1.5\n", 3, 5, "1.5",
     "integer"},
    {"Nan", real + "3 3 2\n1 1 1\n2 2 NaN\n", 4, 5, "NaN", "finite number"},
    {"NegativeNan", real + "3 3 1\n2 2 -nan(1)\n", 3, 5, "-nan(1)", "finite number"},
    {"Infinity", real + "3 3 1\n2 2 inf\n", 3, 5, "inf", "finite number"},
    {"NegativeInfinity", real + "3 3 1\n2 2 -Infinity\n", 3, 5, "-Infinity", "finite number"},
    {"DoubleSign", real + "3 3 1\n2 2 +-1\n", 3, 5, "+-1", "finite number"},
    {"LoneSign", real + "3 3 1\n2 2 -\n", 3, 5, "-", "finite number"},
    {"LonePoint", real + "3 3 1\n2 2 .\n", 3, 5, ".", "finite number"},
    {"ExponentMissing", real + "3 3 1\n2 2 1e\n", 3, 5, "1e", "finite number"},
    {"FortranExponentMissing", real + "3 3 1\n2 2 1d\n", 3, 5, "1d", "finite number"},
    {"Hexadecimal", real + "3 3 1\n2 2 0x1p3\n", 3, 5, "0x1p3", "finite number"},
    {"DecimalComma", real + "3 3 1\n2 2 1,5\n", 3, 5, "1,5", "finite number"},
    {"BeyondDouble", real + "3 3 1\n2 2 -1e400\n", 3, 5, "-1e400", "range of double"},
    {"BeyondDoubleFortran", real + "3 3 1\n2 2 1D+309\n", 3, 5, "1D+309", "range of double"},
    {"NulByte", real + "3 3 1\n1 1 1"s + "\0\n"s, 3, 5, "1\\x00", "finite number"},
    {"NulLine", real + "3 3 1\n\0\0\0\n"s, 3, 1, "\\x00\\x00\\x00", "row index"},
    {"BinaryJunk",
     "\x7f"
     "ELF\x02\x01\x01\0\0\0\n\xff\xfe"s,
     1, 1, "\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00", "%%MatrixMarket"},
    {"JunkInTheBody", real + "3 3 1\n\xff\xfe 1 1\n", 3, 1, "\\xff\\xfe", "row index"},
    {"DiagonalInSkew", banner + "coordinate real skew-symmetric\n3 3 2\n2 1 1\n2 2 0\n", 4, 1, "2",
     "no diagonal entry"},
    {"BothTriangles", banner + "coordinate real symmetric\n3 3 3\n2 1 1\n3 3 1\n1 2 1\n", 5, 1,
     "1 2", "each position once"},
    {"SumBeyondDouble", real + "3 3 3\n2 1 1e308\n3 3 1\n2 1 1e308\n", 5, 1, "2 1",
     "add up to a finite number"},
    {"ArrayTooShort", array + "2 2\n1\n2\n3\n", 6, 1, "end of file", "entry 4 of 4"},
    {"ArrayTooLong", array + "2 2\n1\n2\n3\n4\n5\n", 7, 1, "5", "end of the file after 4 entries"},
    {"ArrayTwoOnALine", array + "2 2\n1 2\n3\n4\n", 3, 3, "2", "end of the line"},
    {"ArrayNan", array + "2 2\n1\nnan\n3\n4\n", 4, 1, "nan", "finite number"},
    {"TruncatedSymmetricArray", banner + "array real symmetric\n2 2\n1\n2\n", 5, 1, "end of file",
     "entry 3 of 3"},
    {"FirstErrorFirst", real + "3 3 4\n1 1 x\n9 9 1\n2 2 nan\n", 3, 5, "x", "finite number"},
};

class MatrixMarketRefuses : public ::testing::TestWithParam<BadInput> {
 protected:
  template <class Read>
  void expect_error(std::string const& path, Read const& read) {
    auto const& bad = GetParam();
    try {
      read();
      FAIL() << "accepted";
    } catch (MatrixMarketError const& error) {
      EXPECT_EQ(error.file, path);
      EXPECT_EQ(error.line, bad.line) << error.what();
      EXPECT_EQ(error.column, bad.column) << error.what();
      EXPECT_EQ(error.token, bad.token);
      EXPECT_NE(error.expected.find(bad.expected), std::string::npos) << error.what();
      std::string const place =
          path + ":" + std::to_string(bad.line) + ":" + std::to_string(bad.column);
      EXPECT_EQ(std::string(error.what()).rfind(place, 0), 0u) << error.what();
      EXPECT_NE(std::string(error.what()).find("'" + bad.token + "'"), std::string::npos);
    }
  }
  TemporaryFolder folder;
};

TEST_P(MatrixMarketRefuses, WithFileLineColumnAndToken) {
  auto const path = write_text(folder / "bad.mtx", GetParam().text);
  expect_error(path, [&] { read_matrix_market<double>(Reader(), path); });
}

INSTANTIATE_TEST_SUITE_P(Bad, MatrixMarketRefuses, ::testing::ValuesIn(bad_inputs),
                         [](auto const& bad) { return bad.param.name; });

template <class Read>
MatrixMarketError error_of(Read const& read) {
  try {
    read();
  } catch (MatrixMarketError const& error) {
    return error;
  }
  return {"nothing thrown", 0, 0, "", ""};
}

TEST(MatrixMarketErrors, ComplexDiagonalOfAHermitianMatrix) {
  TemporaryFolder const folder;
  auto const path = write_text(
      folder / "a.mtx", banner + "coordinate complex hermitian\n2 2 2\n2 1 1 1\n2 2 1 0.5\n");
  auto const error = error_of([&] { read_matrix_market<Kokkos::complex<double>>(Reader(), path); });
  EXPECT_EQ(error.line, 4);
  EXPECT_EQ(error.column, 7);
  EXPECT_EQ(error.token, "0.5");
  auto const rounded = write_text(
      folder / "r.mtx", banner + "coordinate complex hermitian\n2 2 2\n2 1 1 1\n2 2 1 2e-16\n");
  EXPECT_NO_THROW(read_matrix_market<Kokkos::complex<double>>(Reader(), rounded));
}

TEST(MatrixMarketErrors, AFloatHasASmallerRange) {
  TemporaryFolder const folder;
  auto const path = write_text(folder / "a.mtx", real + "1 1 1\n1 1 1e39\n");
  auto const error = error_of([&] { read_matrix_market<float>(Reader(), path); });
  EXPECT_EQ(error.token, "1e39");
  EXPECT_NE(error.expected.find("range of float"), std::string::npos);
  EXPECT_NO_THROW(read_matrix_market<double>(Reader(), path));
}

TEST(MatrixMarketErrors, MoreThanTheMachineHolds) {
  TemporaryFolder const folder;
  auto const path = write_text(folder / "a.mtx", real + "4611686018427387904 3 1\n1 1 1\n");
  auto const error = error_of(
      [&] { read_matrix_market<double, Reader, std::size_t, std::int64_t>(Reader(), path); });
  EXPECT_EQ(error.line, 2);
  EXPECT_EQ(error.token, "4611686018427387904");
  auto const block = write_text(folder / "b.mtx", real + "2147483647 2147483647 1\n1 1 1\n");
  EXPECT_NE(error_of([&] { read_block<double>(block); }).expected.find("memory"),
            std::string::npos);
}

TEST(MatrixMarketErrors, MissingFilesDirectoriesAndPipes) {
  TemporaryFolder const folder;
  for (auto const& path : {folder / "absent.mtx", folder.path().string(), "/dev/null"s, ""s}) {
    auto const error = error_of([&] { read_matrix_market_header(path); });
    EXPECT_EQ(error.file, path);
    EXPECT_EQ(error.line, 0);
    EXPECT_FALSE(error.token.empty());
  }
  EXPECT_EQ(error_of([&] { read_matrix_market_header(folder.path().string()); }).token,
            "directory");
}

TEST(MatrixMarketErrors, ALineWithoutEnd) {
  TemporaryFolder const folder;
  auto const path = write_text(folder / "a.mtx", real + std::string(3 << 20, '1'));
  auto const error = error_of([&] { read_matrix_market<double>(Reader(), path); });
  EXPECT_EQ(error.line, 2);
  EXPECT_EQ(error.token, "longer line");
}

/// Every byte of a good file deleted, and replaced: an Error or a sound matrix, nothing else.
TEST(MatrixMarketErrors, NoChangedByteBreaksTheReader) {
  TemporaryFolder const folder;
  std::vector<std::string> const good{
      banner +
          "coordinate real symmetric\n% c\n4 4 5\n1 1 1.5e+01\n2 1 -2\n3 3 3D0\r\n4 2 .25\n4 4 1\n",
      banner + "coordinate pattern general\n3 4 3\n1 1\n2 4\n3 2\n",
      banner + "array complex hermitian\n2 2\n1 0\n2 -3\n4 0\n"};
  std::string const replacements = " 9-x\n%.e1+\0\t"s;
  int refused = 0;
  int accepted = 0;
  for (auto const& text : good) {
    auto const attempt = [&](std::string const& changed) {
      auto const path = write_text(folder / "changed.mtx", changed);
      try {
        auto const A = read_matrix_market<Kokkos::complex<double>>(Reader(), path, {.threads = 1});
        ASSERT_TRUE(validate(Reader(), A, {.finite = true})) << changed;
        ASSERT_TRUE(HostCopy(A).sorted_and_unique()) << changed;
        ++accepted;
      } catch (Error const&) {
        ++refused;
      }
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
      attempt(std::string(text).erase(i, 1));
      attempt(text.substr(0, i));
      for (char const c : replacements) attempt(std::string(text).replace(i, 1, 1, c));
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace blockspan::test
