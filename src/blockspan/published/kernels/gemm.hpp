#pragma once

#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/scalar.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuComplex.h>
#include <cublas_v2.h>
#endif

namespace blockspan::published {

/// Handles of a BLAS, one per instance of the execution space, created on demand.
template <class Exec>
class BlasHandles {
 public:
  /// `make(exec)` returns a shared_ptr<void>; called once per instance.
  template <class Make>
  void* of(Exec const& exec, Make const& make) {
    std::lock_guard const lock(mutex_);
    for (auto const& [instance, handle] : handles_)
      if (instance == exec) return handle.get();
    return handles_.emplace_back(exec, make(exec)).second.get();
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Exec, std::shared_ptr<void>>> handles_;
};

template <class Scalar>
struct GemmOperand {
  Scalar const* data;
  int leading;
  bool transposed;
};

/// C = alpha op(A) op(B) + beta C, column-major; C is m x n, op(A) m x k.
template <class Scalar>
struct GemmCall {
  int m, n, k;
  Scalar alpha;
  GemmOperand<Scalar> A, B;
  Scalar beta;
  Scalar* C;
  int leading;
};

/// Whether there is a BLAS for the backend: the host's, or cuBLAS.
template <class Exec>
inline constexpr bool has_gemm_v = runs_on_host_v<Exec> || on_cuda_v<Exec>;

#if defined(KOKKOS_ENABLE_CUDA)
inline void check_cublas(cublasStatus_t status, char const* call) {
  require(status == CUBLAS_STATUS_SUCCESS, "blockspan::spmm", call,
          " failed: ", cublasGetStatusString(status));
}

inline std::shared_ptr<void> make_cublas(Kokkos::Cuda const& exec) {
  cublasHandle_t handle = nullptr;
  check_cublas(cublasCreate(&handle), "cublasCreate");
  std::shared_ptr<void> const owner(handle,
                                    [](void* h) { cublasDestroy(static_cast<cublasHandle_t>(h)); });
  check_cublas(cublasSetStream(handle, exec.cuda_stream()), "cublasSetStream");
  return owner;
}

template <class Scalar>
void cublas_gemm(Kokkos::Cuda const& exec, BlasHandles<Kokkos::Cuda>& handles,
                 GemmCall<Scalar> const& call) {
  auto* const handle = static_cast<cublasHandle_t>(handles.of(exec, make_cublas));
  auto const flag = [](auto const& operand) {
    return operand.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  auto const run = [&](auto function, auto number) {
    using Number = decltype(number);
    auto const cast = [](auto const* p) { return reinterpret_cast<Number const*>(p); };
    check_cublas(
        function(handle, flag(call.A), flag(call.B), call.m, call.n, call.k, cast(&call.alpha),
                 cast(call.A.data), call.A.leading, cast(call.B.data), call.B.leading,
                 cast(&call.beta), reinterpret_cast<Number*>(call.C), call.leading),
        "cublas gemm");
  };
  if constexpr (std::is_same_v<Scalar, float>)
    run(cublasSgemm, float());
  else if constexpr (std::is_same_v<Scalar, double>)
    run(cublasDgemm, double());
  else if constexpr (std::is_same_v<Scalar, Kokkos::complex<float>>)
    run(cublasCgemm, cuComplex());
  else
    run(cublasZgemm, cuDoubleComplex());
}
#endif

/// Asynchronous on `exec`; on hosts complete on return, called from this thread.
template <class Exec, class Scalar>
void gemm(Exec const& exec, BlasHandles<Exec>& handles, GemmCall<Scalar> const& call) {
  if constexpr (runs_on_host_v<Exec>) {
    (void)handles;
    exec.fence("Blockspan::spmm::dense");
    lapack::gemm(call.A.transposed, call.B.transposed, call.m, call.n, call.k, call.alpha,
                 call.A.data, call.A.leading, call.B.data, call.B.leading, call.beta, call.C,
                 call.leading);
  } else if constexpr (has_gemm_v<Exec>) {
    cublas_gemm(exec, handles, call);
  }
}

}  // namespace blockspan::published
