// Handles in any order, structs of older and newer programs, reports, threads.
#include <thread>

#include "problems.hpp"

namespace c_test {

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

TEST(CStructs, OfNoSizeAreNotFilled) {
  blockspan_cg_options o;
  refused(blockspan_cg_defaults(&o, 0), BLOCKSPAN_BAD_INPUT, "size 0");
  refused(blockspan_cg_defaults(&o, static_cast<std::size_t>(-1)), BLOCKSPAN_BAD_INPUT, "is not");
  refused(blockspan_cg_defaults(nullptr, sizeof o), BLOCKSPAN_BAD_INPUT, "options is NULL");
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
