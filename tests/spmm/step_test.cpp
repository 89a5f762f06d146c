// The step of a polynomial in the kernel of the product: against its formula with every kernel.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/smoothers/chebyshev.hpp>
#include <blockspan/spmm/run/step.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class Step : public ::testing::Test {};
TYPED_TEST_SUITE(Step, EveryConfig, ConfigNames);

template <class Scalar>
std::vector<HostMatrix<Scalar>> square_matrices() {
  using Row = std::int64_t;
  return {
      random_matrix<Scalar>("one heavy row", 30, 30, [](Row i) { return i == 11 ? 700 : 2; }),
      random_matrix<Scalar>("1 x 1", 1, 1, [](Row) { return 3; }),
      random_matrix<Scalar>("some rows empty", 900, 900, [](Row i) { return i % 5 * 3; }),
      arrow<Scalar>(48),
      band<Scalar>(700),
      shared_columns<Scalar>(
          "groups of rows", 28, 70, [](Row run) { return 1 + run % 4; },
          [](Row run) { return run % 9; }),
  };
}

/// Where nothing is kept, there is no momentum either.
struct Terms {
  bool keeps, remembers, weighs;
  double momentum, factor;

  bool reads_y() const { return keeps && remembers; }
};
constexpr Terms all_terms[] = {
    {false, true, false, 0.5, 1}, {true, false, true, 0.25, 0.75}, {true, true, true, 0.5, -1.5}};

/// Y = Z + momentum (Z - Y) + factor W (R - A Z) and what rounding may make of it.
template <class Scalar>
Reference<Scalar> reference_step(HostMatrix<Scalar> const& A, Terms const& t,
                                 std::vector<real_t<Scalar>> const& weights,
                                 HostBlock<Scalar> const& R, HostBlock<Scalar> const& Z,
                                 HostBlock<Scalar> const& Y) {
  auto result = reference_product(Op::none, Scalar(1), A, Z, Scalar(0), Y);
  for (std::int64_t i = 0; i < Z.rows(); ++i)
    for (std::int64_t j = 0; j < Z.columns(); ++j) {
      long double const w =
          t.factor * (t.weighs ? static_cast<long double>(weights[std::size_t(i)]) : 1.0L);
      long double const m = t.keeps ? t.momentum : 0;
      extended_t<Scalar> z(0), old(0);
      if (t.keeps) z = extended(Z(i, j));
      if (t.reads_y()) old = extended(Y(i, j));
      auto const r = extended(R(i, j)), sum = result.value(i, j);
      result.value(i, j) = z + m * (z - old) + w * (r - sum);
      result.bound(i, j) =
          std::abs(w) * result.bound(i, j) +
          gamma_bound<Scalar>(8) * (std::abs(z) + std::abs(m) * (std::abs(z) + std::abs(old)) +
                                    std::abs(w) * (std::abs(r) + std::abs(sum)));
    }
  return result;
}

/// The product and the pass of the step's own. Ranks of hosts rely on it that one kernel for both
/// rounds alike: not all their rows may be served by it.
template <class Scalar, class Exec, class Made>
HostBlock<Scalar> by_two_passes(
    Exec const& exec, SpmmPlan<Exec> const& plan, CrsMatrix<Scalar, Exec> const& A, Made const& Z,
    Made const& R, HostBlock<Scalar> const& y, Terms const& t,
    Kokkos::View<real_t<Scalar> const*, typename Exec::memory_space> const& w) {
  using Real = real_t<Scalar>;
  auto const Y = make_block(exec, right, y), AZ = make_block(exec, right, y);
  auto const& image = t.keeps ? AZ : Y;
  blockspan::spmm(exec, plan, Op::none, Scalar(1), A, Z.const_view(), Scalar(0), image.view);
  blockspan::operators::pass_of_step<Exec, Scalar>(
      exec,
      {t.keeps, t.remembers, Real(t.momentum), Real(t.factor), t.weighs ? w.data() : nullptr,
       blockspan::blocks::block_ref<Exec>(R.const_view()),
       blockspan::blocks::block_ref<Exec>(Z.const_view())},
      blockspan::blocks::block_ref<Exec>(image.const_view()),
      blockspan::blocks::block_ref<Exec>(Y.view));
  exec.fence("Blockspan::test");
  return Y.values();
}

/// Rows that hold the blocks R, Z and Y of one step.
constexpr Storage layouts[] = {right, padded_right, left};

/// Weights of rows: 1, 1/2, ... 1/7, 1, ...
template <class Real>
std::vector<Real> row_weights(std::int64_t rows) {
  std::vector<Real> weights;
  for (std::int64_t i = 0; i < rows; ++i) weights.push_back(Real(1) / Real(i % 7 + 1));
  return weights;
}

/// Y before a step, which may not read it.
template <class Scalar>
HostBlock<Scalar> before_step(std::int64_t rows, int width, bool reads_y) {
  if (reads_y) return random_block<Scalar>(rows, width, 3);
  return HostBlock<Scalar>(rows, width, not_a_number<Scalar>());
}

/// Variants that take the step in the kernel of the product.
template <class Exec, class Real>
std::vector<std::string> fused_variants() {
  if (blockspan::support::runs_on_host_v<Exec>) return {"single_columns", "rows"};
  if (!blockspan::products::lanes_exchange_v<Exec>) return {};
  std::vector<std::string> all{"single_columns", "rows", "segments", "segments_sorted", "groups"};
  if (std::is_same_v<Real, double>) all.emplace_back("windows");
  return all;
}

/// The step in the kernel of the product; false where there is none, and Y is as it was.
template <class Scalar, class Exec, class Made>
bool step(Exec const& exec, SpmmPlan<Exec> const& plan, CrsMatrix<Scalar, Exec> const& A,
          Made const& Z, Made const& R, Made const& Y, Terms const& t,
          Kokkos::View<real_t<Scalar> const*, typename Exec::memory_space> const& w) {
  using Real = real_t<Scalar>;
  bool const taken = blockspan::products::multiply_with_step<Exec, Scalar>(
      exec, plan.panels(), blockspan::sparse::planned_matrix_ref<Exec>(A),
      blockspan::blocks::block_ref<Exec>(Z.const_view()),
      {t.keeps, t.remembers, Real(t.momentum), Real(t.factor), t.weighs ? w.data() : nullptr,
       blockspan::blocks::block_ref<Exec>(R.const_view()),
       blockspan::blocks::block_ref<Exec>(Z.const_view())},
      blockspan::blocks::block_ref<Exec>(Y.view));
  exec.fence("Blockspan::test");
  return taken;
}

TYPED_TEST(Step, IsItsFormulaWithEveryVariantAndWidth) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  std::vector<std::string> fused;  // variants
  for (auto const& host : square_matrices<Scalar>()) {
    auto const A = to_device(exec, host);
    auto const weights = row_weights<Real>(host.rows);
    auto const w = Kokkos::create_mirror_view_and_copy(
        typename Exec::memory_space(),
        Kokkos::View<Real const*, Kokkos::HostSpace>(weights.data(), weights.size()));
    for (auto const& variant : offered_variants<Exec, Scalar>()) {
      SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id), .segment_length = 7});
      for (int const width : {1, 2, 3, 5, 8, 16, 17, 64, 130})
        for (Terms const& terms : all_terms)
          for (Storage const layout : layouts) {
            auto const z = random_block<Scalar>(host.rows, width, 1),
                       r = random_block<Scalar>(host.rows, width, 2),
                       y = before_step<Scalar>(host.rows, width, terms.reads_y());
            auto const Z = make_block(exec, layout, z), R = make_block(exec, layout, r),
                       Y = make_block(exec, layout, y);
            bool const taken = step<Scalar>(exec, plan, A, Z, R, Y, terms, w);
            SCOPED_TRACE(host.name + ", " + std::string(variant.id) + ", " + std::to_string(width) +
                         " columns, " + to_string(layout));
            EXPECT_TRUE(Y.surroundings_intact());
            if (!taken) {
              EXPECT_TRUE(same_bits(Y.values(), y));
              continue;
            }
            EXPECT_TRUE(host.rows == 1 || layout != left);
            if (fused.empty() || fused.back() != variant.id) fused.emplace_back(variant.id);
            auto const once = Y.values();
            ASSERT_TRUE(matches(once, reference_step(host, terms, weights, r, z, y)));
            if (blockspan::support::runs_on_host_v<Exec>) {
              EXPECT_TRUE(same_bits(by_two_passes(exec, plan, A, Z, R, y, terms, w), once))
                  << (terms.keeps ? "keeps " : "") << (terms.remembers ? "remembers" : "");
            }
            if (terms.reads_y()) continue;
            step<Scalar>(exec, plan, A, Z, R, Y, terms, w);
            EXPECT_TRUE(same_bits(Y.values(), once));
          }
    }
  }
  auto const wanted = fused_variants<Exec, Real>();
  for (auto const& id : wanted)
    EXPECT_NE(std::find(fused.begin(), fused.end(), id), fused.end()) << id;
  EXPECT_EQ(fused.empty(), wanted.empty());
}

}  // namespace
}  // namespace blockspan::test
