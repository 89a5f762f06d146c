#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/cusparse_operator.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/cuda_library.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

#include <cusparse.h>

namespace blockspan::operators {

inline void check_cusparse(cusparseStatus_t status, char const* call) {
  require(status == CUSPARSE_STATUS_SUCCESS, "blockspan::cusparse_operator", call,
          " failed: ", cusparseGetErrorString(status));
}

using CusparseHandle = CudaObject<cusparseHandle_t, cusparseDestroy>;
using CusparseMatrix = CudaObject<cusparseConstSpMatDescr_t, cusparseDestroySpMat>;
using CusparseBlock = CudaObject<cusparseDnMatDescr_t, cusparseDestroyDnMat>;
using CusparseConstBlock = CudaObject<cusparseConstDnMatDescr_t, cusparseDestroyDnMat>;

template <class Scalar>
class CusparseOperator final : public LinearOperator<Scalar, Kokkos::Cuda>,
                               public EntryAccess<Scalar, Kokkos::Cuda> {
 public:
  using Exec = Kokkos::Cuda;
  using Matrix = CrsMatrix<Scalar, Exec>;

  CusparseOperator(Exec const& exec, Matrix A, CusparseAlgorithm algorithm)
      : matrix_(std::move(A)), asked_(algorithm) {
    require(matrix_.numRows() == matrix_.numCols(), "blockspan::cusparse_operator",
            "the matrix must be square (", matrix_.numRows(), " x ", matrix_.numCols(), ")");
    norm_bound_ = max_row_sum(exec, matrix_ref<Exec>(matrix_));
    check_cusparse(cusparseCreate(&handle_.object), "cusparseCreate");
    check_cusparse(cusparseCreateConstCsr(&descriptor_.object, matrix_.numRows(), matrix_.numCols(),
                                          matrix_.nnz(), matrix_.graph.row_map.data(),
                                          matrix_.graph.entries.data(), matrix_.values.data(),
                                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                          CUSPARSE_INDEX_BASE_ZERO, cuda_type<Scalar>()),
                   "cusparseCreateConstCsr");
  }

  std::int64_t rows() const override { return matrix_.numRows(); }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    if (Y.extent(0) == 0 || Y.extent(1) == 0) return;
    CusparseConstBlock x;
    CusparseBlock y;
    check_cusparse(cusparseCreateConstDnMat(&x.object, X.extent(0), X.extent(1), X.stride(0),
                                            X.data(), cuda_type<Scalar>(), CUSPARSE_ORDER_ROW),
                   "cusparseCreateConstDnMat");
    check_cusparse(cusparseCreateDnMat(&y.object, Y.extent(0), Y.extent(1), Y.stride(0), Y.data(),
                                       cuda_type<Scalar>(), CUSPARSE_ORDER_ROW),
                   "cusparseCreateDnMat");
    check_cusparse(cusparseSetStream(handle_.object, exec.cuda_stream()), "cusparseSetStream");
    if (prepared_ != Y.extent(1)) {
      prepared_ = 0;  // for nothing, should there be no memory
      choose(exec, x, y);
      prepared_ = Y.extent(1);
    }
    multiply(x, y);
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    return {.name = "matrix (cuSPARSE)", .norm_bound = norm_bound_};
  }

  EntryAccess<Scalar, Exec> const& entries() const override { return *this; }

  bool annihilates_constants(Exec const& exec) const override {
    return rows_sum_to_zero(exec, matrix_ref<Exec>(matrix_));
  }

  Block<Scalar, Exec> likely_null_vectors(Exec const& exec, std::int64_t work) const override {
    return null_vectors_of(exec, matrix_ref<Exec>(matrix_), work);
  }

 private:
  static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;

  void choose(Exec const& exec, CusparseConstBlock const& x, CusparseBlock const& y) const {
    static constexpr cusparseSpMMAlg_t all[] = {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2,
                                                CUSPARSE_SPMM_CSR_ALG3};
    if (asked_ != CusparseAlgorithm::fastest) return prepare(exec, x, y, all[int(asked_)]);
    auto best = CUSPARSE_SPMM_CSR_ALG2;
    double least = std::numeric_limits<double>::infinity();
    for (auto const algorithm : all) {
      // not offered for this type (cuSPARSE 12 documentation of cusparseSpMM)
      if (algorithm == CUSPARSE_SPMM_CSR_ALG3 && cuda_type<Scalar>() == CUDA_C_64F) continue;
      prepare(exec, x, y, algorithm);
      double const seconds = seconds_of_products(exec, x, y);
      if (seconds < least) best = algorithm;
      least = std::min(least, seconds);
    }
    prepare(exec, x, y, best);
  }

  double seconds_of_products(Exec const& exec, CusparseConstBlock const& x,
                             CusparseBlock const& y) const {
    multiply(x, y);
    exec.fence("Blockspan::cusparse_operator warm-up");
    Kokkos::Timer const timer;
    for (int i = 0; i < 10; ++i) multiply(x, y);
    exec.fence("Blockspan::cusparse_operator timing");
    return timer.seconds();
  }

  void multiply(CusparseConstBlock const& x, CusparseBlock const& y) const {
    Scalar const one(1), zero(0);
    check_cusparse(cusparseSpMM(handle_.object, none, none, &one, descriptor_.object, x.object,
                                &zero, y.object, cuda_type<Scalar>(), algorithm_, buffer_.data()),
                   "cusparseSpMM");
  }

  void prepare(Exec const& exec, CusparseConstBlock const& x, CusparseBlock const& y,
               cusparseSpMMAlg_t algorithm) const {
    Scalar const one(1), zero(0);
    std::size_t bytes = 0;
    algorithm_ = algorithm;
    check_cusparse(
        cusparseSpMM_bufferSize(handle_.object, none, none, &one, descriptor_.object, x.object,
                                &zero, y.object, cuda_type<Scalar>(), algorithm_, &bytes),
        "cusparseSpMM_bufferSize");
    exec.fence("Blockspan::cusparse_operator grows");
    // a buffer is needed anew: preprocessing is stored in it
    buffer_ = allocate_zeros<Buffer>(exec, "Blockspan::cusparse", bytes + 1);
    check_cusparse(
        cusparseSpMM_preprocess(handle_.object, none, none, &one, descriptor_.object, x.object,
                                &zero, y.object, cuda_type<Scalar>(), algorithm_, buffer_.data()),
        "cusparseSpMM_preprocess");
  }

  using Buffer = Kokkos::View<char*, Exec>;
  Matrix matrix_;
  real_t<Scalar> norm_bound_ = 0;
  CusparseHandle handle_;
  CusparseMatrix descriptor_;
  mutable Buffer buffer_;
  CusparseAlgorithm asked_;
  mutable cusparseSpMMAlg_t algorithm_ = CUSPARSE_SPMM_CSR_ALG2;
  mutable std::size_t prepared_ = 0;  ///< columns
};

template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> make_cusparse_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A, CusparseAlgorithm algorithm) {
  return std::make_unique<CusparseOperator<Scalar>>(exec, A, algorithm);
}

}  // namespace blockspan::operators
