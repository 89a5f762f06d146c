// Rows that hold nothing but a diagonal, whose columns others kept: what is left is symmetric, and
// has the solution of the whole.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/sparse/dirichlet.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/symmetry.hpp>

#include "sparse/dense.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
class Dirichlet : public ::testing::Test {
 protected:
  template <class Scalar>
  auto matrix(std::vector<std::vector<Scalar>> const& rows) {
    std::vector<int> offsets{0}, columns;
    std::vector<Scalar> values;
    for (auto const& row : rows) {
      for (std::size_t j = 0; j < row.size(); ++j)
        if (row[j] != Scalar(0)) columns.push_back(static_cast<int>(j)), values.push_back(row[j]);
      offsets.push_back(static_cast<int>(columns.size()));
    }
    return make_matrix<Scalar, Exec>(offsets, columns, values, static_cast<int>(rows.size()));
  }
  /// Row by row, where that was made.
  template <class Result>
  static std::vector<double> entries(Result const& A) {
    auto const host = sparse::to_host(A);
    std::vector<double> all(static_cast<std::size_t>(host.rows * host.columns));
    for (std::int64_t i = 0; i < host.rows; ++i)
      for (auto p = host.offsets(i); p < host.offsets(i + 1); ++p)
        all[static_cast<std::size_t>(i * host.columns + host.indices(p))] = host.values(p);
    return all;
  }
};
TYPED_TEST_SUITE(Dirichlet, Backends, ConfigNames);

TYPED_TEST(Dirichlet, IsTakenApart) {
  TypeParam const exec;
  auto const A =
      this->template matrix<double>({{4, -1, 0, 3}, {-1, 4, -1, 0}, {0, -1, 4, 7}, {0, 0, 0, 2}});
  auto const parts = eliminate_dirichlet(exec, A);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->rows, 1);
  EXPECT_TRUE(find_asymmetry(exec, parts->matrix).exact());
  EXPECT_EQ(this->entries(parts->matrix),
            (std::vector<double>{4, -1, 0, 0, -1, 4, -1, 0, 0, -1, 4, 0, 0, 0, 0, 2}));
  EXPECT_EQ(this->entries(parts->kept),
            (std::vector<double>{0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0}));
  using Vectors = Kokkos::View<double**, Kokkos::LayoutRight, TypeParam>;
  Vectors const B("B", 4, 2), Y("Y", 4, 2);
  auto const host = Kokkos::create_mirror_view(B);
  for (int i = 0; i < 4; ++i) host(i, 0) = i + 1, host(i, 1) = -10 * (i + 1);
  Kokkos::deep_copy(B, host);
  Kokkos::deep_copy(Y, 5.0);
  parts->complete(exec, B, Y);
  auto const after = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Y);
  EXPECT_EQ(after(0, 0), 5);
  EXPECT_EQ(after(3, 0), 2);
  EXPECT_EQ(after(3, 1), -20);
  parts->known(exec, B, Y);
  Kokkos::deep_copy(after, Y);
  EXPECT_EQ(after(0, 0), 0);
  EXPECT_EQ(after(3, 1), -20);
}

TYPED_TEST(Dirichlet, IsLeftAloneWhereThereIsNone) {
  TypeParam const exec;
  EXPECT_FALSE(eliminate_dirichlet(exec, generate<double>(exec, "laplace5:6x6")));
  // a diagonal row that nobody reads; one without a diagonal; one that is zero
  EXPECT_FALSE(eliminate_dirichlet(exec, this->template matrix<double>({{2, 0}, {0, 3}})));
  EXPECT_FALSE(eliminate_dirichlet(exec, this->template matrix<double>({{2, 1}, {0, 0}})));
  EXPECT_FALSE(eliminate_dirichlet(exec, CrsMatrix<double, TypeParam>()));  // and no offsets
  // asymmetry elsewhere is no affair of it
  auto const parts =
      eliminate_dirichlet(exec, this->template matrix<double>({{2, 1, 5}, {3, 2, 0}, {0, 0, 1}}));
  ASSERT_TRUE(parts);
  EXPECT_FALSE(find_asymmetry(exec, parts->matrix));
  EXPECT_THROW(eliminate_dirichlet(exec, generate<double>(exec, "uniform:5x6:2")), Error);
}

TYPED_TEST(Dirichlet, RowsInAnyOrderAndStoredZerosCountAsWhatTheyAre) {
  TypeParam const exec;
  // row 1 stores a zero, row 0 has its columns reversed and one of them twice
  auto const A = make_matrix<double, TypeParam>({0, 3, 5}, {1, 0, 1, 0, 1}, {1, 2, 2, 0, 4}, 2);
  auto const parts = eliminate_dirichlet(exec, A);
  ASSERT_TRUE(parts);
  EXPECT_EQ(this->entries(parts->kept), (std::vector<double>{0, 3, 0, 0}));
  EXPECT_EQ(this->entries(parts->matrix), (std::vector<double>{2, 0, 0, 4}));
}

}  // namespace
}  // namespace blockspan::test
