#pragma once

#include <limits>

namespace blockspan::eigen {

/// Every threshold of the solver in one place. The values for double were measured on some thirty
/// matrices (stiff, clustered, multiple, semidefinite, generalized, complex, indefinite); those for
/// float keep their distance to the unit roundoff.
template <class Real>
struct Thresholds {
  static constexpr bool is_double = std::numeric_limits<Real>::digits >= 50;
  static constexpr Real pick(double in_double, double in_float) {
    return static_cast<Real>(is_double ? in_double : in_float);
  }

  /// Unit roundoff.
  static constexpr Real u = std::numeric_limits<Real>::epsilon() / 2;
  /// A backward error of this size is at the limit of the arithmetic (measured: 1 to 10 u).
  static constexpr Real floor = 50 * u;
  /// ||V^H A V - (V^H A V)^H|| / ||A|| of an operator that counts as Hermitian (measured: 2e-16).
  static constexpr Real skew = pick(1e-12, 5e-5);
  /// v^H B v / (||v|| ||B v||) below minus this proves B indefinite.
  static constexpr Real indefinite = pick(1e-10, 1e-4);
  /// Re(r^H T r) / (||r|| ||T r||) at or below this rejects a preconditioned residual.
  static constexpr Real direction = pick(1e-14, 1e-6);

  // The fused path has a floor, near 1e-12 ||A|| in double and 1e-5 ||A|| in float.
  static constexpr Real fused_pivot = pick(1e-8, 1e-3);      ///< smallest squared Cholesky pivot
  static constexpr Real fused_residual = pick(1e-10, 1e-4);  ///< smallest active backward error

  /// max |S^H B S - I| of a basis that passes as orthonormal, or of an X that has not drifted.
  static constexpr Real gram_defect = pick(1e-10, 1e-4);
  /// max |X^H B X - I| of eigenvectors that pass as such.
  static constexpr Real orthonormality_loss = pick(1e-7, 1e-3);
  /// max |X^H A X - Theta| / (||A|| max ||x||^2) of images that have not drifted.
  static constexpr Real image_defect = pick(1e-10, 1e-4);
  static constexpr Real svqb_drop = pick(1e-14, 5e-6);    ///< eigenvalues of a scaled Gram matrix
  static constexpr Real select_drop = pick(1e-13, 5e-5);  ///< |R_kk| / |R_11| in the choice of P
  /// A fall of a Ritz value by more than this times ||A|| in a probe means a missed pair.
  static constexpr Real probe_fall = pick(1e-13, 1e-5);

  /// Operators are rescaled when their norm is beyond 2^-range .. 2^range (exact, so harmless).
  static constexpr int range = std::numeric_limits<Real>::max_exponent / 10;
};

}  // namespace blockspan::eigen
