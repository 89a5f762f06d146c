// Multigrid on ranks whose devices have a transport of their own.
#include <algorithm>
#include <array>
#include <memory>

#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/multivector/convert.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>

#include "distributed/devices.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class MultigridOnDevices : public OnDevices<Config> {};
TYPED_TEST_SUITE(MultigridOnDevices, ConfigsWith<InDouble>, ConfigNames);

/// factor A, which shares the pattern of A.
template <class S>
auto times(double factor, DistributedMatrix<S, Exec> const& A) {
  using Matrix = DistributedMatrix<S, Exec>;
  std::array<typename Matrix::Matrix::values_type, 3> values;
  for (auto const which : {Matrix::lower_boundary, Matrix::interior, Matrix::upper_boundary}) {
    auto const from = A.part(which).matrix.values;
    values[which] = typename Matrix::Matrix::values_type("values", from.extent(0));
    convert_block(Exec(), Block<S, Exec>(from.data(), from.extent(0), 1),
                  Block<S, Exec>(values[which].data(), from.extent(0), 1), factor);
  }
  return std::make_shared<Matrix const>(A, factor, values);
}

TYPED_TEST(MultigridOnDevices, SolvesAndIsRefreshed) {
  using S = typename TypeParam::Scalar;
  auto const A = this->parts(this->devices, "laplace7:24x23x22");
  for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single}) {
    MultigridOptions<S, Exec> const options{.coarse_rows = 50, .precision = precision};
    DistributedMultigrid<S, Exec> M(this->exec, A, options, {500});
    ASSERT_TRUE(M.report().usable()) << M.report().message;
    auto const op = distributed_operator(this->exec, A);
    auto const B = this->random(op.row_space(), op.rows(), 3, 1);
    auto const Y = this->random({}, op.rows(), 3, 2);
    Block<S, Exec> const X("X", B.extent(0), 3);
    CgOptions<S, Exec> cg;
    cg.method = CgMethod::pseudo_block;
    cg.preconditioner = &M;
    auto const report = solve_spd(this->exec, op, B, X, cg);
    EXPECT_TRUE(report.converged());
    EXPECT_LE(report.iterations, 15);  // 8 on one rank

    M.apply(this->exec, B, Y);
    auto const before = on_host(Y);
    M.refresh(this->exec, times(4, *A));  // a power of two: nothing else changes
    M.apply(this->exec, B, Y);
    auto const after = on_host(Y);
    double largest = 0;
    for (auto const& entry : before) largest = std::max(largest, double(Kokkos::abs(entry)));
    double const bound = precision == MultigridPrecision::working ? 1e-13 : 1e-6;
    for (std::size_t e = 0; e < after.size(); ++e)
      ASSERT_LE(Kokkos::abs(S(4.0 * after[e] - before[e])), bound * largest) << e;
  }
}

}  // namespace
}  // namespace blockspan::test
