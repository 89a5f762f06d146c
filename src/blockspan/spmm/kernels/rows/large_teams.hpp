#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::products {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

/// Y = epilogue(A X) with all the shared memory of a multiprocessor: Kokkos limits a team to 48
/// KiB, so this kernel is launched through CUDA, on the stream of the instance.
template <class Work, class Epilogue>
__global__ void __launch_bounds__(Work::threads, 1)
    multiply_in_large_teams(Work const work, Epilogue const epilogue) {
  extern __shared__ uint4 blockspan_large_scratch[];
  work.multiply(
      *reinterpret_cast<typename Work::Scratch*>(blockspan_large_scratch),
      static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x),
      [&](std::int64_t row, std::int64_t column, auto const& sum) { epilogue(row, column, sum); });
}

/// Reports a kernel to Kokkos Tools that Kokkos does not launch.
class LaunchSeenByTools {
 public:
  template <class Exec>
  LaunchSeenByTools(Exec const& exec, char const* label)
      : seen_(Kokkos::Tools::profileLibraryLoaded()) {
    if (seen_)
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id_);
  }
  ~LaunchSeenByTools() {
    if (seen_) Kokkos::Tools::endParallelFor(id_);
  }
  LaunchSeenByTools(LaunchSeenByTools const&) = delete;
  LaunchSeenByTools& operator=(LaunchSeenByTools const&) = delete;

 private:
  bool seen_;
  std::uint64_t id_ = 0;
};

/// Throws Error where that is more teams than a launch can have.
template <class Call, class Work>
void launch_in_large_teams(Call const& call, std::int64_t teams, Work const& work) {
  require(teams <= INT_MAX, "blockspan::spmm", call.variant().id,
          " cannot serve this input: ", teams,
          " teams are more than a launch can have (rows: ", call.prepared.pattern.rows,
          ", columns: ", call.product.X.columns, ")");
  auto const check = [](cudaError_t error) {
    require(error == cudaSuccess, "blockspan::spmm", "CUDA: ", cudaGetErrorString(error));
  };
  auto const epilogue = make_epilogue<true>(call);
  auto const kernel = multiply_in_large_teams<Work, std::remove_const_t<decltype(epilogue)>>;
  constexpr auto bytes = static_cast<int>(sizeof(typename Work::Scratch));
  use_device_of(call.exec);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  LaunchSeenByTools const seen(call.exec, call.variant().label);
  kernel<<<static_cast<unsigned>(teams), Work::threads, bytes, call.exec.cuda_stream()>>>(work,
                                                                                          epilogue);
  check(cudaGetLastError());
}

#endif

}  // namespace blockspan::products
