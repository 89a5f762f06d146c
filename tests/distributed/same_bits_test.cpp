// DistributedOptions::same_bits: products, sums and solves of any number of ranks have the bits of
// one, on hosts and devices, by way of the host and by a transport of devices.
#include <memory>
#include <string>
#include <vector>

#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "distributed/devices.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Config>
class SameBits : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  using Operator = DistributedOperator<Value, Exec>;
  Exec const exec;

  /// This process alone, all ranks, and all ranks with a transport of devices where there is one.
  static inline std::vector<Communicator> ways;
  static void SetUpTestSuite() {
    ways = {Communicator(), world()};
    if constexpr (blockspan::support::runs_on_host_v<Exec>)
      ways.push_back(world().with_device(std::make_shared<HostDevices>(world())));
#ifdef BLOCKSPAN_HAS_NCCL
    else if (each_has_a_device(world()))
      ways.push_back(nccl_communicator(world()));
#endif
  }
  static void TearDownTestSuite() { ways.clear(); }

  Operator operator_of(Communicator const& ranks, std::string const& spec) const {
    return distributed_operator(exec, generate_distributed<Value>(exec, ranks, spec),
                                {.columns = 8, .same_bits = true});
  }
  Block<Value, Exec> random(Operator const& A, int columns, std::uint64_t seed) const {
    return random_rows<Value>(exec, A.row_space(), A.rows(), columns, seed);
  }
  /// Each way has the numbers of the first, which make(operator) gives.
  template <class Make>
  void expect_same(std::string const& spec, Make const& make) const {
    std::vector<Value> wanted;
    for (auto const& ranks : ways) {
      auto const found = make(operator_of(ranks, spec));
      if (wanted.empty()) wanted = found;
      ASSERT_EQ(found.size(), wanted.size()) << spec;
      for (std::size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(found[i], wanted[i]) << spec << ", " << ranks.name() << ", number " << i;
    }
  }
  /// The rows of all ranks behind `numbers`.
  static void append_rows(std::vector<Value>& numbers, RowSpace const& space,
                          Block<Value, Exec> const& block) {
    auto const mine = on_host(block);
    std::vector<std::int64_t> sizes;
    auto const& ranks = space.communicator();
    for (int r = 0; r < ranks.size(); ++r) {
      auto const [first, last] = space.range(r, static_cast<std::int64_t>(block.extent(0)));
      sizes.push_back((last - first) * static_cast<std::int64_t>(block.extent(1)));
    }
    std::int64_t all = 0;
    for (auto& size : sizes) all += size, size *= static_cast<std::int64_t>(sizeof(Value));
    std::size_t const before = numbers.size();
    numbers.resize(before + static_cast<std::size_t>(all));
    std::span const to = std::span(numbers).subspan(before);
    if (ranks.size() == 1)
      std::copy(mine.begin(), mine.end(), to.begin());
    else
      ranks.gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(to), sizes);
  }
  template <class Numbers>
  static void append(std::vector<Value>& numbers, Numbers const& more) {
    for (auto const& number : more) numbers.push_back(Value(number));
  }
};
TYPED_TEST_SUITE(SameBits, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(SameBits, OfProductsAndTheirSums) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : {"laplace7:18x17x16", "laplace5:80x70", "fixed:4000x4000:9",
                                 "rmat:11:4:symmetric", "elasticity:10"})
    for (int const k : {1, 2, 3, 5, 8, 17, 33})
      this->expect_same(spec, [&](auto const& A) {
        auto const space = A.row_space();
        auto const X = this->random(A, k, 1), Y = this->random(A, k, 2);
        std::vector<S> numbers;
        Kokkos::View<S*, Exec> const dots("dots", k);
        Kokkos::View<double*, Exec> const squares("squares", k);
        A.apply(this->exec, X, Y);
        this->append_rows(numbers, space, Y);
        spmm_dots(this->exec, S(1.5), A, X, S(-0.5), Y, dots, squares);
        this->append_rows(numbers, space, Y);
        this->append(numbers, on_host(dots)), this->append(numbers, on_host(squares));
        return numbers;
      });
}

/// Many chunks, so that ranks give several nodes; the last chunk is not full.
TYPED_TEST(SameBits, OfSumsOverRows) {
  using S = typename TypeParam::Scalar;
  using Small = Kokkos::View<S**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  for (std::string const spec : {"laplace5:301x283", "laplace5:41x30"})
    for (int const k : {1, 2, 7, 16, 40})
      this->expect_same(spec, [&](auto const& A) {
        auto const space = A.row_space();
        Workspace<Exec> workspace(space);
        auto const X = this->random(A, k, 1), Y = this->random(A, k, 2);
        std::vector<S> numbers;
        Kokkos::View<double*, Kokkos::HostSpace> const norms("norms", k);
        Kokkos::View<S*, Kokkos::HostSpace> const dots("dots", k);
        Small const G("G", k, k), left("left", 2, k);
        column_norms(this->exec, X, norms, workspace);
        column_dots(this->exec, X, Y, dots, workspace);
        gram(this->exec, X, Y, G, workspace);
        gram(this->exec, Kokkos::subview(X, Kokkos::ALL, std::pair(0, std::min(k, 2))), Y,
             Kokkos::subview(left, std::pair(0, std::min(k, 2)), Kokkos::ALL), workspace);
        this->append(numbers, entries(norms)), this->append(numbers, entries(dots));
        this->append(numbers, entries(G)), this->append(numbers, entries(left));
        EXPECT_NE(numbers[0], S(0));
        return numbers;
      });
}

TYPED_TEST(SameBits, OfConjugateGradients) {
  using S = typename TypeParam::Scalar;
  for (int const kind : {0, 1, 2})
    for (std::string const preconditioner : {"none", "jacobi", "chebyshev"})
      this->expect_same("laplace7:24x22x20", [&](auto const& A) {
        auto const M = jacobi(this->exec, A.matrix().diagonal_block(this->exec));
        auto const setup = chebyshev_setup<S, Exec>(this->exec, A, M.factors(), {.degree = 3});
        auto const T = chebyshev<S, Exec>(A, setup, {.degree = 3});
        auto const B = this->random(A, 5, 3);
        Block<S, Exec> const X("X", B.extent(0), B.extent(1));
        CgOptions<S, Exec> options;
        options.tolerance = 1e-9;
        options.keep_history = true;
        options.method = kind == 2 ? CgMethod::block : CgMethod::pseudo_block;
        options.single_reduction = kind == 1;
        if (preconditioner == "jacobi") options.preconditioner = &M;
        if (preconditioner == "chebyshev") options.preconditioner = &T;
        auto const report = solve_spd(this->exec, A, B, X, options);
        EXPECT_TRUE(report.converged()) << to_string(report.status);
        std::vector<S> numbers{S(report.iterations)};
        for (auto const& step : report.history) this->append(numbers, step.residuals);
        this->append_rows(numbers, A.row_space(), X);
        return numbers;
      });
}

TYPED_TEST(SameBits, OfEigenpairs) {
  using S = typename TypeParam::Scalar;
  for (std::string const spec : {"laplace7:22x21x20", "elasticity:11"})
    this->expect_same(spec, [&](auto const& A) {
      auto const M = jacobi(this->exec, A.matrix().diagonal_block(this->exec));
      auto const setup = chebyshev_setup<S, Exec>(this->exec, A, M.factors(), {.degree = 4});
      auto const T = chebyshev<S, Exec>(A, setup, {.degree = 4});
      Block<S, Exec> const X("X", static_cast<std::size_t>(A.rows()), 6);
      LobpcgOptions<S, Exec> options;
      options.wanted = 4;
      options.path = SolvePath::iterative;
      options.preconditioner = &T;
      options.certify = true;
      auto const report = lobpcg(this->exec, A, X, options);
      EXPECT_TRUE(report.converged()) << to_string(report.status);
      std::vector<S> numbers{S(report.iterations)};
      for (auto const& step : report.history) this->append(numbers, step.eigenvalues);
      this->append(numbers, report.backward_errors), this->append(numbers, report.error_bounds);
      this->append_rows(numbers, A.row_space(), X);
      return numbers;
    });
}

TYPED_TEST(SameBits, AreRefusedWhereRowsAreCutElsewhere) {
  using S = typename TypeParam::Scalar;
  if (world().size() == 1) GTEST_SKIP() << "one rank is not cut";
  std::int64_t const rows = 5000;
  std::vector<std::int64_t> cuts;
  for (int r = 0; r <= world().size(); ++r) cuts.push_back(rows * r / world().size() / 7 * 7);
  cuts.back() = rows;
  RowPartition const like(cuts, 0);
  auto const matrix = generate_distributed<S>(this->exec, world(), "fixed:5000x5000:9", &like);
  EXPECT_THAT(message_of([&] { distributed_operator(this->exec, matrix, {.same_bits = true}); }),
              AllOf(HasSubstr("need cuts at multiples of"),
                    HasSubstr("rank 1 begins at row " + std::to_string(cuts[1]))));
}

}  // namespace
}  // namespace blockspan::test
