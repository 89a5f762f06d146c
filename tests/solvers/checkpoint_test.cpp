#include <cstring>
#include <optional>

#include "solvers/solve.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using small_grid::N;
using small_grid::wanted;

template <class Exec>
using Options = LobpcgOptions<double, Exec>;

/// True if both hold the same bits.
bool same_bits(std::vector<double> const& a, std::vector<double> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

template <class Exec>
std::vector<double> entries(Block<double, Exec> const& X, int columns) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
  std::vector<double> all;
  for (std::size_t i = 0; i < X.extent(0); ++i)
    for (int j = 0; j < columns; ++j) all.push_back(host(i, j));
  return all;
}

template <class Exec>
void expect_same(Solved<double, Exec> const& a, Solved<double, Exec> const& b, int pairs) {
  EXPECT_EQ(a.report.status, b.report.status);
  EXPECT_EQ(a.report.iterations, b.report.iterations);
  EXPECT_TRUE(same_bits(a.report.eigenvalues, b.report.eigenvalues));
  EXPECT_TRUE(same_bits(a.report.backward_errors, b.report.backward_errors));
  EXPECT_TRUE(same_bits(entries(a.X, pairs), entries(b.X, pairs)));
  EXPECT_EQ(a.report.counters.operator_columns, b.report.counters.operator_columns);
  EXPECT_EQ(a.report.counters.probes, b.report.counters.probes);
  ASSERT_EQ(a.report.history.size(), b.report.history.size());
  for (std::size_t k = 0; k < a.report.history.size(); ++k) {
    EXPECT_EQ(a.report.history[k].iteration, b.report.history[k].iteration);
    EXPECT_TRUE(same_bits(a.report.history[k].eigenvalues, b.report.history[k].eigenvalues)) << k;
  }
}

/// A problem for all tests here: solve(change) runs it with changed options and checks nothing.
template <class Exec>
struct Trial {
  TestMatrix<double> A = grid7<double>(N);
  TestMatrix<double> B;
  bool generalized = false;
  bool from_start = false;  ///< a start of all wanted columns
  double tolerance = 1e-8;
  int pairs = wanted, block = 0;
  Block<double, Exec> constraints = {};

  Solved<double, Exec> run(std::function<void(Options<Exec>&)> const& change = nullptr) const {
    Exec const exec;
    TestOperator<double, Exec> const a(exec, A), t(exec, jacobi_matrix(A));
    std::optional<TestOperator<double, Exec>> b;
    if (generalized) b.emplace(exec, B);
    Solved<double, Exec> result;
    result.X = block_for<double, Exec>(A.order(), pairs);
    auto options = iteration_options<double, Exec>(pairs);
    options.block = block;
    options.tolerance = tolerance;
    options.preconditioner = &t;
    if (from_start) {
      set_columns<double, Exec>(result.X, pairs, [](int i, int j) { return 1.0 + i % (j + 2); });
      options.guess_columns = pairs;
    }
    options.constraints = constraints;
    if (change) change(options);
    result.report = b ? lobpcg(exec, a, *b, result.X, options) : lobpcg(exec, a, result.X, options);
    return result;
  }

  /// Stops at each of the iterations, goes on from the file, and compares with one run.
  void expect_exact_continuation(std::vector<int> const& stops) const {
    TemporaryFolder const folder;
    auto const file = folder / "state";
    auto const whole = run();
    ASSERT_EQ(whole.report.status, Status::converged);
    for (int const stop : stops) {
      ASSERT_LT(stop, whole.report.iterations) << "the test stops too late to mean anything";
      SCOPED_TRACE(stop);
      auto const first = run([&](auto& options) {
        options.checkpoint = file;
        options.monitor = [&](auto const& now) { return now.iteration < stop; };
      });
      EXPECT_EQ(first.report.status, Status::stopped_by_monitor);
      EXPECT_EQ(first.report.iterations, stop);
      auto const second = run([&](auto& options) { options.resume = file; });
      expect_same(whole, second, pairs);
    }
  }
};

template <class Exec>
class Checkpoint : public ::testing::Test {};
TYPED_TEST_SUITE(Checkpoint, Backends);

TYPED_TEST(Checkpoint, AContinuedSolveHasTheBitsOfOneWithoutABreak) {
  Trial<TypeParam> const trial;
  int const iterations = trial.run().report.iterations;
  trial.expect_exact_continuation({0, 1, 7, iterations - 12, iterations - 4, iterations - 1});
}

TYPED_TEST(Checkpoint, SoHasOneThatEndsWithASearchForMissedPairs) {
  Trial<TypeParam> trial;
  trial.tolerance = 1e-3;
  for (bool const from_start : {false, true}) {
    trial.from_start = from_start;
    auto const& report = trial.run().report;
    EXPECT_EQ(report.counters.probes, from_start ? 1 : 0);
    auto const& before = report.history[report.iterations - 2];
    for (double const error : before.backward_errors) EXPECT_LE(error, trial.tolerance);
    trial.expect_exact_continuation({report.iterations - 2, report.iterations - 1});
  }
}

TYPED_TEST(Checkpoint, SoHasAPencilWithConstraints) {
  Trial<TypeParam> trial;
  trial.generalized = true;
  trial.B = grid7<double>(N);
  for (int i = 0; i < trial.B.order(); ++i) trial.B.add(i, i, 3.0);
  trial.constraints = Block<double, TypeParam>("Y", trial.A.order(), 2);
  set_columns<double, TypeParam>(trial.constraints, 2,
                                 [](int i, int j) { return 1.0 + j * (i % 3); });
  trial.expect_exact_continuation({3, 20});
}

TYPED_TEST(Checkpoint, SoHasASolveInBatches) {
  Trial<TypeParam> trial;
  trial.pairs = 20;
  trial.block = 12;
  int const iterations = trial.run().report.iterations;
  trial.expect_exact_continuation({5, iterations / 2, iterations - 3});
}

TYPED_TEST(Checkpoint, SoHasOneThatLimitsEndedTwice) {
  Trial<TypeParam> const trial;
  TemporaryFolder const folder;
  auto const file = folder / "state.gz";  // compressed where the name says so
  auto const whole = trial.run();
  auto const first = trial.run([&](auto& options) {
    options.checkpoint = file;
    options.max_iterations = 5;
  });
  EXPECT_EQ(first.report.status, Status::max_iterations);
  auto const second = trial.run([&](auto& options) {
    options.resume = options.checkpoint = file;
    options.time_limit = 0;
  });
  EXPECT_EQ(second.report.status, Status::time_limit);
  EXPECT_EQ(second.report.iterations, 5);
  EXPECT_GE(second.report.seconds.total, first.report.seconds.operator_a);
  expect_same(whole, trial.run([&](auto& options) { options.resume = file; }), wanted);
}

TYPED_TEST(Checkpoint, AnErrorInTheMonitorLeavesXAndTheLastCheckpoint) {
  Trial<TypeParam> const trial;
  TemporaryFolder const folder;
  auto const file = folder / "state";
  struct Trouble {};
  Block<double, TypeParam> X;
  auto const interrupted = [&] {
    TestOperator<double, TypeParam> const a(TypeParam(), trial.A);
    TestOperator<double, TypeParam> const t(TypeParam(), jacobi_matrix(trial.A));
    X = block_for<double, TypeParam>(trial.A.order(), wanted);
    Kokkos::deep_copy(X, 7.0);
    auto options = iteration_options<double, TypeParam>(wanted);
    options.preconditioner = &t;
    options.checkpoint = file;
    options.checkpoint_seconds = 0;
    options.monitor = [](auto const& now) {
      if (now.iteration == 9) throw Trouble();
      return true;
    };
    lobpcg(TypeParam(), a, X, options);
  };
  EXPECT_THROW(interrupted(), Trouble);
  for (double const entry : entries(X, wanted)) EXPECT_EQ(entry, 7.0);
  expect_same(trial.run(), trial.run([&](auto& options) { options.resume = file; }), wanted);
}

TYPED_TEST(Checkpoint, AFileThatIsNotOneOfThisSolveIsRefused) {
  Trial<TypeParam> const trial;
  TemporaryFolder const folder;
  auto const file = folder / "state", bad = folder / "bad";
  trial.run([&](auto& options) {
    options.checkpoint = file;
    options.max_iterations = 4;
  });
  std::string const bytes = read_text(file);
  auto const refused = [&](std::string const& path, std::string const& words,
                           std::function<void(Options<TypeParam>&)> const& change = nullptr) {
    auto const message = message_of([&] {
      trial.run([&](auto& options) {
        options.resume = path;
        if (change) change(options);
      });
    });
    EXPECT_THAT(message, ::testing::HasSubstr(path));
    EXPECT_THAT(message, ::testing::HasSubstr(words));
  };
  refused(folder / "missing", "cannot read");
  refused(write_text(bad, ""), "not a checkpoint");
  refused(write_text(bad, "%%MatrixMarket matrix coordinate real general\n"), "not a checkpoint");
  refused(write_text(bad, bytes.substr(0, bytes.size() / 2)), "cut off or damaged");
  refused(write_text(bad, bytes + "x"), "damaged");
  std::string flipped = bytes;
  flipped[bytes.size() / 2] = static_cast<char>(flipped[bytes.size() / 2] ^ 16);
  refused(write_text(bad, flipped), "damaged");
  refused(file, "which", [](auto& options) { options.which = Which::largest; });
  refused(file, "preconditioned", [](auto& options) { options.preconditioner = nullptr; });
  refused(file, "wanted was 6 there and is 5 here", [](auto& options) { options.wanted = 5; });
}

TYPED_TEST(Checkpoint, AnotherMatrixIsRefused) {
  Trial<TypeParam> trial;
  TemporaryFolder const folder;
  auto const file = folder / "state";
  trial.run([&](auto& options) {
    options.checkpoint = file;
    options.max_iterations = 4;
  });
  trial.A = trial.A.scaled(2.0);
  auto const message =
      message_of([&] { trial.run([&](auto& options) { options.resume = file; }); });
  EXPECT_THAT(message, ::testing::HasSubstr("||A|| was 12 there and is 24 here"));
}

/// Dense solves have none: whatever the file holds, it is not of this solve.
TYPED_TEST(Checkpoint, ADenseSolveTakesNone) {
  TemporaryFolder const folder;
  auto const file = folder / "state";
  Trial<TypeParam> trial;
  trial.run([&](auto& options) {
    options.checkpoint = file;
    options.max_iterations = 3;
  });
  auto const dense = [&](auto& options) { options.path = SolvePath::dense; };
  EXPECT_THAT(
      message_of([&] { trial.run([&](auto& options) { dense(options), options.resume = file; }); }),
      ::testing::HasSubstr("path is dense"));
  EXPECT_THAT(message_of([&] {
                trial.run([&](auto& options) { dense(options), options.checkpoint = file; });
              }),
              ::testing::HasSubstr("path is dense"));
  trial.A = grid7<double>(3);  // too few rows for the iteration
  EXPECT_THAT(
      message_of([&] { trial.run([&](auto& options) { options.resume = file; }); }),
      ::testing::AllOf(::testing::HasSubstr("there is no checkpoint of a dense solve (five blocks"),
                       ::testing::HasSubstr(file)));
}

TYPED_TEST(Checkpoint, AFileThatCannotBeWrittenIsRefusedBeforeTheFirstIteration) {
  Trial<TypeParam> const trial;
  TemporaryFolder const folder;
  int iterations = 0;
  auto const message = message_of([&] {
    trial.run([&](auto& options) {
      options.checkpoint = folder / "no such folder/state";
      options.monitor = [&](auto const&) { return ++iterations > 0; };
    });
  });
  EXPECT_THAT(message, ::testing::HasSubstr("cannot write"));
  EXPECT_EQ(iterations, 0);
}

/// A disk that fills up later costs the checkpoint, not the solve.
TYPED_TEST(Checkpoint, OneThatCanNoLongerBeWrittenIsToldAndTheSolveGoesOn) {
  Trial<TypeParam> const trial;
  TemporaryFolder const folder;
  std::string const disk = folder / "disk";
  std::filesystem::create_directory(disk);
  int told = 0;
  auto const with_disk_until = [&](int iteration) {
    return trial.run([&](auto& options) {
      options.checkpoint = disk + "/state";
      options.checkpoint_seconds = 0;
      options.monitor = [&, iteration](auto const& now) {
        if (now.iteration == iteration) std::filesystem::remove_all(disk);
        if (now.iteration == iteration + 3) std::filesystem::create_directory(disk);
        told += !now.checkpoint_fault.empty();
        return true;
      };
    });
  };
  auto const whole = trial.run();
  auto const returns = with_disk_until(4);
  EXPECT_EQ(told, 3);
  EXPECT_EQ(returns.report.checkpoint_fault, "");
  expect_same(whole, returns, wanted);
  auto const stays_away = with_disk_until(whole.report.iterations - 1);
  EXPECT_THAT(stays_away.report.checkpoint_fault, ::testing::HasSubstr("cannot write"));
  EXPECT_THAT(stays_away.report.checkpoint_fault, ::testing::HasSubstr("No such file"));
  expect_same(whole, stays_away, wanted);
}

}  // namespace
}  // namespace blockspan::test
