// How many sums an iteration takes: each is one gather over ranks, which is what a step of many
// ranks waits for.
#include <exception>
#include <memory>
#include <string>

#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "distributed/devices.hpp"

namespace blockspan::test {
namespace {

/// Another transport, whose gathers are counted.
class CountingTransport final : public Transport {
 public:
  CountingTransport(Transport& of, int& gathers) : of_(of), gathers_(gathers) {}
  int rank() const override { return of_.rank(); }
  int size() const override { return of_.size(); }
  std::string name() const override { return of_.name(); }
  void gather(std::span<std::byte const> mine, std::span<std::byte> all,
              std::span<std::int64_t const> sizes) override {
    ++gathers_;
    of_.gather(mine, all, sizes);
  }
  void transpose(std::span<std::int64_t const> to, std::span<std::int64_t> from) override {
    of_.transpose(to, from);
  }
  void broadcast(std::span<std::byte> bytes, int root) override { of_.broadcast(bytes, root); }
  std::unique_ptr<PendingExchange> start(std::vector<Incoming> const& in,
                                         std::vector<Outgoing> const& out) override {
    return of_.start(in, out);
  }
  [[noreturn]] void abort(int exit_status) override {
    of_.abort(exit_status);
    std::terminate();
  }

 private:
  Transport& of_;
  int& gathers_;
};

template <class Config>
class GathersOfAStep : public ::testing::Test {
 public:
  using Value = typename Config::Scalar;
  using Options = CgOptions<Value, Exec>;
  Exec const exec;
  int gathers = 0;
  Communicator ranks;

  void SetUp() override {
    if (world().size() == 1) GTEST_SKIP() << "for several ranks";
    ranks = Communicator(std::make_shared<CountingTransport>(*world().transport(), gathers));
  }

  /// Of a step: solves of 10 and 18 differ in nothing else, and no column is done before.
  /// solve(steps) ends after so many.
  template <class Solve>
  int of_a_step(Solve const& solve) {
    int const steps = 10, more = 8;
    int counts[2];
    for (int run = 0; run < 2; ++run) {
      gathers = 0;
      solve(steps + run * more);
      counts[run] = gathers;
    }
    EXPECT_EQ((counts[1] - counts[0]) % more, 0);
    return (counts[1] - counts[0]) / more;
  }

  int of_steps(Communicator const& over, Options options, bool chebyshev_too = false) {
    auto const matrix = generate_distributed<Value>(exec, over, "laplace7:14x13x12");
    auto const A = distributed_operator(exec, matrix);
    auto const D = jacobi(exec, matrix->diagonal_block(exec));
    auto const T = chebyshev<Value, Exec>(exec, A, D.factors());
    if (chebyshev_too)
      options.preconditioner = &T;
    else
      options.preconditioner = &D;
    Block<Value, Exec> const B("B", static_cast<std::size_t>(A.rows()), 3),
        X("X", B.extent(0), B.extent(1));
    fill_random(exec, B, 3, 0, A.row_space().first_row());
    return of_a_step([&](int steps) {
      options.method = CgMethod::pseudo_block;
      options.max_iterations = steps;
      options.tolerance = 1e-14;
      Kokkos::deep_copy(X, Value(0));
      auto const report = solve_spd(exec, A, B, X, options);
      EXPECT_EQ(report.iterations, options.max_iterations);
    });
  }

  /// Of LOBPCG, whose directions are all active.
  int of_iterations(LobpcgOptions<Value, Exec> options) {
    auto const matrix = generate_distributed<Value>(exec, ranks, "laplace7:14x13x12");
    auto const A = distributed_operator(exec, matrix);
    auto const D = jacobi(exec, matrix->diagonal_block(exec));
    options.preconditioner = &D;
    options.wanted = 3;
    options.tolerance = 1e-14;
    options.criterion = Criterion::backward;
    options.path = SolvePath::iterative;
    options.guess_columns = 0;
    Block<Value, Exec> const X("X", static_cast<std::size_t>(A.rows()), 6);
    return of_a_step([&](int iterations) {
      options.max_iterations = iterations;
      auto const report = lobpcg(exec, A, X, options);
      EXPECT_EQ(report.status, Status::max_iterations);
    });
  }
};
TYPED_TEST_SUITE(GathersOfAStep, ConfigsWith<InDouble>, ConfigNames);

TYPED_TEST(GathersOfAStep, OfConjugateGradientsAreAsManyAsItsReductions) {
  typename TestFixture::Options single, two;
  single.single_reduction = true;
  EXPECT_EQ(this->of_steps(this->ranks, single), 1);
  EXPECT_EQ(this->of_steps(this->ranks, two), 2);
  EXPECT_EQ(this->of_steps(this->ranks, two, true), 3);  // (r, M^-1 r) apart
}

TYPED_TEST(GathersOfAStep, AreAsManyByATransportOfDevices) {
  auto const devices = this->ranks.with_device(std::make_shared<HostDevices>(this->ranks));
  typename TestFixture::Options single;
  single.single_reduction = true;
  EXPECT_EQ(this->of_steps(devices, single), 1);
}

/// Ranks agree on it, whichever of them has one.
TYPED_TEST(GathersOfAStep, AMonitorOfOneRankTakesOneMore) {
  typename TestFixture::Options options;
  options.single_reduction = true;
  if (world().rank() == 1) options.monitor = [](auto const&) { return true; };
  EXPECT_EQ(this->of_steps(this->ranks, options), 2);
}

/// Gram matrices, a pass each on hosts, and norms of residuals.
constexpr int gathers_of_lobpcg = blockspan::support::runs_on_host_v<Exec> ? 3 : 2;

TYPED_TEST(GathersOfAStep, OfLobpcgAreAsManyAsItsSums) {
  EXPECT_EQ(this->of_iterations({}), gathers_of_lobpcg);
}

/// Monitors, clocks and checkpoints are asked for together.
TYPED_TEST(GathersOfAStep, MonitorAndClockOfLobpcgTakeOneMore) {
  LobpcgOptions<typename TestFixture::Value, Exec> options;
  if (world().rank() == 1) options.monitor = [](auto const&) { return true; };
  if (world().rank() == 0) options.time_limit = 1000;
  EXPECT_EQ(this->of_iterations(options), gathers_of_lobpcg + 1);
}

}  // namespace
}  // namespace blockspan::test
