// --preconditioner multigrid of both programs: few iterations, the table of levels, what it is told
// of a problem, and what is said where it does not suit.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <blockspan/sparse/coordinates.hpp>
#include <blockspan/sparse/matrix_market.hpp>

#include "apps/eig.hpp"
#include "apps/refused.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

class AppsMultigrid : public ::testing::TestWithParam<std::string> {
 protected:
  ReportRun run(std::string const& app, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--preconditioner", "multigrid", "--backend", GetParam()});
    auto result = run_with_report(app, arguments);
    EXPECT_EQ(result.outcome.status, 0) << result.outcome.out << result.outcome.err;
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, AppsMultigrid, ::testing::ValuesIn(backends()),
                         backend_test_name);

TEST_P(AppsMultigrid, SolvesAGridInFewIterationsAndShowsItsLevels) {
  auto const result = run("blockspan-solve", {"laplace7:22", "--columns", "3", "--levels"});
  EXPECT_LE(result.report["iterations"], 9);
  EXPECT_EQ(result.report["multigrid"]["status"], "good");
  EXPECT_EQ(result.report["multigrid"]["levels"][0]["rows"], 22 * 22 * 22);
  EXPECT_THAT(result.report["preconditioner"].get<std::string>(), HasSubstr("multigrid of "));
  EXPECT_THAT(result.outcome.out, HasSubstr("products a cycle"));
  EXPECT_THAT(result.outcome.out, HasSubstr("inverted"));
  EXPECT_TRUE(result.report["notes"].empty()) << result.report["notes"];
}

TEST_P(AppsMultigrid, FindsTheSmallestPairsInFewIterations) {
  std::vector<std::string> const problem{"laplace7:22", "--pairs",     "10",      "--path",
                                         "iterative",   "--criterion", "backward"};
  auto plain = problem;
  plain.insert(plain.end(), {"--preconditioner", "jacobi"});
  auto const report = run("blockspan-eig", problem).report, jacobi = run_eig(plain).report;
  EXPECT_LE(4 * report["iterations"].get<int>(), jacobi["iterations"].get<int>());
  for (std::size_t j = 0; j < 10; ++j)
    EXPECT_NEAR(report["eigenvalues"][j].get<double>(), jacobi["eigenvalues"][j].get<double>(),
                2e-7);
}

TEST_P(AppsMultigrid, TakesCoordinatesNearNullVectorsAndBlockSizes) {
  TemporaryFolder const folder;
  std::string const file = folder / "nodes.mtx";
  Kokkos::DefaultHostExecutionSpace const host;
  write_block(file, generate_coordinates<double>(host, parse_generator_spec("elasticity:10")));
  // by one method, which goes by the hierarchy if it is not said
  auto const solve = [&](std::vector<std::string> arguments) {
    for (char const* const one : {"elasticity:10", "--method", "pseudo-block"})
      arguments.emplace_back(one);
    return run("blockspan-solve", arguments).report;
  };
  auto const rigid = solve({"--coordinates", file}), blocks = solve({"--block-size", "3"}),
             found = solve({}), plain = solve({"--block-size", "1"}),
             adaptive = solve({"--block-size", "3", "--adaptive", "6"});
  EXPECT_EQ(rigid["multigrid"]["near_null"], 6);
  EXPECT_EQ(blocks["multigrid"]["near_null"], 3);
  EXPECT_EQ(found["multigrid"]["near_null"], 3);
  EXPECT_EQ(plain["multigrid"]["near_null"], 1);
  EXPECT_EQ(adaptive["multigrid"]["near_null"], 6);
  EXPECT_LT(rigid["iterations"], blocks["iterations"]);
  EXPECT_EQ(found["iterations"], blocks["iterations"]);
  EXPECT_LT(blocks["iterations"], plain["iterations"]);
  EXPECT_LE(adaptive["iterations"], blocks["iterations"]);
  EXPECT_EQ(plain["multigrid"]["status"], "weak");
  // what was said already is not asked for
  EXPECT_THAT(
      plain["notes"].dump(),
      HasSubstr("near-null vectors missing? give --coordinates, --near-null or --adaptive"));
}

TEST_P(AppsMultigrid, SaysWhereAnotherPreconditionerIsTaken) {
  TemporaryFolder const folder;
  std::string const file = folder / "indefinite.mtx";
  for (std::string const last : {"1", "-1"}) {
    write_text(file, "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 2 1\n3 3 " +
                         last + "\n2 1 2\n3 2 1\n");
    auto const report = run("blockspan-eig", {file, "--pairs", "1"}).report;
    EXPECT_EQ(report["preconditioner"], "jacobi");
    EXPECT_TRUE(report["multigrid"].is_null());
    EXPECT_THAT(report["notes"].dump(), HasSubstr("jacobi instead of multigrid"));
  }
}

/// Without a word of the user, by iterations that are counted: the same ones in every run.
TEST_P(AppsMultigrid, TakesOverUnaskedWhereItPays) {
  auto const solve = [&](std::string const& app, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--backend", GetParam()});
    auto const run = run_with_report(app, arguments);
    EXPECT_EQ(run.outcome.status, 0) << run.outcome.out << run.outcome.err;
    return run.report;
  };
  auto const easy = solve("blockspan-solve", {"laplace7:20", "--columns", "2"});
  EXPECT_THAT(easy["preconditioner"].get<std::string>(), HasSubstr("chebyshev of degree 8"));
  EXPECT_TRUE(easy["notes"].empty()) << easy["notes"];
  std::vector<std::string> const grid{"laplace5:230", "--pairs", "2"};
  auto const pairs = solve("blockspan-eig", grid), again = solve("blockspan-eig", grid);
  EXPECT_THAT(pairs["preconditioner"].get<std::string>(), HasSubstr("multigrid of "));
  EXPECT_THAT(pairs["notes"].dump(), HasSubstr("multigrid took over "));
  EXPECT_EQ(pairs["notes"], again["notes"]);
  EXPECT_EQ(pairs["iterations"], again["iterations"]);
  EXPECT_LT(pairs["iterations"], 40);
  // counts are those of both methods
  EXPECT_EQ(pairs["history"].size(), pairs["iterations"].get<std::size_t>() + 1);
  for (std::size_t i = 0; i < pairs["history"].size(); ++i)
    EXPECT_EQ(pairs["history"][i]["iteration"], i);
  EXPECT_GE(pairs["operator_applications"], pairs["iterations"]);
  auto const system = solve("blockspan-solve", {"laplace5:230"});
  EXPECT_THAT(system["notes"].dump(), HasSubstr("multigrid took over "));
  EXPECT_EQ(system["history"].size(), system["iterations"].get<std::size_t>());
  EXPECT_GE(system["operator_applications"], system["iterations"]);
  int most = 0;
  for (auto const& column : system["columns"])
    most = std::max(most, column["iterations"].get<int>());
  EXPECT_EQ(most, system["iterations"]);
  double const step = std::acos(-1.0) / 231;
  EXPECT_NEAR(pairs["eigenvalues"][0].get<double>(), 4 - 4 * std::cos(step), 1e-8);
  auto const jacobi = solve("blockspan-eig", {"laplace7:12", "--preconditioner", "jacobi"});
  EXPECT_EQ(jacobi["preconditioner"], "jacobi");
}

/// Many pairs of few rows: on a host the cost of a dense solve is that of some 25 steps, of which a
/// good hierarchy takes less.
TEST_P(AppsMultigrid, IsStrongerThanADenseSolve) {
  if (GetParam() == "cuda") GTEST_SKIP() << "a dense solve by cuSOLVER costs four steps";
  auto const report = run("blockspan-eig", {"laplace5:60", "--pairs", "100"}).report;
  EXPECT_EQ(report["path"], "iterative") << report["path_reason"];
  EXPECT_LE(report["iterations"], 40);
}

TEST(AppsMultigridUsage, NamesWhatDoesNotFit) {
  for (std::string const app : {"blockspan-solve", "blockspan-eig"}) {
    expect_refused(app, {"laplace7:5", "--preconditioner", "multigrid:5"},
                   "--preconditioner: degree 5 is not between 1 and 4");
    expect_refused(app, {"laplace7:5", "--preconditioner", "jacobi", "--block-size", "3"},
                   "--preconditioner: --near-null, --coordinates, --block-size, --adaptive, "
                   "--hierarchy and --levels go with multigrid or automatic only, not with jacobi");
    TemporaryFolder const folder;
    std::string block = "%%MatrixMarket matrix array real general\n125 17\n";
    for (int i = 0; i < 125 * 17; ++i) block += "1\n";
    auto const many = write_text(folder / "many.mtx", block);
    expect_refused(app, {"laplace7:5", "--preconditioner", "jacobi", "--block-size", "1"},
                   "--preconditioner: --near-null, --coordinates, --block-size, --adaptive, "
                   "--hierarchy and --levels go with multigrid or automatic only, not with jacobi");
    auto const nan =
        write_text(folder / "nan.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n");
    // automatic might want them later, or, for so few rows, never
    for (std::string const by : {"multigrid", "automatic"}) {
      auto const refused = [&](std::string const& option, std::string const& value,
                               std::string const& message) {
        expect_refused(app, {"laplace7:5", "--preconditioner", by, option, value}, message);
      };
      refused("--near-null", many, "--near-null has 17 vectors, where 16 at most are taken");
      refused("--near-null", nan, nan + ":4:1: expected a finite number, found 'nan'");
      refused("--coordinates", many,
              "--coordinates has 17 columns; there are nodes x 2 and nodes x 3");
      refused("--block-size", "2", "--block-size is 2, which does not divide the 125 rows");
      std::string const here = folder.path().string();
      refused("--hierarchy", here, "--hierarchy: there is no " + here + "/P0.mtx");
    }
  }
}

}  // namespace
}  // namespace blockspan::test
