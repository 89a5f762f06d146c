#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/solvers/cg/problem.hpp>
#include <blockspan/solvers/cg/thresholds.hpp>
#include <blockspan/solvers/common/finite_columns.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::krylov {

/// Changes the sign of some rows, by their index.
template <class Scalar>
struct FlipRows {
  BlockRef<Scalar const> from;
  BlockRef<Scalar> to;
  std::int64_t first_row;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    auto const bits = mix_bits(golden_gamma * static_cast<std::uint64_t>(first_row + i + 1));
    to(i, j) = (bits >> 63) != 0 ? -from(i, j) : from(i, j);
  }
};

/// Y -= X
template <class Scalar>
struct SubtractBlock {
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    Y(i, j) -= X(i, j);
  }
};

/// How near A z is to zero: its length, and that of its rounding errors, in the scale of the rows
/// of A (CgProblem::norms_by_rows).
template <class Real>
struct ImageSizes {
  std::vector<Real> length;    ///< ||z||
  std::vector<Real> image;     ///< ||A z||
  std::vector<Real> rounding;  ///< u times the size of the terms of A z
};

/// image := A Z', Z' being Z with some signs changed: with random signs, z no longer cancels in the
/// rows of A, and A z' has the size of the terms of A z, at any scale of rows and columns. flipped:
/// a block for Z'.
template <class Scalar, class Exec>
void multiply_flipped(CgProblem<Scalar, Exec>& problem, Block<Scalar, Exec> const& Z,
                      Block<Scalar, Exec> const& flipped, Block<Scalar, Exec> const& image) {
  for_each_entry(problem.exec, "Blockspan::cg::flip", block_ref<Exec>(flipped),
                 FlipRows<Scalar>{block_ref<Exec>(Z), block_ref<Exec>(flipped),
                                  problem.workspace.rows().first_row()});
  problem.apply_a(flipped, image);
}

/// The sizes of every column of Z, with A Z left in `image`. scratch: another block.
template <class Scalar, class Exec>
ImageSizes<real_t<Scalar>> image_sizes(CgProblem<Scalar, Exec>& problem,
                                       Block<Scalar, Exec> const& Z,
                                       Block<Scalar, Exec> const& image,
                                       Block<Scalar, Exec> const& scratch) {
  using Real = real_t<Scalar>;
  ImageSizes<Real> sizes;
  sizes.length = problem.norms(Z);
  multiply_flipped(problem, Z, scratch, image);
  sizes.rounding = problem.norms_by_rows(image, scratch);
  for (Real& size : sizes.rounding) size *= CgThresholds<Real>::u;
  problem.apply_a(Z, image);
  sizes.image = problem.norms_by_rows(image, scratch);
  return sizes;
}

/// Orthonormal vectors that A maps to zero.
template <class Scalar, class Exec>
class NullSpace {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;

  int count() const { return static_cast<int>(basis_.extent(1)); }
  View const& basis() const { return basis_; }
  /// The caller's: B and X are projected.
  bool given() const { return given_; }

  /// Whether X is projected: a part that grew while the system was inconsistent would hide the rest
  /// in its rounding errors.
  bool shortens() const { return given_ || found_; }
  /// Vectors made of residuals have errors along these, so that a part along them counts only if it
  /// is more than this of the residual; otherwise later cycles show it, which leave less of the
  /// rest.
  Real doubt() const { return of_residuals_ ? Real(0.01) : Real(0); }
  /// Whether vectors are known that A maps to almost zero only: then it has no clear null space,
  /// and may be regular.
  bool blurred() const { return blurred_; }
  void blur() { blurred_ = true; }
  /// How much of a part along them no x can remove: rounding errors of A z / ||A z||.
  Real certain() const { return certain_; }

  /// The caller's vectors. Throws Error unless they are finite, and A maps them to zero up to
  /// `allowed` of the size of the terms, or up to what rounding errors of such vectors, as those of
  /// an eigensolver, leave: some u ||A||.
  void take(CgProblem<Scalar, Exec>& problem, ConstBlock<Scalar, Exec> const& vectors) {
    constexpr auto where = "CgOptions::null_space";
    if (vectors.extent(1) == 0) return;
    solvers::require_finite(problem, where, "the vectors", block_ref<Exec>(vectors));
    View const Z = problem.new_block(label, vectors.extent(1));
    Kokkos::deep_copy(problem.exec, Z, vectors);
    orthonormal(problem, Z);
    if (count() == 0) return;
    View const image = problem.new_block(label, count()),
               flipped = problem.new_block(label, count());
    auto const sizes = image_sizes(problem, basis_, image, flipped);
    Real const rounding = problem.knows_norm() ? CgThresholds<Real>::null_image *
                                                     CgThresholds<Real>::u * problem.norm_a()
                                               : Real(0);
    auto const lengths = problem.norms(image);
    for (int j = 0; j < count(); ++j)
      require(sizes.image[j] <= allowed / CgThresholds<Real>::u * sizes.rounding[j] ||
                  lengths[j] <= rounding,
              where, "the matrix does not map these vectors to zero: ||A z|| is ", lengths[j],
              " for a combination z of length 1");
    given_ = true;
  }

  /// The constant vector.
  void take_constant(CgProblem<Scalar, Exec>& problem) {
    basis_ = problem.new_block(label, 1);
    Kokkos::deep_copy(problem.exec, basis_,
                      Scalar(1 / std::sqrt(static_cast<Real>(problem.global_rows()))));
  }

  /// Adds vectors of these lengths. Where they are almost parallel, their difference is mostly
  /// error and is dropped. Z is overwritten.
  void add(CgProblem<Scalar, Exec>& problem, View const& Z, std::vector<Real> const& lengths,
           Real certain, bool of_residuals) {
    found_ = true;
    of_residuals_ = of_residuals_ || of_residuals;
    certain_ = std::min(certain_, certain);
    int const k = static_cast<int>(Z.extent(1));
    Kokkos::View<Real*, Kokkos::HostSpace> const factors("factors", Z.extent(1));
    for (int j = 0; j < k; ++j) factors(j) = 1 / lengths[j];
    blockspan::scale_columns(problem.exec, factors, Z);
    if (count() > 0) project_out(problem, Z);
    auto const G = small_matrix<Scalar>(k, k);
    blockspan::gram(problem.exec, Z, Z, G, problem.workspace);
    std::vector<Real> lambda;
    if (lapack::hermitian_eigen(G, lambda) != 0) return;
    int first = 0;  // eigenvalues ascend
    while (first < k && !(lambda[first] > own_direction)) ++first;
    if (first == k) return;
    View const all = problem.new_block(label, count() + k - first);
    if (count() > 0) Kokkos::deep_copy(problem.exec, column_range(all, 0, count()), basis_);
    blockspan::combine(problem.exec, Scalar(1), Z, part(G, 0, k, first, k - first), Scalar(0),
                       column_range(all, count(), k - first), problem.workspace);
    orthonormal(problem, all);
  }

  /// ||N^H v|| of every column of V. Fences exec.
  std::vector<Real> parts(CgProblem<Scalar, Exec>& problem, View const& V) const {
    auto const k = static_cast<int>(V.extent(1));
    auto const G = small_matrix<Scalar>(count(), k);
    blockspan::gram(problem.exec, basis_, V, G, problem.workspace);
    std::vector<Real> sizes(static_cast<std::size_t>(k), Real(0));
    for (int j = 0; j < k; ++j) {
      for (int i = 0; i < count(); ++i) sizes[j] += squared_magnitude(G(i, j));
      sizes[j] = std::sqrt(sizes[j]);
    }
    return sizes;
  }

  /// V := (I - N N^H) V
  void project_out(CgProblem<Scalar, Exec>& problem, View const& V) const {
    blockspan::project_out(problem.exec, basis_, basis_, V, problem.workspace);
  }

 private:
  static constexpr char const* label = "Blockspan::cg::null_space";

  /// ||A z|| in parts of its terms: vectors of a file with six digits pass.
  static constexpr Real allowed = CgThresholds<Real>::pick(1e-6, 1e-3);

  /// Of the Gram matrix of vectors of length 1: below this eigenvalue a direction is none of its
  /// own.
  static constexpr Real own_direction = Real(1e-4);

  void orthonormal(CgProblem<Scalar, Exec>& problem, View const& V) {
    int const rank = blockspan::orthonormalize(problem.exec, V, problem.workspace).rank;
    if (rank == static_cast<int>(V.extent(1))) {
      basis_ = V;
      return;
    }
    basis_ = problem.new_block(label, rank);
    Kokkos::deep_copy(problem.exec, basis_, column_range(V, 0, rank));
  }

  View basis_;
  bool given_ = false, found_ = false, of_residuals_ = false, blurred_ = false;
  Real certain_ = 1;
};

}  // namespace blockspan::krylov
