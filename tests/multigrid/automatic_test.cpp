// When a plain method has shown that another one has less work, by counts and residuals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/backend.hpp>

#include "support/types.hpp"

namespace blockspan::test {
namespace {

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

constexpr bool by_jacobi = false, by_polynomial = true;

/// The iteration in which a solve changes over whose errors fall by a digit in so many; 0: in none
/// of these.
int when_due(ChangeOver& course, int iterations_of_a_digit, int columns = 1) {
  std::vector<double> errors(static_cast<std::size_t>(columns), 1e-3);
  for (int k = 1; k <= iterations_of_a_digit; ++k) {
    errors.back() = std::pow(0.1, double(k) / iterations_of_a_digit);
    if (course.due(errors, k)) return k;
  }
  return 0;
}

/// What eight columns of 10,000 rows go on with whose errors have fallen to 0.1 in 40 iterations of
/// the polynomial, 280 before they are solved; and why.
Made after_forty(Made levels, Made factors, GraphShape shape = {}, bool on_device = false) {
  ChangeOver course(SolveKind::system, by_polynomial, 10'000, 8, 1e-8, true,
                    [shape] { return shape; });
  if (on_device) course.solves_on_device();
  auto M = named("polynomial");
  std::vector<double> errors(8, 1e-3);
  for (int k = 1; k <= 40; ++k) errors[3] = std::pow(0.1, k / 40.0), course.due(errors, k);
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
            std::vector<std::string>{"multigrid took over after 40 iterations with polynomial"});
  M = after_forty(hierarchy(weak, 20), named("factors"));
  EXPECT_EQ(M.op->method, "factors");
  M = after_forty(hierarchy(weak, 370), {});  // 370 x 6 products: less than 8 x 280
  EXPECT_EQ(M.op->method, "multigrid");
  M = after_forty(hierarchy(weak, 380), {});
  EXPECT_EQ(M.op->method, "polynomial");
  EXPECT_EQ(M.notes,
            (std::vector<std::string>{"multigrid is weak: why",
                                      "multigrid was tried after 40 iterations with polynomial"}));
}

/// A shape that has shown many iterations before the first, which nothing made yet would do.
TEST(MultigridAutomatic, ChangesOverBeforeTheFirstIteration) {
  using enum MultigridStatus;
  GraphShape const even{.narrow = true, .small_eigenvalue = 1e-3},
      uneven{.narrow = true, .uneven = true, .small_eigenvalue = 1e-3};
  for (auto const& [shape, status, linked, method] : {std::tuple(even, good, true, "multigrid"),
                                                      {even, weak, true, "factors"},
                                                      {uneven, good, true, "factors"},
                                                      {uneven, good, false, "multigrid"},
                                                      {even, weak, false, ""}}) {
    ChangeOver course(SolveKind::system, by_polynomial, 10'000, 8, 1e-8, true,
                      []() -> GraphShape { throw std::logic_error("it was looked at before"); });
    EXPECT_FALSE(course.late());
    course.begin_early(shape, 60);
    ASSERT_TRUE(course.late());
    EXPECT_EQ(course.left(), 120);
    Made M;
    auto levels = hierarchy(status, 1000);
    course.take(
        0, M, [&] { return std::move(levels); },
        [&, linked = linked](double) { return linked ? named("factors") : Made{}; },
        [] { return named("the inverse"); });
    EXPECT_EQ(M.op ? M.op->method : "", method);
    std::string const name = method == std::string("factors") ? "direct" : "multigrid";
    EXPECT_EQ(M.notes.back(), name + (M.op ? " took over" : " was tried") +
                                  " before the first iteration: three eigenvalues over the "
                                  "diagonal are below 0.001, for which a polynomial would take "
                                  "long");
    EXPECT_FALSE(course.late());
  }
}

/// Devices: a good hierarchy, or nothing, whatever factors would cost.
TEST(MultigridAutomatic, BeginsWithAGoodHierarchyAlone) {
  using enum MultigridStatus;
  for (auto const kind : {SolveKind::system, SolveKind::eigenpairs})
    for (auto const status : {good, weak, indefinite}) {
      ChangeOver course(kind, by_polynomial, 10'000, 8, 1e-8, true);
      course.begin_with_levels();
      ASSERT_TRUE(course.late());
      Made M;
      course.take(
          0, M, [&] { return hierarchy(status, 20); }, [](double) { return named("factors"); },
          [] { return named("the inverse"); });
      EXPECT_EQ(M.op ? M.op->method : "", status == good ? "multigrid" : "");
      EXPECT_EQ(M.notes.back(),
                std::string("multigrid ") + (status == good ? "took over" : "was tried") +
                    " before the first iteration: a device sets it up in the time of some ten "
                    "iterations");
      EXPECT_EQ(M.notes.size(), status == good ? 1u : 2u) << "why it was left";
      EXPECT_FALSE(course.late());
    }
  ChangeOver few(SolveKind::system, by_polynomial, automatic_least_rows - 1, 8, 1e-8, true);
  few.begin_with_levels();
  EXPECT_FALSE(few.late());
}

/// Grids of m^d points with Dirichlet ends have rows that add up to 1 / m of the diagonal.
TEST(MultigridAutomatic, PaysAtOnceWhereRowsNearlyCancel) {
  for (double const m : {30, 100, 1000}) EXPECT_TRUE(levels_pay_at_once(1 / m, 1e-8)) << m;
  EXPECT_FALSE(levels_pay_at_once(0.1, 1e-8));
  EXPECT_FALSE(levels_pay_at_once(1, 1e-8)) << "mass matrices";
  EXPECT_FALSE(levels_pay_at_once(0.01, 1e-2)) << "few iterations to such a tolerance";
  EXPECT_FALSE(levels_pay_at_once(0, 1e-8)) << "rows that all cancel tell nothing";
  EXPECT_FALSE(levels_pay_at_once(std::nan(""), 1e-8));
}

TEST(MultigridAutomatic, TakesFactorsFirstOfWhatMisleadsACoarsening) {
  using enum MultigridStatus;
  auto const after = [](GraphShape shape) {
    return after_forty(hierarchy(good, 20), named("factors"), shape).op->method;
  };
  EXPECT_EQ(after({.narrow = true, .mixed_signs = true}), "factors");
  EXPECT_EQ(after({.narrow = true, .uneven = true}), "factors");
  EXPECT_EQ(after({.narrow = true}), "multigrid");
  EXPECT_EQ(after({.uneven = true}), "multigrid");
  EXPECT_EQ(after_forty(hierarchy(good, 20), {}, {.narrow = true, .mixed_signs = true}).op->method,
            "multigrid");
}

TEST(MultigridAutomatic, TakesFactorsOnADeviceWhereMultigridFailsAndForAFraction) {
  using enum MultigridStatus;
  constexpr GraphShape plate{.narrow = true, .mixed_signs = true};
  constexpr bool on_device = true;
  EXPECT_EQ(after_forty(hierarchy(good, 20), named("factors"), plate, on_device).op->method,
            "multigrid");
  EXPECT_EQ(after_forty(hierarchy(weak, 900), named("factors"), plate, on_device).op->method,
            "factors");
  for (bool const device : {false, true}) {
    ChangeOver course(SolveKind::system, by_polynomial, 10'000, 1, 1e-8, true);
    if (device) course.solves_on_device();
    ASSERT_GT(when_due(course, 200), 0);
    double worth = 0;
    auto M = named("polynomial");
    course.take(
        40, M, [] { return hierarchy(weak, 900); },
        [&](double left) { return worth = left, Made(); }, [] { return named("the inverse"); });
    EXPECT_DOUBLE_EQ(worth, course.left() / (device ? 50 : 1));
  }
}

/// A structure of one column, of whose factors the levels of the graph say what they take.
TEST(MultigridAutomatic, AnalysesStructuresOnlyWhereFactorsMayPay) {
  for (auto const& [dissection, method] : {std::pair(1260, "factors"), {1270, "multigrid"}}) {
    ChangeOver course(SolveKind::system, by_polynomial, 10'000, 1, 1e-8, true, [d = dissection] {
      return GraphShape{.mixed_signs = true, .dissection = double(d)};
    });
    ASSERT_EQ(when_due(course, 20), 2);  // 158 are left, of 8 products each
    auto M = named("polynomial");
    course.take(
        2, M, [] { return hierarchy(MultigridStatus::good, 20); },
        [](double) { return named("factors"); }, [] { return named("the inverse"); });
    EXPECT_EQ(M.op->method, method);
  }
}

/// A pace that a narrow graph confirms needs half the work of multigrid, others 2.5 times that and
/// half of it done, with couplings of both signs 1.25 times that, of eight columns 11.75.
TEST(MultigridAutomatic, AsksOnceWhetherTheGraphIsNarrow) {
  struct Row {
    GraphShape shape;
    int columns, digit, due;  // 7 digits are left
  };
  GraphShape const narrow{.narrow = true}, wide{}, structure{.mixed_signs = true};
  for (auto const& [shape, columns, digit, due] :
       {Row{narrow, 1, 4, 0}, Row{narrow, 1, 5, 2},  // the work of one column is 67
        Row{wide, 1, 30, 0}, Row{wide, 1, 40, 34}, Row{structure, 1, 10, 0},
        Row{structure, 1, 11, 2}, Row{wide, 8, 13, 0}, Row{wide, 8, 20, 14},  // of eight, 28
        Row{structure, 8, 41, 0}, Row{structure, 8, 42, 2}}) {
    int asked = 0;
    ChangeOver course(SolveKind::system, by_polynomial, 10'000, columns, 1e-8, true,
                      [&, shape = shape] {
                        ++asked;
                        return shape;
                      });
    EXPECT_EQ(when_due(course, digit, columns), due) << columns << " columns, " << digit;
    EXPECT_LE(asked, 1);
  }
}

/// Of a wide graph of many rows the work itself is enough where groups follow, which its setup
/// serves too: 33 for two of sixteen columns, of which 15 + 17 and 16 + 18 iterations are left.
TEST(MultigridAutomatic, CountsOnTheGroupsThatASetupServes) {
  struct Row {
    GraphShape shape;
    std::int64_t rows;
    int iterations, due;  // of a group, for all of its digits
  };
  GraphShape const wide{}, uneven{.uneven = true}, structure{.mixed_signs = true};
  for (auto const& [shape, rows, iterations, due] :
       {Row{wide, 30'000, 17, 0}, Row{wide, 30'000, 18, 2}, Row{uneven, 30'000, 18, 2},
        Row{wide, 29'999, 18, 0}, Row{structure, 30'000, 18, 0}}) {
    ChangeOver course(SolveKind::system, by_polynomial, rows, 16, 1e-8, true,
                      [shape = shape] { return shape; });
    int found = 0;
    for (int k = 1; k <= 4 && found == 0; ++k)
      if (course.due(std::vector<double>(16, std::pow(1e-8, double(k) / iterations)), k, 1))
        found = k;
    EXPECT_EQ(found, due) << rows << " rows, " << iterations << " iterations";
  }
}

TEST(MultigridAutomatic, CountsFourIterationsOfJacobiAsOneOfThePolynomial) {
  auto const course = [](bool polynomial) {
    return ChangeOver(SolveKind::system, polynomial, 10'000, 1, 1e-8, true,
                      [] { return GraphShape{.narrow = true}; });
  };
  auto jacobi = course(by_jacobi), polynomial = course(by_polynomial);
  EXPECT_EQ(when_due(polynomial, 17), 2);
  EXPECT_EQ(when_due(jacobi, 17), 0);
  EXPECT_EQ(when_due(jacobi, 20), 7) << "a fortieth of the work";
  EXPECT_DOUBLE_EQ(jacobi.left(), 7 * (8 / (7 / 20.0) - 1) / 4);
}

/// The lowest pairs of a plane of many rows, and of a plate of any size, are no work for the
/// polynomial.
TEST(MultigridAutomatic, ChangesOverAtOnceForPairsOfThePlane) {
  auto const due = [](std::int64_t rows, GraphShape shape) {
    ChangeOver course(SolveKind::eigenpairs, by_polynomial, rows, 16, 1e-8, true,
                      [shape] { return shape; });
    EXPECT_FALSE(course.due(std::vector{1.0}, 0));
    return course.due(std::vector{0.1}, 1);
  };
  EXPECT_TRUE(due(10'000, {.narrow = true}));
  EXPECT_FALSE(due(9'999, {.narrow = true}));
  EXPECT_TRUE(due(1'000, {.narrow = true, .mixed_signs = true}));
  EXPECT_FALSE(due(1'000'000, {.mixed_signs = true}));
}

TEST(MultigridAutomatic, TakesFactorsOfWhatIsNotHalfWayAfterAStepARow) {
  for (bool const linked : {true, false}) {
    ChangeOver course(SolveKind::system, by_jacobi, 500, 1, 1e-8, true);
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

template <class Exec>
class MultigridAutomaticOn : public ::testing::Test {};
TYPED_TEST_SUITE(MultigridAutomaticOn, Backends);

TYPED_TEST(MultigridAutomaticOn, KnowsThePlaneByItsGraph) {
  if constexpr (!support::runs_on_host_v<TypeParam>) {
    GTEST_SKIP() << "only graphs in host memory are looked at";
  } else {
    TypeParam const exec;
    auto const shape = [&](char const* spec) { return graph_shape(generate<double>(exec, spec)); };
    for (auto const* spec : {"laplace5:60", "laplace5:300x20", "laplace5:500x1"}) {
      EXPECT_TRUE(shape(spec).narrow) << spec;
      EXPECT_FALSE(shape(spec).mixed_signs) << spec;
    }
    for (auto const* spec : {"laplace7:24", "laplace27:20", "elasticity:12", "p1:20"})
      EXPECT_FALSE(shape(spec).narrow) << spec;
    EXPECT_TRUE(shape("elasticity:8").mixed_signs);
    // 8 levels of 168 rows in the mean
    EXPECT_NEAR(shape("elasticity:8").dissection, std::pow(168, 3) / (9 * 22 * 22 * 19), 1e-9);
    EXPECT_TRUE(shape("p1-mass:8").mixed_signs);
    for (auto const* spec : {"laplace5:60", "laplace7:24", "jump7:24:1000"})
      EXPECT_FALSE(shape(spec).uneven) << spec;
    for (auto const* spec : {"p1:20", "aniso7:20:1,1,0.01", "attachment:2000:3"})
      EXPECT_TRUE(shape(spec).uneven) << spec;
  }
}

/// Twelve steps of Lanczos tell a mass matrix from a grid.
TYPED_TEST(MultigridAutomaticOn, BeginsWithJacobiWhereThatIsQuick) {
  TypeParam const exec;
  for (auto const* spec : {"laplace5:60", "laplace7:24", "elasticity:8", "p1:20", "p1-mass:20"}) {
    auto const A = generate<double>(exec, spec);
    auto const product = matrix_operator(exec, A);
    auto const setup = chebyshev_setup(exec, product, A);
    bool const mass = std::string(spec) == "p1-mass:20";
    EXPECT_EQ(begins_with_polynomial(SolveKind::system, setup), !mass) << spec;
    EXPECT_TRUE(begins_with_polynomial(SolveKind::eigenpairs, setup)) << spec;
  }
}

TEST(MultigridAutomatic, LeavesOtherPreconditionersAlone) {
  ChangeOver course;
  EXPECT_FALSE(course.due(std::vector{1.0}, 1'000'000));
}

}  // namespace
}  // namespace blockspan::test
