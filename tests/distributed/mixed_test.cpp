// Solves in two precisions on rows that are spread over ranks: the bits of one rank.
#include <limits>
#include <type_traits>

#include <blockspan/distributed/convert.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/solvers/lobpcg_mixed.hpp>
#include <blockspan/solvers/single_precision.hpp>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Scalar>
struct HasSinglePrecision
    : std::bool_constant<std::is_same_v<real_t<Scalar>, double> && has_scalar<single_t<Scalar>>> {};

template <class Config>
class DistributedMixed : public ::testing::Test {};
TYPED_TEST_SUITE(DistributedMixed, ConfigsWith<HasSinglePrecision>, ConfigNames);

/// A matrix whole, on rank 0, and in parts, each in both precisions and with Jacobi.
template <class Scalar>
struct TwoPrecisions {
  using Single = single_t<Scalar>;

  explicit TwoPrecisions(std::string const& spec)
      : A(generate<Scalar>(exec, spec)),
        op(exec, A, whole_rows()),
        low(single_precision_rows(exec, *on_one_rank(exec, A))),
        low_op(exec, low.matrix->whole(), whole_rows()),
        T(jacobi(exec, A)),
        low_T(jacobi(exec, low.matrix->whole())),
        rows(distribute(exec, world(), A)),
        low_rows(single_precision_rows(exec, *rows)),
        rows_op(exec, rows, whole_rows()),
        low_rows_op(exec, low_rows.matrix, whole_rows()),
        rows_T(jacobi(exec, rows->diagonal_block(exec))),
        low_rows_T(jacobi(exec, low_rows.matrix->diagonal_block(exec))) {}

  Exec const exec;
  CrsMatrix<Scalar, Exec> A;
  MatrixOperator<Scalar, Exec> op;
  SinglePrecisionRows<Scalar, Exec> low;
  MatrixOperator<Single, Exec> low_op;
  JacobiPreconditioner<Scalar, Exec> T;
  JacobiPreconditioner<Single, Exec> low_T;
  std::shared_ptr<DistributedMatrix<Scalar, Exec> const> rows;
  SinglePrecisionRows<Scalar, Exec> low_rows;
  DistributedOperator<Scalar, Exec> rows_op;
  DistributedOperator<Single, Exec> low_rows_op;
  JacobiPreconditioner<Scalar, Exec> rows_T;
  JacobiPreconditioner<Single, Exec> low_rows_T;
};

TYPED_TEST(DistributedMixed, LobpcgHasTheBitsOfOneRank) {
  using S = typename TypeParam::Scalar;
  if constexpr (HasSinglePrecision<S>::value) {
    TwoPrecisions<S> const problem("laplace7:24x22x20");
    EXPECT_EQ(problem.low_rows.factor, problem.low.factor);
    auto const n = static_cast<std::size_t>(problem.op.rows());
    Block<S, Exec> const X("X", n, 6), x("x", static_cast<std::size_t>(problem.rows_op.rows()), 6);
    LobpcgOptions<S, Exec> options;
    options.wanted = 4;
    options.path = SolvePath::iterative;
    options.preconditioner = &problem.rows_T;
    auto const all = lobpcg_mixed(
        problem.exec, {problem.low_rows_op, nullptr, &problem.low_rows_T, problem.low_rows.factor},
        problem.rows_op, x, options);
    auto const found = entries(whole_block(problem.rows_op.row_space(), x));
    if (world().rank() > 0) return;
    options.preconditioner = &problem.T;
    auto const one =
        lobpcg_mixed(problem.exec, {problem.low_op, nullptr, &problem.low_T, problem.low.factor},
                     problem.op, X, options);
    EXPECT_TRUE(one.converged()) << to_string(one.status);
    EXPECT_GT(all.single.iterations, 5);
    EXPECT_EQ(all.single.iterations, one.single.iterations);
    EXPECT_EQ(all.iterations, one.iterations);
    EXPECT_EQ(all.eigenvalues, one.eigenvalues);
    EXPECT_EQ(found, entries(X));
  }
}

TYPED_TEST(DistributedMixed, CgHasTheBitsOfOneRank) {
  using S = typename TypeParam::Scalar;
  if constexpr (HasSinglePrecision<S>::value) {
    TwoPrecisions<S> const problem("elasticity:12");
    SinglePrecision<S, Exec> const inner(problem.low_op, &problem.low_T, problem.low.factor),
        rows_inner(problem.low_rows_op, &problem.low_rows_T, problem.low_rows.factor);
    Block<S, Exec> const B("B", static_cast<std::size_t>(problem.op.rows()), 3),
        X("X", B.extent(0), 3);
    fill_random(problem.exec, B, 3);
    auto const space = problem.rows_op.row_space();
    auto const b = local_rows(space, B), x = local_rows(space, X);
    CgOptions<S, Exec> options;
    options.tolerance = 1e-9;
    options.preconditioner = &problem.rows_T;
    options.inner = &rows_inner;
    auto const all = solve_spd(problem.exec, problem.rows_op, b, x, options);
    auto const found = entries(whole_block(space, x));
    if (world().rank() > 0) return;
    options.preconditioner = &problem.T;
    options.inner = &inner;
    auto const one = solve_spd(problem.exec, problem.op, B, X, options);
    EXPECT_TRUE(one.converged()) << to_string(one.status);
    EXPECT_GT(all.counters.inner_cycles, 0);
    EXPECT_EQ(all.iterations, one.iterations);
    EXPECT_EQ(found, entries(X));
  }
}

TYPED_TEST(DistributedMixed, AMonitorOfOneRankEndsBothStagesOnAll) {
  using S = typename TypeParam::Scalar;
  if constexpr (HasSinglePrecision<S>::value) {
    TwoPrecisions<S> const problem("laplace7:16");
    Block<S, Exec> const x("x", static_cast<std::size_t>(problem.rows_op.rows()), 6);
    LobpcgOptions<S, Exec> options;
    options.wanted = 3;
    options.path = SolvePath::iterative;
    if (world().rank() == world().size() - 1)
      options.monitor = [](auto const& now) { return now.iteration < 2; };
    auto const report =
        lobpcg_mixed(problem.exec, {problem.low_rows_op, nullptr, nullptr, problem.low_rows.factor},
                     problem.rows_op, x, options);
    EXPECT_EQ(report.status, Status::stopped_by_monitor) << to_string(report.status);
    EXPECT_EQ(report.iterations, 2);
  }
}

TYPED_TEST(DistributedMixed, AnEntryBeyondTheRangeOnOneRankIsAnErrorOnAll) {
  using S = typename TypeParam::Scalar;
  if constexpr (HasSinglePrecision<S>::value) {
    Exec const exec;
    // the norm is infinite, so that nothing is scaled, and one entry does not fit
    LocalRows<S> rows;
    bool const last = world().rank() == world().size() - 1;
    for (int i = 0; i < 4; ++i) {
      rows.columns.push_back(4 * world().rank() + i);
      rows.values.push_back(last && i == 2   ? S(1e200)
                            : last && i == 3 ? S(std::numeric_limits<double>::infinity())
                                             : S(1));
      rows.offsets.push_back(i + 1);
    }
    auto const A = distribute(exec, world(), rows);
    EXPECT_THAT(message_of([&] { single_precision_rows(exec, *A); }),
                ::testing::HasSubstr("beyond the range"));
  }
}

}  // namespace
}  // namespace blockspan::test
