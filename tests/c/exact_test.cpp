// Exact pairs of lines against closed forms; component direct.
#include <algorithm>
#include <cmath>

#include "problems.hpp"

namespace c_test {

template <class Scalar>
class CExact : public testing::Test {
 protected:
  Context context;
  bool const built = [] {
    std::string json(2000, '\0');
    ok(blockspan_configuration(json.data(), json.size(), nullptr));
    return json.find("direct") != std::string::npos;
  }();
  static constexpr bool in_double = std::is_same_v<typename Traits<Scalar>::Real, double>;
};
TYPED_TEST_SUITE(CExact, Scalars);

TYPED_TEST(CExact, PairsNearAShiftOfAPencil) {
  constexpr std::int64_t n = 150;
  auto const K = laplacian<TypeParam>(n), M = line_mass<TypeParam>(n);
  auto const k = K.as_operator(this->context), m = M.as_operator(this->context);
  auto X = Columns<TypeParam>::by_columns(n, 6, 1);
  auto const x = X.block();
  auto const options = exact_options(5);
  std::vector<double> values(5), errors(5);
  std::vector<std::int32_t> statuses(5, -1);
  std::int64_t found = -1;
  auto summary = empty_summary();
  double const sigma = pencil_eigenvalue(70, n) + 1e-5;
  auto const code = blockspan_eigenpairs_near(k, m, sigma, &x, &options, &found, values.data(),
                                              errors.data(), statuses.data(), &summary);
  if (!this->built || !TestFixture::in_double)
    return refused(code, BLOCKSPAN_NOT_BUILT, this->built ? "double precision" : "direct");
  ok(code);
  EXPECT_EQ(found, 5);
  EXPECT_EQ(summary.converged, 5);
  auto const report = report_of(this->context);
  EXPECT_EQ(summary.proof, BLOCKSPAN_PROOF_PROVED) << report;
  EXPECT_NE(report.find("\"library\": \"MUMPS on the host\""), std::string::npos) << report;
  EXPECT_NE(report.find("\"analysis_seconds\":"), std::string::npos) << report;
  for (int j = 0; j < 5; ++j)
    EXPECT_NEAR(values[static_cast<std::size_t>(j)], pencil_eigenvalue(68 + j, n), 1e-11);
  auto KX = X;
  KX.columns = X.columns = 1;
  auto MX = KX;
  auto const kx = KX.block(), mx = MX.block(), first = X.block();
  ok(blockspan_apply_operator(k, &first, &kx));
  ok(blockspan_apply_operator(m, &first, &mx));
  for (std::int64_t i = 0; i < n; ++i)
    EXPECT_LT(
        std::abs(KX(i, 0) - static_cast<typename Traits<TypeParam>::Real>(values[0]) * MX(i, 0)),
        1e-10);
}

TYPED_TEST(CExact, AllPairsOfAnIntervalAndTheirNumber) {
  constexpr std::int64_t n = 100;
  auto const K = laplacian<TypeParam>(n);
  auto const k = K.as_operator(this->context);
  double const from = (line_eigenvalue(10, n) + line_eigenvalue(11, n)) / 2,
               to = (line_eigenvalue(22, n) + line_eigenvalue(23, n)) / 2;
  std::int64_t number = -1;
  std::int32_t trusted = -1;
  auto const code = blockspan_count_eigenvalues(k, nullptr, from, to, nullptr, &number, &trusted);
  if (!this->built || !TestFixture::in_double)
    return refused(code, BLOCKSPAN_NOT_BUILT, this->built ? "double precision" : "direct");
  ok(code);
  EXPECT_EQ(number, 12);
  EXPECT_EQ(trusted, 1);
  auto X = Columns<TypeParam>::by_rows(n, 15);
  auto x = X.block();
  std::vector<double> values(15);
  std::int64_t found = -1;
  auto summary = empty_summary();
  ok(blockspan_eigenpairs_in(k, nullptr, from, to, &x, nullptr, &found, values.data(), nullptr,
                             nullptr, &summary));
  EXPECT_EQ(found, 12);
  EXPECT_EQ(summary.proof, BLOCKSPAN_PROOF_PROVED);
  for (int j = 0; j < 12; ++j)
    EXPECT_NEAR(values[static_cast<std::size_t>(j)], line_eigenvalue(11 + j, n), 1e-12);
  EXPECT_EQ(X.marks(), static_cast<std::size_t>(3 * n));  // the columns that were not needed
  refused(blockspan_count_eigenvalues(k, nullptr, to, from, nullptr, &number, &trusted),
          BLOCKSPAN_BAD_INPUT, "");
}

// More pairs than X has columns: their number, the first of them, and a status that says so.
TYPED_TEST(CExact, AnIntervalWithMorePairsThanColumns) {
  constexpr std::int64_t n = 100, columns = 4;
  auto const K = laplacian<TypeParam>(n);
  auto const k = K.as_operator(this->context);
  double const from = (line_eigenvalue(10, n) + line_eigenvalue(11, n)) / 2,
               to = (line_eigenvalue(22, n) + line_eigenvalue(23, n)) / 2;
  auto X = Columns<TypeParam>::by_rows(n, 6);
  auto x = X.block();
  x.columns = columns;
  std::vector<double> values(columns + 1, -7), errors(columns + 1, -7);
  std::vector<std::int32_t> statuses(columns + 1, -7);
  std::int64_t found = -1;
  auto summary = empty_summary();
  auto const code =
      blockspan_eigenpairs_in(k, nullptr, from, to, &x, nullptr, &found, values.data(),
                              errors.data(), statuses.data(), &summary);
  if (!this->built || !TestFixture::in_double)
    return refused(code, BLOCKSPAN_NOT_BUILT, this->built ? "double precision" : "direct");
  ok(code);
  EXPECT_EQ(found, 12);
  EXPECT_EQ(summary.status, BLOCKSPAN_MISSING_PAIRS);
  EXPECT_EQ(summary.converged, columns);
  for (int j = 0; j < columns; ++j) {
    EXPECT_NEAR(values[static_cast<std::size_t>(j)], line_eigenvalue(11 + j, n), 1e-12);
    EXPECT_EQ(statuses[static_cast<std::size_t>(j)], BLOCKSPAN_CONVERGED);
  }
  EXPECT_EQ(values[columns], -7);
  EXPECT_EQ(errors[columns], -7);
  EXPECT_EQ(statuses[columns], -7);
  EXPECT_EQ(X.marks(), static_cast<std::size_t>(2 * n));
  auto const report = report_of(this->context);
  EXPECT_NE(report.find("missing_pairs"), std::string::npos) << report;
  EXPECT_NE(report.find("the first of 12 pairs"), std::string::npos) << report;
}

// The same number of pairs, nearest by difference and by ratio, which reaches further up.
TYPED_TEST(CExact, CayleysFormTakesTheNearestInRatio) {
  constexpr std::int64_t n = 100;
  constexpr int pairs = 9;
  auto const K = laplacian<TypeParam>(n);
  auto const k = K.as_operator(this->context);
  auto X = Columns<TypeParam>::by_columns(n, pairs);
  auto const x = X.block();
  double const sigma = 0.3 * line_eigenvalue(20, n) + 0.7 * line_eigenvalue(21, n);
  std::vector<double> all, values(pairs);
  for (int j = 1; j <= n; ++j) all.push_back(line_eigenvalue(j, n));
  auto const ratio = [&](double lambda) { return std::abs((lambda - sigma) / (lambda + sigma)); };
  std::ranges::sort(all, {}, ratio);
  all.resize(pairs);
  std::ranges::sort(all);
  auto options = exact_options(pairs);
  options.form = BLOCKSPAN_CAYLEY;
  std::int64_t found = -1;
  auto const code = blockspan_eigenpairs_near(k, nullptr, sigma, &x, &options, &found,
                                              values.data(), nullptr, nullptr, nullptr);
  if (!this->built || !TestFixture::in_double)
    return refused(code, BLOCKSPAN_NOT_BUILT, this->built ? "double precision" : "direct");
  ok(code);
  EXPECT_EQ(found, pairs);
  for (std::size_t j = 0; j < pairs; ++j) EXPECT_NEAR(values[j], all[j], 1e-12);
  auto by_difference = exact_options(pairs);
  ok(blockspan_eigenpairs_near(k, nullptr, sigma, &x, &by_difference, &found, values.data(),
                               nullptr, nullptr, nullptr));
  EXPECT_GT(std::abs(values[0] - all[0]), 1e-6);  // the two forms differ here
  options.form = 3;
  refused(blockspan_eigenpairs_near(k, nullptr, sigma, &x, &options, &found, nullptr, nullptr,
                                    nullptr, nullptr),
          BLOCKSPAN_BAD_INPUT, "form");
}

TYPED_TEST(CExact, DirectIsAPreconditionerToo) {
  auto const A = laplacian<TypeParam>(30, 30);
  auto const op = A.as_operator(this->context);
  Operator M;
  auto const code = blockspan_preconditioner(op, "direct", nullptr, &M);
  if (!this->built) return refused(code, BLOCKSPAN_NOT_BUILT, "libmumps-seq-dev");
  ok(code);
  auto B = Columns<TypeParam>::by_columns(900, 3), X = B;
  B.fill(1);
  auto const b = B.block(), x = X.block();
  auto o = cg_options();
  o.preconditioner = M;
  auto summary = empty_summary();
  ok(blockspan_solve_spd(op, &b, &x, &o, nullptr, nullptr, nullptr, &summary));
  EXPECT_EQ(summary.status, BLOCKSPAN_CONVERGED);
  EXPECT_LE(summary.iterations, 3);
}

}  // namespace c_test
