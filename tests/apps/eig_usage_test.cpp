// Whatever is wrong with the input: one line that says what and where, exit status 2, nothing on
// stdout, no report.
#include "apps/eig.hpp"
#include "apps/refused.hpp"

namespace blockspan::test {
namespace {

using Arguments = std::vector<std::string>;

void expect_refused(Arguments const& arguments, std::string const& message) {
  test::expect_refused("blockspan-eig", arguments, message);
}

constexpr char const* small = "laplace7:4x4x4";

TEST(EigUsage, HelpNamesEveryOptionAndGenerator) {
  Outcome const outcome = run_app("blockspan-eig", {"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  for (char const* word : {"MATRIX",
                           "--mass",
                           "--operator",
                           "--pairs",
                           "--which",
                           "--block",
                           "--tolerance",
                           "--criterion",
                           "--preconditioner",
                           "--precision",
                           "--max-iterations",
                           "--seed",
                           "--initial",
                           "--constraints",
                           "--time-limit",
                           "--checkpoint",
                           "--resume",
                           "--certify",
                           "--near",
                           "--interval",
                           "--count",
                           "--buckling",
                           "--slice",
                           "--backend",
                           "--spmm",
                           "--vectors",
                           "--report",
                           "--version",
                           "block-jacobi[:ROWS]",
                           "chebyshev[:DEGREE[:RATIO]]",
                           "default 8 and 100",
                           "gauss-seidel",
                           "direct",
                           "laplace7",
                           "elasticity",
                           "rmat"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
}

TEST(EigUsage, VersionNamesBlockspanAndKokkos) {
  Outcome const outcome = run_app("blockspan-eig", {"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out.rfind("blockspan-eig 0.", 0), 0u) << outcome.out;
  EXPECT_NE(outcome.out.find("Kokkos Kernels"), std::string::npos);
}

TEST(EigUsage, RefusesOptionsThatDoNothing) {
  for (std::string const criterion : {"backward", "relative"})
    expect_refused({small, "--criterion", criterion, "--digits", "5"},
                   "--digits: goes with --criterion digits, not with " + criterion);
  for (std::string const option : {"--block=12", "--max-iterations=9", "--preconditioner=jacobi",
                                   "--precision=working", "--block-size=1", "--levels"}) {
    std::string const name = option.substr(0, option.find('='));
    expect_refused({small, "--path", "dense", option},
                   name + ": does nothing in a dense solve (--path dense)");
  }
}

TEST(EigUsage, RefusesAWrongCommandLine) {
  expect_refused({}, "MATRIX is required (see --help)");
  expect_refused({small, "--pears", "3"},
                 "The following arguments were not expected: 3 --pears (see --help)");
  expect_refused({small, "other"}, "The following argument was not expected: other (see --help)");
  expect_refused({small, "--pairs"}, "--pairs: 1 required INT missing (see --help)");
  expect_refused({small, "--pairs", "many"}, "--pairs: 'many' is not a whole number (see --help)");
  expect_refused({small, "--pairs", "0"}, "--pairs: 0 is less than 1 (see --help)");
  expect_refused({small, "--pairs", "-3"}, "--pairs: -3 is less than 1 (see --help)");
  expect_refused({small, "--block", "0"}, "--block: 0 is less than 1 (see --help)");
  expect_refused({small, "--max-iterations", "0"},
                 "--max-iterations: 0 is less than 1 (see --help)");
  expect_refused({small, "--pairs", "99999999999"},
                 "--pairs: 99999999999 is not between -2147483648 and 2147483647 (see --help)");
  expect_refused({small, "--which", "middle"},
                 "--which: middle not in {smallest,largest} (see --help)");
  expect_refused({small, "--backend", "abacus"},
                 "--backend: abacus not in {auto,cuda,openmp,serial} (see --help)");
}

TEST(EigUsage, RefusesNumbersThatMakeNoSense) {
  expect_refused({small, "--tolerance", "0"}, "--tolerance: 0 is not between 0 and 1");
  expect_refused({small, "--tolerance", "2"}, "--tolerance: 2 is not between 0 and 1");
  expect_refused({small, "--tolerance", "nan"}, "--tolerance: nan is not between 0 and 1");
  expect_refused({small, "--pairs", "65"},
                 "--pairs: 65 are more than the 64 rows of laplace7:4x4x4");
  expect_refused({small, "--block", "65"},
                 "--block: 65 columns are more than the 64 rows of laplace7:4x4x4");
}

TEST(EigUsage, RefusesCheckpointsOfDenseSolves) {
  TemporaryFolder const folder;
  std::string const file = write_text(folder / "state", "not a checkpoint\n");
  std::string const none =
      "--path dense: a dense solve neither writes nor reads checkpoints (--checkpoint, --resume)";
  expect_refused({small, "--path", "dense", "--resume", file}, none);
  expect_refused({small, "--path", "dense", "--checkpoint", file}, none);
  // too few rows for the iteration
  for (std::string const path : {"auto", "iterative"})
    expect_refused({small, "--path", path, "--resume", file},
                   "lobpcg: there is no checkpoint of a dense solve (five blocks of 16 columns do "
                   "not fit into 64 rows): resume is " +
                       file);
  EXPECT_EQ(read_text(file), "not a checkpoint\n");
}

TEST(EigUsage, RefusesWhatIsNoNumberAndEmptyValues) {
  expect_refused({small, "--pairs", ""}, "--pairs: a number is missing (see --help)");
  expect_refused({small, "--pairs", "2.5"}, "--pairs: '2.5' is not a whole number (see --help)");
  expect_refused({small, "--pairs", "0x4"}, "--pairs: '0x4' is not a whole number (see --help)");
  expect_refused({small, "--pairs", "3 4"}, "--pairs: '3 4' is not a whole number (see --help)");
  expect_refused({small, "--pairs", "1e-1"}, "--pairs: '1e-1' is not a whole number (see --help)");
  expect_refused({small, "--pairs", "0e9"}, "--pairs: 0 is less than 1 (see --help)");
  expect_refused({small, "--seed", "-1"}, "--seed: -1 is negative (see --help)");
  expect_refused({small, "--seed", "99999999999999999999"},
                 "--seed: 99999999999999999999 is not between 0 and 18446744073709551615 (see "
                 "--help)");
  expect_refused({small, "--seed", "one"}, "--seed: 'one' is not a whole number (see --help)");
  expect_refused({small, "--tolerance", ""}, "--tolerance: a number is missing (see --help)");
  expect_refused({small, "--tolerance", "1e-8x"},
                 "--tolerance: '1e-8x' is not a number (see --help)");
  expect_refused({small, "--tolerance", "1e-8,"},
                 "--tolerance: '1e-8,' is not a number (see --help)");
  expect_refused({small, "--tolerance", "1e-999"},
                 "--tolerance: 1e-999 is out of range (see --help)");
  expect_refused({small, "--vectors", ""}, "--vectors: the value is empty (see --help)");
  expect_refused({small, "--mass", " "}, "--mass: the value is empty (see --help)");
  expect_refused({""}, "MATRIX: the value is empty (see --help)");
}

TEST(EigUsage, TakesNumbersAsPeopleWriteThem) {
  for (std::string const text : {"10", "1e1", "10.0", "+10", "010", " 10 "}) {
    Json const report = run_eig({small, "--pairs", text, "--tolerance", "+1.e-6"}).report;
    EXPECT_EQ(report["options"]["pairs"], 10) << text;
    EXPECT_EQ(report["options"]["tolerance"], 1e-6);
  }
  Json const report = run_eig({small, "--seed", "18446744073709551615"}).report;
  EXPECT_EQ(report["options"]["seed"], 18446744073709551615u);
}

TEST(EigUsage, RefusesPreconditionersThatAreNone) {
  auto const refused = [](std::string const& text, std::string const& message) {
    expect_refused({small, "--preconditioner", text}, "--preconditioner: " + message);
  };
  refused("ilu",
          "'ilu' is not none, jacobi, block-jacobi[:ROWS], chebyshev[:DEGREE[:RATIO]], "
          "gauss-seidel, direct, multigrid[:DEGREE] or automatic");
  refused("jacobi:2", "'jacobi:2' has too many parts: jacobi takes none");
  refused("gauss-seidel:1", "'gauss-seidel:1' has too many parts: gauss-seidel takes none");
  refused("gauss-seidel:2", "'gauss-seidel:2' has too many parts: gauss-seidel takes none");
  refused("direct:2", "'direct:2' has too many parts: direct takes none");
  refused("block-jacobi:1", "block size 1 is not between 2 and 8");
  refused("block-jacobi:9", "block size 9 is not between 2 and 8");
  refused("block-jacobi:3.5", "block size '3.5' is not a number");
  refused("block-jacobi:3:4", "'block-jacobi:3:4' has too many parts: block-jacobi takes ROWS");
  refused("chebyshev:", "degree '' is not a number");
  refused("chebyshev:0", "degree 0 is not between 1 and 100");
  refused("chebyshev:1000", "degree 1000 is not between 1 and 100");
  refused("chebyshev:99999999999", "degree '99999999999' is not a number");
  refused("chebyshev:4:1", "ratio 1 is not between 1.01 and 1e+06");
  refused("chebyshev:4:nan", "ratio nan is not between 1.01 and 1e+06");
  refused("chebyshev:4:30:1",
          "'chebyshev:4:30:1' has too many parts: chebyshev takes DEGREE and RATIO");
}

TEST(EigUsage, RefusesWhatIsNoMatrix) {
  TemporaryFolder const folder;
  std::string const folder_name = folder.path().string();
  Outcome outcome = run_app("blockspan-eig", {folder / "missing.mtx"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("missing.mtx"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  outcome = run_app("blockspan-eig", {folder_name});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("directory"), std::string::npos) << outcome.err;
  std::string const bad =
      write_text(folder / "bad.mtx",
                 "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 2 oops\n");
  outcome = run_app("blockspan-eig", {bad, "--pairs", "1"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err.rfind("blockspan-eig: " + bad + ":4:5: ", 0), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find("oops"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  outcome = run_app("blockspan-eig", {"laplace9:10"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("laplace9"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("laplace7"), std::string::npos) << "names the known generators";
}

/// Small problems are solved densely, without a look at most of them.
TEST(EigUsage, RefusesInputsThatAreNotThere) {
  for (char const* option :
       {"--resume", "--initial", "--constraints", "--mass", "--near-null", "--coordinates"})
    expect_refused({"laplace5:8", option, "nowhere.mtx"},
                   "nowhere.mtx: expected a readable file, found 'No such file or directory'");
  expect_refused({"laplace5:8", "--hierarchy", "nowhere"},
                 "nowhere: expected a readable folder, found 'No such file or directory'");
}

TEST(EigUsage, RefusesShapesThatClash) {
  TemporaryFolder const folder;
  std::string const wide = write_text(
      folder / "wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1.0\n");
  std::string const three = write_text(
      folder / "three.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1.0\n");
  expect_refused({wide, "--pairs", "1"}, wide + ": a square matrix is needed, this one is 2 x 3");
  expect_refused({wide, "--pairs", "1", "--operator", "laplacian"},
                 wide + ": a square matrix is needed, this one is 2 x 3");
  expect_refused({small, "--mass", wide}, wide + ": a square matrix is needed, this one is 2 x 3");
  expect_refused({small, "--mass", three},
                 "--mass: " + three + " has 3 rows, but laplace7:4x4x4 has 64");
}

TEST(EigUsage, RefusesOutputsThatCannotBeWrittenBeforeItSolves) {
  TemporaryFolder const folder;
  std::string const here = folder.path().string();
  std::string const nowhere = here + "/no/report.json";
  // So large a problem would take minutes: the refusal must come before it is even made.
  std::string const large = "laplace7:400x400x400";
  expect_refused({large, "--report", nowhere},
                 "--report " + nowhere + ": there is no directory " + here + "/no");
  expect_refused({large, "--report", here}, "--report " + here + ": is a directory");
  expect_refused({large, "--vectors", here}, "--vectors " + here + ": is a directory");
  expect_refused({large, "--vectors", "/dev/null"}, "--vectors /dev/null: is not a regular file");
  expect_refused({large, "--report", "same", "--vectors", "same"},
                 "--vectors: same is also the file of --report");
  std::string const file = write_text(
      folder / "m.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1.0\n");
  expect_refused({file, "--pairs", "1", "--vectors", file},
                 "--vectors: " + file + " would overwrite the input " + file);
  EXPECT_EQ(read_text(file).substr(0, 14), "%%MatrixMarket");
}

/// Other programs mean the standard output by it: here a file of that name was made.
TEST(EigUsage, RefusesADashForAnOutput) {
  std::string const none = ": no output goes by this name";
  test::expect_refused("blockspan-solve", {small, "--solution", "-"}, "--solution -" + none);
  for (char const* const option : {"--vectors", "--checkpoint"})
    expect_refused({small, option, "-"}, std::string(option) + " -" + none);
  for (char const* const app : {"blockspan-eig", "blockspan-solve", "blockspan-spmm"})
    test::expect_refused(app, {small, "--report", "-"},
                         "--report -" + none + " (the standard output is /dev/stdout)");
}

TEST(EigUsage, RefusesBackendsAndProductsThatAreNotThere) {
  if (!host_backend().empty()) {
    expect_refused({small, "--spmm", "cusparse", "--backend", host_backend()},
                   "--spmm cusparse: cuSPARSE runs on the backend cuda only, and this run is on " +
                       host_backend());
    Outcome const not_linked = run_app("blockspan-eig", {small, "--spmm", "merge"});
    EXPECT_EQ(not_linked.status, 2);
    EXPECT_EQ(not_linked.err.rfind("blockspan-eig: --spmm: merge not in {", 0), 0u)
        << not_linked.err;
  }
  if (has_cuda()) return;
  Outcome const outcome = run_app("blockspan-eig", {small, "--backend", "cuda"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err.rfind("blockspan-eig: --backend cuda: this build has only ", 0), 0u)
      << outcome.err;
}

}  // namespace
}  // namespace blockspan::test
