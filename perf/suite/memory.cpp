#include "suite/memory.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include <blockspan/support/error.hpp>

#include "common/problem/problem.hpp"

namespace blockspan::perf {

namespace {

constexpr double giga = 1024.0 * 1024 * 1024;

/// MemAvailable of the host in bytes.
double host_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (double kilobytes; file >> key >> kilobytes && std::getline(file, unit);)
    if (key == "MemAvailable:") return 1024 * kilobytes;
  return std::numeric_limits<double>::infinity();
}

/// Entries of the matrix that a spec draws, on average.
double expected_nonzeros(GeneratorSpec const& spec) {
  if (spec.nonzeros >= 0) return static_cast<double>(spec.nonzeros);
  auto const rows = static_cast<double>(spec.rows), columns = static_cast<double>(spec.columns);
  if (spec.name == "rmat") return rows * spec.numbers.back();
  if (spec.name == "uniform") return 0.75 * spec.numbers.front() / 100 * columns * rows;
  if (spec.name == "banded") return rows * (2 * spec.numbers.front() + 1);
  return rows * (spec.numbers.empty() ? 100 : spec.numbers.front());
}

double expected_nonzeros(std::string const& source) {
  if (is_generator_spec(source)) return expected_nonzeros(parse_generator_spec(source));
  return 2.0 * static_cast<double>(read_matrix_market_header(source).entries);  // if symmetric
}

double scalar_bytes(std::string const& scalar) { return std::stod(scalar.substr(1)) / 8; }

}  // namespace

double free_bytes() {
#ifdef KOKKOS_ENABLE_CUDA
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) return static_cast<double>(free);
#endif
  return host_bytes();
}

void require_room(Case const& one, std::string const& source) {
  auto const info = apps::inspect_source(source);
  double const bytes = scalar_bytes(one.scalar);
  double const matrix = expected_nonzeros(source) * (bytes + sizeof(int)) +
                        static_cast<double>(info.rows) * 3 * sizeof(int);
  // X and Y in both orders
  double const blocks = 2.0 * static_cast<double>(info.rows + info.columns) * one.columns * bytes;
  double const needed = 1.5 * matrix + blocks;
  require(needed <= free_bytes() && matrix <= host_bytes(), "memory", "about ",
          std::ceil(10 * needed / giga) / 10, " GiB are needed, ",
          std::floor(10 * std::fmin(free_bytes(), host_bytes()) / giga) / 10, " GiB are free");
}

}  // namespace blockspan::perf
