#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <blockspan/operators/cusparse_operator.hpp>
#include <blockspan/operators/entries/peer_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/cuda_library.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

#include <cusparse.h>

namespace blockspan::operators {

inline void check_cusparse(cusparseStatus_t status, char const* call) {
  require(status == CUSPARSE_STATUS_SUCCESS, "blockspan::cusparse_product", call,
          " failed: ", cusparseGetErrorString(status));
}

/// The version of the loaded library, which may differ from the one compiled against.
inline std::string cusparse_version() {
  std::string text;
  for (auto const property : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    check_cusparse(cusparseGetProperty(property, &number), "cusparseGetProperty");
    text += (text.empty() ? "" : ".") + std::to_string(number);
  }
  return text;
}

using CusparseHandle = CudaObject<cusparseHandle_t, cusparseDestroy>;
using CusparseMatrix = CudaObject<cusparseConstSpMatDescr_t, cusparseDestroySpMat>;
using CusparseBlock = CudaObject<cusparseDnMatDescr_t, cusparseDestroyDnMat>;
using CusparseConstBlock = CudaObject<cusparseConstDnMatDescr_t, cusparseDestroyDnMat>;
using CusparseVector = CudaObject<cusparseDnVecDescr_t, cusparseDestroyDnVec>;
using CusparseConstVector = CudaObject<cusparseConstDnVecDescr_t, cusparseDestroyDnVec>;

/// A function of cuSPARSE with an algorithm.
struct CusparseMethod {
  char const* name;
  std::variant<cusparseSpMMAlg_t, cusparseSpMVAlg_t> id;
};
inline constexpr CusparseMethod cusparse_of_blocks[] = {
    {"SpMM csr_alg1", CUSPARSE_SPMM_CSR_ALG1},
    {"SpMM csr_alg2", CUSPARSE_SPMM_CSR_ALG2},
    {"SpMM csr_alg3", CUSPARSE_SPMM_CSR_ALG3},
    {"SpMM default", CUSPARSE_SPMM_ALG_DEFAULT}};
inline constexpr CusparseMethod cusparse_of_vectors[] = {
    {"SpMV csr_alg1", CUSPARSE_SPMV_CSR_ALG1},
    {"SpMV csr_alg2", CUSPARSE_SPMV_CSR_ALG2},
    {"SpMV default", CUSPARSE_SPMV_ALG_DEFAULT}};

template <class Scalar>
class CusparseProduct final : public PeerProduct<Scalar, Kokkos::Cuda> {
 public:
  using Exec = Kokkos::Cuda;
  using Matrix = CrsMatrix<Scalar, Exec>;

  CusparseProduct(Exec const& exec, Matrix A, CusparseAlgorithm algorithm)
      : matrix_(std::move(A)), asked_(algorithm) {
    use_device_of(exec);  // a handle is for the current device
    check_cusparse(cusparseCreate(&handle_.object), "cusparseCreate");
    check_cusparse(cusparseCreateConstCsr(&descriptor_.object, matrix_.numRows(), matrix_.numCols(),
                                          matrix_.nnz(), matrix_.graph.row_map.data(),
                                          matrix_.graph.entries.data(), matrix_.values.data(),
                                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                          CUSPARSE_INDEX_BASE_ZERO, type),
                   "cusparseCreateConstCsr");
  }

  void multiply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                Block<Scalar, Exec> const& Y) override {
    if (Y.extent(0) == 0 || Y.extent(1) == 0) return;
    use_device_of(exec);
    Operands const operands(X, Y);
    check_cusparse(cusparseSetStream(handle_.object, exec.cuda_stream()), "cusparseSetStream");
    if (prepared_ != Y.extent(1) || vectors_ != operands.are_vectors) {
      prepared_ = 0;  // stays 0 if allocation fails
      choose(exec, operands);
      prepared_ = Y.extent(1);
      vectors_ = operands.are_vectors;
    }
    multiply(operands);
  }

  std::string name() const override {
    return "cuSPARSE " + cusparse_version() + ", " + algorithm_.name;
  }
  double setup_seconds() const override { return setup_seconds_; }

 private:
  static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr cudaDataType type = cuda_type<Scalar>();

  /// Descriptors of X and Y; for one contiguous column also as vectors.
  struct Operands {
    CusparseConstBlock X;
    CusparseBlock Y;
    CusparseConstVector x;
    CusparseVector y;
    bool are_vectors;

    Operands(ConstBlock<Scalar, Exec> const& from, Block<Scalar, Exec> const& to)
        : are_vectors(to.extent(1) == 1 && from.stride(0) == 1 && to.stride(0) == 1) {
      check_cusparse(cusparseCreateConstDnMat(&X.object, from.extent(0), from.extent(1),
                                              leading(from), from.data(), type, CUSPARSE_ORDER_ROW),
                     "cusparseCreateConstDnMat");
      check_cusparse(cusparseCreateDnMat(&Y.object, to.extent(0), to.extent(1), leading(to),
                                         to.data(), type, CUSPARSE_ORDER_ROW),
                     "cusparseCreateDnMat");
      if (!are_vectors) return;
      check_cusparse(cusparseCreateConstDnVec(&x.object, from.extent(0), from.data(), type),
                     "cusparseCreateConstDnVec");
      check_cusparse(cusparseCreateDnVec(&y.object, to.extent(0), to.data(), type),
                     "cusparseCreateDnVec");
    }

   private:
    /// The stride of a block of one row may be less than its number of columns.
    template <class View>
    static std::int64_t leading(View const& block) {
      return std::max<std::int64_t>(block.stride(0), block.extent(1));
    }
  };

  void choose(Exec const& exec, Operands const& operands) {
    if (asked_ != CusparseAlgorithm::fastest)
      return prepare(exec, operands, cusparse_of_blocks[static_cast<int>(asked_)]);
    CusparseMethod best = cusparse_of_blocks[1];
    double least = std::numeric_limits<double>::infinity();
    auto const time = [&](CusparseMethod const& algorithm) {
      prepare(exec, operands, algorithm);
      double const seconds = seconds_of_products(exec, operands);
      if (seconds < least) best = algorithm;
      least = std::min(least, seconds);
    };
    for (auto const& algorithm : cusparse_of_blocks) {
      // not supported for this type (cuSPARSE 12 documentation of cusparseSpMM)
      bool const third = algorithm.id == cusparse_of_blocks[2].id;
      if (!third || type != CUDA_C_64F) time(algorithm);
    }
    if (operands.are_vectors)
      for (auto const& algorithm : cusparse_of_vectors) time(algorithm);
    prepare(exec, operands, best);
  }

  double seconds_of_products(Exec const& exec, Operands const& operands) {
    multiply(operands);
    exec.fence("Blockspan::cusparse_product warm-up");
    Kokkos::Timer const timer;
    for (int i = 0; i < 10; ++i) multiply(operands);
    exec.fence("Blockspan::cusparse_product timing");
    return timer.seconds();
  }

  void multiply(Operands const& with) {
    Scalar const one(1), zero(0);
    if (auto const* const block = std::get_if<cusparseSpMMAlg_t>(&algorithm_.id))
      check_cusparse(
          cusparseSpMM(handle_.object, none, none, &one, descriptor_.object, with.X.object, &zero,
                       with.Y.object, type, *block, buffer_.data()),
          "cusparseSpMM");
    else
      check_cusparse(cusparseSpMV(handle_.object, none, &one, descriptor_.object, with.x.object,
                                  &zero, with.y.object, type,
                                  std::get<cusparseSpMVAlg_t>(algorithm_.id), buffer_.data()),
                     "cusparseSpMV");
  }

  void prepare(Exec const& exec, Operands const& with, CusparseMethod const& algorithm) {
    algorithm_ = algorithm;
    exec.fence("Blockspan::cusparse_product grows");
    Kokkos::Timer const timer;
    if (auto const* const block = std::get_if<cusparseSpMMAlg_t>(&algorithm.id))
      prepare_block(exec, with, *block);
    else
      prepare_vector(exec, with, std::get<cusparseSpMVAlg_t>(algorithm.id));
    exec.fence("Blockspan::cusparse_product prepared");
    setup_seconds_ = timer.seconds();
  }

  void prepare_block(Exec const& exec, Operands const& with, cusparseSpMMAlg_t algorithm) {
    Scalar const one(1), zero(0);
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMM_bufferSize(handle_.object, none, none, &one, descriptor_.object, with.X.object,
                                &zero, with.Y.object, type, algorithm, &bytes),
        "cusparseSpMM_bufferSize");
    allocate_buffer(exec, bytes);
    check_cusparse(
        cusparseSpMM_preprocess(handle_.object, none, none, &one, descriptor_.object, with.X.object,
                                &zero, with.Y.object, type, algorithm, buffer_.data()),
        "cusparseSpMM_preprocess");
  }

  void prepare_vector(Exec const& exec, Operands const& with, cusparseSpMVAlg_t algorithm) {
    Scalar const one(1), zero(0);
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMV_bufferSize(handle_.object, none, &one, descriptor_.object, with.x.object,
                                &zero, with.y.object, type, algorithm, &bytes),
        "cusparseSpMV_bufferSize");
    allocate_buffer(exec, bytes);
#if CUSPARSE_VERSION >= 12300  // CUDA 12.4
    check_cusparse(
        cusparseSpMV_preprocess(handle_.object, none, &one, descriptor_.object, with.x.object,
                                &zero, with.y.object, type, algorithm, buffer_.data()),
        "cusparseSpMV_preprocess");
#endif
  }

  /// A new buffer for each algorithm and width: preprocessing stores its results in it.
  void allocate_buffer(Exec const& exec, std::size_t bytes) {
    buffer_ = allocate_zeros<Buffer>(exec, "Blockspan::cusparse", bytes + 1);
  }

  using Buffer = Kokkos::View<char*, Exec>;
  Matrix matrix_;
  CusparseHandle handle_;
  CusparseMatrix descriptor_;
  Buffer buffer_;
  CusparseAlgorithm asked_;
  CusparseMethod algorithm_ = cusparse_of_blocks[1];
  double setup_seconds_ = 0;
  std::size_t prepared_ = 0;  ///< columns
  bool vectors_ = false;
};

template <class Scalar, class Exec>
std::unique_ptr<PeerProduct<Scalar, Exec>> make_cusparse_product(Exec const& exec,
                                                                 CrsMatrix<Scalar, Exec> const& A,
                                                                 CusparseAlgorithm algorithm) {
  return std::make_unique<CusparseProduct<Scalar>>(exec, A, algorithm);
}

template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> make_cusparse_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A, CusparseAlgorithm algorithm) {
  return std::make_unique<PeerOperator<Scalar, Exec>>("blockspan::cusparse_operator",
                                                      "matrix (cuSPARSE)", exec, A,
                                                      make_cusparse_product(exec, A, algorithm));
}

}  // namespace blockspan::operators
