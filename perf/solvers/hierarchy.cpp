#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <Kokkos_Timer.hpp>

#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/sparse/coordinates.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "common/files/report_parts.hpp"
#include "common/problem/problem.hpp"
#include "solvers/measure.hpp"
#include "solvers/problem.hpp"
#include "spmm/launch.hpp"

namespace blockspan::perf {

SolverBlock coordinates_of(Exec const& exec, std::string const& source) {
  if (!is_generator_spec(source)) return {};
  GeneratorSpec const spec = parse_generator_spec(source);
  if (spec.name != "elasticity" || spec.permuted) return {};
  return generate_coordinates<double>(exec, spec);
}

namespace {

using Hierarchy = Multigrid<double, Exec>;

/// What a cycle moves at least, in single precision, its steps fused with their products: with each
/// level four products and 15 passes over a block, its prolongator and the adjoint once with five;
/// the inverse of the last level. Not that the block is rounded first and widened at the end.
struct Traffic {
  double bytes = 0;
  int kernels = 0;
};

Traffic traffic_of_cycle(MultigridReport const& report, double columns) {
  constexpr double entry = sizeof(float) + sizeof(int);
  auto const block = [&](std::int64_t rows) {
    return static_cast<double>(rows) * columns * sizeof(float);
  };
  Traffic all;
  auto const add = [&](double bytes, int kernels) {
    all.bytes += bytes;
    all.kernels += kernels;
  };
  auto const& levels = report.levels;
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    add(4 * static_cast<double>(levels[l].nonzeros) * entry + 15 * block(levels[l].rows), 5);
    add(2 * static_cast<double>(levels[l].prolongator_nonzeros) * entry +
            3 * block(levels[l].rows) + 2 * block(levels[l + 1].rows),
        2);
  }
  if (report.exact_last) {
    auto const last = static_cast<double>(levels.back().rows);
    add(last * last * sizeof(float) + 2 * block(levels.back().rows), 1);
  }
  return all;
}

double dot(Exec const& exec, SolverBlock const& X, SolverBlock const& Y) {
  SmallMatrix<double> G("Blockspan::perf::dot", X.extent(1), X.extent(1));
  gram(exec, X, Y, G);
  exec.fence("Blockspan::perf::dot");
  double sum = 0;
  for (std::size_t j = 0; j < X.extent(1); ++j) sum += G(j, j);
  return sum;
}

class HierarchyRun {
 public:
  HierarchyRun(Bench& bench, std::string const& source)
      : bench_(bench),
        exec_(bench.exec),
        A_(apps::load_matrix<double>(exec_, source)),
        coordinates_(coordinates_of(exec_, source)) {}

  CaseResult run() {
    result_.rows = result_.columns = A_.numRows();
    result_.nonzeros = static_cast<std::int64_t>(A_.nnz());
    int const repeats = bench_.quick ? 1 : 5;
    make(8);
    MultigridReport report;
    auto const setup = timed(repeats, [&] {
      make(8);
      report = M_->report();
    });
    result_.levels = apps::to_json(std::optional(report));
    add("setup", setup, report.usable(), phases(report));
    auto const before = image(8);
    auto const refresh = timed(repeats, [&] { M_->refresh(exec_, A_); });
    add("refresh", refresh, same(before, image(8)), phases(M_->report()));
    launch_ms_ = measure_launch(exec_);
    for (int const columns : {1, 8, 32}) cycle(report, columns);
    return std::move(result_);
  }

 private:
  void make(int columns) {
    M_.reset();
    M_ = std::make_unique<Hierarchy>(
        exec_, A_, Hierarchy::Options{.coordinates = coordinates_, .columns = columns});
  }

  /// A warm-up goes first.
  Times timed(int repeats, std::function<void()> const& work) const {
    std::vector<double> ms;
    for (int i = 0; i <= repeats; ++i) {
      Kokkos::Timer const timer;
      work();
      exec_.fence("Blockspan::perf::setup");
      if (i > 0) ms.push_back(1e3 * timer.seconds());
    }
    return summarize(std::move(ms), 1);
  }

  static Json phases(MultigridReport const& report) {
    Json json = Json::object();
    for (auto const& [name, seconds] : report.phases.named()) json[name] = 1e3 * seconds;
    return {{"phases", json}};
  }

  SolverBlock block(int columns, std::uint64_t seed) const {
    SolverBlock const X("Blockspan::perf::X", static_cast<std::size_t>(A_.numRows()),
                        static_cast<std::size_t>(columns));
    if (seed > 0) fill_random(exec_, X, seed);
    return X;
  }

  SolverBlock image(int columns) const {
    SolverBlock const Y = block(columns, 0);
    M_->apply(exec_, block(columns, 1), Y);
    return Y;
  }

  bool same(SolverBlock const& X, SolverBlock const& Y) const {
    auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X),
               y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Y);
    return std::equal(x.data(), x.data() + x.size(), y.data());
  }

  void cycle(MultigridReport const& report, int columns) {
    make(columns);
    SolverBlock const X = block(columns, 1), Z = block(columns, 2), Y = block(columns, 0);
    std::string const id = "cycle/" + std::to_string(columns);
    SolverBlock const image_of_z = block(columns, 0);
    M_->apply(exec_, Z, image_of_z);
    M_->apply(exec_, X, Y);
    if (id == bench_.fault) Kokkos::deep_copy(exec_, Y, Z);
    // Hermitian and positive, as conjugate gradients need it
    double const energy = dot(exec_, X, Y);
    double const asymmetry = std::abs(dot(exec_, Z, Y) - dot(exec_, image_of_z, X)) / energy;
    std::vector<double> ms;
    int products = 0;
    for (int round = 0; round < bench_.rules.rounds; ++round) {
      auto const batches = time_product(
          *bench_.stopwatch, [&] { M_->apply(exec_, X, Y); }, bench_.rules);
      ms.insert(ms.end(), batches.ms.begin(), batches.ms.end());
      products = batches.products;
    }
    Times const times = summarize(std::move(ms), products);
    Traffic const traffic = traffic_of_cycle(report, columns);
    double const floor = 1e3 * traffic.bytes / bench_.bytes_per_second;
    double const model = traffic.kernels * launch_ms_ + 1.5 * floor;
    add(id, times, energy > 0 && asymmetry <= 1e-5,
        {{"kernels", traffic.kernels},
         {"launch_ms", launch_ms_},
         {"floor_ms", floor},
         {"model_ms", model},
         {"asymmetry", asymmetry}});
  }

  void add(std::string const& id, Times const& times, bool right, Json more) {
    KernelResult kernel;
    kernel.id = id;
    kernel.family = "blockspan";
    kernel.ran = id;
    kernel.verdict.right = right;
    if (right) kernel.times = times;
    kernel.solver = std::move(more);
    result_.kernels.push_back(std::move(kernel));
  }

  Bench& bench_;
  Exec exec_;
  CrsMatrix<double, Exec> A_;
  SolverBlock coordinates_;
  std::unique_ptr<Hierarchy> M_;
  double launch_ms_ = 0;
  CaseResult result_;
};

}  // namespace

CaseResult measure_hierarchy(Bench& bench, std::string const& source) {
  return HierarchyRun(bench, source).run();
}

}  // namespace blockspan::perf
