// When a plain method has shown that another one has less work, by counts and residuals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/sparse/generators.hpp>

namespace blockspan::test {
namespace {

/// The pace of a solve whose error falls by a constant factor a step.
SolvePace steady(SolveKind kind, int iterations, double error) {
  SolvePace pace(kind, 1e-8);
  for (int k = 0; k <= iterations; ++k) pace.see(k, std::pow(error, double(k) / iterations));
  return pace;
}

TEST(MultigridAutomatic, SeesHowManyIterationsAreLeft) {
  // a quarter of the digits in 100 iterations: 300 are left
  EXPECT_DOUBLE_EQ(iterations_left(100, 1e-2, 1e-8), 300);
  EXPECT_EQ(iterations_left(100, 1e-9, 1e-8), 0);
  EXPECT_EQ(iterations_left(100, 1, 1e-8), std::numeric_limits<double>::infinity());
  for (auto const kind : {SolveKind::system, SolveKind::eigenpairs})
    EXPECT_NEAR(steady(kind, 100, 1e-2).left(), 300, 1e-9);
}

TEST(MultigridAutomatic, SwitchesASystemWhereMoreIsLeftThanMultigridTakes) {
  auto const pace = steady(SolveKind::system, 40, 1e-1);  // 280 are left
  EXPECT_TRUE(pace.is_time_to_switch(279));
  EXPECT_FALSE(pace.is_time_to_switch(281));
  EXPECT_TRUE(pace.is_time_to_switch(139, 2));
  EXPECT_FALSE(pace.is_time_to_switch(141, 2));
  EXPECT_TRUE(pace.is_time_to_switch(599, 1, 1)) << "another group takes 320";
  EXPECT_FALSE(pace.is_time_to_switch(601, 1, 1));
  auto const idle = steady(SolveKind::system, 40, 1);
  EXPECT_TRUE(idle.is_time_to_switch(800));
  EXPECT_FALSE(idle.is_time_to_switch(801)) << "too early to say";
  EXPECT_FALSE(steady(SolveKind::system, 3, 1).is_time_to_switch(1));
  EXPECT_FALSE(steady(SolveKind::system, 100, 1e-2).is_time_to_switch(301)) << "too late to gain";
}

/// Random right-hand sides: fast at first, then slow, and fast again in the end.
TEST(MultigridAutomatic, TakesTheMeanOfBothPacesOfASystem) {
  SolvePace slower(SolveKind::system, 1e-8), standing(SolveKind::system, 1e-8);
  for (int k = 1; k <= 20; ++k) {
    slower.see(k, std::pow(0.1, std::min(k, 10) / 10.0 + std::max(k - 10, 0) / 20.0));
    standing.see(k, std::pow(0.1, std::min(k, 10) / 10.0) * (k > 15 ? 3 : 1));
  }
  // 1.5 digits in 20 steps, half a digit in the last 10; 6.5 digits are left
  EXPECT_NEAR(slower.left(), std::sqrt((20 * 6.5 / 1.5) * (10 * 6.5 / 0.5)), 1e-9);
  // nothing in the last 10; what an error rises to is forgotten
  EXPECT_NEAR(standing.left(), 2 * (20 * 7.0), 1e-9);
}

/// The first steps of an eigensolver are as fast for an easy problem as for a hard one.
TEST(MultigridAutomatic, JudgesEigenpairsByTheSecondHalfOfTheSteps) {
  SolvePace easy(SolveKind::eigenpairs, 1e-8), hard(SolveKind::eigenpairs, 1e-8);
  for (int k = 0; k <= 3; ++k) easy.see(k, std::pow(0.2, k)), hard.see(k, std::pow(0.2, k));
  double const half = std::pow(0.2, 3);
  for (int k = 4; k <= 7; ++k) {
    EXPECT_FALSE(hard.is_time_to_switch(1)) << k;
    easy.see(k, half * std::pow(0.4, k - 3));
    hard.see(k, half * std::pow(0.9, k - 3));
  }
  EXPECT_NEAR(easy.left(), std::log(1e-8 / half) / std::log(0.4) - 4, 1e-9);
  EXPECT_NEAR(hard.left(), std::log(1e-8 / half) / std::log(0.9) - 4, 1e-9);
  EXPECT_FALSE(easy.is_time_to_switch(11));
  EXPECT_TRUE(hard.is_time_to_switch(11));
  EXPECT_FALSE(hard.is_time_to_switch(200)) << "a setup is more than what is left";
}

TEST(MultigridAutomatic, BeginsAnewWhereTheIterationDoes) {
  auto pace = steady(SolveKind::eigenpairs, 20, 1e-1);
  EXPECT_TRUE(pace.is_time_to_switch(11));
  pace.see(0, 1e-1);
  EXPECT_FALSE(pace.is_time_to_switch(11));
}

TEST(MultigridAutomatic, CountsASetupInIterationsOfAllColumns) {
  EXPECT_EQ(multigrid_work(SolveKind::system, 1), 278);  // 217.6 + 60
  EXPECT_EQ(multigrid_work(SolveKind::system, 8), 100);  // 71.2 + 28.5
  EXPECT_EQ(multigrid_work(SolveKind::system, 16), 67);  // 40.2 + 26.25
  EXPECT_EQ(multigrid_work(SolveKind::system, 16, 2), 93);
  EXPECT_EQ(multigrid_work(SolveKind::eigenpairs, 16), 11);
  for (auto const kind : {SolveKind::system, SolveKind::eigenpairs})
    EXPECT_GT(multigrid_work(kind, 10000), 0);
}

TEST(MultigridAutomatic, TakesAWeakHierarchyForManyIterationsOnly) {
  MultigridReport report;
  report.status = MultigridStatus::weak;
  report.products = 5;
  report.predicted_iterations = 40;
  EXPECT_TRUE(weak_multigrid_pays(report, SolveKind::system, 161));  // 40 x 6 products: 1.5 x 161
  EXPECT_FALSE(weak_multigrid_pays(report, SolveKind::system, 159));
  EXPECT_TRUE(weak_multigrid_pays(report, SolveKind::eigenpairs, 31));  // 8 x 31
  EXPECT_FALSE(weak_multigrid_pays(report, SolveKind::eigenpairs, 29));
  report.status = MultigridStatus::no_coarsening;
  EXPECT_FALSE(weak_multigrid_pays(report, SolveKind::system, 1e9));
}

TEST(MultigridAutomatic, GivesFactorsTheMemoryOfWorkThatIsSaved) {
  // e entries cost e^2 / rows, a step of one column entries + 10 vectors, 16 bytes an entry
  double const rows = 1e6, entries = std::sqrt(rows * (5e6 + 10 * rows) * 300);
  EXPECT_EQ(factors_worth(SolveKind::system, 1'000'000, 5'000'000, 1, 300),
            static_cast<std::int64_t>(16 * entries));
  EXPECT_GE(factors_worth(SolveKind::system, 100, 300, 1, 1), 1 << 24) << "what costs no time";
  EXPECT_EQ(factors_worth(SolveKind::system, 100, 300, 1, std::numeric_limits<double>::infinity()),
            0)
      << "no limit";
}

struct Named {
  std::string method;
  std::string name() const { return method; }
};

struct Made {
  std::unique_ptr<Named> op;
  std::vector<std::string> notes = {};
  std::optional<MultigridReport> levels = {};
};

Made named(std::string const& method) { return {std::make_unique<Named>(method)}; }

/// A hierarchy that expects so many iterations of 5 products each.
Made hierarchy(MultigridStatus status, double iterations) {
  auto made = named("multigrid");
  made.levels.emplace();
  made.levels->status = status;
  made.levels->message = "why";
  made.levels->products = 5;
  made.levels->predicted_iterations = static_cast<int>(iterations);
  return made;
}

/// What eight columns of 10,000 rows go on with whose errors have fallen to 0.1 in 40 steps, 280
/// before they are solved; and why.
Made after_forty(Made levels, Made factors, GraphShape shape = {}) {
  ChangeOver course(SolveKind::system, 10'000, 8, 1e-8, true, [shape] { return shape; });
  auto M = named("jacobi");
  std::vector<double> errors(8, 1e-3);
  for (int k = 1; k < 5; ++k) {  // a twentieth of the work of eight columns
    errors[3] = std::pow(0.1, k / 40.0);
    EXPECT_FALSE(course.due(errors, k)) << k;
  }
  for (int k = 5; k <= 40; ++k) errors[3] = std::pow(0.1, k / 40.0), course.due(errors, k);
  EXPECT_TRUE(course.late());
  auto const one = [](Made& made) { return [&made](auto...) { return std::move(made); }; };
  course.take(40, M, one(levels), one(factors), [] { return named("the inverse"); });
  EXPECT_FALSE(course.late());
  EXPECT_FALSE(course.due(errors, 41)) << "once";
  return M;
}

TEST(MultigridAutomatic, TakesGoodLevelsThenFactorsThenWeakLevels) {
  using enum MultigridStatus;
  auto M = after_forty(hierarchy(good, 20), named("factors"));
  EXPECT_EQ(M.op->method, "multigrid");
  EXPECT_EQ(M.notes,
            std::vector<std::string>{"multigrid took over after 40 iterations with jacobi"});
  M = after_forty(hierarchy(weak, 20), named("factors"));
  EXPECT_EQ(M.op->method, "factors");
  M = after_forty(hierarchy(weak, 60), {});  // 60 x 6 products: less than 1.5 x 280
  EXPECT_EQ(M.op->method, "multigrid");
  M = after_forty(hierarchy(weak, 80), {});
  EXPECT_EQ(M.op->method, "jacobi");
  EXPECT_EQ(M.notes,
            (std::vector<std::string>{"multigrid is weak: why",
                                      "multigrid was tried after 40 iterations with jacobi"}));
}

TEST(MultigridAutomatic, TakesFactorsFirstOfWhatMisleadsACoarsening) {
  using enum MultigridStatus;
  auto const after = [](bool narrow, bool mixed) {
    return after_forty(hierarchy(good, 20), named("factors"), {narrow, mixed}).op->method;
  };
  EXPECT_EQ(after(true, true), "factors");
  EXPECT_EQ(after(true, false), "multigrid");
  EXPECT_EQ(after_forty(hierarchy(good, 20), {}, {true, true}).op->method, "multigrid");
}

/// A pace that a narrow graph confirms needs more than the work of multigrid, others 2.5 times
/// that, with couplings of both signs five times.
TEST(MultigridAutomatic, AsksOnceWhetherTheGraphIsNarrow) {
  for (auto const& shape : {GraphShape{true, false}, GraphShape{true, true},
                            GraphShape{false, false}, GraphShape{false, true}}) {
    bool const narrow = shape.narrow, mixed = shape.mixed_signs;
    int asked = 0;
    ChangeOver course(SolveKind::system, 10'000, 1, 1e-8, true, [&] {
      ++asked;
      return shape;
    });
    auto const after_a_digit_in = [&](int steps) {
      bool due = false;
      for (int k = 1; k <= steps; ++k)
        due = course.due(std::vector{std::pow(0.1, double(k) / steps)}, k);
      return due;
    };
    EXPECT_FALSE(after_a_digit_in(20)) << "140 are left, the work is 278";
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(after_a_digit_in(80), narrow) << "560";
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(after_a_digit_in(120), narrow || !mixed) << "840";
    EXPECT_TRUE(after_a_digit_in(210)) << "1,470";
    EXPECT_EQ(asked, 1);
  }
}

TEST(MultigridAutomatic, KnowsThePlaneByItsGraph) {
  Kokkos::DefaultHostExecutionSpace const exec;
  auto const shape = [&](char const* spec) { return graph_shape(generate<double>(exec, spec)); };
  for (auto const* spec : {"laplace5:60", "laplace5:300x20", "laplace5:500x1"}) {
    EXPECT_TRUE(shape(spec).narrow) << spec;
    EXPECT_FALSE(shape(spec).mixed_signs) << spec;
  }
  for (auto const* spec : {"laplace7:24", "laplace27:20", "elasticity:12", "p1:20"})
    EXPECT_FALSE(shape(spec).narrow) << spec;
  EXPECT_TRUE(shape("elasticity:8").mixed_signs);
  EXPECT_TRUE(shape("p1-mass:8").mixed_signs);
}

TEST(MultigridAutomatic, TakesFactorsOfWhatIsNotHalfWayAfterAStepARow) {
  for (bool const linked : {true, false}) {
    ChangeOver course(SolveKind::system, 500, 1, 1e-8, true);
    auto M = named("jacobi");
    EXPECT_FALSE(course.due(std::vector{0.9}, 499));
    EXPECT_FALSE(course.due(std::vector{1e-5}, 500)) << "half way";
    ASSERT_TRUE(course.due(std::vector{0.9}, 501));
    auto const unasked = [](auto...) -> Made {
      ADD_FAILURE() << "few rows have no levels";
      return {};
    };
    course.take(
        501, M, unasked, [&](double) { return linked ? named("factors") : Made{}; },
        [] { return named("the inverse"); });
    EXPECT_EQ(M.op->method, linked ? "factors" : "the inverse");
    EXPECT_FALSE(course.due(std::vector{0.9}, 10'000));
  }
}

TEST(MultigridAutomatic, LeavesOtherPreconditionersAlone) {
  ChangeOver course;
  EXPECT_FALSE(course.due(std::vector{1.0}, 1'000'000));
}

}  // namespace
}  // namespace blockspan::test
