#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <KokkosSparse_spmv.hpp>

#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/kokkos_kernels_operator.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators {

template <class Scalar, class Exec>
class KokkosKernelsOperator final : public LinearOperator<Scalar, Exec>,
                                    public EntryAccess<Scalar, Exec> {
 public:
  using Matrix = CrsMatrix<Scalar, Exec>;

  KokkosKernelsOperator(Exec const& exec, Matrix A) : matrix_(std::move(A)) {
    require(matrix_.numRows() == matrix_.numCols(), "blockspan::kokkos_kernels_operator",
            "the matrix must be square (", matrix_.numRows(), " x ", matrix_.numCols(), ")");
    norm_bound_ = max_row_sum(exec, matrix_ref<Exec>(matrix_));
  }

  std::int64_t rows() const override { return matrix_.numRows(); }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    if (Y.extent(0) == 0 || Y.extent(1) == 0) return;
    // rows that are not contiguous in memory are beyond its vendor paths: the native one
    KokkosSparse::SPMVAlgorithm const native = KokkosSparse::SPMV_NATIVE;
    KokkosSparse::SPMVHandle<Exec, Matrix, ConstBlock<Scalar, Exec>, Block<Scalar, Exec>> handle(
        native);
    KokkosSparse::spmv(exec, &handle, "N", Scalar(1), matrix_, X, Scalar(0), Y);
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    return {.name = "matrix (Kokkos Kernels)", .norm_bound = norm_bound_};
  }

  EntryAccess<Scalar, Exec> const& entries() const override { return *this; }

  bool annihilates_constants(Exec const& exec) const override {
    return rows_sum_to_zero(exec, matrix_ref<Exec>(matrix_));
  }

  Block<Scalar, Exec> likely_null_vectors(Exec const& exec, std::int64_t work) const override {
    return null_vectors_of(exec, matrix_ref<Exec>(matrix_), work);
  }

 private:
  Matrix matrix_;
  real_t<Scalar> norm_bound_ = 0;
};

template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> make_kokkos_kernels_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  return std::make_unique<KokkosKernelsOperator<Scalar, Exec>>(exec, A);
}

}  // namespace blockspan::operators
