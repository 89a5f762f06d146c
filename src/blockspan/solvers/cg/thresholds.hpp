#pragma once

#include <cstdint>
#include <limits>

namespace blockspan::krylov {

/// Every threshold of the conjugate gradient solvers in one place. The values for double were
/// measured on 41 matrices; those for float keep their distance to the unit roundoff.
template <class Real>
struct CgThresholds {
  static constexpr bool is_double = std::numeric_limits<Real>::digits >= 50;
  static constexpr Real pick(double in_double, double in_float) {
    return static_cast<Real>(is_double ? in_double : in_float);
  }

  static constexpr Real u = std::numeric_limits<Real>::epsilon();
  /// Recurrences stop at this part of the goal, so that their drift does not spoil it.
  static constexpr Real margin = static_cast<Real>(0.95);
  /// A cycle that does not bring the residual below this part of the best one was the last.
  static constexpr Real progress = static_cast<Real>(0.5);
  /// An inner solver that does not bring the residual below this part of it is of no help.
  static constexpr Real inner_progress = static_cast<Real>(0.1);
  /// Its goal as a part of the real one: it misses its own goals by some percent.
  static constexpr Real inner_margin = static_cast<Real>(0.5);
  /// (single reduction) A predicted r^H M^-1 r below this part of the last one has cancelled.
  static constexpr Real cancelled = pick(1e-6, 1e-3);
  /// Largest condition number of a one-step Gram matrix for which a plain Cholesky factor is
  /// enough.
  static constexpr Real condition = pick(1e8, 3e3);
  /// A smallest eigenvalue below minus this times the largest: M^-1 is not positive definite.
  static constexpr Real indefinite = pick(1e-10, 1e-4);
  /// max |K - K^H| / max |K| in the first step of an operator that counts as Hermitian.
  static constexpr Real skew = pick(1e-6, 1e-3);
  /// Eigenvalues of a scaled Gram matrix that still count when it is factored again.
  static constexpr Real kept = pick(1e-13, 5e-5);
  /// max |W^H M^-1 W - I| after the last pass.
  static constexpr Real orthonormal = pick(1e-6, 1e-3);
  /// |d^H A d| / (||A|| ||d||^2) up to this is no curvature at all.
  static constexpr Real flat = 10 * u;
  /// A residual that has grown by this in the norm of M^-1 has no digit of its start.
  static constexpr Real lost = 1 / u;
  /// ||A z|| over its rounding errors (image_sizes) up to which A maps z to zero. Refined until
  /// `refined` of them are reached, or for a few rounds.
  static constexpr Real null_image = 100;
  static constexpr Real refined = 10;
  /// A part of b below this is no part at all: rounding errors of a sum of its entries.
  static constexpr Real no_part = 100 * u;
  /// A search in the entries of A may cost as much as `look` iterations, and of those so far; an
  /// iteration costs `work_of_entry` multiplications an entry (two cores, 5 to 27 entries a
  /// row).
  static constexpr std::int64_t look = 50;
  static constexpr std::int64_t work_of_entry = 8;
  /// What a host multiplies while a device launches an iteration, which takes at least 50 us.
  static constexpr std::int64_t work_of_launches = 50'000;
  /// (pseudo-block) Steps in which no residual is halved, plus a quarter of all steps, before A
  /// is looked at for being Hermitian.
  static constexpr int patience = 30;
  /// (automatic) Random right-hand sides that all see the same contraction have one-step Gram
  /// matrices of cond - 1 about 4 sqrt(columns / rows); up to `no_gain` times that, and at most
  /// no_gain_at_most, the block gains nothing. In 20 steps, 8 and 32 columns: unconnected lines 1.9
  /// to 2.0 times (iterations column by column / as a block: 1.0), Dubcova1 2.6 (1.5), Laplacians 7
  /// to 10 (1.3 to 1.9), elasticity 7.7 to 8.5 (2.0).
  static constexpr Real no_gain = static_cast<Real>(2.3);
  static constexpr Real no_gain_at_most = static_cast<Real>(0.35);
  /// (automatic) Blocks of fewer scalars on a device go column by column: the host works in every
  /// step of the block method. One H200, 10,648 rows, 8 columns: 0.124 ms a step as a block, 0.06
  /// column by column; from 5e5 scalars on at most 2.5 times as much, which a median block gains.
  static constexpr std::int64_t small_on_device = 500000;
  /// (automatic) Multiplications a row from which a block pays on a device: its sums and updates
  /// take as long as a product of some twenty. One H200, Jacobi, 8 columns, ms column by column and
  /// as a block: `laplace7:100` 93, 139; `jump7:96:1000` 278, 244; `elasticity:44` (77 a row) 93,
  /// 77; 32 columns of `laplace7:100` 287, 342.
  static constexpr double work_of_block = 20;
};

}  // namespace blockspan::krylov
