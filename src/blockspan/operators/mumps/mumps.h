#pragma once

// The few calls of MUMPS that Blockspan needs, from a shared object of its own. MUMPS' sequential
// build brings stubs of MPI's functions, which must not meet a real MPI in one process: this
// object exports the functions below and nothing else (exports.map). It knows nothing of Blockspan.

#include <cstdint>

extern "C" {

/// A real symmetric matrix and its factors.
struct blockspan_mumps;

struct blockspan_mumps_report {
  int code;                     ///< MUMPS' INFOG(1): negative for an error
  int detail;                   ///< and its INFOG(2)
  std::int64_t megabytes;       ///< of work space: predicted by analyse, used by factor
  std::int64_t factor_entries;  ///< predicted by analyse, true after factor
  int negative_pivots;
  int null_pivots;
  int static_pivots;  ///< tiny ones that were replaced: the factors are those of another matrix
  double flops;       ///< of the elimination: predicted by analyse, true after factor
};

/// definite: no pivoting, for matrices that should be positive definite; otherwise pivots of one
/// and two rows, and pivots that are null count as fixed unknowns. Null where memory is short.
blockspan_mumps* blockspan_mumps_create(int definite);
void blockspan_mumps_destroy(blockspan_mumps*);

/// Orders the unknowns for little fill. rows, columns: the places of `entries` entries of one
/// triangle, counted from 1, repeated ones add up; kept by reference as long as the handle lives.
/// block: that many consecutive unknowns have the same neighbours (1: not known).
blockspan_mumps_report blockspan_mumps_analyse(blockspan_mumps*, int order, std::int64_t entries,
                                               int* rows, int* columns, int block);

/// Factors the matrix of these values, in the order of the places.
blockspan_mumps_report blockspan_mumps_factor(blockspan_mumps*, double* values);

/// The unknowns, from 1, of the null pivots of the last factorization, at most `most` of them.
/// Returns how many were written.
int blockspan_mumps_null_rows(blockspan_mumps*, int* rows, int most);

/// Overwrites B, order x columns and column-major, by the solutions.
blockspan_mumps_report blockspan_mumps_solve(blockspan_mumps*, double* B, int columns);
}
