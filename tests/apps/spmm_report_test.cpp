// What a run of blockspan-spmm writes: the report's members and their relations, the table.
#include "apps/spmm.hpp"
#include "common/machine/components.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SpmmReport : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, SpmmReport, ::testing::ValuesIn(backends()), backend_test_name);

TEST_P(SpmmReport, HoldsTheProblemAndTheOptions) {
  auto const [outcome, report] =
      run_spmm({"laplace7:12x11x10", "--columns", "4", "--seed", "7", "--backend", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report["schema"], "blockspan-spmm/1");
  Json const& problem = report["problem"];
  EXPECT_EQ(problem["source"], "laplace7:12x11x10");
  EXPECT_EQ(problem["scalar"], "f64");
  EXPECT_EQ(problem["rows"], 1320);
  EXPECT_EQ(problem["columns"], 1320);
  EXPECT_EQ(problem["nonzeros"], 1320 + 2 * (11 * 110 + 10 * 120 + 9 * 132));
  EXPECT_EQ(report["backend"], GetParam());
  EXPECT_EQ(report["device"]["threads"].is_null(), GetParam() == "cuda");
  EXPECT_EQ(report["options"]["columns"], Json({4}));
  EXPECT_EQ(report["options"]["seed"], 7);
  EXPECT_EQ(report["options"]["repeat"], 3);
  EXPECT_EQ(report["options"]["algorithm"], "auto");
  EXPECT_GT(report["bandwidth"]["gbytes"], 0.1);
  EXPECT_THAT(report["bandwidth"]["method"].get<std::string>(), HasSubstr("copies an array"));
  for (char const* name : {"blockspan", "kokkos", "kokkos_kernels"})
    EXPECT_TRUE(report["versions"][name].is_string()) << name;
}

TEST_P(SpmmReport, SpeedsFollowFromTimesAndSizes) {
  std::string const scalar = built_scalar("c64");
  double const size = scalar == "c128" ? 16 : 8, flops = scalar[0] == 'c' ? 8 : 2;
  auto const [outcome, report] = run_spmm(
      {"uniform:300x200:6", "--columns", "1,8", "--scalar", scalar, "--backend", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(report["runs"].size(), 2u);
  for (Json const& run : report["runs"]) {
    double const n = run["columns"], nonzeros = report["problem"]["nonzeros"];
    double const ms = run["ms"]["median"];
    double const bytes = nonzeros * (4 + size) + 301 * 4 + (300 + 200) * n * size;
    EXPECT_GT(ms, 0);
    EXPECT_LE(run["ms"]["min"], ms);
    EXPECT_GE(run["ms"]["max"], ms);
    EXPECT_EQ(run["repeats"], 3);
    EXPECT_GE(run["launches"], 1);
    EXPECT_NEAR(run["gflops"], flops * nonzeros * n / ms * 1e-6,
                1e-9 * run["gflops"].get<double>());
    EXPECT_NEAR(run["gbytes"], bytes / ms * 1e-6, 1e-9 * run["gbytes"].get<double>());
    EXPECT_NEAR(run["share_of_floor"].get<double>() * report["bandwidth"]["gbytes"].get<double>(),
                run["gbytes"], 1e-9 * run["gbytes"].get<double>());
    EXPECT_GE(run["setup_ms"], 0);
    EXPECT_GE(run["first_ms"], 0);
  }
}

TEST_P(SpmmReport, EveryKernelOfTheMenuIsRightAndRunsWhatWasAskedFor) {
  for (std::string const matrix : {"laplace7:9x8x7", "elasticity:4", "rmat:8:8"}) {
    auto const [outcome, report] =
        run_spmm({matrix, "--columns", "8", "--algorithm", "all", "--backend", GetParam()});
    ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
    ASSERT_EQ(report["runs"].size(), spmm_ids().size());
    for (std::size_t i = 0; i < spmm_ids().size(); ++i) {
      Json const& run = report["runs"][i];
      EXPECT_EQ(run["requested"], spmm_ids()[i]);
      if (!run["refused"].is_null()) continue;
      EXPECT_THAT(run["ran"].get<std::string>(), HasSubstr(spmm_ids()[i]));
      EXPECT_EQ(run["right"], true) << run;
      EXPECT_EQ(run["deterministic"], true) << run;
      EXPECT_LE(run["error"], run["error_bound"]) << run;
      EXPECT_LT(run["error_bound"], 1e-12) << run;
      EXPECT_EQ(run["not_a_number"], 0) << run;
      EXPECT_THAT(run["explain"].get<std::string>(), HasSubstr(run["ran"].get<std::string>()));
    }
  }
}

TEST_P(SpmmReport, IsRightForEveryScalarLayoutAndOp) {
  std::vector<std::vector<std::string>> const cases{
      {"--scalar", "f32", "--layout", "right", "--op", "adjoint"},
      {"--scalar", "f64", "--layout", "left", "--op", "transpose"},
      {"--scalar", "c64", "--layout", "left", "--op", "adjoint"},
      {"--scalar", "c128", "--layout", "right", "--op", "conjugate"},
      {"--scalar", "c128", "--layout", "right", "--op", "transpose"}};
  for (std::vector<std::string> arguments : cases) {
    arguments[1] = built_scalar(arguments[1]);
    arguments.insert(arguments.end(), {"uniform:150x90:9", "--columns", "3,4", "--algorithm", "all",
                                       "--backend", GetParam()});
    auto const [outcome, report] = run_spmm(arguments);
    ASSERT_EQ(outcome.status, 0) << ::testing::PrintToString(arguments) << outcome.err;
    for (Json const& run : report["runs"])
      EXPECT_TRUE(!run["refused"].is_null() || run["right"] == true) << run;
    EXPECT_EQ(report["checked"][0]["rows"], report["checked"][0]["all_rows"]);
    EXPECT_EQ(report["problem"]["scalar"], arguments[1]);
  }
}

TEST_P(SpmmReport, ComparesWithPeers) {
  if (!apps::has_kokkos_kernels) GTEST_SKIP() << apps::left_out("kokkos_kernels");
  bool const cusparse = apps::has_cusparse && GetParam() == "cuda";
  std::string const peers = cusparse ? "kokkos-kernels,cusparse" : "kokkos-kernels";
  auto const [outcome, report] =
      run_spmm({"elasticity:4", "--columns", "5,8", "--compare", peers, "--backend", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  ASSERT_EQ(report["runs"].size(), cusparse ? 6u : 4u);
  EXPECT_EQ(report["runs"][0]["requested"], "auto");
  EXPECT_EQ(report["runs"][1]["requested"], "kokkos-kernels");
  EXPECT_THAT(report["runs"][1]["ran"].get<std::string>(), HasSubstr("Kokkos Kernels "));
  EXPECT_EQ(report["runs"][1]["explain"], "");
  for (Json const& run : report["runs"]) EXPECT_EQ(run["right"], true) << run;
}

TEST_P(SpmmReport, ComparesRectangularMatricesAndOneColumn) {
  bool const cusparse = apps::has_cusparse && GetParam() == "cuda";
  if (!apps::has_kokkos_kernels && !cusparse) GTEST_SKIP() << "this build has no peer";
  for (std::string const matrix : {"wide:40x90:9", "uniform:90x40:9"}) {
    auto const [outcome, report] =
        run_spmm({matrix, "--columns", "1,4", "--compare", cusparse ? "cusparse" : "kokkos-kernels",
                  "--backend", GetParam()});
    ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
    for (Json const& run : report["runs"]) EXPECT_EQ(run["right"], true) << run;
    if (!cusparse) continue;
    for (std::size_t const i : {1, 3})  // with its version and algorithm
      EXPECT_THAT(report["runs"][i]["ran"].get<std::string>(),
                  ::testing::ContainsRegex("cuSPARSE 1[0-9.]+, Sp(MM|MV) "));
  }
}

TEST_P(SpmmReport, ListsAPeerThatCannotServeBesideAllKernels) {
  auto const [outcome, report] =
      run_spmm({"laplace7:6", "--columns", "4", "--layout", "left", "--algorithm", "all",
                "--compare", "kokkos-kernels", "--backend", GetParam()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  Json const& peer = report["runs"].back();
  EXPECT_EQ(peer["requested"], "kokkos-kernels");
  std::string const refused =
      apps::has_kokkos_kernels
          ? "its product takes row-major blocks only, and this run has --layout left"
          : apps::left_out("kokkos_kernels");
  EXPECT_EQ(peer["refused"], refused);
  for (char const* key : {"ran", "right", "error", "ms", "gflops"})
    EXPECT_TRUE(peer[key].is_null()) << key;
  EXPECT_THAT(outcome.out, HasSubstr("refused: " + refused.substr(0, 20)));
}

TEST_P(SpmmReport, ServesAMatrixWithoutEntriesOrRows) {
  TemporaryFolder const folder;
  std::string const banner = "%%MatrixMarket matrix coordinate real general\n";
  std::string const zero = write_text(folder / "zero.mtx", banner + "5 4 0\n");
  auto const [outcome, report] =
      run_spmm({zero, "--columns", "4", "--algorithm", "all", "--backend", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (Json const& run : report["runs"]) {
    bool const of_devices = run["requested"] == "windows" || run["requested"] == "row_pairs" ||
                            run["requested"] == "adaptive";
    if (of_devices && GetParam() != "cuda") {
      EXPECT_TRUE(run["refused"].is_string()) << run;
      continue;
    }
    EXPECT_EQ(run["right"], true) << run;
    EXPECT_EQ(run["error"], 0) << run;
  }
}

TEST(SpmmChecked, IsASampleOfALargeProduct) {
  auto const [outcome, report] = run_spmm({"laplace7:48", "--columns", "32"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  Json const& checked = report["checked"][0];
  EXPECT_EQ(checked["all_rows"], 110592);
  EXPECT_GE(checked["rows"], 1000);
  EXPECT_LT(checked["rows"], 110592);
  EXPECT_THAT(outcome.out, HasSubstr(" of 110,592 rows checked"));
}

TEST(SpmmOutput, ChoosesTheScalarOfAComplexFile) {
  if (!has_scalar<Kokkos::complex<double>>) GTEST_SKIP() << needs_complex;
  TemporaryFolder const folder;
  std::string const file =
      write_text(folder / "z.mtx",
                 "%%MatrixMarket matrix coordinate complex general\n2 3 2\n1 3 1 2\n2 1 0 -1\n");
  auto const [outcome, report] = run_spmm({file, "--op", "adjoint", "--columns", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report["problem"]["scalar"], "c128");
  EXPECT_EQ(report["checked"][0]["rows"], 3);
  EXPECT_EQ(report["runs"][0]["right"], true);
}

TEST(SpmmOutput, IsATableWithoutControlCharactersInAPipe) {
  Outcome const outcome =
      run_app("blockspan-spmm", {"laplace7:10", "--columns", "1,8", "--repeat", "2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  for (char const c : outcome.out) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
  for (char const* word : {"laplace7:10", "1,000 x 1,000", "copy ", "1 column,", "8 columns,",
                           "1,000 of 1,000 rows checked", "auto: ", "GFLOP/s", "GB/s", "floor",
                           "equal", "All 2 results right"})
    EXPECT_THAT(outcome.out, HasSubstr(word));
  EXPECT_THAT(outcome.out, Not(HasSubstr("because")));
}

TEST(SpmmOutput, ExplainsThePlanWhenAsked) {
  Outcome const outcome =
      run_app("blockspan-spmm", {"laplace7:6", "--explain", "--op", "transpose", "--repeat", "2"});
  EXPECT_EQ(outcome.status, 0);
  for (char const* word : {"because", "rejected", "transpose of A"})
    EXPECT_THAT(outcome.out, HasSubstr(word));
}

TEST(SpmmOutput, IsALiveLineOnATerminal) {
  Outcome const outcome = run_app_on_terminal("blockspan-spmm", {"laplace7:6", "--repeat", "2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("\r\033[K8 columns, auto"));
  EXPECT_THAT(outcome.out, HasSubstr("\r\033[Kmatrix"));
}

TEST(SpmmOutput, IsNothingWhenQuiet) {
  Outcome const outcome =
      run_app_on_terminal("blockspan-spmm", {"laplace7:6", "--quiet", "--repeat", "2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace blockspan::test
