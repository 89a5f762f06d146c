// Checkpoints of solves whose rows are spread over ranks: one file, which any number of ranks goes
// on from, with the bits of a solve that was never interrupted.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <blockspan/solvers/lobpcg.hpp>

#include "distributed/ranks.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using Scalar = double;
using SolveOptions = LobpcgOptions<Scalar, Exec>;

/// The lower ranks of a test as ranks of their own; the others are alone.
Communicator first_ranks(int count) {
  MPI_Comm part = MPI_COMM_NULL;
  int const mine = world().rank() < count ? 0 : 1 + world().rank();
  MPI_Comm_split(MPI_COMM_WORLD, mine, world().rank(), &part);
  auto const ranks = mpi_communicator(part);
  MPI_Comm_free(&part);
  return ranks;
}

class Checkpoint : public ::testing::Test {
 public:
  static constexpr int wanted = 3, columns = 5;
  struct Solve {
    LobpcgReport<Scalar> report;
    std::vector<Scalar> vectors;
  };

  Checkpoint() {
    if (world().rank() == 0) folder_.emplace();
    std::string path = folder_ ? *folder_ / "solve.checkpoint" : "";
    std::vector<char> letters(path.begin(), path.end());
    world().broadcast(letters, 0);
    file_.assign(letters.begin(), letters.end());
  }

  /// The same problem on the first `count` ranks.
  std::optional<Solve> solve(int count, std::function<void(SolveOptions&)> const& change) const {
    auto const ranks = first_ranks(count);
    std::optional<Solve> result;
    if (world().rank() < count) {
      Exec const exec;
      auto const A =
          distributed_operator(exec, generate_distributed<Scalar>(exec, ranks, "laplace7:20x16x16"),
                               {.same_bits = true});
      Block<Scalar, Exec> const X("X", static_cast<std::size_t>(A.rows()), columns);
      Block<Scalar, Exec> const Y("Y", X.extent(0), 2);  // constraints: two unit vectors
      for (std::int64_t const row : {std::int64_t{5}, std::int64_t{4000}}) {
        auto const local = row - A.row_space().first_row();
        if (local >= 0 && local < A.rows()) Y(static_cast<std::size_t>(local), row > 5 ? 1 : 0) = 1;
      }
      SolveOptions options;
      options.wanted = wanted;
      options.path = SolvePath::iterative;
      options.constraints = Y;
      change(options);
      auto report = lobpcg(exec, A, X, options);
      Block<Scalar, Exec> const whole(
          "whole",
          ranks.rank() == 0 ? static_cast<std::size_t>(A.row_space().global_rows(A.rows())) : 0,
          columns);
      gather_block(A.row_space(), X, whole);
      result = Solve{std::move(report), entries(whole)};
    }
    world().sum(0);  // none begins the next solve while a file is being written
    return result;
  }

  void interrupted(SolveOptions& options) const {
    options.checkpoint = file_;
    options.max_iterations = 7;
  }

  std::string const& file() const { return file_; }

 private:
  std::optional<TemporaryFolder> folder_;
  std::string file_;
};

TEST_F(Checkpoint, GoesOnWithTheSameBitsOnAnotherNumberOfRanks) {
  int const all = world().size();
  auto const expected = solve(1, [](SolveOptions&) {});
  int const fewer = std::max(1, all - 1);
  std::set<std::pair<int, int>> const numbers{{1, all}, {all, 1}, {fewer, all}, {all, fewer}};
  for (auto const& [before, after] : numbers) {
    auto const first = solve(before, [&](SolveOptions& options) { interrupted(options); });
    if (first) {
      EXPECT_EQ(first->report.status, Status::max_iterations) << to_string(first->report.status);
    }
    auto const found = solve(after, [&](SolveOptions& options) { options.resume = file(); });
    if (world().rank() > 0) continue;
    SCOPED_TRACE(std::to_string(before) + " ranks, then " + std::to_string(after));
    EXPECT_TRUE(found->report.converged()) << to_string(found->report.status);
    EXPECT_EQ(found->report.iterations, expected->report.iterations);
    EXPECT_EQ(found->report.eigenvalues, expected->report.eigenvalues);
    EXPECT_EQ(found->report.backward_errors, expected->report.backward_errors);
    EXPECT_EQ(found->report.history.size(), expected->report.history.size());
    EXPECT_EQ(found->vectors, expected->vectors);
  }
}

TEST_F(Checkpoint, IsWrittenByAllOnceItIsDueOnOne) {
  // every rank's clock is its own: one that finds the time come takes the others with it
  int const last = world().size() - 1;
  auto const found = solve(world().size(), [&](SolveOptions& options) {
    interrupted(options);
    options.checkpoint_seconds = world().rank() == last ? 0 : 1e9;
  });
  EXPECT_EQ(found->report.status, Status::max_iterations);
}

TEST_F(Checkpoint, ThatIsBadIsAnErrorOnAllRanks) {
  int const all = world().size();
  solve(all, [&](SolveOptions& options) { interrupted(options); });
  auto const refused = [&](std::string const& words,
                           std::function<void(SolveOptions&)> const& change) {
    EXPECT_THAT(message_of([&] { solve(all, change); }), HasSubstr(words));
  };
  refused("another solve: wanted", [&](SolveOptions& options) {
    options.resume = file();
    options.wanted = 2;
  });
  refused("cannot read the checkpoint",
          [&](SolveOptions& options) { options.resume = file() + ".no"; });
  refused("cannot write",
          [&](SolveOptions& options) { options.checkpoint = file() + "/no/folder"; });
  auto const size = world().rank() == 0 ? std::filesystem::file_size(file()) : 0;
  for (auto const part : {size - 1, size / 2, std::uintmax_t{100}}) {
    if (world().rank() == 0) std::filesystem::resize_file(file(), part);
    world().sum(0);
    refused("cut off or damaged", [&](SolveOptions& options) { options.resume = file(); });
  }
}

TEST_F(Checkpoint, ConstraintsThatAreNotFiniteAreAnErrorOnAllRanks) {
  int const all = world().size();
  EXPECT_THAT(message_of([&] {
                solve(all, [&](SolveOptions& options) {
                  if (world().rank() < all - 1) return;
                  Block<Scalar, Exec> const bad("bad", options.constraints.extent(0), 2);
                  bad(0, 1) = std::numeric_limits<double>::quiet_NaN();
                  options.constraints = bad;
                });
              }),
              HasSubstr("column 1 of the constraints"));
}

}  // namespace
}  // namespace blockspan::test
