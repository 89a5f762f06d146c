// The sentence about how a run of blockspan-eig ended, compared with such runs: what it says
// must be true of that run.
#include "apps/eig.hpp"

extern "C" __attribute__((weak)) char* openblas_get_corename();

namespace blockspan::test {
namespace {

/// A diagonal matrix file.
std::string diagonal_file(std::string const& path, std::vector<std::string> const& entries) {
  std::size_t stored = 0;
  std::string lines;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!entries[i].empty()) {
      ++stored;
      lines += std::to_string(i + 1) + " " + std::to_string(i + 1) + " " + entries[i] + "\n";
    }
  std::string const n = std::to_string(entries.size());
  return write_text(path, "%%MatrixMarket matrix coordinate real symmetric\n" + n + " " + n + " " +
                              std::to_string(stored) + "\n" + lines);
}

void expect_sentence(ReportRun const& run, std::string const& reason,
                     std::vector<std::string> const& parts) {
  EXPECT_EQ(run.outcome.status, 1) << run.outcome.out << run.outcome.err;
  ASSERT_FALSE(run.report.is_null()) << run.outcome.err;
  EXPECT_EQ(run.report["stop_reason"], reason);
  EXPECT_EQ(run.report["converged"], false);
  std::string const advice = run.report["advice"];
  for (std::string const& part : parts)
    EXPECT_NE(advice.find(part), std::string::npos) << part << " is not in: " << advice;
  EXPECT_NE(run.outcome.out.find(advice), std::string::npos) << run.outcome.out;
}

TEST(EigWords, TheLimitOfIterationsIsNamedWithItsNumber) {
  auto const run = run_eig({"laplace7:14x13x12", "--max-iterations", "3", "--path", "iterative"});
  EXPECT_EQ(run.report["iterations"], 3);
  expect_sentence(
      run, "max_iterations",
      {"limit of 3 iterations", "--max-iterations", "--preconditioner direct", "--path dense"});
}

TEST(EigWords, TheLimitOfTimeIsNamedWithItsSeconds) {
  auto const run = run_eig({"laplace7:40", "--time-limit", "0.001", "--path", "iterative"});
  expect_sentence(run, "time_limit", {"limit of 0.001 seconds", "--time-limit"});
}

TEST(EigWords, AToleranceBelowTheArithmeticIsToldFromMissingDigits) {
  auto const coarse = run_eig({"laplace7:6x6x6", "--pairs", "3", "--tolerance", "1e-18"});
  expect_sentence(coarse, "attainable_limit", {"1e-18", "larger --tolerance"});

  TemporaryFolder const folder;
  // An eigenvalue of 1e-10 hidden by a rotation in the plane of 1: rounding its entries moves it by
  // 1e-16.
  std::string const file =
      write_text(folder / "hidden.mtx",
                 "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n"
                 "1 1 0.36000000006400002\n2 1 0.47999999995199999\n2 2 0.64000000003600001\n");
  auto const fine = run_eig({file, "--pairs", "1", "--digits", "12"});
  expect_sentence(fine, "attainable_limit", {"1 eigenvalue has fewer than 12", "fewer --digits"});
  EXPECT_LT(fine.report["certain_digits"][0].get<double>(), 12);

  // A penalty of 1e20 takes the digits of the others from the iteration, not from the dense path.
  std::vector<std::string> heavy(60, "1");
  heavy[20] = "1e20";
  std::vector<std::string> const penalised{
      "laplace7:60x1x1", "--mass", diagonal_file(folder / "heavy.mtx", heavy),
      "--pairs",         "3",      "--path"};
  auto const with_path = [&](std::string const& path) {
    auto arguments = penalised;
    arguments.push_back(path);
    return run_eig(arguments);
  };
  expect_sentence(with_path("iterative"), "attainable_limit",
                  {"3 eigenvalues have", "the iteration in double", "--path dense"});
  EXPECT_EQ(with_path("dense").outcome.status, 0);
}

TEST(EigWords, ASingularMassIsNamedWithWhatIsFinite) {
  TemporaryFolder const folder;
  std::vector<std::string> few(30), none(30);
  few[4] = "2", few[17] = "1";
  std::string const two = diagonal_file(folder / "two.mtx", few);
  auto const some = run_eig({"laplace7:30x1x1", "--mass", two, "--pairs", "3"});
  expect_sentence(some, "mass_singular", {two, "only 2 pairs are finite"});
  EXPECT_EQ(some.report["status"][1], "converged");
  auto const all = run_eig(
      {"laplace7:30x1x1", "--mass", diagonal_file(folder / "none.mtx", none), "--pairs", "1"});
  expect_sentence(all, "mass_singular", {"none.mtx is singular", "no finite pair"});
}

TEST(EigWords, AMassOfLowRankIsNamedWithWhatIsFinite) {
  TemporaryFolder const folder;
  // Rank 3, no zero on the diagonal.
  std::string lines;
  for (int j = 0; j < 200; ++j)
    for (int i = j; i < 200; i += 1)
      if (i % 3 == j % 3)
        lines += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " +
                 std::to_string((1 + i % 7) * (1 + j % 7)) + "\n";
  auto const entries = std::count(lines.begin(), lines.end(), '\n');
  std::string const mass = write_text(
      folder / "mass.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n200 200 " +
                               std::to_string(entries) + "\n" + lines);
  auto const run = [&](std::vector<std::string> const& options) {
    std::vector<std::string> arguments{"laplace7:200x1x1", "--mass", mass, "--path", "iterative"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_eig(arguments);
  };
  expect_sentence(run({"--pairs", "5"}), "mass_singular",
                  {mass + " is singular", "only 3 pairs are finite"});
  expect_sentence(run({"--pairs", "2", "--which", "largest"}), "mass_singular",
                  {mass + " is singular", "no finite pair could be found", "--path dense"});
  auto const found = run({"--pairs", "3"});
  EXPECT_EQ(found.outcome.status, 0) << found.outcome.out;
  auto const dense =
      run_eig({"laplace7:200x1x1", "--mass", mass, "--path", "dense", "--pairs", "3"});
  for (int j = 0; j < 3; ++j) {
    double const exact = dense.report["eigenvalues"][j];
    EXPECT_NEAR(found.report["eigenvalues"][j].get<double>(), exact, 1e-4 * exact) << j;
  }
}

TEST(EigWords, AnIndefiniteMassIsNamed) {
  TemporaryFolder const folder;
  std::vector<std::string> entries(40, "1");
  entries[7] = "-3";
  std::string const mass = diagonal_file(folder / "mass.mtx", entries);
  for (char const* path : {"iterative", "dense"}) {
    auto const run = run_eig({"laplace7:40x1x1", "--mass", mass, "--pairs", "2", "--path", path});
    expect_sentence(run, "mass_not_positive_definite", {mass, "not positive definite"});
  }
}

TEST(EigWords, ZerosAreCalledZerosWithTheirBound) {
  auto const run = run_eig({"laplace7:7x7x7", "--operator", "laplacian", "--pairs", "2"});
  ASSERT_EQ(run.outcome.status, 0) << run.outcome.out;
  EXPECT_EQ(run.report["status"][0], "zero_eigenvalue");
  EXPECT_LE(run.report["error_bounds"][0].get<double>(), 1e-11);
  EXPECT_NE(run.outcome.out.find("zero (within "), std::string::npos) << run.outcome.out;
  EXPECT_EQ(run.report["status"][1], "converged");
  EXPECT_GE(run.report["certain_digits"][1].get<double>(), 4);
}

TEST(EigWords, SlowKernelsOfOpenBlasAreNamed) {
#if defined(__x86_64__)
  bool const has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  bool const has_avx2 = false;
#endif
  if (openblas_get_corename == nullptr || !has_avx2)
    GTEST_SKIP() << "needs OpenBLAS with a choice of kernels, and a processor with AVX2";
  TemporaryFolder const folder;
  auto const says = [&](std::string const& core) {
    auto const run = run_shell(
        folder.path(), "OPENBLAS_CORETYPE=" + core + " $eig laplace7:12 --path dense --pairs 2");
    EXPECT_EQ(run.status, 0) << run.err;
    return run.out.find("OPENBLAS_CORETYPE=Haswell") != std::string::npos;
  };
  EXPECT_TRUE(says("Prescott"));
  EXPECT_FALSE(says("Haswell"));
}

}  // namespace
}  // namespace blockspan::test
