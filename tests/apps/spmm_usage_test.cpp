// Whatever is wrong with the input of blockspan-spmm: one line that says what and where, exit
// status 2, nothing on stdout, no report.
#include "apps/spmm.hpp"
#include "common/machine/components.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Arguments = std::vector<std::string>;

/// Runs with a report in a folder of its own; expects status 2 and one line, which it returns.
std::string refusal(Arguments arguments) {
  TemporaryFolder const folder;
  if (std::find(arguments.begin(), arguments.end(), "--report") == arguments.end())
    arguments.insert(arguments.begin(), {"--report", folder / "report.json"});
  Outcome const outcome = run_app("blockspan-spmm", arguments);
  EXPECT_EQ(outcome.status, 2) << ::testing::PrintToString(arguments);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_THAT(outcome.err, StartsWith("blockspan-spmm: "));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "something was left behind";
  return outcome.err;
}

/// Expects the one line "blockspan-spmm: `message`".
void expect_refused(Arguments const& arguments, std::string const& message) {
  EXPECT_EQ(refusal(arguments), "blockspan-spmm: " + message + "\n");
}

constexpr char const* small = "laplace7:4x4x4";
// So large a problem would take minutes: a refusal must come before it is even made.
constexpr char const* large = "laplace7:400x400x400";

TEST(SpmmUsage, HelpNamesEveryOptionKernelAndGenerator) {
  Outcome const outcome = run_app("blockspan-spmm", {"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  for (char const* word : {"MATRIX", "--columns", "--scalar", "--layout", "--op", "--algorithm",
                           "--compare", "--repeat", "--seed", "--backend", "--explain", "--report",
                           "--quiet", "--version", "laplace7", "elasticity", "rmat", "Exit status"})
    EXPECT_THAT(outcome.out, HasSubstr(word));
  for (std::string const& id : spmm_ids()) EXPECT_THAT(outcome.out, HasSubstr("  " + id + ": "));
  EXPECT_THAT(outcome.out, Not(HasSubstr("--inject-fault")));
}

TEST(SpmmUsage, VersionNamesBlockspanAndKokkos) {
  Outcome const outcome = run_app("blockspan-spmm", {"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, StartsWith("blockspan-spmm 0."));
  EXPECT_THAT(outcome.out, HasSubstr("Kokkos Kernels"));
}

TEST(SpmmUsage, RefusesAWrongCommandLine) {
  expect_refused({}, "MATRIX is required (see --help)");
  expect_refused({small, "other"}, "The following argument was not expected: other (see --help)");
  expect_refused({small, "--columns", "8,0"}, "--columns: 0 is less than 1 (see --help)");
  expect_refused({small, "--columns", "-8"}, "--columns: -8 is less than 1 (see --help)");
  expect_refused({small, "--columns", "8,x"}, "--columns: 'x' is not a whole number (see --help)");
  expect_refused({small, "--columns", "99999999999"},
                 "--columns: 99999999999 is not between -2147483648 and 2147483647 (see --help)");
  expect_refused({small, "--repeat", "0"}, "--repeat: 0 is less than 1 (see --help)");
  expect_refused({small, "--scalar", "f16"},
                 "--scalar: f16 not in {f32,f64,c64,c128} (see --help)");
  expect_refused({small, "--layout", "up"}, "--layout: up not in {right,left} (see --help)");
  expect_refused({small, "--op", "invert"},
                 "--op: invert not in {none,transpose,conjugate,adjoint} (see --help)");
  expect_refused({small, "--compare", "cusparse,abacus"},
                 "--compare: abacus not in {cusparse,kokkos-kernels} (see --help)");
  expect_refused({small, "--backend", "abacus"},
                 "--backend: abacus not in {auto,cuda,openmp,serial} (see --help)");
  expect_refused({small, "--columns", ""}, "--columns: a number is missing (see --help)");
  for (std::string const list : {"1,,2", ",1", "1,", ","})
    expect_refused({small, "--columns", list},
                   "--columns: '" + list + "' has an empty entry (see --help)");
  expect_refused({small, "--columns=1,,2"}, "--columns: '1,,2' has an empty entry (see --help)");
  expect_refused({small, "--compare", "cusparse,"},
                 "--compare: 'cusparse,' has an empty entry (see --help)");
  expect_refused({small, "--seed", "-1"}, "--seed: -1 is negative (see --help)");
  EXPECT_THAT(refusal({small, "--algorithm", "best"}), HasSubstr("--algorithm: best not in {auto"));
  expect_refused({small, "--inject-fault", "kokkos-kernels"},
                 "--inject-fault: kokkos-kernels is not among the kernels of this run");
}

TEST(SpmmUsage, TakesTheMatrixAfterAList) {
  Outcome const outcome = run_app("blockspan-spmm", {"--columns", "2,3", small});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("3 columns, "));
}

TEST(SpmmUsage, RefusesWhatIsNoMatrix) {
  TemporaryFolder const folder;
  EXPECT_THAT(refusal({folder / "missing.mtx"}), HasSubstr("missing.mtx"));
  EXPECT_THAT(refusal({folder.path().string()}), HasSubstr("directory"));
  std::string const bad =
      write_text(folder / "bad.mtx",
                 "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 2 oops\n");
  EXPECT_THAT(refusal({bad}), StartsWith("blockspan-spmm: " + bad + ":4:5: "));
  EXPECT_THAT(refusal({"laplace9:10"}), HasSubstr("known are: "));
  std::string const z = write_text(
      folder / "z.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n");
  expect_refused({z, "--scalar", "f32"}, "--scalar f32: " + z + " is complex: take c64 or c128");
}

TEST(SpmmUsage, RefusesPeersThatCannotServeBeforeAnythingIsMade) {
  if (!host_backend().empty())
    expect_refused(
        {large, "--compare", "cusparse", "--backend", host_backend()},
        "--compare cusparse: cuSPARSE runs on the backend cuda only, and this run is on " +
            host_backend());
  if (!apps::has_kokkos_kernels) {
    expect_refused({large, "--compare", "kokkos-kernels"},
                   "--compare kokkos-kernels: this build is without the component kokkos_kernels "
                   "(configure with -DBlockspan_ENABLE_KOKKOS_KERNELS=ON)");
    return;
  }
  Outcome const outcome =
      run_app("blockspan-spmm", {"--columns", "2", "--compare", "kokkos-kernels", small});
  EXPECT_EQ(outcome.status, 0) << outcome.err;  // the matrix comes after a list
  if (has_scalar<Kokkos::complex<float>>)
    expect_refused({large, "--compare", "kokkos-kernels", "--scalar", "c64"},
                   "--compare kokkos-kernels: Kokkos Kernels is compiled for f64 and c128 only, "
                   "and this run is c64");
  expect_refused({large, "--compare", "kokkos-kernels", "--layout", "left"},
                 "--compare kokkos-kernels: its product takes row-major blocks only, and this run "
                 "has --layout left");
  expect_refused({large, "--compare", "kokkos-kernels", "--op", "transpose"},
                 "--compare kokkos-kernels: its product multiplies by A itself only, and this run "
                 "has --op transpose");
}

TEST(SpmmUsage, RefusesAKernelThatCannotServe) {
  if (!has_cuda()) {
    EXPECT_THAT(refusal({small, "--columns", "8", "--algorithm", "windows"}),
                StartsWith("blockspan-spmm: --algorithm windows: "));
    return;
  }
  Arguments const odd{small,  "--columns", "3",   "--backend",
                      "cuda", "--scalar",  "f64", "--algorithm"};
  Arguments alone = odd, all = odd;
  alone.push_back("rows");
  all.push_back("all");
  EXPECT_THAT(refusal(alone), StartsWith("blockspan-spmm: --algorithm rows: "));
  auto const [outcome, report] = run_spmm(all);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("refused: "));
}

TEST(SpmmUsage, RefusesABlockThatNoMemoryHolds) {
  if (host_backend().empty()) GTEST_SKIP() << "needs a backend of the host";
  EXPECT_THAT(
      refusal({"laplace7:32", "--scalar", "f64", "--columns", "2000000000", "--backend",
               host_backend()}),
      ::testing::MatchesRegex(
          "blockspan-spmm: laplace7:32: out of memory: 4,000,000,000 vectors of 32,768 rows "
          "need 5.24e.05 GB, and only .* GB are free: fewer --columns take less\n"));
}

TEST(SpmmUsage, NamesWhatOtherCompressionThereIs) {
  TemporaryFolder const folder;
  std::string tar(300, '\0');
  tar.replace(257, 5, "ustar");
  for (auto const& [bytes, name, remedy] :
       {std::tuple<std::string, char const*, char const*>{"BZh91AY&SY",
                                                          "a file compressed by bzip2", "bunzip2"},
        {std::string("\xfd\x37zXZ\0", 6), "a file compressed by xz", "unxz"},
        {"\x28\xb5\x2f\xfd", "a file compressed by zstd", "unzstd"},
        {"PK\x03\x04", "a zip archive", "unzip"},
        {tar, "a tar archive", "tar -xf"}}) {
    auto const file = write_text(folder / "m.mtx", bytes + "\nmore");
    expect_refused({file}, file +
                               ": expected plain text or gzip, as only gzip is inflated here "
                               "(unpack it by " +
                               remedy + " first), found '" + name + "'");
  }
}

TEST(SpmmUsage, RefusesABackendThatIsNotThere) {
  if (has_cuda()) return;
  EXPECT_THAT(refusal({large, "--backend", "cuda"}),
              StartsWith("blockspan-spmm: --backend cuda: this build has only "));
}

TEST(SpmmUsage, RefusesAReportThatCannotBeWrittenBeforeItMultiplies) {
  TemporaryFolder const folder;
  std::string const here = folder.path().string(), nowhere = here + "/no/report.json";
  expect_refused({large, "--report", nowhere},
                 "--report " + nowhere + ": there is no directory " + here + "/no");
  expect_refused({large, "--report", here}, "--report " + here + ": is a directory");
  auto const forbidden = refusal({large, "--report", "/sys/report.json"});
  EXPECT_THAT(forbidden, HasSubstr("--report: cannot write /sys/report.json: "));
  EXPECT_THAT(forbidden, Not(HasSubstr("Success")));
  std::string const file = write_text(
      folder / "m.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1.0\n");
  expect_refused({file, "--report", file},
                 "--report: " + file + " would overwrite the input " + file);
  EXPECT_THAT(read_text(file), StartsWith("%%MatrixMarket"));
}

TEST(SpmmUsage, LeavesNothingBehindWhenInterrupted) {
  TemporaryFolder const folder;
  Outcome const outcome = run_app_and_interrupt(
      "blockspan-spmm", {"laplace7:20", "--repeat", "1000000", "--report", folder / "report.json"},
      3);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "blockspan-spmm: interrupted: nothing was written\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace blockspan::test
