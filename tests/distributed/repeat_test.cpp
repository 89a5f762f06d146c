// Twenty runs of products and solves on two and three ranks: the same bits, whoever comes late.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "distributed/ranks.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class TwentyRuns : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  using Operator = LinearOperator<Value, Exec>;
  Exec const exec;

  void SetUp() override {
    if (world().size() != 2 && world().size() != 3) GTEST_SKIP() << "for two and three ranks";
  }

  /// The plan's own kernels, and parts of unlike size.
  DistributedOperator<Value, Exec> parts(std::string const& spec) const {
    auto const rows = parse_generator_spec(spec).rows;
    std::vector<std::int64_t> cuts;
    for (int r = 0; r <= world().size(); ++r)
      cuts.push_back(rows * r * (r + 2) / (world().size() * (world().size() + 2)));
    RowPartition const like(cuts, 0);
    return distributed_operator(exec, generate_distributed<Value>(exec, world(), spec, &like));
  }
  Block<Value, Exec> random(Operator const& A, int columns) const {
    Block<Value, Exec> const X("X", static_cast<std::size_t>(A.rows()),
                               static_cast<std::size_t>(columns));
    fill_random(exec, X, 3, 0, A.row_space().first_row());
    return X;
  }

  /// run() gives numbers of this rank; each rank is late in some of its calls and operators.
  template <class Run>
  void expect_same(Run const& run) const {
    auto const first = run();
    EXPECT_FALSE(world().all(first.empty()));
    for (int number = 1; number < 20; ++number) {
      std::this_thread::sleep_for(
          std::chrono::microseconds(200 * ((world().rank() * 5 + number) % 7)));
      EXPECT_TRUE(run() == first) << number;  // goes on as the other ranks do
    }
  }
};
TYPED_TEST_SUITE(TwentyRuns, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(TwentyRuns, OfProductsAndTheirSumsHaveTheSameBits) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : {"rmat:11:4:symmetric", "laplace7:18x17x16"})
    for (int const k : {1, 8})
      this->expect_same([&] {
        auto const A = this->parts(spec);
        auto const X = this->random(A, k), Y = this->random(A, k), Z = this->random(A, k);
        Kokkos::View<S*, Exec> const dots("dots", k);
        spmm_dots(this->exec, S(1), A, X, S(0), Y, dots, nullptr);
        spmm(this->exec, Op::adjoint, S(1), A, X, S(0), Z);
        auto all = entries(Y);
        for (auto const& more : {entries(Z), entries(dots)})
          all.insert(all.end(), more.begin(), more.end());
        return all;
      });
}

TYPED_TEST(TwentyRuns, OfConjugateGradientsHaveTheSameBits) {
  using S = typename TypeParam::Scalar;
  auto const A = this->parts("laplace7:12x11x10");
  auto const B = this->random(A, 4);
  for (bool const block : {false, true})
    this->expect_same([&] {
      Block<S, Exec> const X("X", B.extent(0), B.extent(1));
      CgOptions<S, Exec> options;
      options.method = block ? CgMethod::block : CgMethod::pseudo_block;
      options.max_iterations = 20;
      EXPECT_EQ(solve_spd(this->exec, A, B, X, options).iterations, 20);
      return entries(X);
    });
}

TYPED_TEST(TwentyRuns, OfLobpcgHaveTheSameBits) {
  using S = typename TypeParam::Scalar;
  auto const A = this->parts("laplace7:12x11x10");
  this->expect_same([&] {
    Block<S, Exec> const X("X", static_cast<std::size_t>(A.rows()), 5);
    LobpcgOptions<S, Exec> options;
    options.wanted = 3;
    options.path = SolvePath::iterative;
    options.max_iterations = 10;
    auto const report = lobpcg(this->exec, A, X, options);
    EXPECT_EQ(report.iterations, 10);
    auto all = entries(X);
    all.insert(all.end(), report.eigenvalues.begin(), report.eigenvalues.end());
    return all;
  });
}

}  // namespace
}  // namespace blockspan::test
