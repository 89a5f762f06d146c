// Inputs that are no files: the standard input ("-") and pipes, plain and gzip, in every program.
#include <cmath>

#include "apps/eig.hpp"
#include <zlib.h>

namespace blockspan::test {
namespace {

constexpr char const* chain =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 2 2\n3 3 2\n2 1 -1\n3 2 -1\n";
double const lowest = 2 - std::sqrt(2.0);

std::string compressed(std::string const& text) {
  TemporaryFolder const folder;
  std::string const path = folder / "text.gz";
  gzFile const file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return read_text(path);
}

/// Runs an app with a report, which it returns.
Json report_of(std::string const& app, std::vector<std::string> arguments,
               std::string const& input) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  arguments.insert(arguments.end(), {"--report", path});
  Outcome const outcome = run_app_with_input(app, arguments, input);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return std::filesystem::exists(path) ? Json::parse(read_text(path)) : Json();
}

TEST(Input, TheMatrixMayComeFromStandardInput) {
  for (std::string const& text : {std::string(chain), compressed(chain)})
    for (std::string const name : {"-", "/dev/stdin"}) {
      Json const report = report_of("blockspan-eig", {name, "--pairs", "1"}, text);
      ASSERT_TRUE(report.is_object());
      EXPECT_NEAR(report["eigenvalues"][0].get<double>(), lowest, 1e-12);
    }
  Json const product = report_of("blockspan-spmm", {"-", "--columns", "2", "--repeat", "1"}, chain);
  EXPECT_EQ(product["right"], true);
  EXPECT_EQ(product["problem"]["nonzeros"], 7);
}

TEST(Input, SoMayEveryOtherInput) {
  TemporaryFolder const folder;
  std::string const K = write_text(folder / "k.mtx", chain);
  std::string const M =
      "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 4\n2 2 4\n3 3 4\n";
  Json const pencil = report_of("blockspan-eig", {K, "--mass", "-", "--pairs", "1"}, M);
  EXPECT_NEAR(pencil["eigenvalues"][0].get<double>(), lowest / 4, 1e-12);
  std::string const ones = "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n";
  EXPECT_EQ(report_of("blockspan-eig", {K, "--initial", "-", "--pairs", "1"}, ones)["converged"],
            true);
  Json const rest = report_of("blockspan-eig", {K, "--constraints", "-", "--pairs", "1"}, ones);
  EXPECT_NEAR(rest["eigenvalues"][0].get<double>(), 2, 1e-12);  // of (1, 0, -1)
  std::string const solution = folder / "x.mtx";
  report_of("blockspan-solve", {K, "--rhs", "-", "--solution", solution}, ones);
  std::string const text = read_text(solution);  // K (3/2, 2, 3/2) = (1, 1, 1)
  double x[3] = {};
  auto const body = text.find("3 1\n");
  ASSERT_NE(body, text.npos);
  ASSERT_EQ(std::sscanf(text.c_str() + body + 4, "%lf %lf %lf", x, x + 1, x + 2), 3);
  EXPECT_NEAR(x[0], 1.5, 1e-7);
  EXPECT_NEAR(x[1], 2.0, 1e-7);
  EXPECT_NEAR(x[2], 1.5, 1e-7);
  EXPECT_EQ(report_of("blockspan-solve", {K, "--columns", "1", "--guess", "-"}, ones)["converged"],
            true);
}

TEST(Input, WhatIsWrongInItIsNamedByLineAndColumn) {
  auto const refused = [](std::string const& input, std::string const& message) {
    Outcome const outcome = run_app_with_input("blockspan-eig", {"-", "--pairs", "1"}, input);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, "blockspan-eig: standard input" + message + "\n");
  };
  refused("", ":1:1: expected %%MatrixMarket, found 'end of file'");
  refused("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 oops\n",
          ":3:5: expected a finite number, found 'oops'");
  std::string cut = compressed(chain);
  cut.resize(cut.size() - 12);
  Outcome const outcome = run_app_with_input("blockspan-eig", {"-", "--pairs", "1"}, cut);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("truncated gzip stream"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace blockspan::test
