#pragma once

#include <cstddef>
#include <memory>

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <blockspan/operators/cusparse/cusparse_product.hpp>
#include <blockspan/support/error.hpp>

#include "peers/contender.hpp"
#include <cusparse.h>

namespace blockspan::perf {

/// Throws Error with the name of the call and cuSPARSE's own words.
inline void check_cusparse(cusparseStatus_t status, char const* call) {
  require(status == CUSPARSE_STATUS_SUCCESS, call, cusparseGetErrorString(status));
}

/// Handle and matrix of one product. Each product has its own: cuSPARSE keeps what preprocessing
/// found with the descriptor of the matrix.
template <class Scalar>
struct CusparseBase {
  static constexpr cudaDataType type = blockspan::support::cuda_type<Scalar>();
  static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;

  explicit CusparseBase(Operands<Scalar> const& operands) : with(operands) {
    auto const& A = with.A;
    check_cusparse(cusparseCreate(&handle.object), "cusparseCreate");
    check_cusparse(cusparseSetStream(handle.object, with.exec.cuda_stream()), "cusparseSetStream");
    check_cusparse(cusparseCreateConstCsr(
                       &matrix.object, A.numRows(), A.numCols(), static_cast<std::int64_t>(A.nnz()),
                       A.graph.row_map.data(), A.graph.entries.data(), A.values.data(),
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
                   "cusparseCreateConstCsr");
  }

  void allocate(std::size_t bytes) {
    buffer = Kokkos::View<char*, Kokkos::Cuda>(
        Kokkos::view_alloc(with.exec, Kokkos::WithoutInitializing, "Blockspan::perf::cusparse"),
        bytes + 1);  // never null
  }

  Operands<Scalar> with;
  blockspan::operators::CusparseHandle handle;
  blockspan::operators::CusparseMatrix matrix;
  Kokkos::View<char*, Kokkos::Cuda> buffer;
};

/// Makes a Product (CusparseSpmm or CusparseSpmv) ready and measures that.
template <class Product, class Algorithm, class Scalar>
Prepared prepare_cusparse(Operands<Scalar> const& with, Order order, Algorithm algorithm,
                          bool preprocess) {
  auto const product = std::make_shared<Product>(with, order, algorithm);
  with.exec.fence("Blockspan::perf::cusparse");
  Kokkos::Timer const timer;
  product->prepare();
  if (preprocess) product->preprocess();
  with.exec.fence("Blockspan::perf::cusparse");
  return {[product] { product->multiply(); }, 1e3 * timer.seconds(), ""};
}

}  // namespace blockspan::perf
