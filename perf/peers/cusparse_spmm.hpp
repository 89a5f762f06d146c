#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "peers/cusparse_common.hpp"

namespace blockspan::perf {

inline constexpr std::pair<char const*, cusparseSpMMAlg_t> cusparse_spmm_algorithms[] = {
    {"default", CUSPARSE_SPMM_ALG_DEFAULT},
    {"csr_alg1", CUSPARSE_SPMM_CSR_ALG1},
    {"csr_alg2", CUSPARSE_SPMM_CSR_ALG2},
    {"csr_alg3", CUSPARSE_SPMM_CSR_ALG3}};

/// cusparseSpMM of one algorithm and order.
template <class Scalar>
class CusparseSpmm {
 public:
  static constexpr bool has_preprocess = true;

  CusparseSpmm(Operands<Scalar> const& with, Order order, cusparseSpMMAlg_t algorithm)
      : base_(with), algorithm_(algorithm) {
    if (order == Order::row)
      describe(with.X_row, with.Y_row, CUSPARSE_ORDER_ROW, 0);
    else
      describe(with.X_column, with.Y_column, CUSPARSE_ORDER_COL, 1);
  }

  void prepare() {
    std::size_t bytes = 0;
    check_cusparse(cusparseSpMM_bufferSize(base_.handle.object, none, none, &base_.with.alpha,
                                           base_.matrix.object, x_.object, &base_.with.beta,
                                           y_.object, base_.type, algorithm_, &bytes),
                   "cusparseSpMM_bufferSize");
    base_.allocate(bytes);
  }

  void preprocess() {
    check_cusparse(cusparseSpMM_preprocess(base_.handle.object, none, none, &base_.with.alpha,
                                           base_.matrix.object, x_.object, &base_.with.beta,
                                           y_.object, base_.type, algorithm_, base_.buffer.data()),
                   "cusparseSpMM_preprocess");
  }

  void multiply() {
    check_cusparse(cusparseSpMM(base_.handle.object, none, none, &base_.with.alpha,
                                base_.matrix.object, x_.object, &base_.with.beta, y_.object,
                                base_.type, algorithm_, base_.buffer.data()),
                   "cusparseSpMM");
  }

 private:
  static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;

  /// far: the dimension whose neighbours lie a leading dimension apart.
  template <class Block>
  void describe(Block const& X, Block const& Y, cusparseOrder_t order, int far) {
    // a block of one row or column has no stride worth the name
    auto const leading = [far](Block const& B) {
      return static_cast<std::int64_t>(std::max(B.stride(far), B.extent(1 - far)));
    };
    check_cusparse(cusparseCreateConstDnMat(&x_.object, static_cast<std::int64_t>(X.extent(0)),
                                            static_cast<std::int64_t>(X.extent(1)), leading(X),
                                            X.data(), base_.type, order),
                   "cusparseCreateConstDnMat");
    check_cusparse(cusparseCreateDnMat(&y_.object, static_cast<std::int64_t>(Y.extent(0)),
                                       static_cast<std::int64_t>(Y.extent(1)), leading(Y), Y.data(),
                                       base_.type, order),
                   "cusparseCreateDnMat");
  }

  CusparseBase<Scalar> base_;
  cusparseSpMMAlg_t algorithm_;
  blockspan::operators::CusparseConstBlock x_;
  blockspan::operators::CusparseBlock y_;
};

}  // namespace blockspan::perf
