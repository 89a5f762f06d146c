// Preconditioners by words, on one rank and many: what each word makes against the constructor
// behind it, what is refused, and what `automatic` begins with.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <blockspan/distributed/change_over.hpp>
#include <blockspan/distributed/preconditioner.hpp>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include "support/observed.hpp"

namespace blockspan::test {
namespace {

using Scalar = double;
using Vectors = Block<Scalar, Exec>;
using Linear = LinearOperator<Scalar, Exec>;
using SharedMatrix = std::shared_ptr<DistributedMatrix<Scalar, Exec> const>;
using Made = Preconditioner<Scalar, Exec>;

class PreconditionerWord : public ::testing::Test {
 public:
  Exec const exec;

  /// The matrix of a spec and its operator, with the first diagonal entry times `factor`.
  struct Problem {
    SharedMatrix A;
    DistributedOperator<Scalar, Exec> product;
    PreconditionerInput<Scalar, Exec> input;

    Problem(Exec const& exec, std::string const& spec, SolveKind kind, double factor = 1)
        : A(distribute(exec, world(), with_first(generate<Scalar>(exec, spec), factor))),
          product(distributed_operator(exec, A)),
          input{.exec = exec, .A = A, .product = &product, .kind = kind, .where = "here"} {}

    static CrsMatrix<Scalar, Exec> with_first(CrsMatrix<Scalar, Exec> A, double factor) {
      for (auto k = A.graph.row_map(0); k < A.graph.row_map(1); ++k)
        if (A.graph.entries(k) == 0) A.values(k) *= factor;
      return A;
    }
  };

  static Made make(Problem const& problem, std::string const& words) {
    return make_preconditioner(problem.input, parse_preconditioner_words("here", words));
  }

  std::vector<Scalar> image(Linear const& M) const {
    Vectors const X("X", static_cast<std::size_t>(M.rows()), 3), Y("Y", X.extent(0), 3);
    fill_random(exec, X, 1, 0, M.row_space().first_row());
    M.apply(exec, X, Y);
    exec.fence("Blockspan::test");
    return entries(Y);
  }
};

TEST_F(PreconditionerWord, MakesWhatItSays) {
  for (SolveKind const kind : {SolveKind::system, SolveKind::eigenpairs}) {
    Problem const p(exec, "elasticity:6", kind);
    auto const own = p.A->diagonal_block(exec);
    auto const D = jacobi(exec, own);
    EXPECT_EQ(image(*make(p, "jacobi").op), image(D));
    EXPECT_EQ(image(*make(p, "block-jacobi:3").op), image(block_jacobi(exec, own, {3})));
    auto setup = chebyshev_setup<Scalar, Exec>(exec, p.product, D.factors());
    auto const whole = generate<Scalar>(exec, "elasticity:6");
    setup.upper = std::min(
        setup.upper,
        *chebyshev_setup<Scalar, Exec>(exec, matrix_operator(exec, whole), whole).row_sum_bound);
    for (auto const& [words, options] : {std::pair<char const*, ChebyshevOptions>("chebyshev", {}),
                                         {"chebyshev:3", {.degree = 3}},
                                         {"chebyshev:3:20", {.degree = 3, .ratio = 20}}})
      EXPECT_EQ(image(*make(p, words).op), image(chebyshev(p.product, setup, options))) << words;
    auto const levels = make(p, "multigrid:1");
    DistributedMultigrid<Scalar, Exec> const M(exec, p.A, {.degree = 1});
    EXPECT_EQ(image(*levels.op), image(M));
    EXPECT_EQ(levels.levels->levels.size(), M.report().levels.size());
    EXPECT_EQ(make(p, "none").op, nullptr);
  }
}

TEST_F(PreconditionerWord, RefusesADiagonalThatProvesASystemIndefinite) {
  Problem system(exec, "laplace5:9x9", SolveKind::system, -1);
  for (std::string const word : {"jacobi", "chebyshev", "automatic"})
    EXPECT_NE(
        message_of([&] { make(system, word); }).find("here: the diagonal entry of row 1 is -4"),
        std::string::npos)
        << word;
  system.input.first_row = 0;
  EXPECT_NE(message_of([&] { make(system, "jacobi"); }).find("of row 0 (from 0) is -4"),
            std::string::npos);
  system.input.refuse_diagonal = false;
  EXPECT_NE(make(system, "jacobi").op, nullptr);
  Problem const pairs(exec, "laplace5:9x9", SolveKind::eigenpairs, -1);
  EXPECT_NE(make(pairs, "jacobi").op, nullptr);
}

TEST_F(PreconditionerWord, SaysWhyAMatrixDoesNotSuit) {
  Problem const pairs(exec, "laplace5:9x9", SolveKind::eigenpairs, -1);
  auto const made = make(pairs, "chebyshev");
  EXPECT_EQ(made.op, nullptr);
  EXPECT_NE(made.fault.find("not positive semidefinite"), std::string::npos) << made.fault;
}

/// A row of which all that is not zero is on another rank, too.
TEST_F(PreconditionerWord, SeesTheRowsThatOneRankSees) {
  int const half = 120;
  Kokkos::View<int*, Exec> const offsets("offsets", 2 * half + 1), columns("columns", 4 * half);
  Kokkos::View<Scalar*, Exec> const values("values", 4 * half);
  for (int i = 0; i < 2 * half; ++i) {  // [D I/2; I/2 1]
    offsets(i + 1) = 2 * i + 2;
    for (int j : {0, 1}) {
      columns(2 * i + j) = i % half + j * half;
      values(2 * i + j) = (i < half) != (j == 0) ? 0.5 : i == 7 ? 0 : 1;
    }
  }
  CrsMatrix<Scalar, Exec> const whole("A", 2 * half, 2 * half, 4 * half, values, offsets, columns);
  RowPartition const halves(odd_cuts(2 * half));
  auto const A = distribute(exec, world(), whole, &halves);
  auto const product = distributed_operator(exec, A);
  auto const made = make_preconditioner(
      PreconditionerInput<Scalar, Exec>{
          .exec = exec, .A = A, .product = &product, .kind = SolveKind::eigenpairs},
      parse_preconditioner_words("here", "chebyshev"));
  auto const alone = chebyshev_setup(exec, matrix_operator(exec, whole), whole);
  EXPECT_EQ(made.op, nullptr);
  EXPECT_NE(alone.fault.find("the diagonal entry of row 8 is negative, or zero"),
            std::string::npos);
  EXPECT_EQ(made.fault, alone.fault);
  EXPECT_NE(
      message_of([&] { DistributedMultigrid<Scalar, Exec>(exec, A, {}, {0}); }).find(alone.fault),
      std::string::npos);
}

TEST_F(PreconditionerWord, BeginsAsAutomaticDoes) {
  Problem const system(exec, "laplace5:40x40", SolveKind::system);
  Problem const easy(exec, "p1-mass:14", SolveKind::system);
  Problem const few(exec, "laplace5:9x9", SolveKind::eigenpairs);
  Problem const pairs(exec, "laplace5:40x40", SolveKind::eigenpairs);
  Problem const indefinite(exec, "laplace5:40x40", SolveKind::eigenpairs, -1);
  auto const begins = [&](Problem const& p, char const* name, bool may_change) {
    auto const M = make(p, "automatic");
    EXPECT_EQ(M.op->name().rfind(name, 0), 0u) << M.op->name();
    EXPECT_EQ(M.automatic, may_change) << name;
  };
  begins(system, "chebyshev of degree 8", true);
  begins(easy, "jacobi", true);
  begins(few, "jacobi", true);
  begins(pairs, "chebyshev of degree 8", true);
  begins(indefinite, "jacobi", false);
}

/// Where a solver finds the polynomial not positive definite.
TEST_F(PreconditionerWord, FallsBackToJacobiOnce) {
  Problem const p(exec, "laplace5:40x40", SolveKind::system);
  auto M = make(p, "automatic");
  ASSERT_TRUE(M.mend);
  EXPECT_TRUE(M.mend(M));
  EXPECT_EQ(image(*M.op), image(*make(p, "jacobi").op));
  EXPECT_NE(M.notes.back().find("jacobi took over"), std::string::npos);
  EXPECT_FALSE(M.mend(M));
  EXPECT_FALSE(make(p, "jacobi").mend);
}

TEST_F(PreconditionerWord, ChangesOverToMultigrid) {
  Problem const p(exec, "laplace5:150x150", SolveKind::system);
  auto M = make(p, "automatic");
  auto course = change_over_of(p.input, M, 1e-8);
  int iteration = 0;
  for (double error = 1; !course.late() && iteration < 1000; error *= 0.99)
    course.due(std::vector<double>{error}, ++iteration);
  ASSERT_TRUE(course.late());
  change_over(p.input, course, iteration, M, [] { return MultigridOptions<Scalar, Exec>(); });
  ASSERT_TRUE(M.levels) << testing::PrintToString(M.notes);
  EXPECT_NE(M.notes.back().find("multigrid took over after"), std::string::npos);
  DistributedMultigrid<Scalar, Exec> const direct(exec, p.A, {.columns = p.input.columns});
  EXPECT_EQ(image(*M.op), image(direct));
}

struct Alone {
  static constexpr bool direct = false, gauss_seidel = false;
};

/// Of a start from zero, to a tolerance that is known.
TEST_F(PreconditionerWord, ChangesOverBeforeTheFirstIteration) {
  Problem hard(exec, "laplace5:150x150", SolveKind::system);
  hard.input.tolerance = 1e-8;
  auto M = make(hard, "automatic");
  ASSERT_EQ(M.op, nullptr);
  auto course = change_over_of(hard.input, M, 1e-8);
  ASSERT_TRUE(course.late());
  change_over(hard.input, course, 0, M, [] { return MultigridOptions<Scalar, Exec>(); });
  ASSERT_TRUE(M.levels) << testing::PrintToString(M.notes);
  std::string const why = support::runs_on_host_v<Exec> ? "three eigen" : "a device";
  EXPECT_NE(M.notes.back().find("multigrid took over before the first iteration: " + why),
            std::string::npos);
  DistributedMultigrid<Scalar, Exec> const direct(exec, hard.A, {.columns = 8});
  EXPECT_EQ(image(*M.op), image(direct));
  EXPECT_FALSE(course.late());
  // what does not suit is left to the polynomial
  auto again = make(hard, "automatic");
  auto other = change_over_of<Alone>(hard.input, again, 1e-8);
  change_over<Alone>(hard.input, other, 0, again, [] {
    MultigridOptions<Scalar, Exec> none;
    none.degree = 0;
    return none;
  });
  ASSERT_NE(again.op, nullptr);
  EXPECT_EQ(again.op->name().rfind("chebyshev of degree 8", 0), 0u) << again.op->name();
  EXPECT_NE(again.notes.back().find("multigrid was tried before the first"), std::string::npos);
}

/// As devices do, wherever this runs.
TEST_F(PreconditionerWord, BeginsWithLevelsAndIteratesIfTheyAreNotGood) {
  for (auto const kind : {SolveKind::system, SolveKind::eigenpairs}) {
    Problem p(exec, "laplace5:150x150", kind);
    p.input.tolerance = 1e-8;
    for (bool const good : {true, false}) {
      auto options = [&] {
        MultigridOptions<Scalar, Exec> some;
        if (!good) some.degree = 0;
        return some;
      };
      Preconditioner<Scalar, Exec> M{.automatic = true, .polynomial = true};
      auto course = change_over_of(p.input, M, 1e-8);
      ASSERT_TRUE(course.late());
      change_over(p.input, course, 0, M, options);
      ASSERT_NE(M.op, nullptr);
      EXPECT_EQ(M.levels.has_value(), good);
      EXPECT_EQ(M.op->name().rfind(good ? "multigrid" : "chebyshev of degree 8", 0), 0u)
          << M.op->name();
      int iteration = 0;
      for (double error = 1; !course.late() && iteration < 1000; error *= 0.999)
        course.due(std::vector<double>{error}, ++iteration);
      EXPECT_EQ(course.late(), !good) << "what is iterated with may be replaced";
    }
  }
}

TEST_F(PreconditionerWord, IteratesFirstWhereThatMayBeQuick) {
  for (auto const& [spec, factor] : {std::pair<char const*, double>("laplace5:150x150", 1e6),
                                     {"laplace7:24", 1},
                                     {"p1-mass:24", 1},
                                     {"laplace5:90x90", 1}}) {
    if (!support::runs_on_host_v<Exec> && spec == std::string("laplace7:24")) continue;
    Problem easy(exec, spec, SolveKind::system, factor);
    easy.input.tolerance = factor == 1 ? 1e-8 : 1e-2;
    EXPECT_NE(make(easy, "automatic").op, nullptr) << spec;
  }
  if constexpr (!support::runs_on_host_v<Exec>) return;  // devices set up a hierarchy sooner
  Problem pairs(exec, "laplace7:24", SolveKind::eigenpairs);
  pairs.input.tolerance = 1e-8;
  EXPECT_NE(make(pairs, "automatic").op, nullptr);
}

TEST_F(PreconditionerWord, ChangesOverBeforeTheFirstIterationOfPairsOfThePlane) {
  std::string const why = support::runs_on_host_v<Exec> ? "the graph" : "a device";
  Problem pairs(exec, "laplace5:110x110", SolveKind::eigenpairs);
  Problem indefinite(exec, "laplace5:110x110", SolveKind::eigenpairs, -1);
  Problem few(exec, "laplace5:90x90", SolveKind::eigenpairs);
  pairs.input.tolerance = indefinite.input.tolerance = few.input.tolerance = 1e-8;
  EXPECT_NE(make(few, "automatic").op, nullptr);
  EXPECT_EQ(make(indefinite, "automatic").op->name().rfind("jacobi", 0), 0u);
  auto M = make(pairs, "automatic");
  ASSERT_EQ(M.op, nullptr);
  auto course = change_over_of(pairs.input, M, 1e-8);
  ASSERT_TRUE(course.late());
  change_over(pairs.input, course, 0, M, [] { return MultigridOptions<Scalar, Exec>(); });
  ASSERT_TRUE(M.levels) << testing::PrintToString(M.notes);
  EXPECT_NE(M.notes.back().find("multigrid took over before the first iteration: " + why),
            std::string::npos);
}

/// What rank 0 sees of all rows is what one rank sees of them.
TEST_F(PreconditionerWord, SeesTheShapeOfTheWholeGraph) {
  for (std::string const spec :
       {"laplace5:60x50", "elasticity:6", "jump7:9:1000", "rmat:10:8:symmetric"}) {
    Problem const p(exec, spec, SolveKind::system);
    auto const whole = graph_shape(generate<Scalar>(Kokkos::DefaultHostExecutionSpace(), spec));
    auto const shape = distributed::shape_on_rank_zero(exec, *p.A);
    EXPECT_EQ(shape.narrow, whole.narrow) << spec;
    EXPECT_EQ(shape.mixed_signs, whole.mixed_signs) << spec;
    EXPECT_EQ(shape.uneven, whole.uneven) << spec;
    EXPECT_EQ(shape.dissection, whole.dissection) << spec;
    EXPECT_EQ(
        distributed::shape_on_rank_zero(exec, *p.A, GraphLook::early).small_eigenvalue,
        graph_shape(generate<Scalar>(Kokkos::DefaultHostExecutionSpace(), spec), GraphLook::early)
            .small_eigenvalue)
        << spec;
  }
}

#ifdef BLOCKSPAN_HAS_DIRECT
TEST_F(PreconditionerWord, FactorsOfRankZeroAreThoseOfOneRank) {
  for (auto const& [kind, use] : {std::pair(SolveKind::system, DirectUse::definite),
                                  std::pair(SolveKind::eigenpairs, DirectUse::preconditioner)}) {
    Problem p(exec, "p1:9", kind);
    Problem const mass(exec, "p1-mass:9", kind);
    auto const A = generate<Scalar>(exec, "p1:9"), M = generate<Scalar>(exec, "p1-mass:9");
    bool const pencil = kind == SolveKind::eigenpairs;
    if (pencil) p.input.mass = mass.A.get();
    auto made = make(p, "direct");
    auto const alone = direct(exec, A, {.use = use}, pencil ? &M : nullptr);
    auto const expect_same = [&] {
      Vectors const X("X", static_cast<std::size_t>(A.numRows()), 3), Y("Y", X.extent(0), 3);
      fill_random(exec, X, 1);
      alone.apply(exec, X, Y);
      auto const space = p.A->row_space();
      auto const x = local_rows(space, X);
      Vectors const y("y", x.extent(0), 3);
      made.op->apply(exec, x, y);
      exec.fence("Blockspan::test");
      EXPECT_EQ(entries(whole_block(space, y)), entries(Y));
    };
    expect_same();
    EXPECT_TRUE(made.op->facts().nearly_exact);
    for (std::size_t k = 0; k < A.values.extent(0); ++k) A.values(k) *= 3;
    auto refreshed = alone;
    refreshed.refresh(exec, A);
    made.refresh(made, distribute(exec, world(), A));
    expect_same();
  }
}
#endif

/// What `automatic` looks at first, its first preconditioner takes over: Jacobi's factors, and,
/// where the graph of an indefinite pair asks for multigrid, the bounds that refuse it.
TEST_F(PreconditionerWord, AutomaticMakesEachPartOnce) {
  auto const A = generate<Scalar>(exec, "laplace7:4x4x700");
  for (bool const indefinite : {false, true}) {
    if (indefinite)
      for (int i = 0; i < A.numRows(); ++i)
        for (auto k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k)
          if (A.graph.entries(k) == i) A.values(k) -= 1;
    for (SolveKind const kind : {SolveKind::system, SolveKind::eigenpairs}) {
      auto const matrix = distribute(exec, world(), A);
      auto const product = distributed_operator(exec, matrix);
      PreconditionerInput<Scalar, Exec> const input{
          .exec = exec, .A = matrix, .product = &product, .kind = kind, .tolerance = 1e-8};
      auto const count = [&](std::string const& words, std::string const& label) {
        auto const seen = observed(
            [&] { make_preconditioner(input, parse_preconditioner_words("here", words)); });
        return std::count(seen.labels.begin(), seen.labels.end(), label);
      };
      EXPECT_EQ(count("automatic", "Blockspan::jacobi_setup"), 1);
      EXPECT_LE(count("automatic", "Blockspan::lanczos"), count("chebyshev", "Blockspan::lanczos"));
    }
  }
}

TEST_F(PreconditionerWord, TakesOtherValuesWhereThatIsLessWork) {
  auto const A = generate<Scalar>(exec, "laplace5:40x40");
  Problem const p(exec, "laplace5:40x40", SolveKind::system);
  auto M = make(p, "multigrid");
  ASSERT_TRUE(M.refresh);
  EXPECT_FALSE(make(p, "jacobi").refresh);
  auto const before = image(*M.op);
  for (std::size_t k = 0; k < A.values.extent(0); ++k) A.values(k) *= 4;
  M.refresh(M, distribute(exec, world(), A));
  auto const after = image(*M.op);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(4 * after[i], before[i], 1e-4);
}

}  // namespace
}  // namespace blockspan::test
