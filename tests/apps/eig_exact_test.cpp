// --near, --interval and --count: pairs inside the spectrum and counts, as users ask for them.
#include <cmath>
#include <string>
#include <vector>

#include "apps/eig.hpp"
#include "apps/refused.hpp"
#include "common/machine/components.hpp"
#include "support/grid_spectrum.hpp"

namespace blockspan::test {
namespace {

class EigExact : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!apps::has_direct) GTEST_SKIP() << apps::left_out("direct");
  }
  ReportRun run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--backend", GetParam()});
    return run_with_report("blockspan-eig", arguments);
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, EigExact, ::testing::ValuesIn(backends()), backend_test_name);

void expect_eig_refuses(std::vector<std::string> const& arguments, std::string const& message) {
  test::expect_refused("blockspan-eig", arguments, message);
}

std::int64_t below(std::vector<double> const& values, double place) {
  return std::count_if(values.begin(), values.end(), [&](double value) { return value < place; });
}

TEST_P(EigExact, FindsAndProvesThePairsNearAShift) {
  auto const found = run({"laplace7:8x8x8", "--near", "2.5", "--pairs", "5"});
  EXPECT_EQ(found.outcome.status, 0) << found.outcome.err;
  auto const& report = found.report;
  EXPECT_EQ(report["exact"]["proof"], "proved");
  auto const spectrum = grid7_spectrum(8);
  double const from = report["exact"]["from"], to = report["exact"]["to"];
  EXPECT_EQ(report["exact"]["counted"], below(spectrum, to) - below(spectrum, from));
  auto const values = numbers(report["eigenvalues"]);
  ASSERT_EQ(values.size(), 5u);
  for (double const value : values) {
    double least = 1;
    for (double const truth : spectrum) least = std::min(least, std::abs(value - truth));
    EXPECT_LE(least, 1e-13);
  }
  EXPECT_NE(found.outcome.out.find("All 5 pairs converged; none is missing: ("), std::string::npos)
      << found.outcome.out;
  EXPECT_NE(found.outcome.out.find("counted at both ends"), std::string::npos);
}

/// On a device where that was asked for and cuDSS is there; small matrices on the host unasked.
TEST_P(EigExact, SaysWhereItFactors) {
  for (char const* const place : {"host", "auto"}) {
    auto const found = run({"laplace7:8x8x8", "--near", "2.5", "--factors", place});
    EXPECT_EQ(found.report["exact"]["library"], "MUMPS on the host") << found.outcome.err;
    EXPECT_GT(found.report["exact"]["seconds"]["analysis"], 0);
    EXPECT_NE(found.outcome.out.find(" entries by MUMPS on the host, "), std::string::npos);
  }
  auto const found = run({"laplace7:8x8x8", "--near", "2.5", "--factors", "device"});
  if (found.outcome.status == 0) {
    std::string const library = found.report["exact"]["library"];
    EXPECT_EQ(library.rfind("cuDSS 1.", 0), 0u) << library;
    EXPECT_EQ(found.report["exact"]["proof"], "proved");
  } else {
    EXPECT_EQ(found.outcome.status, 2);
    char const* const why = GetParam() == "cuda" ? "nvidia-cudss-cu13" : "need the backend CUDA";
    EXPECT_NE(found.outcome.err.find(why), std::string::npos) << found.outcome.err;
  }
}

TEST_P(EigExact, FindsAllOfAnIntervalAndWritesThem) {
  TemporaryFolder const folder;
  auto const path = folder / "x.mtx";
  auto const found =
      run({"laplace7:8x8x8", "--interval", "3.1,3.5", "--slice", "20", "--vectors", path});
  EXPECT_EQ(found.outcome.status, 0) << found.outcome.err;
  auto const spectrum = grid7_spectrum(8);
  auto const number = below(spectrum, 3.5) - below(spectrum, 3.1);
  EXPECT_EQ(found.report["exact"]["found"], number);
  EXPECT_EQ(found.report["exact"]["proof"], "proved");
  EXPECT_EQ(numbers(found.report["eigenvalues"]).size(), static_cast<std::size_t>(number));
  for (double const error : numbers(found.report["residuals"])) EXPECT_LE(error, 1e-11);
  EXPECT_NE(read_text(path).find("512 " + std::to_string(number)), std::string::npos);
}

TEST_P(EigExact, KeepsAnIntervalInAFileAndGoesOn) {
  TemporaryFolder const folder;
  std::string const file = folder / "interval";
  std::vector<std::string> const problem{"laplace7:8x8x8", "--interval", "3.1,3.5", "--slice",
                                         "20"};
  auto const with = [&](std::vector<std::string> const& more) {
    auto arguments = problem;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  auto const whole = with({});
  auto const broken = with({"--max-iterations", "9", "--checkpoint", file});
  EXPECT_EQ(broken.outcome.status, 1);
  auto const on = with({"--resume", file});
  EXPECT_EQ(on.outcome.status, 0) << on.outcome.err;
  EXPECT_EQ(on.report["eigenvalues"], whole.report["eigenvalues"]);
  EXPECT_EQ(on.report["exact"]["steps"], whole.report["exact"]["steps"]);
}

TEST_P(EigExact, CountsWithoutVectors) {
  auto const spectrum = grid7_spectrum(8);
  std::vector<std::pair<std::string, std::int64_t>> const counts{
      {"-inf,3.1", below(spectrum, 3.1)}, {"3.1,inf", 512 - below(spectrum, 3.1)}, {"20,30", 0}};
  for (auto const& [interval, number] : counts) {
    auto const found = run({"laplace7:8x8x8", "--count=" + interval});
    EXPECT_EQ(found.outcome.status, 0);
    EXPECT_EQ(found.report["exact"]["number"], number) << interval;
    EXPECT_TRUE(found.report["exact"]["trusted"]);
    EXPECT_EQ(found.report["path"], "exact");
    EXPECT_NE(found.outcome.out.find(") holds " + std::to_string(number) + " eigenvalue"),
              std::string::npos)
        << found.outcome.out;
  }
}

TEST_P(EigExact, ReadsIntervalsAsPeopleWriteThem) {
  auto const spectrum = grid7_spectrum(6);
  for (std::string const text : {"1.1,2.9", "+1.1, 2.9", " 1.1 ,+2.9 "})
    EXPECT_EQ(run({"laplace7:6", "--count", text}).report["exact"]["number"],
              below(spectrum, 2.9) - below(spectrum, 1.1))
        << text;
}

TEST_P(EigExact, ServesFewerRowsThanPairsByDefault) {
  auto const all = run({"laplace7:2x1x1", "--interval", "4,8"});  // eigenvalues 5 and 7
  EXPECT_EQ(all.outcome.status, 0) << all.outcome.err;
  EXPECT_EQ(all.report["exact"]["counted"], 2);
  auto const count = run({"laplace7:2x1x1", "--count", "4,8"});
  EXPECT_EQ(count.outcome.status, 0) << count.outcome.err;
  EXPECT_EQ(count.report["exact"]["number"], 2);
}

TEST_P(EigExact, SolvesBucklingPencils) {
  // a column of springs under its own weight: any pencil of these two will do
  auto const found =
      run({"laplace5:9x9", "--mass", "laplace5:9x9", "--near", "2", "--buckling", "--pairs", "2"});
  EXPECT_EQ(found.outcome.status, 0) << found.outcome.out << found.outcome.err;
  for (double const value : numbers(found.report["eigenvalues"])) EXPECT_NEAR(value, 1, 1e-12);
}

TEST_P(EigExact, TakesTheNearestInRatio) {
  double const sigma = 1.3;
  auto const found = run({"laplace7:8x8x8", "--near", "1.3", "--cayley", "--pairs", "20"});
  EXPECT_EQ(found.outcome.status, 0) << found.outcome.out << found.outcome.err;
  EXPECT_TRUE(found.report["exact"]["cayley"]);
  double const from = found.report["exact"]["from"], to = found.report["exact"]["to"];
  EXPECT_NEAR(from * to, sigma * sigma, 1e-3);
  auto const ratios = [&](std::vector<double> values) {
    for (double& value : values) value = std::abs(value - sigma) / (value + sigma);
    std::sort(values.begin(), values.end());
    return values;
  };
  auto const truth = ratios(grid7_spectrum(8));
  auto const values = ratios(numbers(found.report["eigenvalues"]));
  ASSERT_EQ(values.size(), 20u);
  for (std::size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(values[j], truth[j], 1e-12);
}

// Four of a cube's lowest: a single one and three of equal value; the fifth and sixth are equal.
TEST_P(EigExact, CertifiesByACount) {
  for (auto const& [pairs, words] : {std::pair<std::string, std::string>("4", "none is missing: ("),
                                     {"5", "the last is one of several that are equal"}}) {
    auto const found = run({"laplace7:8x8x8", "--pairs", pairs, "--certify"});
    EXPECT_EQ(found.outcome.status, 0) << found.outcome.out;
    EXPECT_NE(found.outcome.out.find(words), std::string::npos) << found.outcome.out;
    EXPECT_EQ(found.report["exact"]["number"], pairs == "4" ? 4 : 7);
  }
}

// Many pairs, a tight tolerance or a graded diagonal: what factors are the better way for.
TEST_P(EigExact, FindsTheSmallestPairsByFactorsWhereTheyAreTheBetterWay) {
  auto const spectrum = grid7_spectrum(10);
  auto const many = run({"laplace7:10x10x10", "--pairs", "40"});
  auto const tight = run({"laplace7:10x10x10", "--pairs", "7", "--tolerance", "1e-12"});
  for (auto const* const found : {&many, &tight}) {
    EXPECT_EQ(found->outcome.status, 0) << found->outcome.out << found->outcome.err;
    EXPECT_EQ(found->report["path"], "exact");
    EXPECT_NE(found->report["exact"]["proof"], "missing");
    auto const values = numbers(found->report["eigenvalues"]);
    ASSERT_EQ(values.size(), found == &many ? 40u : 7u);
    for (std::size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(values[j], spectrum[j], 1e-12);
  }
  EXPECT_EQ(many.report["path_reason"].get<std::string>().find("40 pairs; factors of "), 0u);
  EXPECT_NE(tight.outcome.out.find("path     exact (a tolerance of 1e-12; "), std::string::npos)
      << tight.outcome.out;
}

TEST_P(EigExact, LeavesTheIterationToWhoAsksForIt) {
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {"laplace7:10x10x10", "--pairs", "7"},
           {"laplace7:10x10x10", "--pairs", "40", "--path", "iterative"},
           {"laplace7:10x10x10", "--pairs", "40", "--preconditioner", "chebyshev:8"},
           {"laplace7:10x10x10", "--pairs", "40", "--levels"},
           {"laplace7:10x10x10", "--pairs", "40", "--which", "largest"}}) {
    auto const found = run(arguments);
    EXPECT_EQ(found.outcome.status, 0) << found.outcome.err;
    EXPECT_NE(found.report["path"], "exact") << arguments.back();
  }
}

// Three components, and a matrix with eigenvalues on both sides of zero.
TEST_P(EigExact, TheSmallestPairsByFactorsAreTheSmallest) {
  TemporaryFolder const folder;
  std::string const path = folder / "a.mtx";
  auto const solved = [&](double diagonal) {
    int const n = 900;
    std::string text = "%%MatrixMarket matrix coordinate real symmetric\n900 900 1797\n";
    for (int i = 1; i <= n; ++i) {
      text += std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(diagonal) + "\n";
      if (i < n && i % 300 != 0) text += std::to_string(i + 1) + " " + std::to_string(i) + " -1\n";
    }
    write_text(path, text);
    return run({path, "--pairs", "45"});
  };
  std::vector<double> spectrum;
  for (int k = 1; k <= 300; ++k)
    for (int copy = 0; copy < 3; ++copy)
      spectrum.push_back(-2 * std::cos(k * std::acos(-1.0) / 301));
  for (double const diagonal : {2.0, 0.0}) {
    auto const found = solved(diagonal);
    EXPECT_EQ(found.outcome.status, 0) << found.outcome.out << found.outcome.err;
    EXPECT_EQ(found.report["path"] == "exact", diagonal == 2);
    auto const values = numbers(found.report["eigenvalues"]);
    ASSERT_EQ(values.size(), 45u);
    for (std::size_t j = 0; j < values.size(); ++j)
      EXPECT_NEAR(values[j], spectrum[j] + diagonal, diagonal == 2 ? 1e-12 : 1e-6);
  }
}

TEST(EigExactUsage, RefusesWhatHasNoMeaning) {
  std::string const small = "laplace7:4x4x4";
  expect_eig_refuses({small, "--interval", "5,3"}, "--interval: the interval from 5 to 3 is empty");
  expect_eig_refuses({small, "--interval", "3"},
                     "--interval: \"3\" is not an interval A,B, as in 1e3,2e3 or -inf,5");
  expect_eig_refuses({small, "--interval", "nan,3"},
                     "--interval: an end of \"nan,3\" is no number");
  expect_eig_refuses({small, "--count", "1e400,2e400"},
                     "--count: 1e400 is out of range in \"1e400,2e400\"");
  expect_eig_refuses({small, "--count", "1,2,3"}, "--count: '2,3' is not a number in \"1,2,3\"");
  expect_eig_refuses({small, "--count", "1,"}, "--count: a number is missing in \"1,\"");
  expect_eig_refuses({small, "--near", "x"}, "--near: 'x' is not a number (see --help)");
  expect_eig_refuses({small, "--near", "inf"}, "--near: inf is not a number");
  expect_eig_refuses({small, "--buckling"}, "--buckling: goes with --near, --interval or --count");
  expect_eig_refuses({small, "--near", "1", "--buckling"},
                     "--buckling: needs the geometric stiffness, --mass");
  expect_eig_refuses({small, "--mass", small, "--interval=-1,1", "--buckling"},
                     "--interval: the loads of --buckling are sought on one side of zero");
  expect_eig_refuses({small, "--mass", small, "--count=-1,1", "--buckling"},
                     "--count: the loads of --buckling are sought on one side of zero");
  expect_eig_refuses({small, "--near", "0", "--cayley"},
                     "--near: --cayley takes the nearest in ratio: the shift may not be zero");
  expect_eig_refuses({small, "--near", "1", "--which", "largest"},
                     "--which excludes --near (see --help)");
  expect_eig_refuses({small, "--count", "1,2", "--vectors", "v.mtx"},
                     "--vectors excludes --count (see --help)");
  for (std::string const option :
       {"--tolerance=0.1", "--block=3", "--max-iterations=9", "--seed=2", "--time-limit=9"})
    expect_eig_refuses({small, "--count", "1,2", option},
                       option.substr(0, option.find('=')) + " excludes --count (see --help)");
  expect_eig_refuses({small, "--interval", "1.0000000001,1.00000000005"},
                     "--interval: the interval from 1.0000000001 to 1.00000000005 is empty");
  expect_eig_refuses({small, "--near", "1", "--slice", "9"},
                     "--slice requires --interval (see --help)");
}

TEST(EigExactUsage, RefusesAPlaceForFactorsThatAreNotMade) {
  std::string const words =
      "--factors: this solve makes no factors of A - shift M: it goes with --near, --interval, "
      "--count, --certify, or smallest pairs by --path auto without options that only an iteration "
      "has";
  for (std::vector<std::string> const& others :
       std::vector<std::vector<std::string>>{{"--path", "dense"},
                                             {"--path", "iterative"},
                                             {"--which", "largest"},
                                             {"--which", "largest", "--certify"},
                                             {"--criterion", "relative"},
                                             {"--preconditioner", "jacobi"},
                                             {"--block", "9"}}) {
    std::vector<std::string> arguments{"laplace7:4x4x4", "--factors", "device"};
    arguments.insert(arguments.end(), others.begin(), others.end());
    expect_eig_refuses(arguments, words);
  }
}

/// Ends of an interval that differ look different.
TEST_P(EigExact, IntervalsAreShownInFull) {
  auto const count = run({"laplace7:2x1x1", "--count", "1.00000000001,1.00000000002"});
  EXPECT_NE(count.outcome.out.find("(1.00000000001, 1.00000000002) holds 0 eigenvalues"),
            std::string::npos)
      << count.outcome.out;
}

/// They would be read, and then left alone.
TEST(EigExactUsage, TakesNoOptionsOfMultigrid) {
  std::vector<std::vector<std::string>> const options{
      {"--near-null", "v.mtx"}, {"--coordinates", "x.mtx"}, {"--block-size", "1"},
      {"--adaptive", "6"},      {"--hierarchy", "levels"},  {"--levels"}};
  for (std::string const asked : {"--near=1", "--interval=1,2", "--count=1,2"})
    for (auto const& option : options) {
      std::vector<std::string> arguments{"laplace7:4x4x4", asked};
      arguments.insert(arguments.end(), option.begin(), option.end());
      expect_eig_refuses(
          arguments, option[0] + " excludes " + asked.substr(0, asked.find('=')) + " (see --help)");
    }
}

TEST(EigExactUsage, SaysWhatIsMissing) {
  if (apps::has_direct) GTEST_SKIP() << "this build has the component direct";
  expect_eig_refuses({"laplace7:4x4x4", "--near", "1"},
                     "--near: " + apps::left_out("direct", "install libmumps-seq-dev and "));
}

}  // namespace
}  // namespace blockspan::test
