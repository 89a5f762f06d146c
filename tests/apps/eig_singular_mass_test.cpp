// Singular masses on more rows than a dense solve is taken for: finite pairs with exact values, or
// a refusal that names matrix, rows and reason.
#include <cmath>
#include <cstdint>
#include <sstream>

#include "apps/eig.hpp"

namespace blockspan::test {
namespace {

struct Pencil {
  std::string stiffness, mass;
};

/// Lower triangles of K and of a mass of ones on the first `massive` rows.
Pencil write_pencil(TemporaryFolder const& folder, std::int64_t rows, std::int64_t massive,
                    std::vector<std::string> const& entries) {
  std::ostringstream k, m;
  auto const head = [rows](std::ostringstream& to, std::size_t count) {
    to << "%%MatrixMarket matrix coordinate real symmetric\n"
       << rows << " " << rows << " " << count << "\n";
  };
  head(k, entries.size());
  for (std::string const& entry : entries) k << entry << "\n";
  head(m, static_cast<std::size_t>(massive));
  for (std::int64_t i = 1; i <= massive; ++i) m << i << " " << i << " 1\n";
  return {write_text(folder / "K.mtx", k.str()), write_text(folder / "M.mtx", m.str())};
}

std::string entry(std::int64_t i, std::int64_t j, int value) {
  return std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(value);
}

/// A free frame: a grid of edge^dimensions unit masses, each neighbour joined by three unit springs
/// in series with two massless nodes between them. Without these it is a third of the grid's graph
/// Laplacian: lambda = (1/3) sum over dimensions of 2 - 2 cos(pi k / edge), k = 0, 1, ..
Pencil free_frame(TemporaryFolder const& folder, int edge, int dimensions) {
  std::int64_t masses = 1;
  for (int d = 0; d < dimensions; ++d) masses *= edge;
  std::vector<int> diagonal(static_cast<std::size_t>(masses), 0);
  std::vector<std::string> entries;
  std::int64_t next = masses;
  for (std::int64_t stride = 1; stride < masses; stride *= edge)
    for (std::int64_t i = 0; i < masses; ++i) {
      if (i / stride % edge == edge - 1) continue;
      std::int64_t const near = next++, far = next++;
      ++diagonal[static_cast<std::size_t>(i)], ++diagonal[static_cast<std::size_t>(i + stride)];
      entries.insert(entries.end(),
                     {entry(near, i, -1), entry(far, i + stride, -1), entry(far, near, -1),
                      entry(near, near, 2), entry(far, far, 2)});
    }
  for (std::int64_t i = 0; i < masses; ++i)
    entries.push_back(entry(i, i, diagonal[static_cast<std::size_t>(i)]));
  return write_pencil(folder, next, masses, entries);
}

double mode(int k, int edge) { return (2 - 2 * std::cos(std::acos(-1.0) * k / edge)) / 3; }

class EigSingularMass : public ::testing::TestWithParam<std::string> {
 protected:
  ReportRun run(Pencil const& pencil, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {pencil.stiffness, "--mass", pencil.mass});
    arguments.insert(arguments.end(), {"--backend", GetParam()});
    return run_eig(arguments);
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, EigSingularMass, ::testing::ValuesIn(backends()),
                         backend_test_name);

void expect_values(ReportRun const& run, std::vector<double> const& exact) {
  ASSERT_EQ(run.outcome.status, 0) << run.outcome.out << run.outcome.err;
  EXPECT_EQ(run.report["path"], "iterative");
  auto const found = numbers(run.report["eigenvalues"]);
  auto const bounds = numbers(run.report["error_bounds"]);
  for (std::size_t j = 0; j < exact.size(); ++j) {
    EXPECT_EQ(run.report["status"][j], exact[j] == 0 ? "zero_eigenvalue" : "converged") << j;
    EXPECT_LE(std::abs(found[j] - exact[j]), bounds[j] + 1e-12 * exact[j]) << j;
    EXPECT_LE(bounds[j], 1e-4 * exact[j] + 1e-12) << j;
  }
}

TEST_P(EigSingularMass, ALargeFreeFrameHasItsFiniteValues) {
  TemporaryFolder const folder;
  int const edge = 12;  // 11,232 rows, 9,504 of them without mass
  auto const pencil = free_frame(folder, edge, 3);
  double const one = mode(1, edge);
  expect_values(run(pencil, {"--pairs", "7"}), {0, one, one, one, 2 * one, 2 * one, 2 * one});
}

TEST_P(EigSingularMass, AFreeChainHasValuesFarBelowItsNorm) {
  TemporaryFolder const folder;
  int const edge = 150;
  expect_values(run(free_frame(folder, edge, 1), {"--pairs", "4", "--path", "iterative"}),
                {0, mode(1, edge), mode(2, edge), mode(3, edge)});
}

TEST_P(EigSingularMass, ALargeSaddlePointIsRefusedWithRowsAndReason) {
  TemporaryFolder const folder;
  std::int64_t const n = 9600;  // a chain whose fifth node a multiplier holds
  std::vector<std::string> entries;
  for (std::int64_t i = 0; i < n; ++i) {
    entries.push_back(entry(i, i, 2));
    if (i > 0) entries.push_back(entry(i, i - 1, -1));
  }
  entries.push_back(entry(n, 4, 1));
  auto const pencil = write_pencil(folder, n + 1, n, entries);
  auto const refused = run(pencil, {"--pairs", "3"});
  EXPECT_EQ(refused.outcome.status, 1);
  EXPECT_EQ(refused.report["stop_reason"], "mass_singular");
  for (std::string const& words :
       {pencil.mass + " is singular", std::string("row 9601 has no mass"),
        std::string("row 9601 of the matrix has the diagonal entry 0 and no mass"),
        std::string("--path dense, which takes 4.4 GB of memory")})
    EXPECT_NE(refused.outcome.out.find(words), std::string::npos) << words << refused.outcome.out;
}

}  // namespace
}  // namespace blockspan::test
