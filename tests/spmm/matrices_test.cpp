// Generated and real matrices: larger than the battery, with plans left to choose.
#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
class Matrices : public ::testing::Test {};
TYPED_TEST_SUITE(Matrices, Backends, ConfigNames);

template <class Matrix>
auto to_host(std::string name, Matrix const& A) {
  using Scalar = typename Matrix::non_const_value_type;
  auto const copy = [](auto const& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  auto const offsets = copy(A.graph.row_map);
  auto const indices = copy(A.graph.entries);
  auto const values = copy(A.values);
  HostMatrix<Scalar> host{std::move(name), A.numRows(), A.numCols(), {}, {}, {}};
  host.offsets.assign(offsets.data(), offsets.data() + offsets.extent(0));
  host.indices.assign(indices.data(), indices.data() + indices.extent(0));
  host.values.assign(values.data(), values.data() + values.extent(0));
  return host;
}

template <class Exec, class Matrix>
void expect_products(Exec const& exec, std::string const& name, Matrix const& A) {
  using Scalar = typename Matrix::non_const_value_type;
  auto const host = to_host(name, A);
  SpmmPlan const plan(exec, A);
  for (Op const op : {Op::none, Op::adjoint}) {
    ProductCase<Scalar> const c{host, op, 5, Scalar(1), Scalar(-2)};
    expect_spmm(exec, plan, A, c, Storages{right, left});
  }
}

TYPED_TEST(Matrices, OfTheGeneratorsAreMultiplied) {
  TypeParam const exec;
  for (auto const* spec : {"laplace7:8x9x10", "elasticity:5", "rmat:9:8:seed=1"})
    expect_products(exec, spec, generate<double>(exec, spec));
  using Complex = Kokkos::complex<double>;
  if constexpr (has_scalar<Complex>)
    expect_products(exec, "rmat, complex", generate<Complex>(exec, "rmat:8:8:seed=2"));
}

TYPED_TEST(Matrices, OfTheCollectionAreMultiplied) {
  if (!matrix_dir()) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR is absent";
  TypeParam const exec;
  for (auto const* name : {"494_bus", "bcsstk08", "cage8", "Franz6", "adder_dcop_05", "3elt"})
    expect_products(exec, name, read_matrix_market<double>(exec, matrix_path(name)));
}

}  // namespace
}  // namespace blockspan::test
