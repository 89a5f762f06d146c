#pragma once

#include <cstdint>
#include <utility>

#include "peers/cusparse_common.hpp"

namespace blockspan::perf {

inline constexpr std::pair<char const*, cusparseSpMVAlg_t> cusparse_spmv_algorithms[] = {
    {"default", CUSPARSE_SPMV_ALG_DEFAULT},
    {"csr_alg1", CUSPARSE_SPMV_CSR_ALG1},
    {"csr_alg2", CUSPARSE_SPMV_CSR_ALG2}};

/// cusparseSpMV of one algorithm, on blocks of one column, which are the same in both orders.
template <class Scalar>
class CusparseSpmv {
 public:
#if CUSPARSE_VERSION >= 12300  // CUDA 12.4
  static constexpr bool has_preprocess = true;
#else
  static constexpr bool has_preprocess = false;
#endif

  CusparseSpmv(Operands<Scalar> const& with, Order, cusparseSpMVAlg_t algorithm)
      : base_(with), algorithm_(algorithm) {
    check_cusparse(
        cusparseCreateConstDnVec(&x_.object, static_cast<std::int64_t>(with.X_row.extent(0)),
                                 with.X_row.data(), base_.type),
        "cusparseCreateConstDnVec");
    check_cusparse(cusparseCreateDnVec(&y_.object, static_cast<std::int64_t>(with.Y_row.extent(0)),
                                       with.Y_row.data(), base_.type),
                   "cusparseCreateDnVec");
  }

  void prepare() {
    std::size_t bytes = 0;
    check_cusparse(cusparseSpMV_bufferSize(base_.handle.object, none, &base_.with.alpha,
                                           base_.matrix.object, x_.object, &base_.with.beta,
                                           y_.object, base_.type, algorithm_, &bytes),
                   "cusparseSpMV_bufferSize");
    base_.allocate(bytes);
  }

  void preprocess() {
#if CUSPARSE_VERSION >= 12300
    check_cusparse(cusparseSpMV_preprocess(base_.handle.object, none, &base_.with.alpha,
                                           base_.matrix.object, x_.object, &base_.with.beta,
                                           y_.object, base_.type, algorithm_, base_.buffer.data()),
                   "cusparseSpMV_preprocess");
#endif
  }

  void multiply() {
    check_cusparse(
        cusparseSpMV(base_.handle.object, none, &base_.with.alpha, base_.matrix.object, x_.object,
                     &base_.with.beta, y_.object, base_.type, algorithm_, base_.buffer.data()),
        "cusparseSpMV");
  }

 private:
  static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  using ConstVector =
      blockspan::support::CudaObject<cusparseConstDnVecDescr_t, cusparseDestroyDnVec>;
  using Vector = blockspan::support::CudaObject<cusparseDnVecDescr_t, cusparseDestroyDnVec>;

  CusparseBase<Scalar> base_;
  cusparseSpMVAlg_t algorithm_;
  ConstVector x_;
  Vector y_;
};

}  // namespace blockspan::perf
