/* Blockspan from C: sparse matrix times block of vectors, block eigensolvers, conjugate gradients
   for many right-hand sides, multigrid. C99 and C++; Fortran: module blockspan (../fortran).

   Every function returns a code, 0 for success; blockspan_last_error() then says what is wrong, in
   one line. Ask for it in a statement of its own: in printf("%d %s", f(), blockspan_last_error())
   the text may be evaluated first. Numerical trouble is no error: it is a status of the pair or
   column, see blockspan_status_name.

   Handles: a context (where is computed, on which ranks) and operators (matrix, preconditioner or
   callback alike). A handle keeps alive what it stands on, so they may be destroyed in any order;
   NULL may be destroyed too. Arrays belong to the caller.

   Threads: a context and its operators are used by one thread at a time; several contexts by
   several threads once the first one has been created. On devices work is queued on the stream of
   the context; functions that return numbers wait, and so does all on hosts.

   Ranks: every call on a context with ranks is made by all of them, in the same order. */
#ifndef BLOCKSPAN_H
#define BLOCKSPAN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BLOCKSPAN_API __attribute__((visibility("default")))
#else
#define BLOCKSPAN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Constants are int32_t in every signature and struct. Numbers never change their meaning. */
typedef int32_t blockspan_code;
enum {
  BLOCKSPAN_OK = 0,
  BLOCKSPAN_BAD_INPUT = 1,
  BLOCKSPAN_OUT_OF_MEMORY = 2,
  BLOCKSPAN_NOT_BUILT = 3,       /* the library was built without it; the text names the option */
  BLOCKSPAN_CALLBACK_FAILED = 4, /* a callback of the caller did not return 0 */
  BLOCKSPAN_INTERNAL = 5,        /* please report it */
  BLOCKSPAN_NOT_DEFINITE = 6     /* a preconditioner needs a positive (semi)definite matrix */
};

enum { /* scalars; 0 is none, so that a forgotten field is found */
  BLOCKSPAN_FLOAT = 1,
  BLOCKSPAN_DOUBLE = 2,
  BLOCKSPAN_COMPLEX_FLOAT = 3, /* pairs (real, imaginary), as C's float complex */
  BLOCKSPAN_COMPLEX_DOUBLE = 4
};
enum { BLOCKSPAN_HOST = 0, BLOCKSPAN_DEVICE = 1 }; /* spaces of pointers */
enum {                                             /* op(A) */
  BLOCKSPAN_OP_NONE = 0,
  BLOCKSPAN_OP_TRANSPOSE = 1,
  BLOCKSPAN_OP_CONJUGATE = 2,
  BLOCKSPAN_OP_ADJOINT = 3
};
enum { BLOCKSPAN_SMALLEST = 0, BLOCKSPAN_LARGEST = 1 };
enum { /* when a pair counts as converged, r = A x - lambda B x */
  BLOCKSPAN_DIGITS = 0,   /* backward, and `digits` decimal digits of lambda are certain */
  BLOCKSPAN_BACKWARD = 1, /* ||r|| <= tolerance (||A|| + |lambda| ||B||) ||x|| */
  BLOCKSPAN_RELATIVE = 2  /* ||r|| <= tolerance |lambda| ||B x|| */
};
enum { BLOCKSPAN_PATH_AUTOMATIC = 0, BLOCKSPAN_PATH_ITERATIVE = 1, BLOCKSPAN_PATH_DENSE = 2 };
enum { BLOCKSPAN_CG_AUTOMATIC = 0, BLOCKSPAN_CG_PSEUDO_BLOCK = 1, BLOCKSPAN_CG_BLOCK = 2 };
enum { BLOCKSPAN_FOR_SYSTEMS = 0, BLOCKSPAN_FOR_EIGENPAIRS = 1 };
enum { /* forms of K x = lambda M x */
  BLOCKSPAN_NORMAL = 0,
  BLOCKSPAN_BUCKLING = 1, /* K positive definite, M any; nearest in 1 / lambda */
  BLOCKSPAN_CAYLEY = 2    /* nearest in ratio: least |lambda - sigma| / |lambda + sigma| */
};
enum { /* whether counts prove that no exact pair is missing */
  BLOCKSPAN_PROOF_NONE = 0,
  BLOCKSPAN_PROOF_PROVED = 1,
  BLOCKSPAN_PROOF_TIED = 2,
  BLOCKSPAN_PROOF_MISSING = 3,
  BLOCKSPAN_PROOF_UNCOUNTABLE = 4
};
enum { /* statuses of solves, pairs and columns; the first three are success */
  BLOCKSPAN_CONVERGED = 0,
  BLOCKSPAN_ZERO_RHS = 1,
  BLOCKSPAN_ZERO_EIGENVALUE = 2,
  BLOCKSPAN_ATTAINABLE_LIMIT = 3,
  BLOCKSPAN_MAX_ITERATIONS = 4,
  BLOCKSPAN_TIME_LIMIT = 5,
  BLOCKSPAN_STAGNATED = 6,
  BLOCKSPAN_NOT_CONVERGED = 7,
  BLOCKSPAN_OPERATOR_NOT_FINITE = 8,
  BLOCKSPAN_OPERATOR_NOT_HERMITIAN = 9,
  BLOCKSPAN_MASS_NOT_POSITIVE_DEFINITE = 10,
  BLOCKSPAN_MASS_SINGULAR = 11,
  BLOCKSPAN_MISSING_PAIRS = 12,
  BLOCKSPAN_SINGULAR_PENCIL = 13,
  BLOCKSPAN_STOPPED_BY_MONITOR = 14,
  BLOCKSPAN_OUT_OF_RANGE = 15,
  BLOCKSPAN_NONFINITE_RHS = 16,
  BLOCKSPAN_NEGATIVE_CURVATURE = 17,
  BLOCKSPAN_SINGULAR = 18,
  BLOCKSPAN_INCONSISTENT = 19,
  BLOCKSPAN_PRECONDITIONER_NOT_SPD = 20
};

typedef struct blockspan_context_s *blockspan_context;
typedef struct blockspan_operator_s *blockspan_operator;

/* A block of vectors in the caller's memory: rows x columns, element (i, j) at
   data[i * row_stride + j * column_stride], strides in elements and not negative. On ranks: the
   local rows. Row-major, contiguous blocks are used where they are; eigensolvers and
   preconditioners copy others. */
typedef struct {
  void *data;
  int64_t rows, columns, row_stride, column_stride;
  int32_t scalar, space;
} blockspan_block;

/* Column-major, `leading` elements from column to column; and row-major, from row to row. */
static inline blockspan_block blockspan_by_columns(void *data, int64_t rows, int64_t columns,
                                                   int64_t leading, int32_t scalar) {
  blockspan_block block;
  block.data = data;
  block.rows = rows;
  block.columns = columns;
  block.row_stride = 1;
  block.column_stride = leading;
  block.scalar = scalar;
  block.space = BLOCKSPAN_HOST;
  return block;
}
static inline blockspan_block blockspan_by_rows(void *data, int64_t rows, int64_t columns,
                                                int64_t leading, int32_t scalar) {
  blockspan_block block = blockspan_by_columns(data, rows, columns, 1, scalar);
  block.row_stride = leading;
  return block;
}

/* ---- errors, versions ---------------------------------------------------------------------- */

/* The message of this thread's last call, "" if it succeeded. Valid until its next call. */
BLOCKSPAN_API const char *blockspan_last_error(void);
/* "converged", "max_iterations", ...; "unknown" for any other value. Not to be freed. */
BLOCKSPAN_API const char *blockspan_status_name(int32_t status);
BLOCKSPAN_API blockspan_code blockspan_version(int32_t *major, int32_t *minor, int32_t *patch);
/* What the library was built with, as JSON: version, scalars, backends, components, MPI. Here and
   below: at most `capacity` bytes are written, the last one 0, and `needed` is the size of the
   whole text; either pointer may be NULL. */
BLOCKSPAN_API blockspan_code blockspan_configuration(char *json, size_t capacity, size_t *needed);
/* sizeof of block, context_options, preconditioner_options, lobpcg_options, cg_options,
   exact_options, summary, progress, in this order: bindings compare them with their own. */
enum { BLOCKSPAN_STRUCTS = 8 };
BLOCKSPAN_API blockspan_code blockspan_sizes(int32_t *sizes, int32_t count);

/* ---- contexts ------------------------------------------------------------------------------ */

/* Structs that begin with `size`: set it to sizeof of the struct, by the _defaults function. Later
   versions append fields; a program that was compiled with fewer gets the defaults of the others. */
typedef struct {
  size_t size;
  int32_t threads; /* 0: OMP_NUM_THREADS, else all cores, with several ranks one */
  int32_t device;  /* -1: host */
  void *stream;    /* of a device (cudaStream_t); NULL: the default one. Outlives the context */
} blockspan_context_options;
BLOCKSPAN_API blockspan_code blockspan_context_defaults(blockspan_context_options *options,
                                                        size_t size);
/* options: NULL for the defaults. The first context starts Kokkos, which then runs until the
   process ends: later ones cannot have another count of threads. */
BLOCKSPAN_API blockspan_code blockspan_context_create(const blockspan_context_options *options,
                                                      blockspan_context *context);
/* comm: the address of an MPI_Comm of the MPI that blockspan_configuration names; it is
   duplicated. MPI must be initialized, and stay so as long as the context or one of its operators
   lives. A communicator of any other MPI crashes. */
BLOCKSPAN_API blockspan_code
blockspan_context_create_mpi(const blockspan_context_options *options, const void *comm,
                             blockspan_context *context);
/* comm: a handle of Fortran (comm%MPI_VAL, or an integer of mpif.h). */
BLOCKSPAN_API blockspan_code blockspan_context_create_mpi_fortran(
    const blockspan_context_options *options, int32_t comm, blockspan_context *context);
/* Sets *context to NULL. */
BLOCKSPAN_API blockspan_code blockspan_context_destroy(blockspan_context *context);
/* The report of the last solve on the context, as JSON: statuses, values, errors, bounds, counts
   and seconds. Fails where nothing was solved. */
BLOCKSPAN_API blockspan_code blockspan_report(blockspan_context context, char *json,
                                              size_t capacity, size_t *needed);

/* ---- operators ----------------------------------------------------------------------------- */

/* A matrix in compressed rows, used where it is: the arrays outlive the operator and what was made
   of it. Columns from 0, in any order, repeated ones add up. offset_bits: 32 or 64; 64-bit offsets
   are copied, and count fewer than 2^31 entries. Square for all but blockspan_multiply. */
BLOCKSPAN_API blockspan_code blockspan_matrix_csr(blockspan_context context, int32_t scalar,
                                                  int64_t rows, int64_t columns,
                                                  const void *offsets, int32_t offset_bits,
                                                  const int32_t *column_indices,
                                                  const void *values, int32_t space,
                                                  blockspan_operator *matrix);
/* The same with offsets and columns that count from 1, as Fortran's do: these two are copied. */
BLOCKSPAN_API blockspan_code blockspan_matrix_csr_from_one(
    blockspan_context context, int32_t scalar, int64_t rows, int64_t columns, const void *offsets,
    int32_t offset_bits, const int32_t *column_indices, const void *values, int32_t space,
    blockspan_operator *matrix);
/* A square matrix whose rows are spread over the ranks of the context. cuts: ranks + 1 first rows.
   own: this rank's rows in its own columns, which count from 0 and ascend (used where it is).
   other: the same rows in the columns of other ranks, with global numbers that ascend (copied). */
BLOCKSPAN_API blockspan_code blockspan_matrix_distributed(
    blockspan_context context, int32_t scalar, const int64_t *cuts, const int32_t *own_offsets,
    const int32_t *own_columns, const void *own_values, const int32_t *other_offsets,
    const int64_t *other_columns, const void *other_values, blockspan_operator *matrix);

/* Y = Op X: X is read, Y is overwritten. Blocks are row-major (row_stride may exceed columns), or
   column-major and contiguous with by_columns, in the space of the context; on devices the work is
   queued on its stream, or done on return. Not 0 ends the solve with BLOCKSPAN_CALLBACK_FAILED, on
   ranks on all of them (a small message a call). No exception may leave it. */
typedef int (*blockspan_apply)(void *user, const blockspan_block *X, const blockspan_block *Y);
/* cuts: ranks + 1 first rows of an operator on ranks; NULL: rows of one process. `user` outlives
   the operator. name: for reports; NULL: "callback". */
BLOCKSPAN_API blockspan_code blockspan_operator_callback(blockspan_context context,
                                                         int32_t scalar, const int64_t *cuts,
                                                         int64_t local_rows, blockspan_apply apply,
                                                         void *user, int32_t by_columns,
                                                         const char *name, blockspan_operator *op);

typedef struct {
  size_t size;
  int32_t purpose;    /* FOR_SYSTEMS: an error if A is found not positive definite; FOR_EIGENPAIRS:
                         M is positive definite whatever A is */
  int32_t block_size; /* multigrid: unknowns of a node, consecutive rows; 0: found in the pattern */
  int32_t adaptive;   /* multigrid: near-null vectors to compute, 0 to 16 */
  int32_t columns;    /* of the blocks expected */
  double ratio;       /* chebyshev: upper over lower end of its interval, unless in words; 0: 100 */
  const blockspan_block *near_null;   /* multigrid: near-null vectors of A, e.g. rigid body modes;
                                         copied */
  const blockspan_block *coordinates; /* multigrid: nodes x 2 or 3, real, for rigid body modes;
                                         copied */
  blockspan_operator mass;            /* direct, for eigenpairs: B of the shift A + s B */
} blockspan_preconditioner_options;
BLOCKSPAN_API blockspan_code
blockspan_preconditioner_defaults(blockspan_preconditioner_options *options, size_t size);
/* words: "none" (the result is NULL), "jacobi", "block-jacobi[:ROWS]",
   "chebyshev[:DEGREE[:RATIO]]", "multigrid[:DEGREE]", "direct" (on ranks the first one factors)
   or "gauss-seidel" (of one process), the last two where built, as --preconditioner of the
   programs. options: NULL for the defaults. */
BLOCKSPAN_API blockspan_code blockspan_preconditioner(
    blockspan_operator matrix, const char *words, const blockspan_preconditioner_options *options,
    blockspan_operator *preconditioner);
/* To be called when the values in the arrays of a matrix have changed, and its pattern has not:
   first for the matrix, then for its preconditioners. other_values: of a matrix on ranks, else
   NULL. */
BLOCKSPAN_API blockspan_code blockspan_operator_refresh(blockspan_operator op,
                                                        const void *other_values);
/* A description for users: the kernels of a matrix, the levels of multigrid. */
BLOCKSPAN_API blockspan_code blockspan_operator_describe(blockspan_operator op, char *text,
                                                         size_t capacity, size_t *needed);
BLOCKSPAN_API blockspan_code blockspan_operator_destroy(blockspan_operator *op);
/* Y = alpha op(A) X + beta Y, A a matrix of one process; alpha, beta: addresses of its scalar, NULL
   for 1 and 0. Y is not read where beta is 0, and does not overlap X. */
BLOCKSPAN_API blockspan_code blockspan_multiply(blockspan_operator matrix, int32_t op,
                                                const void *alpha, const blockspan_block *X,
                                                const void *beta, const blockspan_block *Y);
/* Y = Op X of any operator. Y may be X, which is copied then. */
BLOCKSPAN_API blockspan_code blockspan_apply_operator(blockspan_operator op,
                                                      const blockspan_block *X,
                                                      const blockspan_block *Y);

/* ---- solves -------------------------------------------------------------------------------- */

/* Set `size` before the call. */
typedef struct {
  size_t size;
  int32_t status, iterations, converged, proof; /* converged: pairs or columns that succeeded */
  int64_t operator_applications;
  double seconds;
} blockspan_summary;

/* Seen after each iteration, valid during the call. */
typedef struct {
  size_t size;
  int32_t iteration, converged, wanted, columns; /* columns: of the two lists */
  const double *values;                          /* Ritz values; NULL in systems */
  const double *residuals; /* backward errors, ||r|| / ||b|| in systems; NULL in exact solves */
} blockspan_progress;
/* Not 0 stops the solve with BLOCKSPAN_STOPPED_BY_MONITOR; what was found so far is returned. */
typedef int (*blockspan_monitor)(void *user, const blockspan_progress *progress);

typedef struct {
  size_t size;
  int32_t wanted;          /* pairs */
  int32_t block;           /* columns iterated together; 0: all of X */
  int32_t widest_block;    /* to which it may grow; 0: four times X; columns of X: never */
  int32_t which;           /* BLOCKSPAN_SMALLEST, _LARGEST */
  int32_t criterion;       /* BLOCKSPAN_DIGITS, _BACKWARD, _RELATIVE */
  int32_t digits;          /* 1 to 12 */
  int32_t path;            /* BLOCKSPAN_PATH_... */
  int32_t max_iterations;
  int32_t guess_columns;   /* leading columns of X that are a start, finite */
  int32_t probe;           /* 1: look for missed pairs */
  int32_t check_hermitian; /* 1 */
  int32_t certify;         /* 1: certificate in the report */
  double tolerance;        /* 0: 1e-8, in single precision 1e-5 */
  double time_limit;       /* seconds; infinite by default */
  uint64_t seed;
  blockspan_operator preconditioner;  /* Hermitian positive definite; NULL: none */
  const blockspan_block *constraints; /* vectors that eigenvectors are B-orthogonal to; NULL */
  blockspan_monitor monitor;
  void *monitor_user;
} blockspan_lobpcg_options;
BLOCKSPAN_API blockspan_code blockspan_lobpcg_defaults(blockspan_lobpcg_options *options,
                                                       size_t size);
/* The smallest or largest pairs of A x = lambda x, or A x = lambda B x with B = mass. X: n x m, m >=
   wanted (wanted + max(4, wanted / 4) is good); its first columns become the vectors. values,
   backward_errors, statuses: `wanted` long, or NULL. summary: NULL or with its size. */
BLOCKSPAN_API blockspan_code blockspan_lobpcg(blockspan_operator A, blockspan_operator mass,
                                              const blockspan_block *X,
                                              const blockspan_lobpcg_options *options,
                                              double *values, double *backward_errors,
                                              int32_t *statuses, blockspan_summary *summary);

typedef struct {
  size_t size;
  int32_t method;           /* BLOCKSPAN_CG_... */
  int32_t max_iterations;
  int32_t use_guess;        /* 1: X holds a start, finite where B is */
  int32_t widest_block;     /* columns solved together; 0: the default of the method */
  int32_t max_cycles;       /* solves for a correction, each verified */
  int32_t single_reduction; /* 1: pseudo-block with one reduction an iteration */
  double tolerance;         /* ||b - A x|| / ||b||; 0: 1e-8, in single precision 1e-5 */
  double absolute_tolerance;
  double time_limit;                 /* seconds; infinite by default */
  blockspan_operator preconditioner; /* Hermitian positive definite; NULL: none */
  const blockspan_block *null_space; /* vectors that A maps to zero; NULL */
  blockspan_monitor monitor;
  void *monitor_user;
} blockspan_cg_options;
BLOCKSPAN_API blockspan_code blockspan_cg_defaults(blockspan_cg_options *options, size_t size);
/* A X = B, A Hermitian positive definite: each column to its own true residual. X may be B, which is
   copied then. residuals, statuses, iterations: one a column, or NULL. */
BLOCKSPAN_API blockspan_code blockspan_solve_spd(blockspan_operator A, const blockspan_block *B,
                                                 const blockspan_block *X,
                                                 const blockspan_cg_options *options,
                                                 double *residuals, int32_t *statuses,
                                                 int32_t *iterations, blockspan_summary *summary);

/* Exact pairs of K x = lambda M x by sparse factors: double precision, component `direct`. Of
   matrices on ranks all ranks call together, with the local rows of X; K and M are gathered to rank
   0, which has the factors and needs the memory for them. */
typedef struct {
  size_t size;
  int32_t pairs;     /* of eigenpairs_near */
  int32_t block;     /* columns solved together; 0: 8 */
  int32_t basis;     /* columns of the basis; 0: 2 pairs + 10 blocks */
  int32_t slice;     /* pairs of an interval per shift, approximately */
  int32_t count;     /* 1: prove by counts that no pair is missing */
  int32_t form;      /* BLOCKSPAN_NORMAL, _BUCKLING, _CAYLEY */
  int32_t max_steps; /* of block Lanczos */
  int32_t reserved;  /* 0 */
  double tolerance;
  double time_limit;
  int64_t memory_limit; /* bytes of the factors; 0: the free memory */
  uint64_t seed;
  blockspan_monitor monitor;
  void *monitor_user;
} blockspan_exact_options;
BLOCKSPAN_API blockspan_code blockspan_exact_defaults(blockspan_exact_options *options,
                                                      size_t size);
/* The pairs nearest sigma. X: n x m, m >= pairs. found: the count of pairs, fewer than wanted if
   there are fewer finite ones; values, backward_errors, statuses: `pairs` long, or NULL. */
BLOCKSPAN_API blockspan_code blockspan_eigenpairs_near(
    blockspan_operator K, blockspan_operator M, double sigma, const blockspan_block *X,
    const blockspan_exact_options *options, int64_t *found, double *values,
    double *backward_errors, int32_t *statuses, blockspan_summary *summary);
/* All pairs with from < lambda < to; BLOCKSPAN_BAD_INPUT unless from < to. An end may be infinite
   where M is definite. X: n x m; values, backward_errors, statuses: m long, or NULL. found: their
   count. If it exceeds m, the first m of them are returned, with the status
   BLOCKSPAN_MISSING_PAIRS, and the report has the values of all. (blockspan_count_eigenvalues
   counts beforehand.) */
BLOCKSPAN_API blockspan_code blockspan_eigenpairs_in(
    blockspan_operator K, blockspan_operator M, double from, double to, const blockspan_block *X,
    const blockspan_exact_options *options, int64_t *found, double *values,
    double *backward_errors, int32_t *statuses, blockspan_summary *summary);
/* Counts the eigenvalues in (from, to), ends as above. trusted: 1 if rounding cannot have changed
   the count; the report says why not. */
BLOCKSPAN_API blockspan_code
blockspan_count_eigenvalues(blockspan_operator K, blockspan_operator M, double from, double to,
                            const blockspan_exact_options *options, int64_t *number,
                            int32_t *trusted);

#ifdef __cplusplus
}
#endif
#endif
