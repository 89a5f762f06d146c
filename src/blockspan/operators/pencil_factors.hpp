#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blockspan {

/// The number of negative pivots of K - shift M. By Sylvester's law of inertia it is the number of
/// eigenvalues of K x = lambda M x below the shift, plus, for a semidefinite M, a constant (the
/// negative pivots of the part without mass). `trusted` says whether rounding may have changed the
/// sign of a pivot.
struct ShiftCount {
  double asked = 0;                ///< the shift asked for
  double shift = 0;                ///< the shift used: moved off an eigenvalue where necessary
  std::int64_t count = 0;          ///< negative pivots
  std::int64_t null_pivots = 0;    ///< pivots that are zero to working precision
  std::int64_t static_pivots = 0;  ///< pivots that were replaced
  /// The backward error of the factors over the smallest eigenvalue in magnitude of the scaled
  /// K - shift M, in the directions in which a sign could change: an estimate by inverse iteration.
  double rho = 0;
  double inverse = 0;  ///< an estimate of the norm of the inverse of the scaled K - shift M
  /// No pivot was null or replaced, rho < 0.1, and negative pivots of a complex matrix, which MUMPS
  /// factors in real arithmetic, come in pairs.
  bool trusted = false;
  bool moved() const { return shift != asked; }
};

/// Where K - shift M is factored. On devices (CUDA) by cuDSS, whose bits differ from run to run; on
/// hosts by MUMPS.
enum class FactorPlace {
  automatic,  ///< on the device of a large enough problem where cuDSS is found and has the memory
  host,
  device  ///< Error where that is not possible
};

namespace operators {

/// Factors of K - shift M in double precision, for one shift after the other: what shift-invert
/// methods need of a library of sparse factorizations. Complex entries are pairs of reals. All
/// arrays are on the host but those of `solve`.
///
/// Where rows are spread over ranks, all ranks call together, arrays hold the rows of this rank,
/// and all other results, Errors included, are the same on every rank.
class PencilFactors {
 public:
  virtual ~PencilFactors() = default;

  virtual std::int64_t rows() const = 0;  ///< n, of all ranks

  /// Factors K - shift M and counts its negative pivots. The factors can be used whatever the count
  /// says, but those of a matrix that is singular to working precision are inaccurate. Throws Error
  /// where memory is short, and where the shift is not finite.
  virtual ShiftCount factor(double shift) = 0;

  /// Up to 64 unknowns, from 0, whose pivots were null in the last factorization.
  virtual std::vector<std::int64_t> null_rows() const = 0;

  /// Overwrites B, n x columns and column-major, by (K - shift M)^-1 B. B is on the host or, with
  /// `on_device`, on the device: queued there on the instance that the factors were made with.
  virtual void solve(double* B, std::int64_t columns) const = 0;
  virtual bool on_device() const { return false; }

  /// "MUMPS on the host", "cuDSS 1.0.0".
  virtual std::string library() const = 0;

  /// ||S K S||_1 / ||S M S||_1 with the scaling S of the factorization: times u, the rounding error
  /// of the eigenvalues of a graded pencil.
  virtual double scaled_size() const = 0;
  virtual double norm_k() const = 0;  ///< the largest row sum of |K|, and of |M| (identity: 1)
  virtual double norm_m() const = 0;
  virtual bool massless_rows() const = 0;  ///< M has rows without an entry

  /// |x|^T (|K| + |lambda| |M|) |x| of every column of X, n x values.size(), column-major: times u,
  /// an estimate of the rounding error of its Rayleigh quotient.
  virtual std::vector<double> energies(double const* X,
                                       std::vector<double> const& values) const = 0;

  /// ||S r||^2 of every column of R, n x columns, column-major, with the scaling S of the
  /// factorization: times the norm of (S (K - shift M) S)^-1, an upper bound of
  /// |r^H (K - shift M)^-1 r|.
  virtual std::vector<double> scaled_squares(double const* R, std::int64_t columns) const = 0;

  // Before the first factorization as the analysis of the pattern predicts them.
  virtual std::int64_t factor_entries() const = 0;  ///< reals in the factors
  virtual std::int64_t bytes() const = 0;           ///< of them and their work space
  virtual double flops() const = 0;                 ///< of a factorization
};

}  // namespace operators
}  // namespace blockspan
