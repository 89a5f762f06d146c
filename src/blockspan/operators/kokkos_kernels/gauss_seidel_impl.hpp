#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_gauss_seidel.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/operators/diagonal.hpp>
#include <blockspan/operators/entries/check_blocks.hpp>
#include <blockspan/operators/gauss_seidel.hpp>
#include <blockspan/operators/kokkos_kernels/positive_diagonal.hpp>
#include <blockspan/support/memory.hpp>

// Symmetric Gauss-Seidel by Kokkos Kernels.

namespace blockspan::operators {

template <class Scalar>
struct InvertEach {
  Scalar const* diagonal;
  Scalar* inverses;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    inverses[i] = Scalar(1 / real_part(diagonal[i]));
  }
};

/// Number of entries of the longest row.
template <class Exec, class Matrix>
int longest_row(Exec const& exec, Matrix const& A) {
  auto const offsets = A.graph.row_map;
  int longest = 0;
  Kokkos::parallel_reduce(
      "Blockspan::gauss_seidel::longest_row",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, A.numRows()),
      KOKKOS_LAMBDA(std::int64_t i, int& most) {
        int const length = static_cast<int>(offsets(i + 1) - offsets(i));
        most = length > most ? length : most;
      },
      Kokkos::Max<int>(longest));
  return longest;
}

template <class Scalar, class Exec>
class GaussSeidel final : public RefreshableOperator<Scalar, Exec> {
 public:
  using Matrix = CrsMatrix<Scalar, Exec>;

  GaussSeidel(Exec const& exec, Matrix const& A)
      : exec_(exec),
        rows_(A.numRows()),
        inverses_(allocate<decltype(inverses_)>(exec, "Blockspan::gauss_seidel", rows_)) {
    require_order(A);
    // The parallel coloring of Kokkos Kernels 4.4.0 omits all rows of a graph whose rows have at
    // most one neighbour: the sweeps would do nothing.
    bool const serial =
        (runs_on_host_v<Exec> && exec.concurrency() == 1) || longest_row(exec, A) <= 2;
    handle_.create_gs_handle(exec, 1, KokkosSparse::GS_DEFAULT,
                             serial ? KokkosGraph::COLORING_SERIAL : KokkosGraph::COLORING_VBD);
    if (rows_ > 0)
      KokkosSparse::Experimental::gauss_seidel_symbolic(exec, &handle_, A.numRows(), A.numCols(),
                                                        A.graph.row_map, A.graph.entries, false);
    refresh(exec, A);
  }

  void refresh(Exec const& exec, Matrix const& A) override {
    require_order(A);
    matrix_ = A;
    if (rows_ == 0) return;
    auto const d = diagonal(exec, A);
    require_positive_diagonal(exec, d.data(), rows_, where, "");
    Kokkos::parallel_for("Blockspan::gauss_seidel_diagonal",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows_),
                         InvertEach<Scalar>{d.data(), inverses_.data()});
    KokkosSparse::Experimental::gauss_seidel_numeric(exec, &handle_, A.numRows(), A.numCols(),
                                                     A.graph.row_map, A.graph.entries, A.values,
                                                     inverses_, false);
    exec.fence("Blockspan::gauss_seidel");
  }

  std::int64_t rows() const override { return rows_; }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    auto const x = block_ref<Exec>(X);
    auto const y = block_ref<Exec>(Y);
    require_blocks(where, rows_, x, y);
    if (x.rows == 0 || x.columns == 0) return;
    if (exec != exec_) exec.fence("Blockspan::gauss_seidel on another instance");
    // Kokkos Kernels ignores strides here: strided blocks are copied
    auto const from = packed(x, Workspace<Exec>::product);
    auto const to = packed(y, Workspace<Exec>::result);
    if (from.data() != x.data) copy_block<Exec, Scalar>(exec_, x, block_ref<Exec>(from));
    KokkosSparse::Experimental::symmetric_gauss_seidel_apply(
        exec_, &handle_, matrix_.numRows(), matrix_.numCols(), matrix_.graph.row_map,
        matrix_.graph.entries, matrix_.values, to, ConstBlock<Scalar, Exec>(from), true, true,
        Scalar(1), 1);
    if (to.data() != y.data)
      copy_block<Exec, Scalar>(exec_, block_ref<Exec>(ConstBlock<Scalar, Exec>(to)), y);
    if (exec != exec_) exec_.fence("Blockspan::gauss_seidel on another instance");
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    return {.name = "symmetric gauss-seidel (Kokkos Kernels)"};
  }

 private:
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<
      int, int, Scalar, Exec, typename Exec::memory_space, typename Exec::memory_space>;
  static constexpr char const* where = "blockspan::gauss_seidel";

  void require_order(Matrix const& A) const {
    require(A.numRows() == A.numCols(), where, "the matrix must be square (", A.numRows(), " x ",
            A.numCols(), ")");
    require(A.numRows() == rows_, where, "made for ", rows_, " rows, the matrix has ", A.numRows());
  }

  /// The block itself if its rows are contiguous without gaps, else memory for a packed copy.
  template <class T>
  Block<Scalar, Exec> packed(BlockRef<T> const& X, typename Workspace<Exec>::Slot slot) const {
    bool const contiguous = X.row_stride == X.columns || X.rows == 1;
    Scalar* const data = contiguous
                             ? const_cast<Scalar*>(X.data)
                             : workspace_.template device<Scalar>(exec_, slot, X.rows * X.columns);
    return Block<Scalar, Exec>(data, static_cast<std::size_t>(X.rows),
                               static_cast<std::size_t>(X.columns));
  }

  Exec exec_;
  std::int64_t rows_;
  typename Matrix::values_type inverses_;
  Matrix matrix_;
  mutable Handle handle_;
  mutable Workspace<Exec> workspace_;
};

template <class Scalar, class Exec>
std::unique_ptr<RefreshableOperator<Scalar, Exec>> make_gauss_seidel(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  return std::make_unique<GaussSeidel<Scalar, Exec>>(exec, A);
}

}  // namespace blockspan::operators
