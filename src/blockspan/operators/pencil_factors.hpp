#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blockspan {

/// The negative pivots of K - shift M, which by Sylvester's law are the eigenvalues of K x = lambda
/// M x below the shift, and for a semidefinite M a constant more (the negative pivots of the
/// massless part). What rounding may have done to a sign is tested, see `trusted`.
struct ShiftCount {
  double asked = 0;                ///< the place that was asked for
  double shift = 0;                ///< the place where it was counted
  std::int64_t count = 0;          ///< negative pivots
  std::int64_t null_pivots = 0;    ///< pivots without a sign
  std::int64_t static_pivots = 0;  ///< pivots that were replaced
  /// The size of the error of the factors against the eigenvalue of K - shift M next to zero,
  /// scaled, in the very directions where a sign could turn: by inverse iteration.
  double rho = 0;
  double inverse = 0;  ///< the norm of the inverse of what was factored, scaled, an estimate
  /// Every pivot has a sign of its own, the number is one that can be, and rho < 0.1.
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
/// methods need of a library of sparse factorizations. A complex vector is a pair of reals an
/// entry. All arrays are on the host but those of `solve`.
///
/// Where rows are spread over ranks all of them call together, arrays have the rows of this rank,
/// and all else, Errors too, is the same on every rank.
class PencilFactors {
 public:
  virtual ~PencilFactors() = default;

  virtual std::int64_t rows() const = 0;  ///< n, of all ranks

  /// Factors, and counts. The factors are there in any case; of a matrix that is singular to
  /// working precision they are of little use. Throws Error where memory is short.
  virtual ShiftCount factor(double shift) = 0;

  /// The unknowns, from 0, of the null pivots that the last factorization found, a few of them.
  virtual std::vector<std::int64_t> null_rows() const = 0;

  /// Overwrites B, n x columns and column-major, by (K - shift M)^-1 B. B is on the host or, with
  /// `on_device`, on the device: queued there on the instance that the factors were made with.
  virtual void solve(double* B, std::int64_t columns) const = 0;
  virtual bool on_device() const { return false; }

  /// "MUMPS on the host", "cuDSS 1.0.0".
  virtual std::string library() const = 0;

  /// ||K||_1 / ||M||_1 once both are scaled as they are factored: eigenvalues of graded pencils
  /// are known to rounding errors of this size.
  virtual double scaled_size() const = 0;
  virtual double norm_k() const = 0;  ///< the largest row sum of |K|, and of |M| (identity: 1)
  virtual double norm_m() const = 0;
  virtual bool massless_rows() const = 0;  ///< M has rows without an entry

  /// |x|^T (|K| + |lambda| |M|) |x| of every column of X, n x values.size(), column-major: over u
  /// what rounding does to its Rayleigh quotient.
  virtual std::vector<double> energies(double const* X,
                                       std::vector<double> const& values) const = 0;

  /// ||S r||^2 of every column of R, n x columns, column-major, S K S and S M S being what is
  /// factored: times the norm of the inverse of that, at least r^H (K - shift M)^-1 r.
  virtual std::vector<double> scaled_squares(double const* R, std::int64_t columns) const = 0;

  // As the analysis of the pattern predicts them before the first factorization.
  virtual std::int64_t factor_entries() const = 0;  ///< reals in the factors
  virtual std::int64_t bytes() const = 0;           ///< of them and their work space
  virtual double flops() const = 0;                 ///< of a factorization
};

}  // namespace operators
}  // namespace blockspan
