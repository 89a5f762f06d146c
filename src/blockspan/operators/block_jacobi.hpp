#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/operators/entries/check_blocks.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/smoothers/block_jacobi.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

/// The number of unknowns of a node, as far as the pattern shows it: the largest b in 2..8 for
/// which at least two thirds of the entries of nonempty b x b tiles are stored, and at least nine
/// tenths of the best share of all b. 1 if there is none: scalar problems, or unknowns numbered
/// field by field.
///
/// A: n x n; columns may be unsorted and may repeat. Reads at most 8 segments of 840 rows, evenly
/// spaced, on the host: time and memory O(entries of these rows); fences the instance. Source of
/// the measure: the fill ratio of Vuduc 2003 (Automatic Performance Tuning of Sparse Matrix
/// Kernels), there for register blocks.
template <class Exec, class Matrix>
int find_block_size(Exec const& exec, Matrix const& A) {
  return operators::find_block_size(exec, sparse::matrix_ref<Exec>(A));
}

namespace operators {

/// The result of find(), a block size, of the rank with the most rows (the first of them), on all
/// ranks, which call together: what ranks find in their own rows may differ. rows: of this rank.
template <class Find>
int block_size_of_ranks(Communicator const& all, std::int64_t rows, Find const& find) {
  if (all.size() == 1) return find();
  auto const of_ranks = all.gather(rows);
  auto const most = std::max_element(of_ranks.begin(), of_ranks.end());
  auto const chosen = static_cast<int>(most - of_ranks.begin());
  int found = all.run_agreed([&] { return all.rank() == chosen ? find() : 1; });
  all.broadcast(std::span(&found, 1), chosen);
  return found;
}

}  // namespace operators

struct BlockJacobiOptions {
  /// Rows of a block, 1 to 8; 0: the result of find_block_size, on several ranks that of the rank
  /// with the most rows.
  int block_size = 0;
  /// Treatment of a block B that is not positive definite. False: Error, since then A is not
  /// positive definite either. True, for eigenproblems of indefinite or singular matrices: |B|^-1
  /// replaces the inverse, so that the preconditioner stays positive definite, as |D|^-1 in the
  /// Jacobi preconditioner.
  bool absolute = false;
};

/// Y = B^-1 X with B the diagonal blocks of b consecutive rows of a Hermitian matrix (the last
/// block may be smaller): Hermitian positive definite. A product reads X and n b scalars, and
/// writes Y. Rows without nonzero entries, and rows of zeros in a block, get the largest weight
/// 1 / |a_ii| of the other rows, as in the Jacobi preconditioner, or 1 where there is none.
///
/// Every block is scaled to unit diagonal (so that the result does not depend on units), inverted
/// by Cholesky and scaled back: the inverse is exactly Hermitian, with a relative error of a modest
/// multiple of u times the condition number of the scaled block. A block counts as not positive
/// definite where a pivot is below 2 (b + 1) u: it is indefinite, or definite only below working
/// precision. In `absolute` mode such a scaled block U L U^H becomes U |L|^-1 U^H, where
/// eigenvalues at the level of rounding errors are replaced by 1. A block that is not exactly
/// Hermitian is replaced by its Hermitian part.
///
/// Source: Concus, Golub and Meurant 1985, doi:10.1137/0906018.
template <class Scalar, class Exec>
class BlockJacobiPreconditioner final : public LinearOperator<Scalar, Exec> {
 public:
  /// A: n x n, on `exec`; repeated entries add up, columns may be unsorted, missing entries are
  /// zero. all: if A is the diagonal block of the rows of a rank, the communicator of all ranks,
  /// which call together. Fences the instance. O(nonzeros + n b^2). Throws Error, on all ranks, if
  /// A is not square, the block size is not 0..8, memory is short, or a block has an entry that is
  /// not finite or (without `absolute`) is not positive definite; the message names the rows of the
  /// first such block.
  template <class Matrix>
  BlockJacobiPreconditioner(Exec const& exec, Matrix const& A,
                            BlockJacobiOptions const& options = {}, Communicator const& all = {})
      : rows_(A.numRows()), absolute_(options.absolute), block_size_(options.block_size) {
    static_assert(std::is_same_v<sparse::scalar_t<Matrix>, Scalar>,
                  "the matrix and the preconditioner have the same scalar");
    products::require_compiled_product<Exec, Scalar, sparse::offset_t<Matrix>,
                                       sparse::ordinal_t<Matrix>>();
    all.run_agreed([&] {
      require_order(A);
      require(block_size_ >= 0 && block_size_ <= 8, where, "blocks of ", block_size_,
              " rows; there are blocks of 1 to 8, and 0 for the size found in the pattern");
    });
    if (block_size_ == 0)
      block_size_ = operators::block_size_of_ranks(
          all, rows_, [&] { return blockspan::find_block_size(exec, A); });
    all.run_agreed([&] {
      inverses_ = allocate<Inverses>(exec, "Blockspan::block_jacobi",
                                     rows_ * static_cast<std::int64_t>(block_size_));
    });
    refresh(exec, A, all);
  }

  /// Recomputes the inverses for a matrix of the same order whose values have changed. Allocates
  /// nothing. Fences and throws as the constructor; after a throw the old inverses are lost, here
  /// and in copies, which share them.
  template <class Matrix>
  void refresh(Exec const& exec, Matrix const& A, Communicator const& all = {}) {
    auto const of_A = sparse::matrix_ref<Exec>(A);
    auto least = all.least(all.run_agreed([&] {
      require_order(A);
      return operators::least_diagonal(exec, of_A);
    }));
    if (std::isinf(least)) least = 1;
    all.run_agreed([&] {
      operators::gather_blocks(exec, of_A, block_size_, least, inverses_.data());
      auto const faults =
          operators::invert_blocks(exec, rows_, block_size_, absolute_, least, inverses_.data());
      refuse(faults.not_finite_row, "has an entry that is not finite");
      if (!absolute_)
        refuse(faults.indefinite_row,
               "is not positive definite to working precision, so the matrix is not either",
               ErrorKind::not_definite);
      indefinite_blocks_ = faults.indefinite;
    });
  }

  std::int64_t rows() const override { return rows_; }

  /// Throws Error if X or Y is not n x k.
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    auto const x = blocks::block_ref<Exec>(X);
    auto const y = blocks::block_ref<Exec>(Y);
    operators::require_blocks(where, rows_, x, y);
    operators::apply_blocks<Exec, Scalar>(exec, block_size_, inverses_.data(), x, y);
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    return {.name = "block jacobi (blocks of " + std::to_string(block_size_) + ")",
            .replayable = true};
  }

  int block_size() const { return block_size_; }
  /// Number of blocks that `absolute` replaced; if there are any, A is not positive definite.
  std::int64_t indefinite_blocks() const { return indefinite_blocks_; }

 private:
  using Inverses = Kokkos::View<Scalar*, typename Exec::memory_space>;
  static constexpr char const* where = "blockspan::BlockJacobiPreconditioner";

  template <class Matrix>
  void require_order(Matrix const& A) const {
    require(A.numRows() == A.numCols(), where, "the matrix must be square (", A.numRows(), " x ",
            A.numCols(), ")");
    require(A.numRows() == rows_, where, "made for ", rows_, " rows, the matrix has ", A.numRows());
  }
  void refuse(std::int64_t row, char const* fault, ErrorKind kind = ErrorKind::input) const {
    if (row < 0) return;
    fail(kind, where, "the block of rows ", row + 1, " to ",
         std::min<std::int64_t>(row + block_size_, rows_), " ", fault);  // from 1, as in files
  }

  std::int64_t rows_;
  bool absolute_;
  int block_size_;
  Inverses inverses_;
  std::int64_t indefinite_blocks_ = 0;
};

/// The block Jacobi preconditioner of A; see the class.
template <class Exec, class Matrix>
BlockJacobiPreconditioner<sparse::scalar_t<Matrix>, Exec> block_jacobi(
    Exec const& exec, Matrix const& A, BlockJacobiOptions const& options = {}) {
  return {exec, A, options};
}

}  // namespace blockspan
