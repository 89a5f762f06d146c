// blockspan-solve with wrong input: one line that says what and where, exit status 2, nothing on
// stdout, no report.
#include "apps/backends.hpp"
#include "apps/refused.hpp"
#include "common/machine/components.hpp"

namespace blockspan::test {
namespace {

using Arguments = std::vector<std::string>;

void expect_refused(Arguments const& arguments, std::string const& message) {
  test::expect_refused("blockspan-solve", arguments, message);
}

constexpr char const* small = "laplace7:4x4x4";

std::string block_file(TemporaryFolder const& folder, std::string const& name, int rows,
                       int columns) {
  std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " " +
                     std::to_string(columns) + "\n";
  for (int i = 0; i < rows * columns; ++i) text += "1.5\n";
  return write_text(folder / name, text);
}

TEST(SolveUsage, HelpNamesEveryOptionAndGenerator) {
  Outcome const outcome = run_app("blockspan-solve", {"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  for (char const* word : {"MATRIX",           "--rhs",
                           "--columns",        "--seed",
                           "--guess",          "--null-space",
                           "--method",         "--preconditioner",
                           "--precision",      "--single-reduction",
                           "--tolerance",      "--absolute-tolerance",
                           "--max-iterations", "--solution",
                           "--backend",        "--spmm",
                           "--report",         "--quiet",
                           "--version",        "laplace7",
                           "elasticity"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
}

TEST(SolveUsage, RefusesAWrongCommandLine) {
  expect_refused({}, "MATRIX is required (see --help)");
  expect_refused({small, "--columns", "0"}, "--columns: 0 is less than 1 (see --help)");
  expect_refused({small, "--method", "guess"},
                 "--method: guess not in {auto,pseudo-block,block} (see --help)");
  expect_refused(
      {small, "--preconditioner", "magic"},
      "--preconditioner: 'magic' is not none, jacobi, block-jacobi[:ROWS], "
      "chebyshev[:DEGREE[:RATIO]], gauss-seidel, direct, multigrid[:DEGREE] or automatic");
  expect_refused({small, "--precision", "half"},
                 "--precision: half not in {working,mixed} (see --help)");
  expect_refused({small, "--single-reduction"},
                 "--single-reduction: needs --method pseudo-block and --preconditioner none or "
                 "jacobi (--method auto, --preconditioner jacobi)");
  expect_refused(
      {small, "--single-reduction", "--method", "pseudo-block", "--preconditioner", "chebyshev"},
      "--single-reduction: needs --method pseudo-block and --preconditioner none or "
      "jacobi (--method pseudo-block, --preconditioner chebyshev)");
  expect_refused({small, "--max-iterations", "0"},
                 "--max-iterations: 0 is less than 1 (see --help)");
  expect_refused({small, "--tolerance", "1"}, "--tolerance: 1 is not in [0, 1)");
  expect_refused({small, "--tolerance", "-1"}, "--tolerance: -1 is not in [0, 1)");
  expect_refused({small, "--tolerance", "nan"}, "--tolerance: nan is not in [0, 1)");
  expect_refused({small, "--absolute-tolerance", "-2"},
                 "--absolute-tolerance: -2 is negative or not finite");
  expect_refused({small, "--seed", "-1"}, "--seed: -1 is negative (see --help)");
  expect_refused({small, "--columns", "2,3"},
                 "--columns: '2,3' is not a whole number (see --help)");
  expect_refused({small, "--rhs", ""}, "--rhs: the value is empty (see --help)");
  TemporaryFolder const folder;
  std::string const rhs = block_file(folder, "b.mtx", 64, 2);
  expect_refused({small, "--rhs", rhs, "--columns", "3"}, "--rhs excludes --columns (see --help)");
  expect_refused({small, "--rhs", rhs, "--seed", "3"}, "--rhs excludes --seed (see --help)");
}

TEST(SolveUsage, RefusesShapesThatClash) {
  TemporaryFolder const folder;
  std::string const rhs = block_file(folder, "b.mtx", 63, 2);
  std::string const guess = block_file(folder, "x.mtx", 64, 3);
  std::string const wide = write_text(
      folder / "wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1.0\n");
  expect_refused({wide}, wide + ": a square matrix is needed, this one is 2 x 3");
  expect_refused({small, "--rhs", rhs},
                 "--rhs: " + rhs + " has 63 rows, but laplace7:4x4x4 has 64");
  expect_refused({small, "--guess", guess},
                 "--guess: " + guess + " is 64 x 3, but the solution is 64 x 8");
}

TEST(SolveUsage, RefusesADiagonalThatIsNotPositive) {
  TemporaryFolder const folder;
  std::string const A =
      write_text(folder / "a.mtx",
                 "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2.0\n2 2 -1.0\n3 3 "
                 "2.0\n");
  expect_refused({A},
                 "--preconditioner: the diagonal entry of row 2 is -1, so the matrix is not "
                 "positive definite");
}

TEST(SolveUsage, RefusesOutputsThatCannotBeWrittenBeforeItSolves) {
  TemporaryFolder const folder;
  std::string const here = folder.path().string();
  std::string const large = "laplace7:400x400x400";
  expect_refused({large, "--report", here}, "--report " + here + ": is a directory");
  expect_refused({large, "--solution", here}, "--solution " + here + ": is a directory");
  expect_refused({large, "--report", "same", "--solution", "same"},
                 "--solution: same is also the file of --report");
  std::string const rhs = block_file(folder, "b.mtx", 64, 1);
  expect_refused({small, "--rhs", rhs, "--solution", rhs},
                 "--solution: " + rhs + " would overwrite the input " + rhs);
}

TEST(SolveUsage, RefusesMixedPrecisionWhereThereIsNoSingleOne) {
  if (!has_scalar<float>) {
    expect_refused({small, "--precision", "mixed"},
                   "--precision mixed: this build has no single precision (see Blockspan_SCALARS)");
    return;
  }
  if (!apps::has_kokkos_kernels) return;
  expect_refused({small, "--precision", "mixed", "--spmm", "kokkos-kernels"},
                 "--precision mixed: goes with --spmm blockspan only, not with kokkos-kernels");
  expect_refused({small, "--precision", "mixed", "--preconditioner", "gauss-seidel"},
                 "--precision mixed: gauss-seidel works in double precision only");
}

TEST(SolveUsage, SaysWhatTheBuildWasMadeWithout) {
  std::string const without =
      ": this build is without the component kokkos_kernels (configure with "
      "-DBlockspan_ENABLE_KOKKOS_KERNELS=ON)";
  if (!apps::has_kokkos_kernels) {
    expect_refused({small, "--spmm", "kokkos-kernels"}, "--spmm kokkos-kernels" + without);
    expect_refused({small, "--preconditioner", "gauss-seidel"},
                   "--preconditioner gauss-seidel" + without);
  }
  TemporaryFolder const folder;
  std::string const z = write_text(
      folder / "z.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
  if (!has_scalar<Kokkos::complex<double>>)
    expect_refused({z}, z + ": the problem is complex, and this build has real scalars only: build "
                            "it with complex_double in Blockspan_SCALARS");
  else
    EXPECT_EQ(run_app("blockspan-solve", {z}).status, 0);
}

TEST(SolveUsage, RefusesBackendsAndProductsThatAreNotThere) {
  if (!host_backend().empty())
    expect_refused({small, "--spmm", "cusparse", "--backend", host_backend()},
                   "--spmm cusparse: cuSPARSE runs on the backend cuda only, and this run is on " +
                       host_backend());
  if (has_cuda()) return;
  // in words of the command line, without names of C++
  expect_refused({small, "--spmm", "windows", "--backend", "openmp"},
                 "windows is not offered by OpenMP: it needs FP64 tensor cores (CUDA, from "
                 "Ampere on); double or complex double; rows of X contiguous");
}

}  // namespace
}  // namespace blockspan::test
