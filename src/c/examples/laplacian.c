/* Blockspan from C: the lowest eigenpairs of a 2-D Laplacian, eight systems with it, and what an
   error looks like. Exits with 0 where all came out right.

   cc -std=c99 laplacian.c $(pkg-config --cflags --libs blockspan) -lm */
#include <blockspan.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { side = 60, n = side * side, wanted = 4, block = 8 };

static int32_t offsets[n + 1], columns[5 * n];
static double entries[5 * n], X[n * block], B[n * block];

/* Ends the program where a call failed. The text is asked for in a statement of its own. */
static void check(blockspan_code code) {
  if (code != BLOCKSPAN_OK) {
    fprintf(stderr, "blockspan: %s\n", blockspan_last_error());
    exit(1);
  }
}

static void add(int32_t *end, int32_t column, double value) {
  columns[*end] = column;
  entries[(*end)++] = value;
}

/* The five-point stencil on side x side nodes, zero outside. */
static void make_laplacian(void) {
  int32_t end = 0;
  for (int32_t i = 0; i < n; ++i) {
    int32_t const x = i % side, y = i / side;
    if (y > 0) add(&end, i - side, -1);
    if (x > 0) add(&end, i - 1, -1);
    add(&end, i, 4);
    if (x + 1 < side) add(&end, i + 1, -1);
    if (y + 1 < side) add(&end, i + side, -1);
    offsets[i + 1] = end;
  }
}

/* Called after every iteration; not 0 would stop the solve. */
static int watch(void *user, const blockspan_progress *progress) {
  *(int32_t *)user = progress->iteration;
  return 0;
}

int main(void) {
  blockspan_context context = NULL;
  blockspan_operator A = NULL, M = NULL, bad = NULL;
  make_laplacian();
  check(blockspan_context_create(NULL, &context));
  check(blockspan_matrix_csr(context, BLOCKSPAN_DOUBLE, n, n, offsets, 32, columns, entries,
                             BLOCKSPAN_HOST, &A));
  check(blockspan_preconditioner(A, "multigrid", NULL, &M));

  /* eigenpairs; the columns of X beyond `wanted` are guards */
  int32_t last = 0;
  double values[wanted];
  blockspan_summary summary = {sizeof summary, 0, 0, 0, 0, 0, 0};
  blockspan_lobpcg_options eigen;
  check(blockspan_lobpcg_defaults(&eigen, sizeof eigen));
  eigen.wanted = wanted;
  eigen.preconditioner = M;
  eigen.monitor = watch;
  eigen.monitor_user = &last;
  blockspan_block const x = blockspan_by_columns(X, n, block, n, BLOCKSPAN_DOUBLE);
  check(blockspan_lobpcg(A, NULL, &x, &eigen, values, NULL, NULL, &summary));
  double const s = sin(acos(-1.0) / (2 * (side + 1)));
  printf("eigenvalues: %s after %d iterations (%d seen), the first one is %.12f, exactly %.12f\n",
         blockspan_status_name(summary.status), (int)summary.iterations, (int)last, values[0],
         8 * s * s);
  int const right = summary.status == BLOCKSPAN_CONVERGED && fabs(values[0] - 8 * s * s) < 1e-9;

  /* eight right-hand sides at once */
  int32_t statuses[block];
  double residuals[block], worst = 0;
  blockspan_cg_options cg;
  for (int i = 0; i < n * block; ++i) B[i] = (i * 7919 % 1009) / 1009.0 - 0.5;
  check(blockspan_cg_defaults(&cg, sizeof cg));
  cg.preconditioner = M;
  blockspan_block const b = blockspan_by_columns(B, n, block, n, BLOCKSPAN_DOUBLE);
  check(blockspan_solve_spd(A, &b, &x, &cg, residuals, statuses, NULL, &summary));
  for (int j = 0; j < block; ++j) worst = fmax(worst, residuals[j]);
  printf("systems: %s after %d iterations, largest residual %.1e\n",
         blockspan_status_name(summary.status), (int)summary.iterations, worst);

  /* bad input is refused with its place */
  offsets[1] = -3;
  blockspan_code const code = blockspan_matrix_csr(context, BLOCKSPAN_DOUBLE, n, n, offsets, 32,
                                                   columns, entries, BLOCKSPAN_HOST, &bad);
  printf("a broken matrix: code %d, %s\n", (int)code, blockspan_last_error());

  /* in any order */
  check(blockspan_context_destroy(&context));
  check(blockspan_operator_destroy(&A));
  check(blockspan_operator_destroy(&M));
  return right && summary.status == BLOCKSPAN_CONVERGED && worst <= 1e-8 &&
                 code == BLOCKSPAN_BAD_INPUT
             ? 0
             : 1;
}
