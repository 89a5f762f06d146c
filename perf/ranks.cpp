// Study `ranks`: what rows spread over ranks cost, beside one rank that has as many rows alone.
//
//   mpirun -n P blockspan-perf-ranks [--quick] [--out DIR] [--commit C] [ONE=ALL ...]
//
// ONE, ALL: generator specs of the rows of a rank and of all ranks,
// laplace7:100=laplace7:100x100x200; usual ones without any. For each pair, in one run: the product
// and how much of its exchange it hides; the same work in the order of others; with device data by
// way of the host; with the same bits for any number of ranks; and an iteration of LOBPCG and of
// conjugate gradients.
#include "common/ranks/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/communication/mpi.hpp>
#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/sparse/generators.hpp>

#include "blockspan-spmm/bandwidth.hpp"
#include "blockspan-spmm/timing.hpp"
#include "common/files/json_document.hpp"
#include "common/files/output_file.hpp"
#include "common/run/application.hpp"
#include "common/run/command_line.hpp"
#include "ranks_check.hpp"
#include "spmm/launch.hpp"
#include "studies/studies.hpp"
#include "suite/clocks.hpp"
#include "suite/environment.hpp"

namespace {

using namespace blockspan;
using apps::Json;
using Exec = Kokkos::DefaultExecutionSpace;
using Operator = LinearOperator<double, Exec>;
using Distributed = DistributedOperator<double, Exec>;
using Vectors = Block<double, Exec>;

struct Command {
  bool quick = false;
  std::string out = "perf-results", commit;
  std::vector<std::string> pairs;
};

/// Three problems, and such that P ranks have as many rows each.
std::vector<std::string> usual_pairs(int ranks, bool quick) {
  auto const grid = [&](int n) {
    auto const edge = std::to_string(n);
    return "laplace7:" + edge + "=laplace7:" + edge + "x" + edge + "x" + std::to_string(n * ranks);
  };
  auto const structure = [&](int n) {
    auto const all = std::lround(n * std::cbrt(ranks));
    return "elasticity:" + std::to_string(n) + "=elasticity:" + std::to_string(all);
  };
  if (quick) return {grid(16), structure(8)};
  return {grid(128), grid(100), structure(44)};
}

struct Add {
  static void fold(double& into, double from) { into += from; }
};

class Study {
 public:
  Study(Communicator const& ranks, bool quick) : ranks_(ranks), quick_(quick) {}

  Exec const& exec() const { return exec_; }

  /// The cases of a pair.
  std::vector<Json> pair(std::string const& one, std::string const& all) const {
    auto const matrix = generate<double>(exec_, one);
    MatrixOperator<double, Exec> const alone(exec_, matrix, {.columns = 16});
    auto const rows = generate_distributed<double>(exec_, ranks_, all);
    auto const together = distributed_operator(exec_, rows);
    auto const fixed = distributed_operator(exec_, rows, {.columns = 16, .same_bits = true});
    auto const host = ranks_.with_device(nullptr);
    auto const staged = distributed_operator(exec_, generate_distributed<double>(exec_, host, all));
    std::vector<Json> cases;
    for (int const columns : {1, 8, 32}) {
      Json entry = begin_case("products, " + one, one, all, *rows, columns);
      entry.update(product(one, all, alone, together, fixed, staged, columns));
      cases.push_back(entry);
    }
    solvers(one, all, matrix, alone, together, fixed, staged, cases);
    return cases;
  }

  /// Sums over ranks of so many numbers.
  Json sums(RowSpace const& space, int numbers) const {
    auto const width = static_cast<std::size_t>(numbers);
    std::vector<double> nodes(width * static_cast<std::size_t>(space.nodes_of_all()), 0.0);
    Json kernels = Json::array();
    kernels.push_back(timed_kernel("fold", [&] { space.fold<Add>(nodes.data(), numbers); }));
    if (ranks_.size() > 1) {
      std::vector<double> sum(width);
      kernels.push_back(timed_kernel("all_reduce", [&] {
        MPI_Allreduce(nodes.data(), sum.data(), numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      }));
    }
    if (DeviceTransport* const device = ranks_.device()) {
      Kokkos::View<double*, Exec> const all("Blockspan::perf::sums",
                                            width * static_cast<std::size_t>(ranks_.size()));
      kernels.push_back(timed_kernel("device_gather", [&] {
        device->gather(blockspan::support::native_stream(exec_),
                       reinterpret_cast<std::byte*>(all.data()),
                       static_cast<std::int64_t>(width * sizeof(double)));
      }));
    }
    return {{"group", "sums over ranks"},
            {"matrix", std::to_string(numbers) + " numbers"},
            {"scalar", "f64"},
            {"columns", numbers},
            {"kernels", kernels}};
  }

 private:
  Json begin_case(std::string const& group, std::string const& one, std::string const& all,
                  DistributedMatrix<double, Exec> const& A, int columns) const {
    std::int64_t const ends = A.local_rows() - A.part(A.interior).rows();
    return {{"group", group},
            {"matrix", all},
            {"scalar", "f64"},
            {"columns", columns},
            {"one", one},
            {"rows", ranks_.sum(A.local_rows())},
            {"nonzeros", A.nonzeros()},
            {"halo_rows", ranks_.largest(static_cast<std::int64_t>(A.halo().rows.size()))},
            {"neighbours", ranks_.largest(static_cast<std::int64_t>(A.halo().receives.size()))},
            {"end_rows", ranks_.largest(ends)}};
  }

  /// Of calls on the slowest rank.
  Json timed_kernel(std::string const& id, std::function<void()> const& call) const {
    apps::BatchTimer timer(
        call, [this] { exec_.fence(); }, [this](double ms) { return ranks_.largest(ms); });
    timer.calibrate();
    for (int i = 0; i < (quick_ ? 3 : 15); ++i) timer.run_batch();
    auto const times = timer.timing();
    return kernel_of(id, times.median_ms, times.min_ms, times.max_ms);
  }

  static Json kernel_of(std::string const& id, double median, double least, double most) {
    return {{"id", id},
            {"family", "blockspan"},
            {"right", true},
            {"ms",
             {{"median", median}, {"min", least}, {"max", most}, {"spread", (most - least) / 2}}}};
  }

  /// One whose Y is that of a product; no time where it is not.
  Json product_kernel(std::string const& id, std::string const& spec, std::int64_t first,
                      Vectors const& Y, std::function<void()> const& call) const {
    Kokkos::deep_copy(exec_, Y, std::numeric_limits<double>::quiet_NaN());
    call();
    exec_.fence("Blockspan::perf::product");
    if (ranks_.all(perf::is_product(exec_, parse_generator_spec(spec), first, Y)))
      return timed_kernel(id, call);
    return {{"id", id}, {"family", "blockspan"}, {"right", false}};
  }

  Json product(std::string const& one, std::string const& all_rows, Operator const& alone,
               Distributed const& all, Distributed const& fixed, Distributed const& staged,
               int columns) const {
    auto const X = random(all, columns), Y = random(all, columns);
    auto const x = random(alone, columns), y = random(alone, columns);
    std::int64_t const first = all.row_space().first_row();
    auto const of_all = [&](char const* id, std::function<void()> const& call) {
      return product_kernel(id, all_rows, first, Y, call);
    };
    Json kernels = Json::array();
    kernels.push_back(product_kernel("alone", one, 0, y, [&] { alone.apply(exec_, x, y); }));
    kernels.push_back(of_all("auto", [&] { all.apply(exec_, X, Y); }));
    kernels.push_back(of_all("local", [&] { all.parts().multiply_local(exec_, X, Y); }));
    kernels.push_back(pack(all.matrix(), X));
    kernels.push_back(timed_kernel("exchange", [&] { all.parts().exchange(exec_, X); }));
    kernels.push_back(of_all("in_turn", [&] {
      all.parts().exchange(exec_, X);
      all.parts().multiply_local(exec_, X, Y);
    }));
    kernels.push_back(of_all("by_host", [&] { staged.apply(exec_, X, Y); }));
    kernels.push_back(of_all("same_bits", [&] { fixed.apply(exec_, X, Y); }));
    Json result{{"block", columns}};
    auto const ms = [&](std::size_t k) {
      return kernels[k].contains("ms") ? kernels[k]["ms"]["median"].get<double>() : 0.0;
    };
    double const together = ms(1), local = ms(2), exchange = ms(4);
    if (double const shorter = std::min(exchange, local); shorter > 0 && together > 0)
      result["hidden"] = (local + exchange - together) / shorter;
    result["kernels"] = kernels;
    return result;
  }

  /// The first part of an exchange: rows into the order in which they go out.
  Json pack(DistributedMatrix<double, Exec> const& A, Vectors const& X) const {
    auto const sent = static_cast<std::int64_t>(A.halo().sent.size());
    auto const k = static_cast<std::int64_t>(X.extent(1));
    Kokkos::View<double*, Exec> const packed("Blockspan::perf::packed",
                                             static_cast<std::size_t>((sent + A.own_rows()) * k));
    return timed_kernel("pack", [&] {
      blockspan::distributed::pack_rows<Exec, double>(
          exec_, blockspan::blocks::block_ref<Exec>(ConstBlock<double, Exec>(X)),
          {A.sent_rows().data(), sent, packed.data()},
          {A.packed_from().data(), A.own_rows(), packed.data() + sent * k});
    });
  }

  /// What an iteration of a solver is made of, for the model of the page: products, their columns,
  /// sums over ranks, and whether these are taken on the device.
  struct Shape {
    int products, width, folds;
    bool on_device;
  };

  void solvers(std::string const& one, std::string const& all, CrsMatrix<double, Exec> const& A,
               Operator const& alone, Distributed const& together, Distributed const& fixed,
               Distributed const& staged, std::vector<Json>& cases) const {
    auto const& rows = together.matrix();
    auto const d = jacobi(exec_, A), D = jacobi(exec_, rows.diagonal_block(exec_));
    ChebyshevOptions const eight;
    auto const c = chebyshev<double, Exec>(
        alone, chebyshev_setup<double, Exec>(exec_, alone, d.factors(), eight), eight);
    auto const C = chebyshev<double, Exec>(
        together, chebyshev_setup<double, Exec>(exec_, together, D.factors(), eight), eight);
    auto const add = [&](char const* name, int columns, Shape const& shape, Json kernels) {
      Json entry = begin_case("solvers, " + one, one, all, rows, columns);
      entry["method"] = name;
      entry["products"] = shape.products;
      entry["width"] = shape.width;
      entry["folds"] = shape.folds;
      entry["folds_on_device"] = shape.on_device;
      entry["kernels"] = std::move(kernels);
      cases.push_back(entry);
    };
    int const block = lobpcg_block_size(10);
    add("LOBPCG, jacobi", 10, {1, block, 2, false},
        {lobpcg_ms("alone", alone, d), lobpcg_ms("auto", together, D),
         lobpcg_ms("same_bits", fixed, D)});
    add("LOBPCG, chebyshev:8", 10, {8, block, 3, false},
        {lobpcg_ms("alone", alone, c), lobpcg_ms("auto", together, C)});
    add("conjugate gradients, jacobi", 8, {1, 8, 2, true},
        {cg_ms("alone", alone, d, false), cg_ms("auto", together, D, false),
         cg_ms("by_host", staged, D, false), cg_ms("same_bits", fixed, D, false)});
    add("the same, one reduction", 8, {1, 8, 1, true},
        {cg_ms("alone", alone, d, true), cg_ms("auto", together, D, true)});
  }

  /// Milliseconds an iteration of a fixed number of them.
  Json lobpcg_ms(char const* id, Operator const& A, Operator const& T) const {
    auto const X = random(A, lobpcg_block_size(10));
    LobpcgOptions<double, Exec> options;
    options.wanted = 10;
    options.preconditioner = &T;
    options.path = SolvePath::iterative;
    options.tolerance = 1e-14;
    options.max_iterations = quick_ ? 5 : 60;
    return timed(id, [&] { return lobpcg(exec_, A, X, options).iterations; });
  }
  Json cg_ms(char const* id, Operator const& A, Operator const& T, bool single_reduction) const {
    auto const B = random(A, 8), X = random(A, 8);
    CgOptions<double, Exec> options;
    options.method = CgMethod::pseudo_block;
    options.preconditioner = &T;
    options.tolerance = 1e-15;
    options.max_iterations = quick_ ? 10 : 200;
    options.max_cycles = 1;
    options.single_reduction = single_reduction;
    return timed(id, [&] { return solve_spd(exec_, A, B, X, options).iterations; });
  }

  Vectors random(Operator const& A, int columns) const {
    Vectors const X("X", static_cast<std::size_t>(A.rows()), static_cast<std::size_t>(columns));
    fill_random(exec_, X, 1, 0, A.row_space().first_row());
    return X;
  }

  /// run(): returns its iterations. The first run warms up.
  Json timed(char const* id, std::function<int()> const& run) const {
    std::vector<double> ms;
    for (int i = 0; i <= (quick_ ? 1 : 5); ++i) {
      exec_.fence();
      ranks_.any(false);
      Kokkos::Timer const timer;
      int const iterations = run();
      exec_.fence();
      double const each = 1e3 * timer.seconds() / std::max(iterations, 1);
      if (i > 0) ms.push_back(ranks_.largest(each));
    }
    std::sort(ms.begin(), ms.end());
    return kernel_of(id, ms[ms.size() / 2], ms.front(), ms.back());
  }

  Exec exec_;
  Communicator ranks_;
  bool quick_;
};

std::optional<Command> parse(int argc, char** argv) {
  Command command;
  CLI::App app;
  apps::set_up(app, "blockspan-perf-ranks",
               "Study of rows on ranks: mpirun -n P blockspan-perf-ranks; writes DIR/ranks.json.");
  app.add_option("ONE=ALL", command.pairs,
                 "Specs of the rows of a rank and of all ranks, such as "
                 "laplace7:100=laplace7:100x100x200")
      ->default_str("three usual ones");
  app.add_flag("--quick", command.quick, "Small problems, few steps");
  app.add_option("--out", command.out, "Folder of the results");
  app.add_option("--commit", command.commit, "Of Blockspan, for the record");
  if (!apps::parse(app, argc, argv)) return std::nullopt;
  return command;
}

int run(Communicator const& world, Command command) {
  apps::KokkosSession const kokkos;
  Communicator const ranks = apps::ranks_of(Exec(), world);
  Study const study(ranks, command.quick);
  Exec const& exec = study.exec();
  if (command.pairs.empty()) command.pairs = usual_pairs(world.size(), command.quick);
  Json document = perf::begin_results(exec, perf::ranks(), command.commit, command.quick);
  document["clock"] = "host clock between fences";
  document["ranks"] = world.size();
  document["transport"] = ranks.name();
  document["devices"] = apps::devices_of(exec, ranks);
  document["copy_gbytes"] = 1e-9 * apps::measure_copy(exec, 5).bytes_per_second;
  document["launch_ms"] = perf::measure_launch(exec);
  document["clocks"] = Json::array({perf::read_clocks()});
  Json cases = Json::array();
  auto const small = generate_distributed<double>(exec, ranks, "laplace7:16");
  for (int const numbers : {128, 4608})  // norms and dots; the Gram matrices of 48 columns
    cases.push_back(study.sums(small->row_space(), numbers));
  for (auto const& pair : command.pairs) {
    auto const cut = pair.find('=');
    require(cut != std::string::npos, pair, "is no ONE=ALL");
    for (auto const& one : study.pair(pair.substr(0, cut), pair.substr(cut + 1)))
      cases.push_back(one);
  }
  document["clocks"].push_back(perf::read_clocks());
  bool right = true;
  for (auto const& one : cases)
    for (auto const& kernel : one["kernels"]) right = right && kernel["right"].get<bool>();
  document["cases"] = std::move(cases);
  if (world.rank() == 0) {
    std::filesystem::create_directories(command.out);
    apps::OutputFile("--out", command.out + "/ranks.json", true)
        .write_or_fail(apps::to_text(document));
  }
  return right ? apps::success : apps::incomplete;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_application("blockspan-perf-ranks", argc, argv, [&](Communicator const& world) {
    auto const command = parse(argc, argv);
    return command ? run(world, *command) : apps::success;
  });
}
