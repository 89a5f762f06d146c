// Iterations of conjugate gradients on real matrices against the counts of a prototype of the
// method (8 right-hand sides, 1e-8 unless said otherwise), and truth on hard ones.
#include <map>
#include <string>

#include "solvers/cg_solve.hpp"
#include "solvers/truth.hpp"

namespace blockspan::test {
namespace {

struct Wanted {
  std::string matrix;
  CgMethod method;
  Preconditioner preconditioner;
  int iterations;
};

template <class Exec>
CgSolved<double> run(TestMatrix<double> const& A, int columns, CgMethod method,
                     Preconditioner preconditioner) {
  return solve<double>(CgCase<double, Exec>{
      A, random_block<double>(A.order(), columns, 77), method, preconditioner, {}, {}});
}

template <class Exec>
class CgCounts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!matrix_folder()) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR is not set";
    folder_ = *matrix_folder();
  }
  TestMatrix<double> read(std::string const& name) const {
    return name == "grid" ? grid7<double>(32) : read_test_matrix<double>(folder_, name);
  }
  std::string folder_;
};
TYPED_TEST_SUITE(CgCounts, Backends, ConfigNames);

TYPED_TEST(CgCounts, EightColumns) {
  auto const p = CgMethod::pseudo_block, d = CgMethod::block;
  auto const none = Preconditioner::none, jacobi = Preconditioner::jacobi;
  for (auto const& wanted : {
           Wanted{"nos3", d, none, 75},
           {"nos3", d, jacobi, 70},
           {"nos3", p, none, 264},
           {"nos3", p, jacobi, 230},
           {"bcsstk09", d, none, 102},
           {"bcsstk09", d, jacobi, 81},
           {"bcsstk09", p, none, 302},
           {"bcsstk09", p, jacobi, 273},
           {"1138_bus", d, none, 584},
           {"1138_bus", d, jacobi, 127},
           {"1138_bus", p, none, 3012},
           {"1138_bus", p, jacobi, 1017},
           {"grid", d, jacobi, 94},
       }) {
    auto const solved =
        run<TypeParam>(this->read(wanted.matrix), 8, wanted.method, wanted.preconditioner);
    EXPECT_TRUE(solved.report.converged()) << wanted.matrix;
    EXPECT_EQ(solved.report.counters.cycles, 1) << wanted.matrix;
    EXPECT_NEAR(solved.most_iterations, wanted.iterations, 0.05 * wanted.iterations + 3)
        << wanted.matrix << (wanted.method == d ? " block" : " pseudo-block")
        << (wanted.preconditioner == none ? "" : " jacobi");
  }
}

TYPED_TEST(CgCounts, WhatABlockSaves) {
  // Iterations of pseudo-block over those of the block, rounded in the table they come from.
  std::map<std::string, std::vector<double>> const ratios = {
      {"nos3", {1.5, 2.3, 3.4, 5.0, 7.7}},
      {"bcsstk09", {1.3, 2.1, 3.4, 5.2, 8.1}},
      {"bcsstk15", {1.3, 1.9, 2.6, 4.0, 6.6}},
      {"bcsstk26", {1.3, 2.0, 3.7, 8.8, 20}},
      {"1138_bus", {1.9, 3.9, 8.0, 16, 32}}};
  for (auto const& [name, of_name] : ratios) {
    auto const A = this->read(name);
    int columns = 1;
    for (double const ratio : of_name) {
      columns *= 2;
      bool const long_run = name == "bcsstk26" || name == "bcsstk15";
      if (long_run && columns != 8) continue;
      int const p = run<TypeParam>(A, columns, CgMethod::pseudo_block, Preconditioner::jacobi)
                        .most_iterations;
      int const d =
          run<TypeParam>(A, columns, CgMethod::block, Preconditioner::jacobi).most_iterations;
      double const rounding = ratio < 10 ? 0.05 : 0.5;
      EXPECT_LE(d, 1.05 * p / (ratio - rounding) + 3) << name << " " << columns;
      EXPECT_GE(d, 0.95 * p / (ratio + rounding) - 3) << name << " " << columns;
    }
  }
}

TYPED_TEST(CgCounts, NobodyIsToldWhatIsNotTrue) {
  for (std::string const name : {"494_bus", "662_bus", "nos4", "nos5", "bcsstk01", "bcsstk02",
                                 "bcsstk07", "bcsstk08", "bcsstk10", "bcsstk21", "LF10", "mesh1e1",
                                 "gr_30_30", "Trefethen_20b", "Trefethen_2000", "Chem97ZtZ"}) {
    auto const A = this->read(name);
    for (CgMethod const method : {CgMethod::pseudo_block, CgMethod::block}) {
      // run() judges every claim; here all of them claim success
      auto const solved = run<TypeParam>(A, 8, method, Preconditioner::jacobi);
      EXPECT_TRUE(solved.report.converged()) << name << " " << to_string(solved.report.status);
    }
  }
}

TYPED_TEST(CgCounts, ASevereMatrixIsSolvedAsFarAsTheArithmeticGoes) {
  auto const A = this->read("msc01050");
  for (CgMethod const method : {CgMethod::pseudo_block, CgMethod::block}) {
    auto const solved = run<TypeParam>(A, 4, method, Preconditioner::jacobi);
    for (auto const& column : solved.report.columns) {
      EXPECT_EQ(column.status, Status::attainable_limit);
      EXPECT_LE(column.backward_error, unit_roundoff<double>);
      EXPECT_LE(column.residual, 1e-2);
    }
  }
}

}  // namespace
}  // namespace blockspan::test
