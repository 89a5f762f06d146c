// The course of a solve: starts, constraints, batches, limits, files to go on from, certificates.
#include "apps/eig.hpp"
#include "apps/refused.hpp"
#include "support/grid_spectrum.hpp"

namespace blockspan::test {
namespace {

/// A run that iterates: these tests are about the iteration, not about small problems.
ReportRun run_iteration(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--path", "iterative"});
  return run_eig(arguments);
}

std::string ones(std::string const& path, int rows) {
  std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " 1\n";
  for (int i = 0; i < rows; ++i) text.append("1\n");
  return write_text(path, text);
}

TEST(EigCourse, FewerColumnsThanPairsFindThemInBatches) {
  auto const run = run_iteration({"laplace7:10x10x10", "--pairs", "40", "--block", "12"});
  ASSERT_EQ(run.outcome.status, 0) << run.outcome.err;
  EXPECT_GE(run.report["counters"]["batches"], 5);
  auto const values = numbers(run.report["eigenvalues"]);
  auto const exact = grid7_spectrum(10);
  ASSERT_EQ(values.size(), 40u);
  for (std::size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(values[j], exact[j], 1e-6) << j;
}

TEST(EigCourse, TheVectorsOfOneRunStartTheNext) {
  TemporaryFolder const folder;
  std::string const vectors = folder / "vectors.mtx";
  std::vector<std::string> const problem = {"laplace27:9x9x9", "--pairs", "6"};
  auto first = problem;
  first.insert(first.end(), {"--vectors", vectors, "--tolerance", "1e-9"});
  auto const cold = run_iteration(first);
  ASSERT_EQ(cold.outcome.status, 0) << cold.outcome.err;
  auto second = problem;
  second.insert(second.end(), {"--initial", vectors});
  auto const warm = run_iteration(second);
  ASSERT_EQ(warm.outcome.status, 0) << warm.outcome.err;
  EXPECT_EQ(warm.report["options"]["initial"], vectors);
  EXPECT_EQ(warm.report["history"][0]["residuals"].size(), 6u);
  for (Json const& residual : warm.report["history"][0]["residuals"]) EXPECT_LE(residual, 1e-8);
  EXPECT_LT(warm.report["iterations"], cold.report["iterations"]);
}

TEST(EigCourse, ConstraintsTakeTheNullVectorOutOfALaplacian) {
  TemporaryFolder const folder;
  std::string const constant = ones(folder / "ones.mtx", 512);
  auto const run = run_iteration(
      {"laplace7:8x8x8", "--operator", "laplacian", "--pairs", "4", "--constraints", constant});
  auto const plain = run_iteration({"laplace7:8x8x8", "--operator", "laplacian", "--pairs", "5"});
  ASSERT_EQ(run.outcome.status, 0) << run.outcome.err;
  auto const values = numbers(run.report["eigenvalues"]);
  auto const all = numbers(plain.report["eigenvalues"]);
  EXPECT_NEAR(all[0], 0, 1e-7);
  for (std::size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(values[j], all[j + 1], 1e-6) << j;
}

TEST(EigCourse, AConstrainedPencilIsJudgedByItsProjectedResiduals) {
  TemporaryFolder const folder;
  std::string const constant =
      ones(folder / "ones.mtx", 648);  // 6^3 nodes, clamped: no eigenvector
  auto const run = run_iteration({"elasticity:6:free", "--mass", "elasticity-mass:6:free",
                                  "--pairs", "4", "--constraints", constant});
  EXPECT_EQ(run.outcome.status, 0) << run.outcome.err;
  for (Json const& residual : run.report["residuals"]) EXPECT_LE(residual, 1.01e-8);
}

TEST(EigCourse, ALimitLeavesACheckpointToGoOnFrom) {
  if (host_backend().empty()) GTEST_SKIP() << needs_host;
  TemporaryFolder const folder;
  std::string const file = folder / "state.bin";
  // what a solve with checkpoints has unasked
  std::vector<std::string> const problem = {"laplace7:12x12x12", "--pairs", "5",
                                            "--preconditioner",  "jacobi",  "--backend",
                                            host_backend()};
  auto const whole = run_iteration(problem);
  ASSERT_EQ(whole.outcome.status, 0) << whole.outcome.err;
  auto first = problem;
  first.insert(first.end(), {"--checkpoint", file, "--max-iterations", "8"});
  auto const stopped = run_iteration(first);
  EXPECT_EQ(stopped.outcome.status, 1);
  EXPECT_EQ(stopped.report["stop_reason"], "max_iterations");
  auto second = problem;
  second.insert(second.end(), {"--resume", file});
  auto const resumed = run_iteration(second);
  EXPECT_EQ(resumed.outcome.status, 0) << resumed.outcome.err;
  EXPECT_EQ(resumed.report["eigenvalues"], whole.report["eigenvalues"]);  // to the last digit
  EXPECT_EQ(resumed.report["iterations"], whole.report["iterations"]);
  EXPECT_EQ(resumed.report["history"], whole.report["history"]);
}

TEST(EigCourse, AnInterruptLeavesOneToo) {
  if (host_backend().empty()) GTEST_SKIP() << needs_host;
  TemporaryFolder const folder;
  std::string const file = folder / "state.bin";
  // far too many iterations for that time, and on a GPU they might not be
  auto const outcome = run_app_and_interrupt(
      "blockspan-eig",
      {"laplace7:45x45x45", "--pairs", "20", "--tolerance", "1e-14", "--preconditioner", "none",
       "--backend", host_backend(), "--checkpoint", file},
      1.5);
  ASSERT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_GT(std::filesystem::file_size(file), 45u * 45 * 45 * 20 * 8);
}

TEST(EigCourse, TheClockEndsASolve) {
  auto const run =
      run_iteration({"laplace7:20x20x20", "--tolerance", "1e-13", "--time-limit", "1e-3"});
  EXPECT_EQ(run.outcome.status, 1);
  EXPECT_EQ(run.report["stop_reason"], "time_limit");
  EXPECT_NE(run.outcome.out.find("NOT CONVERGED"), std::string::npos);
}

TEST(EigCourse, CertificatesHoldTheTrueValues) {
  auto const run =
      run_iteration({"laplace7:9x9x9", "--pairs", "7", "--certify", "--tolerance", "1e-4"});
  ASSERT_EQ(run.outcome.status, 0) << run.outcome.err;
  EXPECT_NE(run.outcome.out.find("certain within"), std::string::npos);
  auto const& certificate = run.report["certificate"];
  EXPECT_TRUE(certificate["rigorous"]);
  auto const exact = grid7_spectrum(9);
  auto const values = numbers(run.report["eigenvalues"]),
             radii = numbers(certificate["gap_radius"]);
  ASSERT_EQ(radii.size(), 7u);
  for (std::size_t j = 0; j < radii.size(); ++j)
    EXPECT_LE(std::abs(values[j] - exact[j]), radii[j]) << j;
}

TEST(EigCourse, APencilIsCertifiedWhereItsMassIsDiagonallyDominant) {
  TemporaryFolder const folder;
  std::string mass = "%%MatrixMarket matrix coordinate real symmetric\n64 64 64\n";
  for (int i = 1; i <= 64; ++i) {
    mass += std::to_string(i) + " " + std::to_string(i) + " " + std::to_string(i % 3 + 1) + "\n";
  }
  std::string const diagonal = write_text(folder / "mass.mtx", mass);
  auto const good =
      run_iteration({"laplace7:4x4x4", "--mass", diagonal, "--pairs", "3", "--certify"});
  ASSERT_EQ(good.outcome.status, 0) << good.outcome.err;
  EXPECT_TRUE(good.report["certificate"]["rigorous"]);
  auto const consistent =
      run_iteration({"elasticity:4", "--mass", "elasticity-mass:4", "--pairs", "3", "--certify"});
  EXPECT_EQ(consistent.outcome.status, 0) << consistent.outcome.err;
  EXPECT_FALSE(consistent.report["certificate"]["rigorous"]);
  EXPECT_NE(consistent.outcome.out.find("rest on an estimate"), std::string::npos);
  auto const dense =
      run_eig({"elasticity:4", "--mass", "elasticity-mass:4", "--pairs", "3", "--path", "dense"});
  auto const values = numbers(consistent.report["eigenvalues"]),
             exact = numbers(dense.report["eigenvalues"]),
             radius = numbers(consistent.report["certificate"]["gap_radius"]);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_TRUE(std::isfinite(radius[j])) << j;
    EXPECT_LE(std::abs(values[j] - exact[j]), radius[j] + 1e-13 * exact[j]) << j;
  }
}

TEST(EigCourse, WrongFilesAreRefusedInOneLine) {
  TemporaryFolder const folder;
  std::string const small = "laplace7:4x4x4";
  std::string const three = ones(folder / "three.mtx", 3);
  auto const refused = [](std::vector<std::string> const& arguments, std::string const& message) {
    expect_refused("blockspan-eig", arguments, message);
  };
  refused({small, "--initial", three},
          "--initial: " + three + " has 3 rows, but laplace7:4x4x4 has 64");
  refused({small, "--constraints", three},
          "--constraints: " + three + " has 3 rows, but laplace7:4x4x4 has 64");
  std::string const column = ones(folder / "column.mtx", 64);
  refused({small, "--pairs", "64", "--constraints", column},
          "--pairs: 64 and 1 constraints are more than the 64 rows of laplace7:4x4x4");
  refused({"laplace7:8", "--resume", column},
          column + ": this is not a checkpoint of this version of Blockspan");
  refused({small, "--checkpoint", column, "--initial", column},
          "--checkpoint: " + column + " would overwrite the input " + column);
  refused({small, "--time-limit", "0"}, "--time-limit: 0 is not a positive time");
}

}  // namespace
}  // namespace blockspan::test
