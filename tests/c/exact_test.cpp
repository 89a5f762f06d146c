// Exact pairs of lines against closed forms; component direct.
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
  EXPECT_EQ(summary.proof, BLOCKSPAN_PROOF_PROVED) << report_of(this->context);
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
  x.columns = 4;
  refused(blockspan_eigenpairs_in(k, nullptr, from, to, &x, nullptr, &found, nullptr, nullptr,
                                  nullptr, nullptr),
          BLOCKSPAN_BAD_INPUT, "12 pairs in the interval, and X has 4");
  EXPECT_EQ(found, 12);
  refused(blockspan_count_eigenvalues(k, nullptr, to, from, nullptr, &number, &trusted),
          BLOCKSPAN_BAD_INPUT, "");
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
