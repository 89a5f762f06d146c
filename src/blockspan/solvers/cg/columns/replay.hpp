#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::krylov {

/// Work that enqueues the same kernels again and again: on CUDA recorded once, as a graph, and
/// launched as one from then on, which spares the host most of what launches cost. Elsewhere, and
/// where recording is refused, the work runs as it is.
template <class Exec>
class Replay {
 public:
  void forget() {}

  template <class Work>
  bool operator()(Exec const&, Work const& work) {
    work();
    return false;
  }
};

#ifdef KOKKOS_ENABLE_CUDA

template <>
class Replay<Kokkos::Cuda> {
 public:
  Replay() = default;
  Replay(Replay const&) = delete;
  Replay& operator=(Replay const&) = delete;
  ~Replay() { forget(); }

  /// The next call may do something else.
  void forget() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
    calls_ = 0;
  }

  /// `work` only enqueues on exec: it neither waits nor allocates, and enqueues the same in every
  /// call until forget(). The first calls run it as it is (a graph costs about 0.1 ms once): two
  /// where launching takes the host longer than that, else seven. So do all calls while a profiler
  /// listens, which would not see what a graph runs. True: replayed.
  template <class Work>
  bool operator()(Kokkos::Cuda const& exec, Work const& work) {
    constexpr double seconds_of_graph = 1e-4;
    ++calls_;
    bool const due = calls_ == 8 || (calls_ == 3 && launching_ > seconds_of_graph);
    if (due && graph_ == nullptr && !Kokkos::Tools::profileLibraryLoaded()) record(exec, work);
    if (graph_ == nullptr) {
      Kokkos::Timer const timer;
      work();
      launching_ = timer.seconds();
      return false;
    }
    use_device_of(exec);
    cudaError_t const error = cudaGraphLaunch(graph_, exec.cuda_stream());
    require(error == cudaSuccess, "blockspan::krylov::Replay",
            "CUDA refused to launch a graph: ", cudaGetErrorString(error));
    return true;
  }

 private:
  template <class Work>
  void record(Kokkos::Cuda const& exec, Work const& work) {
    use_device_of(exec);
    cudaStream_t const stream = exec.cuda_stream();
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
      try {
        work();
      } catch (...) {
        finish(stream, false);
        throw;
      }
      finish(stream, true);
    }
    cudaGetLastError();  // refused: not an error of the program
  }

  void finish(cudaStream_t stream, bool complete) {
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || graph == nullptr) return;
    if (complete && cudaGraphInstantiate(&graph_, graph, 0) != cudaSuccess) graph_ = nullptr;
    cudaGraphDestroy(graph);
  }

  cudaGraphExec_t graph_ = nullptr;
  int calls_ = 0;
  double launching_ = 0;  ///< seconds that the host took for the last call
};

#endif

}  // namespace blockspan::krylov
