// Blockspan's product beside its peers, through the operators that the solvers use: row-major
// blocks, double precision, one run, medians. A peer whose result differs from Blockspan's beyond
// rounding is reported as WRONG, without a speed.
//
//   blockspan-perf-spmm [--quick] [--out FILE.json] [SPEC ...]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/cusparse_operator.hpp>
#include <blockspan/operators/kokkos_kernels_operator.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>

#include "settings.hpp"
#include "timing.hpp"

namespace {

using blockspan::perf::median_milliseconds;
using blockspan::perf::parse_settings;
using blockspan::perf::Settings;
using Exec = Kokkos::DefaultExecutionSpace;
using Scalar = double;
using Operator = blockspan::LinearOperator<Scalar, Exec>;

/// max |Y - Z| / max |Z| over the columns, by 2-norms; Y is overwritten.
double largest_difference(Exec const& exec, blockspan::Block<Scalar, Exec> const& Y,
                          blockspan::Block<Scalar, Exec> const& Z) {
  auto const columns = static_cast<std::size_t>(Z.extent(1));
  Kokkos::View<double*, Kokkos::HostSpace> norms("norms", columns), differences("diff", columns);
  blockspan::column_norms(exec, Z, norms);
  Kokkos::parallel_for(
      "Blockspan::perf::difference",
      Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>(
          exec, {0, 0}, {static_cast<long>(Z.extent(0)), static_cast<long>(columns)}),
      KOKKOS_LAMBDA(long i, long j) { Y(i, j) -= Z(i, j); });
  blockspan::column_norms(exec, Y, differences);
  double largest = 0;
  for (std::size_t j = 0; j < columns; ++j)
    largest = std::max(largest, norms(j) > 0 ? differences(j) / norms(j) : differences(j));
  return largest;
}

struct Contender {
  std::string name;
  std::unique_ptr<Operator> product;
};

std::vector<Contender> contenders(Exec const& exec, blockspan::CrsMatrix<Scalar, Exec> const& A,
                                  int columns) {
  std::vector<Contender> result;
  result.push_back({"blockspan", std::make_unique<blockspan::MatrixOperator<Scalar, Exec>>(
                                     blockspan::matrix_operator(exec, A, columns))});
  result.push_back({"kokkos-kernels", blockspan::kokkos_kernels_operator(exec, A)});
  if (std::string(Exec::name()) == "Cuda")
    result.push_back(
        {"cusparse", blockspan::cusparse_operator(exec, A, blockspan::CusparseAlgorithm::fastest)});
  return result;
}

nlohmann::json measure(Exec const& exec, std::string const& spec, int columns, bool quick) {
  auto const A = blockspan::generate<Scalar>(exec, spec);
  auto const rows = static_cast<std::size_t>(A.numRows());
  blockspan::Block<Scalar, Exec> const X("X", static_cast<std::size_t>(A.numCols()),
                                         static_cast<std::size_t>(columns));
  blockspan::Block<Scalar, Exec> const Y("Y", rows, static_cast<std::size_t>(columns));
  blockspan::Block<Scalar, Exec> const reference("Z", rows, static_cast<std::size_t>(columns));
  blockspan::fill_random(exec, X, 1);
  nlohmann::json kernels = nlohmann::json::object();
  double ours = 0;
  for (auto const& [name, product] : contenders(exec, A, columns)) {
    auto const& target = name == "blockspan" ? reference : Y;
    double const ms = median_milliseconds(exec, quick, [&] { product->apply(exec, X, target); });
    double const difference = name == "blockspan" ? 0.0 : largest_difference(exec, Y, reference);
    bool const right = difference < 1e-12;
    if (name == "blockspan") ours = ms;
    kernels[name] = {{"milliseconds", right ? nlohmann::json(ms) : nlohmann::json()},
                     {"difference", difference},
                     {"right", right}};
    if (right)
      std::printf("%-16s n = %-3d %-15s %9.4f ms  %5.2f times blockspan\n", spec.c_str(), columns,
                  name.c_str(), ms, ms / ours);
    else
      std::printf("%-16s n = %-3d %-15s WRONG (difference %.1e)\n", spec.c_str(), columns,
                  name.c_str(), difference);
    std::fflush(stdout);
  }
  return {{"matrix", spec},     {"rows", rows},    {"nonzeros", A.nnz()},
          {"columns", columns}, {"scalar", "f64"}, {"kernels", kernels}};
}

int run(int argc, char** argv) {
  Settings const settings = parse_settings("blockspan-perf-spmm", argc, argv);
  Exec const exec;
  nlohmann::json cases = nlohmann::json::array();
  for (auto const& spec : settings.specs)
    for (int const columns : {1, 4, 8, 16, 32, 64})
      cases.push_back(measure(exec, spec, columns, settings.quick));
  if (!settings.out.empty()) {
    std::ofstream file(settings.out);
    file << nlohmann::json{{"schema", "blockspan-spmm-peers/1"},
                           {"backend", Exec::name()},
                           {"layout", "row-major"},
                           {"time", "median of the host clock around product and fence"},
                           {"cases", cases}}
                .dump(1)
         << '\n';
  }
  for (auto const& one : cases)
    for (auto const& kernel : one["kernels"])
      if (!kernel["right"]) return 1;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
  int result = 2;
  try {
    result = run(argc, argv);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  Kokkos::finalize();
  return result;
}
