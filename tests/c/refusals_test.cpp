// What is refused, with its code and words; what goes wrong in callbacks.
#include <cstring>

#include "problems.hpp"

namespace c_test {

constexpr std::int64_t n = 60;

/// A matrix, and blocks that fit it.
struct Refusals : testing::Test {
  Context context;
  Csr<double> A = laplacian<double>(n);
  Operator op = A.as_operator(context);
  Columns<double> memory = Columns<double>::by_columns(n, 6);
  blockspan_block x = memory.block();
  Operator none;  // what is refused

  blockspan_code csr(blockspan_operator* out, std::int64_t rows, std::int32_t bits,
                     std::int32_t scalar = BLOCKSPAN_DOUBLE, std::int32_t space = BLOCKSPAN_HOST) {
    return blockspan_matrix_csr(context, scalar, rows, n, A.offsets.data(), bits, A.indices.data(),
                                A.values.data(), space, out);
  }
  blockspan_code lobpcg(blockspan_lobpcg_options const& o) {
    return blockspan_lobpcg(op, nullptr, &x, &o, nullptr, nullptr, nullptr, nullptr);
  }
  blockspan_code preconditioner(char const* words) {
    return blockspan_preconditioner(op, words, nullptr, &none);
  }
};

TEST_F(Refusals, MatricesThatAreNone) {
  Operator made;
  refused(csr(nullptr, n, 32), BLOCKSPAN_BAD_INPUT, "matrix is NULL");
  refused(csr(&made, -1, 32), BLOCKSPAN_BAD_INPUT, "-1 x 60");
  refused(csr(&made, n, 16), BLOCKSPAN_BAD_INPUT, "offset_bits is 16");
  refused(csr(&made, n, 32, 0), BLOCKSPAN_BAD_INPUT, "number 0, which is none");
  refused(csr(&made, n, 32, BLOCKSPAN_DOUBLE, BLOCKSPAN_DEVICE), BLOCKSPAN_BAD_INPUT, "space is 1");
  A.indices[5] = 77;
  refused(csr(&made, n, 32), BLOCKSPAN_BAD_INPUT, "77");
  A.indices[5] = 2;
  A.offsets[3] = 0;
  refused(csr(&made, n, 32), BLOCKSPAN_BAD_INPUT, "row offsets fall");
  EXPECT_EQ(static_cast<blockspan_operator>(made), nullptr);
}

TEST_F(Refusals, BlocksThatDoNotFit) {
  auto const cases = [&](auto change, char const* words) {
    auto y = x;
    change(y);
    Columns<double> other = memory;
    auto const z = other.block();
    refused(blockspan_apply_operator(op, &z, &y), BLOCKSPAN_BAD_INPUT, words);
  };
  cases([](auto& b) { b.rows = 3; }, "Y is 3 x 6");
  cases([](auto& b) { b.columns = 2; }, "X has 6 columns, Y has 2");
  cases([](auto& b) { b.scalar = BLOCKSPAN_FLOAT; }, "Y is of scalar float");
  cases([](auto& b) { b.space = BLOCKSPAN_DEVICE; }, "Y is in space 1");
  cases([](auto& b) { b.row_stride = -1; }, "may not be negative");
  cases([](auto& b) { b.column_stride = 7; }, "share memory");
  cases([](auto& b) { b.column_stride = 0; }, "share memory");
  cases([](auto& b) { b.data = nullptr; }, "Y.data is NULL");
  refused(blockspan_apply_operator(op, nullptr, &x), BLOCKSPAN_BAD_INPUT, "X is NULL");
  refused(blockspan_multiply(op, 4, nullptr, &x, nullptr, &x), BLOCKSPAN_BAD_INPUT, "op is 4");
  refused(blockspan_multiply(op, 0, nullptr, &x, nullptr, &x), BLOCKSPAN_BAD_INPUT, "overlap");
}

TEST_F(Refusals, StartsThatAreNotFinite) {
  memory.fill(1);
  memory(7, 1) = std::nan("");
  auto o = lobpcg_options(2);
  o.guess_columns = 2;
  refused(lobpcg(o), BLOCKSPAN_BAD_INPUT, "row 7, column 1 of the start X (both from 0) is NaN");
  o.guess_columns = 1;
  ok(lobpcg(o));
}

TEST_F(Refusals, OptionsOutOfRange) {
  auto o = lobpcg_options(0);
  refused(lobpcg(o), BLOCKSPAN_BAD_INPUT, "wanted");
  o = lobpcg_options(7);
  refused(lobpcg(o), BLOCKSPAN_BAD_INPUT, "7");
  o = lobpcg_options(2);
  o.which = 2;
  refused(lobpcg(o), BLOCKSPAN_BAD_INPUT, "which is 2");
  o = lobpcg_options(2);
  o.size = 3;
  refused(lobpcg(o), BLOCKSPAN_BAD_INPUT, "options.size 3");
  auto summary = empty_summary();
  summary.size = 0;
  o = lobpcg_options(2);
  refused(blockspan_lobpcg(op, nullptr, &x, &o, nullptr, nullptr, nullptr, &summary),
          BLOCKSPAN_BAD_INPUT, "summary->size 0");
  auto cg = cg_options();
  cg.tolerance = 2;
  Columns<double> other = memory;
  auto const b = other.block();
  refused(blockspan_solve_spd(op, &b, &x, &cg, nullptr, nullptr, nullptr, nullptr),
          BLOCKSPAN_BAD_INPUT, "tolerance");
}

/// A code of its own: a program whose matrix lost its definiteness may go on without.
TEST_F(Refusals, PreconditionersOfMatricesThatAreNotDefinite) {
  for (auto& value : A.values) value = -value;
  Operator const negative = A.as_operator(context);
  blockspan_preconditioner_options o;
  ok(blockspan_preconditioner_defaults(&o, sizeof o));
  o.purpose = BLOCKSPAN_FOR_SYSTEMS;
  for (auto const* words : {"jacobi", "block-jacobi:2", "chebyshev", "multigrid", "direct"}) {
    SCOPED_TRACE(words);
    auto const code = blockspan_preconditioner(negative, words, &o, &none);
    if (code != BLOCKSPAN_NOT_BUILT) refused(code, BLOCKSPAN_NOT_DEFINITE, "definite");
  }
}

TEST_F(Refusals, PreconditionersThatAreNone) {
  refused(preconditioner("ilu"), BLOCKSPAN_BAD_INPUT, "'ilu' is not none, jacobi");
  refused(preconditioner("multigrid:9"), BLOCKSPAN_BAD_INPUT, "degree 9");
  refused(preconditioner("automatic"), BLOCKSPAN_NOT_BUILT, "name one");
  refused(preconditioner(nullptr), BLOCKSPAN_BAD_INPUT, "words is NULL");
  blockspan_preconditioner_options o;
  ok(blockspan_preconditioner_defaults(&o, sizeof o));
  o.block_size = 2;
  Operator made;
  refused(blockspan_preconditioner(op, "jacobi", &o, &made), BLOCKSPAN_BAD_INPUT,
          "go with multigrid");
  o.block_size = 0;
  for (double const ratio : {-3.0, 0.5, std::nan("")}) {
    o.ratio = ratio;
    refused(blockspan_preconditioner(op, "chebyshev", &o, &made), BLOCKSPAN_BAD_INPUT, "ratio");
  }
  A.values[0] = -5;  // not positive definite
  ok(blockspan_operator_refresh(op, nullptr));
  refused(preconditioner("jacobi"), BLOCKSPAN_NOT_DEFINITE, "diagonal entry of row 0");
  refused(preconditioner("chebyshev"), BLOCKSPAN_NOT_DEFINITE, "diagonal entry of row 0");
  refused(preconditioner("multigrid"), BLOCKSPAN_NOT_DEFINITE, "diagonal entry of row 1");
  o = {};
  ok(blockspan_preconditioner_defaults(&o, sizeof o));
  o.purpose = BLOCKSPAN_FOR_EIGENPAIRS;
  ok(blockspan_preconditioner(op, "jacobi", &o, &made));
}

TEST_F(Refusals, WhatPreconditionersAreMadeOf) {
  blockspan_preconditioner_options o;
  ok(blockspan_preconditioner_defaults(&o, sizeof o));
  x.rows = -3;
  o.coordinates = &x;
  refused(blockspan_preconditioner(op, "multigrid", &o, &none), BLOCKSPAN_BAD_INPUT,
          "coordinates is -3 x 6");
  Operator jacobi;
  ok(blockspan_preconditioner(op, "jacobi", nullptr, &jacobi));
  o.coordinates = nullptr;
  o.mass = jacobi;
  for (auto const* words : {"direct", "jacobi"})
    refused(blockspan_preconditioner(op, words, &o, &none), BLOCKSPAN_BAD_INPUT,
            "mass is not a matrix");
}

TEST(RefusalsOfRanks, BeforeMpiIsInitialized) {
  std::string const built = [] {
    std::string text(2000, ' ');
    ok(blockspan_configuration(text.data(), text.size(), nullptr));
    return text;
  }();
  bool const has_mpi = built.find("\"mpi\": \"none\"") == built.npos;
  auto const code = has_mpi ? BLOCKSPAN_BAD_INPUT : BLOCKSPAN_NOT_BUILT;
  char const* const words = has_mpi ? "MPI is not initialized" : "built without MPI";
  blockspan_context context = nullptr;
  int comm = 0;
  refused(blockspan_context_create_mpi_fortran(nullptr, 0, &context), code, words);
  refused(blockspan_context_create_mpi(nullptr, &comm, &context), code, words);
}

TEST_F(Refusals, OperatorsThatDoNotGoTogether) {
  auto const rectangle = [&] {
    Csr<double> R;
    R.rows = 1;
    R.columns = 2;
    R.add(0, 1, 1);
    R.end_row();
    return R;
  }();
  auto const r = rectangle.as_operator(context);
  refused(blockspan_apply_operator(r, &x, &x), BLOCKSPAN_BAD_INPUT, "not square");
  auto const small = laplacian<double>(5);
  auto const s = small.as_operator(context);
  auto o = lobpcg_options(2);
  o.preconditioner = s;
  refused(lobpcg(o), BLOCKSPAN_BAD_INPUT, "preconditioner has 5 rows, A has 60");
  Context other;
  auto const foreign = A.as_operator(other);
  o.preconditioner = foreign;
  refused(lobpcg(o), BLOCKSPAN_BAD_INPUT, "another context");
  refused(blockspan_matrix_distributed(context, BLOCKSPAN_DOUBLE, nullptr, nullptr, nullptr,
                                       nullptr, nullptr, nullptr, nullptr, &o.preconditioner),
          BLOCKSPAN_BAD_INPUT, "no ranks");
  auto const never = [](void*, blockspan_block const*, blockspan_block const*) { return 1; };
  Operator callback;
  ok(blockspan_operator_callback(context, BLOCKSPAN_DOUBLE, nullptr, n, never, nullptr, 0, "mine",
                                 &callback));
  refused(blockspan_multiply(callback, 0, nullptr, &x, nullptr, &x), BLOCKSPAN_BAD_INPUT,
          "'mine' is not a matrix of one process");
  Operator made;
  refused(blockspan_preconditioner(callback, "jacobi", nullptr, &made), BLOCKSPAN_BAD_INPUT,
          "'mine' is not a matrix");
}

TEST_F(Refusals, ScalarsThatAreNotInTheBuild) {
  std::string json(1000, '\0');
  ok(blockspan_configuration(json.data(), json.size(), nullptr));
  std::pair<std::int32_t, char const*> const all[] = {{BLOCKSPAN_FLOAT, "float"},
                                                      {BLOCKSPAN_DOUBLE, "double"},
                                                      {BLOCKSPAN_COMPLEX_FLOAT, "complex_float"},
                                                      {BLOCKSPAN_COMPLEX_DOUBLE, "complex_double"}};
  for (auto const& [number, name] : all) {
    if (json.find('"' + std::string(name) + '"') != std::string::npos) continue;
    Operator made;
    refused(csr(&made, n, 32, number), BLOCKSPAN_NOT_BUILT,
            std::string("without the scalar ") + name);
  }
}

// Status, not error: the matrix is not what the solver is for.
TEST_F(Refusals, NumericalTroubleIsAStatus) {
  auto negative = A;
  for (auto& value : negative.values) value *= -1;
  auto const indefinite = negative.as_operator(context);
  Columns<double> B = memory, X = memory;
  B.fill(1);
  auto const b = B.block(), y = X.block();
  auto summary = empty_summary();
  std::int32_t statuses[6];
  ok(blockspan_solve_spd(indefinite, &b, &y, nullptr, nullptr, statuses, nullptr, &summary));
  EXPECT_EQ(summary.status, BLOCKSPAN_NEGATIVE_CURVATURE);
  EXPECT_STREQ(blockspan_status_name(statuses[0]), "negative_curvature");
  EXPECT_STREQ(blockspan_status_name(99), "unknown");
  EXPECT_STREQ(blockspan_status_name(BLOCKSPAN_PRECONDITIONER_NOT_SPD), "preconditioner_not_spd");
  B.memory[3] = std::nan("");
  ok(blockspan_solve_spd(op, &b, &y, nullptr, nullptr, statuses, nullptr, nullptr));
  EXPECT_EQ(statuses[0], BLOCKSPAN_NONFINITE_RHS);
  EXPECT_EQ(statuses[1], BLOCKSPAN_CONVERGED);
}

TEST_F(Refusals, ACallbackThatFailsEndsTheSolve) {
  int calls = 0;
  auto const fails = [](void* user, blockspan_block const* X, blockspan_block const* Y) {
    std::memset(Y->data, 0, static_cast<std::size_t>(Y->rows * Y->columns) * sizeof(double));
    (void)X;
    return ++*static_cast<int*>(user) < 3 ? 0 : 42;
  };
  Operator callback;
  ok(blockspan_operator_callback(context, BLOCKSPAN_DOUBLE, nullptr, n, fails, &calls, 1, "mine",
                                 &callback));
  auto const identity = [](void*, blockspan_block const* X, blockspan_block const* Y) {
    for (std::int64_t i = 0; i < X->rows; ++i)
      std::memcpy(static_cast<double*>(Y->data) + i * Y->row_stride,
                  static_cast<double const*>(X->data) + i * X->row_stride,
                  static_cast<std::size_t>(X->columns) * sizeof(double));
    return 0;
  };
  Operator one;
  ok(blockspan_operator_callback(context, BLOCKSPAN_DOUBLE, nullptr, n, identity, nullptr, 0,
                                 nullptr, &one));
  Columns<double> B = memory, X = memory;
  B.fill(1);
  auto const b = B.block(), y = X.block();
  for (int solve = 0; solve < 2; ++solve) {  // as operator, as preconditioner
    auto o = cg_options();
    if (solve == 1) o.preconditioner = callback;
    calls = 2;
    refused(blockspan_solve_spd(solve == 0 ? callback : op, &b, &y, &o, nullptr, nullptr, nullptr,
                                nullptr),
            BLOCKSPAN_CALLBACK_FAILED, "the callback 'mine' returned 42");
  }
  ok(blockspan_solve_spd(op, &b, &y, nullptr, nullptr, nullptr, nullptr, nullptr));  // goes on
  ok(blockspan_apply_operator(one, &b, &y));
  EXPECT_EQ(B.memory, X.memory);
}

TEST_F(Refusals, AMonitorStopsAndSeesWhatIsThere) {
  struct Seen {
    int calls = 0, columns = 0;
    double last = 0;
  } seen;
  auto const stop = [](void* user, blockspan_progress const* p) {
    auto& s = *static_cast<Seen*>(user);
    ++s.calls, s.columns = p->columns, s.last = p->residuals[0];
    return p->iteration >= 3 ? 1 : 0;
  };
  auto o = lobpcg_options(2);
  o.path = BLOCKSPAN_PATH_ITERATIVE;
  o.monitor = stop;
  o.monitor_user = &seen;
  auto summary = empty_summary();
  ok(blockspan_lobpcg(op, nullptr, &x, &o, nullptr, nullptr, nullptr, &summary));
  EXPECT_EQ(summary.status, BLOCKSPAN_STOPPED_BY_MONITOR);
  EXPECT_EQ(summary.iterations, 3);
  EXPECT_GE(seen.columns, 2);
  seen = {};
  Columns<double> B = memory;
  B.fill(1);
  auto const b = B.block();
  auto cg = cg_options();
  cg.monitor = stop;
  cg.monitor_user = &seen;
  ok(blockspan_solve_spd(op, &b, &x, &cg, nullptr, nullptr, nullptr, &summary));
  EXPECT_EQ(summary.status, BLOCKSPAN_STOPPED_BY_MONITOR);
  EXPECT_EQ(seen.columns, 6);
  EXPECT_GT(seen.last, 0);
}

}  // namespace c_test
