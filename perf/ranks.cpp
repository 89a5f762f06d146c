// Study `ranks`: what rows spread over ranks cost, beside one rank that has as many rows alone.
//
//   mpirun -n P blockspan-perf-ranks ONE=ALL ... > ranks.json
//
// ONE, ALL: generator specs of the rows of a rank and of all ranks,
// laplace7:100=laplace7:100x100x200. For each pair, in one run: the product and how much of its
// exchange it hides; the same work in the order of others (everything received before anything is
// multiplied); with device data by way of the host; and an iteration of LOBPCG and of conjugate
// gradients. Milliseconds of the slowest rank, medians of batches.
#include "common/ranks.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/sparse/generators.hpp>

#include "blockspan-spmm/timing.hpp"
#include "common/application.hpp"
#include "common/json_document.hpp"

namespace {

using namespace blockspan;
using apps::Json;
using Exec = Kokkos::DefaultExecutionSpace;
using Operator = LinearOperator<double, Exec>;
using Distributed = DistributedOperator<double, Exec>;

constexpr int batches = 15;

class Study {
 public:
  explicit Study(Communicator const& ranks) : ranks_(ranks) {}

  /// Of calls on the slowest rank.
  double median_ms(std::function<void()> const& call) const {
    apps::BatchTimer timer(
        call, [this] { exec_.fence(); }, [this](double ms) { return ranks_.largest(ms); });
    timer.calibrate();
    for (int i = 0; i < batches; ++i) timer.run_batch();
    return timer.timing().median_ms;
  }

  Json product(Operator const& one, Distributed const& all, Distributed const& staged,
               int columns) const {
    auto const X = random(all, columns), Y = random(all, columns);
    auto const x = random(one, columns), y = random(one, columns);
    double const alone = median_ms([&] { one.apply(exec_, x, y); });
    double const together = median_ms([&] { all.apply(exec_, X, Y); });
    double const local = median_ms([&] { all.multiply_local(exec_, X, Y); });
    double const exchange = median_ms([&] { all.exchange(exec_, X); });
    double const in_turn = median_ms([&] {
      all.exchange(exec_, X);
      all.multiply_local(exec_, X, Y);
    });
    double const by_host = median_ms([&] { staged.apply(exec_, X, Y); });
    double const shorter = std::min(exchange, local);
    return {{"columns", columns},
            {"one_rank_ms", alone},
            {"ms", together},
            {"local_ms", local},
            {"exchange_ms", exchange},
            {"exchange_then_product_ms", in_turn},
            {"by_host_ms", by_host},
            {"efficiency", alone / together},
            {"hidden", shorter > 0 ? (local + exchange - together) / shorter : 0}};
  }

  /// Milliseconds an iteration of `steps` of them.
  double lobpcg_ms(Operator const& A, Operator const& T) const {
    constexpr int steps = 60;
    auto const X = random(A, lobpcg_block_size(10));
    LobpcgOptions<double, Exec> options;
    options.wanted = 10;
    options.preconditioner = &T;
    options.path = SolvePath::iterative;
    options.tolerance = 1e-14;
    options.max_iterations = steps;
    return timed([&] { return lobpcg(exec_, A, X, options).iterations; });
  }
  double cg_ms(Operator const& A, Operator const& T, bool single_reduction) const {
    constexpr int steps = 200;
    auto const B = random(A, 8), X = random(A, 8);
    CgOptions<double, Exec> options;
    options.preconditioner = &T;
    options.tolerance = 1e-15;
    options.max_iterations = steps;
    options.max_cycles = 1;
    options.single_reduction = single_reduction;
    return timed([&] { return conjugate_gradient(exec_, A, B, X, options).iterations; });
  }

  Json pair(std::string const& one, std::string const& all) const {
    Communicator const self;
    auto const matrix = generate<double>(exec_, one);
    MatrixOperator<double, Exec> const alone(exec_, matrix, {.columns = 16});
    auto const rows = generate_distributed<double>(exec_, ranks_, all);
    auto const together = distributed_operator(exec_, rows);
    auto const host = ranks_.with_device(nullptr);
    auto const staged = distributed_operator(exec_, generate_distributed<double>(exec_, host, all));
    Json result{{"one", one}, {"all", all}, {"transport", ranks_.name()}};
    for (int const columns : {1, 8, 32})
      result["products"].push_back(product(alone, together, staged, columns));
    auto const d = jacobi(exec_, matrix), D = jacobi(exec_, rows->diagonal_block(exec_));
    ChebyshevOptions const eight{.degree = 8};
    auto const c = chebyshev<double, Exec>(
        alone, chebyshev_setup<double, Exec>(exec_, alone, d.factors(), eight), eight);
    auto const C = chebyshev<double, Exec>(
        together, chebyshev_setup<double, Exec>(exec_, together, D.factors(), eight), eight);
    auto const both = [&](char const* name, double one_ms, double all_ms) {
      result["solvers"].push_back({{"solver", name},
                                   {"one_rank_ms", one_ms},
                                   {"ms", all_ms},
                                   {"efficiency", one_ms / all_ms}});
    };
    both("lobpcg, 10 pairs, jacobi", lobpcg_ms(alone, d), lobpcg_ms(together, D));
    both("lobpcg, 10 pairs, chebyshev:8", lobpcg_ms(alone, c), lobpcg_ms(together, C));
    both("cg, 8 columns, jacobi", cg_ms(alone, d, false), cg_ms(together, D, false));
    both("cg, 8 columns, jacobi, one reduction", cg_ms(alone, d, true), cg_ms(together, D, true));
    both("cg, 8 columns, jacobi, by the host", cg_ms(alone, d, false), cg_ms(staged, D, false));
    return result;
  }

  Json devices() const { return apps::devices_of(exec_, ranks_); }

 private:
  Block<double, Exec> random(Operator const& A, int columns) const {
    Block<double, Exec> const X("X", static_cast<std::size_t>(A.rows()),
                                static_cast<std::size_t>(columns));
    fill_random(exec_, X, 1, 0, A.row_space().first_row());
    return X;
  }

  /// run(): returns its iterations. The first run warms up; the median of five counts.
  double timed(std::function<int()> const& run) const {
    std::vector<double> ms;
    for (int i = 0; i < 6; ++i) {
      exec_.fence();
      ranks_.any(false);
      Kokkos::Timer const timer;
      int const iterations = run();
      exec_.fence();
      double const each = 1e3 * timer.seconds() / std::max(iterations, 1);
      if (i > 0) ms.push_back(ranks_.largest(each));
    }
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2];
  }

  Exec exec_;
  Communicator ranks_;
};

int run(Communicator const& world, std::vector<std::string> const& pairs) {
  apps::KokkosSession const kokkos;
  Study const study(apps::ranks_of(Exec(), world));
  Json results = Json::array();
  for (auto const& pair : pairs) {
    auto const cut = pair.find('=');
    require(cut != std::string::npos, pair, "is no ONE=ALL");
    results.push_back(study.pair(pair.substr(0, cut), pair.substr(cut + 1)));
  }
  Json const document{{"schema", "blockspan-perf-ranks/1"},
                      {"ranks", world.size()},
                      {"devices", study.devices()},
                      {"cases", results}};
  if (world.rank() == 0) std::printf("%s\n", apps::to_text(document).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_application("blockspan-perf-ranks", argc, argv, [&](Communicator const& world) {
    return run(world, {argv + 1, argv + argc});
  });
}
