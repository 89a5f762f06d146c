#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include <blockspan/sparse/matrix_market.hpp>

#include "sparse/dense.hpp"
#include "support/files.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class MatrixMarketWriting : public ::testing::Test {
 protected:
  /// Rows of awkward numbers: extremes, subnormals, signed zeros, no short decimal form.
  auto awkward_matrix() {
    using Value = typename Config::Scalar;
    using Real = real_t<Value>;
    using Limits = std::numeric_limits<Real>;
    std::vector<Real> const numbers{
        Limits::max(),    -Limits::min(),       Limits::denorm_min(), Real(0),
        -Real(0),         Real(1) / Real(3),    Real(-0.1),           Real(123456789),
        Limits::lowest(), 1 + Limits::epsilon()};
    std::vector<Value> values;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if constexpr (is_complex_v<Value>)
        values.emplace_back(numbers[i], numbers[numbers.size() - 1 - i]);
      else
        values.push_back(numbers[i]);
    return make_matrix<Value, typename Config::Exec, int, int>(
        {0, 3, 3, 7, 7, 10}, {0, 2, 6, 1, 2, 3, 4, 0, 5, 6}, values, 7);
  }

  TemporaryFolder folder;
};
TYPED_TEST_SUITE(MatrixMarketWriting, Configs, ConfigNames);

TYPED_TEST(MatrixMarketWriting, AMatrixComesBackToTheBit) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  auto const A = this->awkward_matrix();
  for (std::string const name : {"a.mtx", "a.mtx.gz"}) {
    auto const path = this->folder / name;
    write_matrix_market(path, A, {.comment = "two\nlines"});
    auto const B = read_matrix_market<Scalar>(Exec(), path);
    EXPECT_EQ(B.numRows(), A.numRows());
    EXPECT_EQ(B.numCols(), A.numCols());
    EXPECT_TRUE(HostCopy(A).same_bits(HostCopy(B)));
  }
  EXPECT_EQ(read_text(this->folder / "a.mtx.gz").substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(this->folder.path()), {}), 2);
}

TYPED_TEST(MatrixMarketWriting, ABlockOfAnyLayoutComesBackToTheBit) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  HostBlock<Scalar> const X("X", 9, 5);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      X(i, j) = Scalar(real_t<Scalar>(i + 1) / real_t<Scalar>(3 * j + 7));
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, Exec> const left("left", 9, 5);
  auto const mirror = Kokkos::create_mirror_view(left);
  Kokkos::deep_copy(mirror, X);
  Kokkos::deep_copy(left, mirror);
  auto const check = [&](auto const& block, std::size_t first_column) {
    auto const path = this->folder / "x.mtx.gz";
    write_block(path, block);
    auto const Y = read_block<Scalar>(path);
    ASSERT_EQ(Y.extent(0), 9u);
    ASSERT_EQ(Y.extent(1), block.extent(1));
    for (std::size_t i = 0; i < Y.extent(0); ++i)
      for (std::size_t j = 0; j < Y.extent(1); ++j) EXPECT_EQ(Y(i, j), X(i, j + first_column));
  };
  check(X, 0);
  check(left, 0);
  check(Kokkos::subview(left, Kokkos::ALL, std::make_pair(1, 4)), 1);
  check(Kokkos::subview(X, Kokkos::ALL, std::make_pair(2, 4)), 2);
}

using Host = Kokkos::DefaultHostExecutionSpace;
using Complex = Kokkos::complex<double>;

class MatrixMarketSymmetricWriting : public ::testing::Test {
 protected:
  template <class Scalar>
  auto matrix(std::string const& kind, std::string const& body) {
    std::string const head = "%%MatrixMarket matrix coordinate " + kind + "\n3 3 ";
    auto const entries = std::count(body.begin(), body.end(), '\n');
    return read_matrix_market<Scalar>(
        Host(), write_text(folder / "in.mtx", head + std::to_string(entries) + "\n" + body));
  }

  template <class Scalar>
  void round_trip(std::string const& kind, std::string const& body, MatrixMarketSymmetry symmetry) {
    auto const A = matrix<Scalar>(kind, body);
    auto const path = folder / "out.mtx";
    write_matrix_market(path, A, {.symmetry = symmetry});
    EXPECT_EQ(read_matrix_market_header(path).symmetry, symmetry);
    EXPECT_LT(read_matrix_market_header(path).entries, A.nnz());
    EXPECT_EQ(entries_of(read_matrix_market<Scalar>(Host(), path)), entries_of(A));
  }

  TemporaryFolder folder;
};

TEST_F(MatrixMarketSymmetricWriting, TheLowerTriangleHoldsEverySymmetry) {
  round_trip<double>("real symmetric", "1 1 1.5\n2 1 -2\n3 2 0.1\n",
                     MatrixMarketSymmetry::symmetric);
  round_trip<double>("real skew-symmetric", "2 1 -2\n3 2 0.1\n",
                     MatrixMarketSymmetry::skew_symmetric);
  round_trip<Complex>("complex symmetric", "1 1 1 2\n3 2 0.1 3\n", MatrixMarketSymmetry::symmetric);
  round_trip<Complex>("complex hermitian", "1 1 1 0\n3 2 0.1 3\n", MatrixMarketSymmetry::hermitian);
}

TEST_F(MatrixMarketSymmetricWriting, AMatrixWithoutTheSymmetryIsRefusedAndNothingIsWritten) {
  auto const path = folder / "out.mtx";
  auto const expect_refusal = [&](auto const& A, MatrixMarketSymmetry symmetry) {
    EXPECT_THROW(write_matrix_market(path, A, {.symmetry = symmetry}), Error);
    EXPECT_FALSE(std::filesystem::exists(path));
  };
  auto const A = matrix<double>("real general", "1 2 3\n2 1 3.0000000000000004\n");
  expect_refusal(A, MatrixMarketSymmetry::symmetric);
  expect_refusal(A, MatrixMarketSymmetry::skew_symmetric);
  expect_refusal(A, MatrixMarketSymmetry::hermitian);
  expect_refusal(matrix<double>("real general", "1 2 3\n"), MatrixMarketSymmetry::symmetric);
  expect_refusal(matrix<Complex>("complex general", "1 1 1 1\n"), MatrixMarketSymmetry::hermitian);
  expect_refusal(matrix<double>("real general", "1 1 1\n"), MatrixMarketSymmetry::skew_symmetric);
}

TEST_F(MatrixMarketSymmetricWriting, AMatrixThatIsNoneIsRefused) {
  auto const broken = make_matrix<double, Host, int, int>({0, 3, 1}, {0}, {1.0}, 2);
  EXPECT_THROW(write_matrix_market(folder / "out.mtx", broken), Error);
  auto const outside = make_matrix<double, Host, int, int>({0, 1}, {2}, {1.0}, 2);
  EXPECT_THROW(write_matrix_market(folder / "out.mtx", outside), Error);
}

TEST_F(MatrixMarketSymmetricWriting, AnEntryThatIsNoNumberIsNamed) {
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  auto const A =
      make_matrix<double, Host, int, int>({0, 2, 5}, {1, 0, 0, 0, 1}, {2.0, 1.0, nan, 2.0, 1.0}, 2);
  for (auto const symmetry : {MatrixMarketSymmetry::general, MatrixMarketSymmetry::symmetric}) {
    try {
      write_matrix_market(folder / "out.mtx", A, {.symmetry = symmetry});
      FAIL() << "accepted";
    } catch (Error const& error) {
      EXPECT_NE(std::string(error.what()).find("entry (2, 1) is nan, which"), std::string::npos)
          << error.what();
    }
  }
}

TEST(MatrixMarketFiles, AreReplacedWholeOrNotAtAll) {
  TemporaryFolder const folder;
  HostBlock<double> const X("X", 2, 1);
  auto const path = write_text(folder / "x.mtx", "what was there");
  X(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(write_block(path, X), Error);
  EXPECT_EQ(read_text(path), "what was there");
  X(1, 0) = 2;
  write_block(path, X);
  EXPECT_EQ(read_text(path), "%%MatrixMarket matrix array real general\n2 1\n0\n2\n");
  std::filesystem::create_symlink(path, folder / "link.mtx");
  X(0, 0) = 1;
  write_block(folder / "link.mtx", X);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.mtx"));
  EXPECT_EQ(read_block<double>(path)(0, 0), 1.0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST(MatrixMarketFiles, PlacesThatCannotBeWrittenAreErrors) {
  TemporaryFolder const folder;
  HostBlock<double> const X("X", 2, 1);
  for (auto const& path :
       {folder / "absent/x.mtx", folder.path().string(), std::string("/dev/full"), std::string()}) {
    try {
      write_block(path, X);
      FAIL() << path << " accepted";
    } catch (Error const& error) {
      EXPECT_NE(std::string(error.what()).find("cannot write " + path), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace blockspan::test
