// The check of blockspan-spmm finds what is wrong: an error of four bounds in one element of one
// kernel's result makes that kernel WRONG, without a speed, and no other.
#include "apps/spmm.hpp"
#include "common/machine/components.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

class SpmmFault : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Backends, SpmmFault, ::testing::ValuesIn(backends()), backend_test_name);

/// The line of the table that begins with the kernel's name.
std::string line_of(std::string const& table, std::string const& kernel) {
  auto const begin = table.find("\n  " + kernel + " ");
  return begin == std::string::npos
             ? ""
             : table.substr(begin + 1, table.find('\n', begin + 1) - begin - 1);
}

TEST_P(SpmmFault, IsFoundInThatKernelAndInNoOther) {
  for (std::string const& spoilt : {spmm_ids().front(), spmm_ids().back()}) {
    auto const [outcome, report] = run_spmm({"rmat:9:8", "--columns", "8", "--algorithm", "all",
                                             "--inject-fault", spoilt, "--backend", GetParam()});
    EXPECT_EQ(outcome.err, "");
    ASSERT_FALSE(report.is_null()) << "the report is written all the same";
    bool found = false;
    for (Json const& run : report["runs"]) {
      if (!run["refused"].is_null()) continue;
      bool const wrong = run["requested"] == spoilt;
      found = found || wrong;
      EXPECT_EQ(run["right"], !wrong) << run;
      EXPECT_EQ(run["error"] > run["error_bound"], wrong) << run;
      for (char const* key : {"ms", "repeats", "gflops", "gbytes", "share_of_floor"})
        EXPECT_EQ(run[key].is_null(), wrong) << key;
    }
    EXPECT_EQ(outcome.status, found ? 1 : 0);
    EXPECT_EQ(report["right"], !found);
    if (!found) continue;
    EXPECT_THAT(line_of(outcome.out, spoilt), HasSubstr("WRONG: error ")) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("\nWRONG: 1 of "));
  }
}

TEST_P(SpmmFault, IsFoundInEveryScalarLayoutAndOp) {
  std::vector<std::vector<std::string>> const cases{
      {"--scalar", "f32", "--layout", "left", "--op", "none"},
      {"--scalar", "f64", "--layout", "right", "--op", "transpose"},
      {"--scalar", "c64", "--layout", "right", "--op", "conjugate"},
      {"--scalar", "c128", "--layout", "left", "--op", "adjoint"}};
  for (std::vector<std::string> arguments : cases) {
    arguments[1] = built_scalar(arguments[1]);
    arguments.insert(arguments.end(), {"uniform:120x80:9", "--columns", "4", "--inject-fault",
                                       "auto", "--backend", GetParam()});
    auto const [outcome, report] = run_spmm(arguments);
    EXPECT_EQ(outcome.status, 1) << ::testing::PrintToString(arguments);
    EXPECT_EQ(report["runs"][0]["right"], false);
    EXPECT_EQ(report["runs"][0]["worst"]["column"], 3);
  }
}

TEST_P(SpmmFault, IsFoundAtEveryWidthAndInAPeer) {
  if (!apps::has_kokkos_kernels) GTEST_SKIP() << apps::left_out("kokkos_kernels");
  auto const [outcome, report] =
      run_spmm({"laplace7:8", "--columns", "1,6,40", "--compare", "kokkos-kernels",
                "--inject-fault", "kokkos-kernels", "--backend", GetParam()});
  EXPECT_EQ(outcome.status, 1);
  ASSERT_EQ(report["runs"].size(), 6u);
  for (Json const& run : report["runs"]) EXPECT_EQ(run["right"], run["requested"] == "auto") << run;
}

TEST(SpmmFaultOf, IsFoundInASampleOfRows) {
  auto const [outcome, report] =
      run_spmm({"laplace7:48", "--columns", "32", "--inject-fault", "auto"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_LT(report["checked"][0]["rows"], report["checked"][0]["all_rows"]);
}

TEST(SpmmFaultOf, IsFoundWhereNothingButZeroIsRight) {
  TemporaryFolder const folder;
  std::string const zero =
      write_text(folder / "zero.mtx", "%%MatrixMarket matrix coordinate real general\n5 5 0\n");
  auto const [outcome, report] = run_spmm({zero, "--inject-fault", "auto", "--columns", "2"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(report["runs"][0]["right"], false);
}

}  // namespace
}  // namespace blockspan::test
