#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <blockspan/operators/pencil_factors.hpp>

namespace blockspan {

/// What a factorization is for.
enum class DirectUse {
  solve,          ///< A + shift M as it is, definite or not; null pivots are pinned
  definite,       ///< as a linear system that must be positive definite: others are refused
  preconditioner  ///< Hermitian positive definite whatever A is: A is shifted until it is
};

struct DirectOptions {
  DirectUse use = DirectUse::solve;
  double shift = 0;               ///< the factors are those of A + shift M
  std::int64_t memory_limit = 0;  ///< the most bytes of the factors; 0: what is free
};

/// What was factored: A + (shift + mass_shift) M + diagonal_shift D, D: powers of two near |a_ii|.
struct DirectReport {
  double mass_shift = 0;  ///< what `preconditioner` added, or (below zero) took away; 0: not needed
  double diagonal_shift = 0;         ///< a power of two; 0: not needed
  std::int64_t negative_pivots = 0;  ///< of A + shift M: the eigenvalues of (A, M) below -shift
  std::int64_t null_pivots = 0;      ///< `solve` only: unknowns that were pinned
  std::int64_t factor_entries = 0;   ///< reals in the factors
  double fill = 0;                   ///< the same over those of one triangle of A
  std::int64_t bytes = 0;            ///< of the factors and their work space, in whole megabytes
  int factorizations = 0;            ///< tried
  /// "fill 3.1, 24 MB".
  std::string size() const;
  /// One sentence for each thing a user should know; empty where A was factored as it is.
  std::vector<std::string> notes() const;
};

namespace operators {

/// A Hermitian matrix on the host: complex values as pairs of real ones.
struct HostHermitian {
  int rows = 0;
  int parts = 1;  ///< 2: complex
  std::vector<std::int64_t> offsets;
  std::vector<int> columns;
  std::vector<double> values;
};

/// The factors L D L^T of a real symmetric matrix, n x n, by MUMPS; a complex Hermitian one is the
/// real one of the order 2 n that has each p + q i as [p, -q; q, p], whose columns are those of the
/// complex block as they are stored. Compiled once: hosts only, double precision.
class DirectFactors {
 public:
  /// M: null for the identity. Throws Error as blockspan::direct.
  DirectFactors(HostHermitian const& A, HostHermitian const* M, DirectOptions const& options);
  ~DirectFactors();
  DirectFactors(DirectFactors const&) = delete;
  DirectFactors& operator=(DirectFactors const&) = delete;

  /// Values of the same pattern.
  void refresh(HostHermitian const& A);

  /// Overwrites B, n x columns of `parts` reals each and column-major.
  void solve(double* B, std::int64_t columns) const;

  int rows() const;
  DirectReport const& report() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

struct PencilUse {
  bool scale_by_mass = false;     ///< M is the definite one of the two
  std::int64_t memory_limit = 0;  ///< bytes; 0: what is free
};

/// The factors of K - shift M by MUMPS, whose pivots of two rows keep the inertia; M: none for the
/// identity. Throws Error for entries that are not finite, orders that differ and short memory.
std::unique_ptr<PencilFactors> direct_pencil(HostHermitian K, std::optional<HostHermitian> M,
                                             PencilUse const& use);

}  // namespace operators
}  // namespace blockspan
