// Products of any op, layout and offset type against a plain sum.
#include "problems.hpp"

namespace c_test {

template <class Scalar>
class CProducts : public testing::Test {
 protected:
  Context context;
};
TYPED_TEST_SUITE(CProducts, Scalars);

/// 7 x 5, unsorted and repeated columns, an empty row.
template <class Scalar>
Csr<Scalar> small_matrix() {
  Csr<Scalar> A;
  A.rows = 7;
  A.columns = 5;
  int const places[7][3] = {{4, 0, 2},   {1, 1, 3}, {-1, -1, -1}, {0, 4, 4},
                            {2, -1, -1}, {3, 2, 1}, {0, 1, 0}};
  for (int i = 0; i < 7; ++i) {
    for (int const j : places[i])
      if (j >= 0) A.add(i, j, 1 + i - 0.5 * j);
    A.end_row();
  }
  return A;
}

/// alpha op(A) X + beta Y.
template <class Scalar>
Columns<Scalar> reference(Csr<Scalar> const& A, int op, Scalar alpha, Columns<Scalar> X,
                          Scalar beta, Columns<Scalar> Y) {
  bool const turned = op == BLOCKSPAN_OP_TRANSPOSE || op == BLOCKSPAN_OP_ADJOINT;
  for (std::int64_t i = 0; i < Y.rows; ++i)
    for (std::int64_t j = 0; j < Y.columns; ++j)
      Y(i, j) = beta == Scalar(0) ? Scalar(0) : beta * Y(i, j);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto e = static_cast<std::size_t>(A.offsets[i]);
         e < static_cast<std::size_t>(A.offsets[i + 1]); ++e) {
      Scalar a = A.values[e];
      if (op == BLOCKSPAN_OP_CONJUGATE || op == BLOCKSPAN_OP_ADJOINT) a = Csr<Scalar>::conjugate(a);
      for (std::int64_t j = 0; j < X.columns; ++j)
        if (turned)
          Y(A.indices[e], j) += alpha * a * X(i, j);
        else
          Y(i, j) += alpha * a * X(A.indices[e], j);
    }
  return Y;
}

template <class Scalar>
double distance(Columns<Scalar> a, Columns<Scalar> b) {
  double worst = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j)
      worst = std::max(worst, static_cast<double>(std::abs(a(i, j) - b(i, j))));
  return worst;
}

TYPED_TEST(CProducts, EveryOpAndLayout) {
  auto const A = small_matrix<TypeParam>();
  auto const op = A.as_operator(this->context);
  TypeParam const alpha = TypeParam(0.75) * Traits<TypeParam>::unit(0.3), beta = TypeParam(-2);
  for (int o = 0; o < 4; ++o) {
    bool const turned = o == BLOCKSPAN_OP_TRANSPOSE || o == BLOCKSPAN_OP_ADJOINT;
    std::int64_t const in = turned ? 7 : 5, out = turned ? 5 : 7;
    for (bool const by_rows : {true, false}) {
      auto X = by_rows ? Columns<TypeParam>::by_rows(in, 3, 2)
                       : Columns<TypeParam>::by_columns(in, 3, 1);
      auto Y = by_rows ? Columns<TypeParam>(out, 3, 8, 2) : Columns<TypeParam>::by_rows(out, 3);
      X.fill(1);
      Y.fill(50);
      auto const wanted = reference(A, o, alpha, X, beta, Y);
      auto const x = X.block(), y = Y.block();
      ok(blockspan_multiply(op, o, &alpha, &x, &beta, &y));
      EXPECT_LT(distance(Y, wanted), accuracy<TypeParam>(1e-14)) << o;
      EXPECT_GE(Y.marks(), Y.gaps());
    }
  }
}

TYPED_TEST(CProducts, BetaZeroNeverReadsAndNullMeansOneAndZero) {
  auto const A = small_matrix<TypeParam>();
  auto const op = A.as_operator(this->context);
  auto X = Columns<TypeParam>::by_rows(5, 2), Y = Columns<TypeParam>::by_columns(7, 2);
  X.fill(1);
  for (auto& y : Y.memory) y = TypeParam(std::nan(""));
  auto const x = X.block(), y = Y.block();
  ok(blockspan_multiply(op, BLOCKSPAN_OP_NONE, nullptr, &x, nullptr, &y));
  EXPECT_LT(distance(Y, reference(A, 0, TypeParam(1), X, TypeParam(0), Y)),
            accuracy<TypeParam>(1e-14));
}

TYPED_TEST(CProducts, BlocksWithoutRowsMayHaveAnyStrides) {
  Csr<TypeParam> A;
  auto const op = A.as_operator(this->context);
  TypeParam nothing{};
  auto const x = blockspan_by_columns(&nothing, 0, 4, 0, Traits<TypeParam>::number),
             y = blockspan_by_rows(nullptr, 0, 4, 0, Traits<TypeParam>::number);
  ok(blockspan_apply_operator(op, &x, &y));
  ok(blockspan_multiply(op, BLOCKSPAN_OP_NONE, nullptr, &y, nullptr, &x));
}

TYPED_TEST(CProducts, WideOffsetsGiveTheSameBits) {
  auto const A = laplacian<TypeParam>(30, 20);
  std::vector<std::int64_t> const wide(A.offsets.begin(), A.offsets.end());
  Operator op;
  ok(blockspan_matrix_csr(this->context, Traits<TypeParam>::number, A.rows, A.columns, wide.data(),
                          64, A.indices.data(), A.values.data(), BLOCKSPAN_HOST, &op));
  auto const narrow = A.as_operator(this->context);
  auto X = Columns<TypeParam>::by_rows(600, 5), Y = X, Z = X;
  X.fill(1);
  auto const x = X.block(), y = Y.block(), z = Z.block();
  ok(blockspan_apply_operator(op, &x, &y));
  ok(blockspan_apply_operator(narrow, &x, &z));
  EXPECT_EQ(distance(Y, Z), 0);
}

TYPED_TEST(CProducts, IndicesFromOneGiveTheSameBitsAndAreCopied) {
  auto const A = small_matrix<TypeParam>();
  auto const plain = A.as_operator(this->context);
  auto X = Columns<TypeParam>::by_rows(5, 3), Y = Columns<TypeParam>::by_rows(7, 3), Z = Y;
  X.fill(1);
  auto const x = X.block(), y = Y.block(), z = Z.block();
  ok(blockspan_multiply(plain, 0, nullptr, &x, nullptr, &y));
  for (int const bits : {32, 64}) {
    auto offsets = A.offsets, indices = A.indices;
    for (auto& i : offsets) ++i;
    for (auto& i : indices) ++i;
    std::vector<std::int64_t> const wide(offsets.begin(), offsets.end());
    Operator op;
    auto const make = [&] {
      return blockspan_matrix_csr_from_one(
          this->context, Traits<TypeParam>::number, A.rows, A.columns,
          bits == 32 ? static_cast<void const*>(offsets.data()) : wide.data(), bits, indices.data(),
          A.values.data(), BLOCKSPAN_HOST, &op);
    };
    ok(make());
    offsets.assign(offsets.size(), 0);
    indices.assign(indices.size(), 0);
    ok(blockspan_multiply(op, 0, nullptr, &x, nullptr, &z));
    EXPECT_EQ(distance(Y, Z), 0);
    refused(make(), BLOCKSPAN_BAD_INPUT, bits == 32 ? "offsets is 0" : "is 0; the least is 1");
  }
}

TYPED_TEST(CProducts, PreconditionersApplyToAnyLayout) {
  auto const A = laplacian<TypeParam>(15, 10);
  auto const op = A.as_operator(this->context);
  for (char const* const words : {"jacobi", "chebyshev", "multigrid:1"}) {
    Operator M;
    ok(blockspan_preconditioner(op, words, nullptr, &M));
    auto X = Columns<TypeParam>::by_rows(150, 3), Y = X;
    X.fill(1);
    Columns<TypeParam> X2(150, 3, 9, 2), Y2 = Columns<TypeParam>::by_columns(150, 3, 4);
    X2.fill(1);
    auto const x = X.block(), y = Y.block(), x2 = X2.block(), y2 = Y2.block();
    ok(blockspan_apply_operator(M, &x, &y));
    ok(blockspan_apply_operator(M, &x2, &y2));
    EXPECT_EQ(distance(Y, Y2), 0) << words;
    EXPECT_GE(Y2.marks(), Y2.gaps());
  }
}

TYPED_TEST(CProducts, OperatorsApplyInPlace) {
  auto const A = laplacian<TypeParam>(20, 20);
  auto const op = A.as_operator(this->context);
  for (auto const* words : {"none", "jacobi", "block-jacobi:4", "chebyshev:5", "multigrid"})
    for (bool const by_rows : {true, false}) {
      Operator M;
      ok(blockspan_preconditioner(op, words, nullptr, &M));
      auto const used = std::string(words) == "none" ? op.handle : M.handle;
      auto X =
          by_rows ? Columns<TypeParam>::by_rows(400, 5) : Columns<TypeParam>::by_columns(400, 5);
      auto Y = X.fill(1);
      auto const x = X.block(), y = Y.block();
      ok(blockspan_apply_operator(used, &x, &y));
      ok(blockspan_apply_operator(used, &x, &x));
      EXPECT_EQ(distance(X, Y), 0) << words;
    }
}

TYPED_TEST(CProducts, ChebyshevHasTheSameDefaultsForAllPurposes) {
  auto const A = laplacian<TypeParam>(15, 10);
  auto const op = A.as_operator(this->context);
  blockspan_preconditioner_options options;
  ok(blockspan_preconditioner_defaults(&options, sizeof options));
  auto const described = [&](char const* words) {
    Operator M;
    ok(blockspan_preconditioner(op, words, &options, &M));
    std::string text(1000, ' ');
    ok(blockspan_operator_describe(M, text.data(), text.size(), nullptr));
    return text;
  };
  for (std::int32_t const purpose : {BLOCKSPAN_FOR_SYSTEMS, BLOCKSPAN_FOR_EIGENPAIRS}) {
    options.purpose = purpose;
    options.ratio = 0;
    // rows of the scaled Laplacian sum up to 2
    EXPECT_NE(described("chebyshev").find("of degree 8 over jacobi on [0.02, 2]"),
              std::string::npos);
    options.ratio = 20;
    EXPECT_NE(described("chebyshev:3").find("of degree 3 over jacobi on [0.1, 2]"),
              std::string::npos);
    EXPECT_NE(described("chebyshev:3:50").find("on [0.04, 2]"), std::string::npos);
  }
}

TYPED_TEST(CProducts, RefreshSeesNewValues) {
  auto A = laplacian<TypeParam>(25, 25);
  auto const op = A.as_operator(this->context);
  Operator jacobi, multigrid, chebyshev;
  ok(blockspan_preconditioner(op, "jacobi", nullptr, &jacobi));
  ok(blockspan_preconditioner(op, "multigrid", nullptr, &multigrid));
  ok(blockspan_preconditioner(op, "chebyshev", nullptr, &chebyshev));
  auto X = Columns<TypeParam>::by_rows(625, 2), before = X, after = X;
  X.fill(1);
  for (auto* const M : {&jacobi, &multigrid, &chebyshev}) {
    auto const x = X.block(), y = before.block(), z = after.block();
    ok(blockspan_apply_operator(*M, &x, &y));
    for (auto& value : A.values) value *= 4;  // exact, also in single precision
    ok(blockspan_operator_refresh(op, nullptr));
    ok(blockspan_operator_refresh(*M, nullptr));
    ok(blockspan_apply_operator(*M, &x, &z));
    for (auto& value : after.memory) value *= 4;
    EXPECT_LT(distance(before, after), accuracy<TypeParam>(1e-6));
    for (auto& value : A.values) value /= 4;
    ok(blockspan_operator_refresh(op, nullptr));
  }
}

}  // namespace c_test
