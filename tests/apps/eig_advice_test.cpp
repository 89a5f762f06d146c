// Sentences of blockspan-eig about endings that no matrix file brings about: compared with solves
// of operators that do.
#include <algorithm>
#include <cstdint>
#include <functional>

#include "apps/eig.hpp"
#include "blockspan-eig/advice.hpp"

namespace blockspan::test {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Options = LobpcgOptions<double, Exec>;

/// The path graph's matrix 2 - 1 - 1 whose image, in call number c (from 1), column j and row i, is
/// changed by `spoil`(y, c, i, j).
class SpoiledChain final : public LinearOperator<double, Exec> {
 public:
  using Spoil = std::function<double(double, int, std::size_t, std::size_t)>;
  explicit SpoiledChain(Spoil spoil) : spoil_(std::move(spoil)) {}
  std::int64_t rows() const override { return 200; }
  OperatorFacts<double, Exec> facts() const override { return {.norm_bound = 4}; }
  void apply(Exec const& exec, ConstBlock<double, Exec> const& X,
             Block<double, Exec> const& Y) const override {
    exec.fence();
    ++calls_;
    std::size_t const n = X.extent(0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < X.extent(1); ++j) {
        double const y = 2 * X(i, j) - (i > 0 ? X(i - 1, j) : 0) - (i + 1 < n ? X(i + 1, j) : 0);
        Y(i, j) = spoil_(y, calls_, i, j);
      }
  }

 private:
  Spoil spoil_;
  mutable int calls_ = 0;
};

/// A solve of the spoiled chain as blockspan-eig would tell of it.
struct Told {
  apps::EigResult result;
  std::string sentence;
};

Told tell(SpoiledChain::Spoil spoil, std::function<void(Options&)> const& change = nullptr) {
  SpoiledChain const A(std::move(spoil));
  apps::EigCommand command;
  command.matrix = "chain.mtx";
  command.path = "iterative";
  command.pairs = 3;
  Options options;
  options.wanted = command.pairs;
  options.path = SolvePath::iterative;
  options.criterion = Criterion::backward;
  if (change) change(options);
  Told told;
  told.result.block = 8;
  told.result.rows = A.rows();
  told.result.scalar = "double";
  Block<double, Exec> const X("X", 200, 8);
  told.result.solver = {lobpcg(Exec(), A, X, options), {}};
  told.result.status = told.result.solver.pair_status;
  told.sentence = apps::advice(command, told.result);
  return told;
}

void expect_words(Told const& told, Status status, std::vector<std::string> const& parts) {
  EXPECT_EQ(to_string(told.result.solver.status), to_string(status)) << told.sentence;
  EXPECT_FALSE(told.result.solver.converged());
  for (std::string const& part : parts)
    EXPECT_NE(told.sentence.find(part), std::string::npos) << part << " not in " << told.sentence;
}

TEST(EigAdvice, ProductsThatAreNotFinite) {
  auto const told = tell([](double y, int call, std::size_t i, std::size_t) {
    return call > 12 && i == 7 ? std::nan("") : y;
  });
  expect_words(told, Status::operator_not_finite, {"finite vectors gave NaN or Inf"});
  EXPECT_EQ(told.result.solver.fault.operator_name, "A");
}

TEST(EigAdvice, AProductThatIsNotSymmetric) {
  auto const told = tell([](double y, int, std::size_t i, std::size_t) {
    return i % 3 == 0 ? 1.5 * y : y;  // D A
  });
  expect_words(told, Status::operator_not_hermitian, {"chain.mtx is not symmetric"});
}

/// D A again, not refused: the part of A x that is not Hermitian stays in every residual.
TEST(EigAdvice, ResidualsThatNoLongerFall) {
  auto const told =
      tell([](double y, int, std::size_t i, std::size_t) { return i % 3 == 0 ? 1.5 * y : y; },
           [](Options& options) {
             options.check_hermitian = false;
             options.stagnation_window = 5;
             options.widest_block = 8;
           });
  auto const& solver = told.result.solver;
  expect_words(told, Status::stagnated,
               {"After " + std::to_string(solver.iterations) + " iterations and " +
                    std::to_string(solver.counters.restarts) + " restart",
                "no longer fall: widen --block, or use --preconditioner direct"});
  auto const worst = [&](std::size_t first, std::size_t last) {
    double least = HUGE_VAL;
    for (auto i = first; i < last; ++i) {
      auto const& errors = solver.history[i].backward_errors;
      least = std::min(least, *std::max_element(errors.begin(), errors.end()));
    }
    return least;
  };
  auto const count = solver.history.size();
  EXPECT_GE(worst(count - 80, count), 0.5 * worst(0, count - 80));
  EXPECT_EQ(std::count_if(solver.pair_status.begin(), solver.pair_status.end(), is_done), 0);
}

TEST(EigAdvice, AStopByTheUser) {
  auto const told = tell([](double y, int, std::size_t, std::size_t) { return y; },
                         [](Options& options) {
                           options.monitor = [](auto const& now) { return now.iteration < 3; };
                         });
  expect_words(told, Status::stopped_by_monitor, {"Interrupted", "best pairs so far"});
  EXPECT_EQ(told.result.solver.iterations, 3);
}

}  // namespace
}  // namespace blockspan::test
