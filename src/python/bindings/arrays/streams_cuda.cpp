#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "arrays/streams.hpp"

namespace blockspan::python {

namespace {

cudaStream_t handle_of(Stream stream) {
  return reinterpret_cast<cudaStream_t>(stream);  // NOLINT: how Python packages hand them on
}

void check(cudaError_t error, char const* what) {
  require(error == cudaSuccess, "blockspan", what, ": CUDA says: ", cudaGetErrorString(error));
}

}  // namespace

Exec instance_of(Stream stream) {
  start();  // refuses a forked process
  // Never freed: at exit the driver may be unloaded first.
  static auto* const instances = new std::unordered_map<Stream, Exec>();
  static auto* const mutex = new std::mutex();
  std::scoped_lock const lock(*mutex);
  auto const found = instances->find(stream);
  if (found != instances->end()) return found->second;
  check(cudaSetDevice(device_of_library()), "the device cannot be used");
  return instances->emplace(stream, Exec(handle_of(stream))).first->second;
}

Exec instance_to_wait_for(Stream stream) {
  require(!is_recorded(stream), "blockspan",
          "a CUDA graph is recorded, and this work has to wait for its stream: do it before, on a "
          "stream that is not the default one");
  return instance_of(stream);
}

bool is_recorded(Stream stream) {
  auto status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(handle_of(stream), &status) != cudaSuccess) cudaGetLastError();
  return status == cudaStreamCaptureStatusActive;
}

Detour::Detour(Stream stream, Stream other) : stream_(stream), other_(other) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "no event");
  event_ = event;
  join(stream_, other_);
}

Detour::~Detour() {
  join(other_, stream_);
  cudaEventDestroy(static_cast<cudaEvent_t>(event_));
}

void Detour::join(Stream before, Stream after) const {
  auto* const event = static_cast<cudaEvent_t>(event_);
  cudaEventRecord(event, handle_of(before));  // what fails ends the recording, which then says so
  cudaStreamWaitEvent(handle_of(after), event, 0);
}

void initialize(Kokkos::InitializationSettings settings, int device) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no CUDA device");
  Kokkos::initialize(settings.set_device_id(device));
  // Kokkos is never finalized; at exit its static objects would warn, or call an unloaded driver.
  // They are constructed before this exit handler is registered, so they are destroyed after it.
  static auto* const kept = new Exec(*Kokkos::Impl::cuda_get_deep_copy_space(true));
  (void)kept;
  std::atexit([] {
    auto const* const instance = Exec().impl_internal_space_instance();
    instance->m_scratchSpace = instance->m_scratchFlags = instance->m_scratchUnified = nullptr;
  });
}

}  // namespace blockspan::python
