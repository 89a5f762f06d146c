// What is refused, with its code and words; what goes wrong in callbacks; handles and structs.
#include <cstring>
#include <thread>

#include "problems.hpp"

namespace c_test {

namespace {

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

}  // namespace

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
  A.values[0] = -5;  // not positive definite
  ok(blockspan_operator_refresh(op, nullptr));
  refused(preconditioner("jacobi"), BLOCKSPAN_BAD_INPUT, "diagonal entry of row 0");
  refused(preconditioner("chebyshev"), BLOCKSPAN_BAD_INPUT, "diagonal entry of row 0");
  refused(preconditioner("multigrid"), BLOCKSPAN_BAD_INPUT, "");
  o = {};
  ok(blockspan_preconditioner_defaults(&o, sizeof o));
  o.purpose = BLOCKSPAN_FOR_EIGENPAIRS;
  ok(blockspan_preconditioner(op, "jacobi", &o, &made));
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

TEST(CHandles, MayBeDestroyedInAnyOrder) {
  auto const A = laplacian<double>(400);
  for (int order = 0; order < 6; ++order) {
    blockspan_context context = nullptr;
    blockspan_operator a = nullptr, M = nullptr;
    ok(blockspan_context_create(nullptr, &context));
    ok(blockspan_matrix_csr(context, BLOCKSPAN_DOUBLE, 400, 400, A.offsets.data(), 32,
                            A.indices.data(), A.values.data(), BLOCKSPAN_HOST, &a));
    ok(blockspan_preconditioner(a, order % 2 ? "chebyshev" : "multigrid", nullptr, &M));
    Columns<double> X = Columns<double>::by_rows(400, 2), Y = X;
    X.fill(1);
    auto const x = X.block(), y = Y.block();
    for (int step = 0; step < 3; ++step) {
      switch ((order + step) % 3) {
        case 0:
          ok(blockspan_context_destroy(&context));
          break;
        case 1:
          ok(blockspan_operator_destroy(&a));
          break;
        default:
          ok(blockspan_apply_operator(M, &x, &y));  // stands on the others
          ok(blockspan_operator_destroy(&M));
      }
    }
    EXPECT_TRUE(context == nullptr && a == nullptr && M == nullptr);
    ok(blockspan_operator_destroy(&M));
    ok(blockspan_operator_destroy(nullptr));
  }
}

TEST(CHandles, ThatWereDestroyedAreRefused) {
  blockspan_context context = nullptr;
  ok(blockspan_context_create(nullptr, &context));
  blockspan_context copy = context;
  refused(blockspan_report(context, nullptr, 0, nullptr), BLOCKSPAN_BAD_INPUT,
          "nothing was solved");
  ok(blockspan_context_destroy(&context));
  refused(blockspan_report(copy, nullptr, 0, nullptr), BLOCKSPAN_BAD_INPUT, "was destroyed");
  refused(blockspan_context_destroy(&copy), BLOCKSPAN_BAD_INPUT, "was destroyed");
  refused(blockspan_operator_refresh(nullptr, nullptr), BLOCKSPAN_BAD_INPUT, "operator is NULL");
}

TEST(CStructs, OfOlderAndNewerProgramsAreTaken) {
  // an older program knows the fields up to `digits`
  struct Older {
    std::size_t size;
    std::int32_t wanted, block, widest_block, which, criterion, digits;
  } older{};
  ok(blockspan_lobpcg_defaults(reinterpret_cast<blockspan_lobpcg_options*>(&older), sizeof older));
  EXPECT_EQ(older.size, sizeof older);
  older.wanted = 2;
  Context context;
  auto const A = laplacian<double>(50);
  auto const op = A.as_operator(context);
  Columns<double> X = Columns<double>::by_rows(50, 6);
  auto const x = X.block();
  double values[2];
  ok(blockspan_lobpcg(op, nullptr, &x, reinterpret_cast<blockspan_lobpcg_options*>(&older), values,
                      nullptr, nullptr, nullptr));
  EXPECT_NEAR(values[0], line_eigenvalue(1, 50), 1e-9);
  // a newer one has a field more: nothing in it is no wish
  struct Newer {
    blockspan_lobpcg_options known;
    double wish;
  } newer{};
  ok(blockspan_lobpcg_defaults(&newer.known, sizeof newer));
  newer.known.wanted = 2;
  ok(blockspan_lobpcg(op, nullptr, &x, &newer.known, values, nullptr, nullptr, nullptr));
  newer.wish = 1;
  refused(blockspan_lobpcg(op, nullptr, &x, &newer.known, values, nullptr, nullptr, nullptr),
          BLOCKSPAN_BAD_INPUT, "does not know");
  // an older summary gets as much as it has room for
  struct OlderSummary {
    std::size_t size;
    std::int32_t status, guard;
  } summary{sizeof(std::size_t) + 4, -1, 77};
  auto o = lobpcg_options(2);
  ok(blockspan_lobpcg(op, nullptr, &x, &o, nullptr, nullptr, nullptr,
                      reinterpret_cast<blockspan_summary*>(&summary)));
  EXPECT_EQ(summary.status, BLOCKSPAN_CONVERGED);
  EXPECT_EQ(summary.guard, 77);
  EXPECT_EQ(summary.size, sizeof(std::size_t) + 4);
}

TEST(CStructs, HaveTheSizesOfTheirVersion) {
  std::int32_t sizes[BLOCKSPAN_STRUCTS];
  ok(blockspan_sizes(sizes, BLOCKSPAN_STRUCTS));
  // of version 0.1 on 64-bit machines: these only grow, with a line in the changes
  std::int32_t const known[BLOCKSPAN_STRUCTS] = {48, 24, 56, 112, 88, 88, 40, 40};
  for (int i = 0; i < BLOCKSPAN_STRUCTS; ++i) EXPECT_EQ(sizes[i], known[i]) << i;
  refused(blockspan_sizes(sizes, BLOCKSPAN_STRUCTS + 1), BLOCKSPAN_BAD_INPUT, "count is 9");
}

TEST(CReports, AreJsonOfTheLastSolve) {
  Context context;
  auto const A = laplacian<double>(90);
  auto const op = A.as_operator(context);
  Columns<double> X = Columns<double>::by_rows(90, 6), B = X;
  B.fill(1);
  auto const x = X.block(), b = B.block();
  auto o = lobpcg_options(2);
  o.certify = 1;
  ok(blockspan_lobpcg(op, nullptr, &x, &o, nullptr, nullptr, nullptr, nullptr));
  auto const pairs = report_of(context);
  for (char const* const part :
       {"\"solver\": \"lobpcg\"", "\"status\": \"converged\"",
        "\"pair_status\": [\"converged\", \"converged\"]", "\"radius\": ["})
    EXPECT_NE(pairs.find(part), std::string::npos) << part << " in " << pairs;
  ok(blockspan_solve_spd(op, &b, &x, nullptr, nullptr, nullptr, nullptr, nullptr));
  auto const systems = report_of(context);
  EXPECT_NE(systems.find("\"solver\": \"solve_spd\""), std::string::npos);
  char few[5];
  ok(blockspan_report(context, few, sizeof few, nullptr));
  EXPECT_STREQ(few, systems.substr(0, 4).c_str());
}

TEST(CThreads, EachHasItsErrorAndItsContext) {
  { Context first; }
  auto const work = [](std::int64_t n, int* wrong) {
    Context context;
    auto const A = laplacian<double>(n);
    auto const op = A.as_operator(context);
    Operator M;
    ok(blockspan_preconditioner(op, "multigrid", nullptr, &M));
    for (int turn = 0; turn < 20; ++turn) {
      Columns<double> X = Columns<double>::by_columns(n, 6);
      auto const x = X.block();
      auto o = lobpcg_options(2);
      o.path = BLOCKSPAN_PATH_ITERATIVE;
      o.preconditioner = M;
      double values[2] = {0, 0};
      ok(blockspan_lobpcg(op, nullptr, &x, &o, values, nullptr, nullptr, nullptr));
      *wrong += std::abs(values[1] - line_eigenvalue(2, n)) < 1e-9 ? 0 : 1;
      auto bad = x;
      bad.rows = n + 1;
      blockspan_apply_operator(op, &bad, &x);
      std::string const text = blockspan_last_error();
      *wrong += text.find(std::to_string(n + 1) + " x 6") != std::string::npos ? 0 : 1;
    }
  };
  int wrong[2] = {0, 0};
  std::thread other(work, 300, &wrong[0]);
  work(217, &wrong[1]);
  other.join();
  EXPECT_EQ(wrong[0], 0);
  EXPECT_EQ(wrong[1], 0);
}

}  // namespace c_test
