/* The C library on ranks of MPI: products, pairs and systems of a line whose rows are spread, by
   closed forms; a callback that fails on one rank. Plain C: what a program of C does. */
#include <blockspan.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1000, block = 6 };

static int rank, ranks, faults;

static const char *at = "";

static void expect(int truth, const char *what) {
  if (truth) return;
  ++faults;
  fprintf(stderr, "rank %d, %s: %s; last error: '%s'\n", rank, at, what, blockspan_last_error());
}
#define OK(call) expect((call) == BLOCKSPAN_OK, #call)

static int fails_on_the_last(void *user, const blockspan_block *X, const blockspan_block *Y) {
  (void)user;
  for (int64_t i = 0; i < X->rows; ++i)
    memcpy((double *)Y->data + i * Y->row_stride, (const double *)X->data + i * X->row_stride,
           (size_t)X->columns * sizeof(double));
  return rank == ranks - 1 ? 7 : 0;
}

static double eigenvalue(int j) {
  double const s = sin(j * acos(-1.0) / (2 * (n + 1)));
  return 4 * s * s;
}

/* The rows [first, last) of the line, own and other columns apart. */
typedef struct {
  int32_t own_offsets[n + 1], own_columns[3 * n], other_offsets[n + 1];
  double own_values[3 * n], other_values[2];
  int64_t other_columns[2];
} rows;

static void make_rows(rows *r, int64_t first, int64_t last) {
  int32_t own = 0, other = 0;
  for (int64_t i = first; i < last; ++i) {
    for (int64_t j = i - 1; j <= i + 1; ++j) {
      double const value = i == j ? 2 : -1;
      if (j < 0 || j >= n) continue;
      if (j >= first && j < last) {
        r->own_columns[own] = (int32_t)(j - first);
        r->own_values[own++] = value;
      } else {
        r->other_columns[other] = j;
        r->other_values[other++] = value;
      }
    }
    r->own_offsets[i - first + 1] = own;
    r->other_offsets[i - first + 1] = other;
  }
}

static void solve(blockspan_operator A, const char *words,
                  int64_t local) {
  double *const X = calloc((size_t)(local * block + 1), sizeof(double));
  double *const B = calloc((size_t)(local * block + 1), sizeof(double));
  double values[2], residuals[block];
  blockspan_operator M = NULL;
  blockspan_summary summary = {sizeof summary, -1, 0, 0, 0, 0, 0};
  blockspan_lobpcg_options eigen;
  blockspan_cg_options cg;
  blockspan_block const x = blockspan_by_columns(X, local, block, local, BLOCKSPAN_DOUBLE);
  blockspan_block const b = blockspan_by_rows(B, local, block, block, BLOCKSPAN_DOUBLE);
  size_t needed = 0;
  at = words;
  OK(blockspan_preconditioner(A, words, NULL, &M));
  OK(blockspan_operator_describe(M, NULL, 0, &needed));
  expect(needed > 5, "a description");
  OK(blockspan_lobpcg_defaults(&eigen, sizeof eigen));
  eigen.wanted = 2;
  eigen.preconditioner = M;
  eigen.path = BLOCKSPAN_PATH_ITERATIVE;
  OK(blockspan_lobpcg(A, NULL, &x, &eigen, values, NULL, NULL, &summary));
  expect(summary.status == BLOCKSPAN_CONVERGED, blockspan_status_name(summary.status));
  for (int j = 0; j < 2; ++j)
    expect(fabs(values[j] - eigenvalue(j + 1)) < 1e-9, "eigenvalues of the line");
  for (int64_t i = 0; i < local * block; ++i) B[i] = 1 + (double)(i % 5);
  OK(blockspan_cg_defaults(&cg, sizeof cg));
  cg.preconditioner = M;
  OK(blockspan_solve_spd(A, &b, &x, &cg, residuals, NULL, NULL, &summary));
  expect(summary.status == BLOCKSPAN_CONVERGED && residuals[block - 1] <= 1e-8,
         blockspan_status_name(summary.status));
  OK(blockspan_operator_destroy(&M));
  free(X);
  free(B);
}

/* Pairs by factors of rank 0, the proof, and how many lie in an interval; short memory there. */
static void factor(blockspan_operator A, blockspan_operator twice, int64_t local) {
  double *const X = calloc((size_t)(local * block + 1), sizeof(double));
  double values[block], errors[block];
  int64_t found = 0, number = 0;
  int32_t trusted = 0;
  blockspan_summary summary = {sizeof summary, -1, 0, 0, 0, 0, 0};
  blockspan_exact_options exact;
  blockspan_block const x = blockspan_by_columns(X, local, block, local, BLOCKSPAN_DOUBLE);
  double const from = (eigenvalue(7) + eigenvalue(8)) / 2, to = (eigenvalue(12) + eigenvalue(13)) / 2;
  at = "factors";
  OK(blockspan_exact_defaults(&exact, sizeof exact));
  exact.pairs = 3;
  OK(blockspan_eigenpairs_near(A, NULL, eigenvalue(10) * 1.001, &x, &exact, &found, values, errors,
                               NULL, &summary));
  expect(summary.status == BLOCKSPAN_CONVERGED, blockspan_status_name(summary.status));
  expect(found == 3 && summary.proof == BLOCKSPAN_PROOF_PROVED, "three pairs, proved");
  for (int j = 0; j < 3; ++j)
    expect(fabs(values[j] - eigenvalue(j + 9)) < 1e-12 && errors[j] < 1e-11, "those in the middle");
  OK(blockspan_eigenpairs_in(A, NULL, from, to, &x, &exact, &found, values, errors, NULL,
                             &summary));
  expect(found == 5 && summary.proof == BLOCKSPAN_PROOF_PROVED, "five pairs, proved");
  for (int j = 0; j < 5; ++j)
    expect(fabs(values[j] - eigenvalue(j + 8)) < 1e-12, "those of the interval");
  OK(blockspan_count_eigenvalues(A, NULL, from, to, &exact, &number, &trusted));
  expect(number == 5 && trusted == 1, "five of them");
  OK(blockspan_count_eigenvalues(A, twice, from / 2, to / 2, &exact, &number, &trusted));
  expect(number == 5 && trusted == 1, "five of half the size");
  exact.memory_limit = 1;
  expect(blockspan_count_eigenvalues(A, NULL, from, to, &exact, &number, &trusted) != BLOCKSPAN_OK,
         "no memory");
  expect(ranks == 1 || strstr(blockspan_last_error(), "rank 0") != NULL, "and it says where");
  free(X);
}

/* A product of ones, which is zero but at the ends; with the values of A anew; and a callback of
   which one rank fails, so that all give up. */
static void multiply(blockspan_context context, blockspan_operator A, const int64_t *cuts, rows *r) {
  int64_t const first = cuts[rank], local = cuts[rank + 1] - first;
  double *const X = calloc((size_t)local + 1, sizeof(double)),
         *const Y = calloc((size_t)local + 1, sizeof(double));
  blockspan_block const x = blockspan_by_columns(X, local, 1, local, BLOCKSPAN_DOUBLE),
                        y = blockspan_by_columns(Y, local, 1, local, BLOCKSPAN_DOUBLE);
  blockspan_operator callback = NULL;
  at = "products";
  for (int64_t i = 0; i < local; ++i) X[i] = 1;
  OK(blockspan_apply_operator(A, &x, &y));
  for (int64_t i = 0; i < local; ++i) {
    int const end = first + i == 0 || first + i == n - 1;
    expect(Y[i] == end, "rows sum to zero");
  }
  for (int32_t e = 0; e < r->own_offsets[local]; ++e) r->own_values[e] *= 2;
  for (int32_t e = 0; e < r->other_offsets[local]; ++e) r->other_values[e] *= 2;
  OK(blockspan_operator_refresh(A, r->other_values));
  OK(blockspan_apply_operator(A, &x, &y));
  expect(local == 0 || Y[0] == 2 * (first == 0), "the values anew");
  OK(blockspan_operator_callback(context, BLOCKSPAN_DOUBLE, cuts, local, fails_on_the_last, NULL, 0,
                                 "mine", &callback));
  expect(blockspan_apply_operator(callback, &x, &y) == BLOCKSPAN_CALLBACK_FAILED, "it failed");
  expect(strstr(blockspan_last_error(), "'mine'") != NULL, "and it is named");
  OK(blockspan_operator_destroy(&callback));
  free(X), free(Y);
}

/* Solvers and preconditioners, by factors where these were built. */
static void solve_all(blockspan_context context, blockspan_operator A, const int64_t *cuts) {
  int64_t const local = cuts[rank + 1] - cuts[rank];
  blockspan_operator twice = NULL, none = NULL;
  rows *const t = calloc(1, sizeof(rows));
  char built[1000] = "";
  OK(blockspan_configuration(built, sizeof built, NULL));
  solve(A, "jacobi", local);
  solve(A, "multigrid", local);
  solve(A, "chebyshev", local);
  for (int32_t i = 0; i < local; ++i)
    t->own_columns[i] = i, t->own_values[i] = 2, t->own_offsets[i + 1] = i + 1;
  OK(blockspan_matrix_distributed(context, BLOCKSPAN_DOUBLE, cuts, t->own_offsets, t->own_columns,
                                  t->own_values, t->other_offsets, t->other_columns,
                                  t->other_values, &twice));
  if (strstr(built, "direct")) {
    factor(A, twice, local);
    solve(A, "direct", local);
  }
  if (ranks > 1)
    expect(blockspan_preconditioner(A, "gauss-seidel", NULL, &none) != BLOCKSPAN_OK,
           "of one process");
  OK(blockspan_operator_destroy(&twice));
  free(t);
}

/* All of it on one cut of the rows. */
static void run(const int64_t *cuts) {
  rows *const r = calloc(1, sizeof(rows));
  make_rows(r, cuts[rank], cuts[rank + 1]);

  blockspan_context context = NULL;
  blockspan_operator A = NULL;
  MPI_Comm const world = MPI_COMM_WORLD;
  OK(blockspan_context_create_mpi(NULL, &world, &context));
  OK(blockspan_matrix_distributed(context, BLOCKSPAN_DOUBLE, cuts, r->own_offsets, r->own_columns,
                                  r->own_values, r->other_offsets, r->other_columns,
                                  r->other_values, &A));
  solve_all(context, A, cuts);
  multiply(context, A, cuts, r);

  OK(blockspan_context_destroy(&context));
  OK(blockspan_operator_destroy(&A));
  free(r);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int64_t *const cuts = calloc((size_t)ranks + 1, sizeof(int64_t));
  for (int r = 0; r <= ranks; ++r) cuts[r] = (int64_t)n * r / ranks;
  run(cuts);
  for (int r = 1; r <= ranks; ++r) cuts[r] = n; /* the others have no rows, and strides of 0 */
  if (ranks > 1) run(cuts);
  free(cuts);
  MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return faults != 0;
}
