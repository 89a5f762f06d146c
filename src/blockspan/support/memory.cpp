#include <cstdint>
#include <fstream>
#include <iomanip>
#include <new>
#include <sstream>
#include <string>

#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::support {

namespace {

/// "1536 bytes (1.5 KiB)".
std::string in_units(std::size_t bytes) {
  static constexpr char const* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::ostringstream out;
  out << bytes << " bytes";
  if (bytes < 1024) return out.str();
  double number = static_cast<double>(bytes) / 1024;
  int unit = 0;
  for (; number >= 1024; ++unit) number /= 1024;
  out << " (" << std::setprecision(4) << number << ' ' << units[unit] << ')';
  return out.str();
}

/// The memory of the current device.
struct DeviceMemory {
  std::optional<std::size_t> free;
  std::string fault;  ///< the error of CUDA, if it reports no memory
};

DeviceMemory ask_cuda_device() {
  DeviceMemory memory;
#ifdef KOKKOS_ENABLE_CUDA
  std::size_t free = 0, total = 0;
  cudaError_t const error = cudaMemGetInfo(&free, &total);
  if (error == cudaSuccess) {
    memory.free = free;
  } else {
    memory.fault = cudaGetErrorString(error);
    cudaGetLastError();  // clears it, so that later calls of CUDA do not report it
  }
#endif
  return memory;
}

/// By the message too: Kokkos throws one type for all failures.
bool says_no_memory(std::exception const& reason) {
  return dynamic_cast<std::bad_alloc const*>(&reason) != nullptr ||
         std::string(reason.what()).find("failed to allocate") != std::string::npos;
}

}  // namespace

std::int64_t free_host_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word)
    if (std::int64_t kilobytes = 0; word == "MemAvailable:" && file >> kilobytes)
      return kilobytes * 1024;
  return 0;
}

std::int64_t free_device_bytes() {
  return static_cast<std::int64_t>(ask_cuda_device().free.value_or(0));
}

std::optional<std::size_t> MemoryRequest::bytes() const {
  std::size_t product = element_bytes;
  for (std::size_t const extent : extents)
    if (extent == 0) return 0;
  for (std::size_t const extent : extents) {
    if (extent > static_cast<std::size_t>(PTRDIFF_MAX) / product) return std::nullopt;
    product *= extent;
  }
  return product;
}

std::string MemoryRequest::in_words() const {
  auto const count = bytes();
  std::ostringstream out;
  out << (count ? in_units(*count) : "more bytes than an address can count") << " for ";
  for (std::size_t i = 0; i < extents.size(); ++i) out << (i > 0 ? " x " : "") << extents[i];
  out << " elements of " << element_bytes << " bytes, in the memory space " << space;
  return out.str();
}

void MemoryRequest::refuse() const {
  fail(ErrorKind::out_of_memory, label, "out of memory: cannot allocate ", in_words());
}

void MemoryRequest::refuse(std::exception const& reason) const {
  auto const memory = on_cuda_device ? ask_cuda_device() : DeviceMemory{};
  std::string const free =
      memory.free ? ", where " + in_units(*memory.free) + " are free" : std::string();
  bool const is_short = says_no_memory(reason) &&
                        (!on_cuda_device || (memory.free && *memory.free < bytes().value_or(0)));
  if (is_short)
    fail(ErrorKind::out_of_memory, label, "out of memory: cannot allocate ", in_words(), free);
  fail(label, "cannot allocate ", in_words(), free, ": ", reason.what(),
       memory.fault.empty() ? "" : " The device: ", memory.fault);
}

}  // namespace blockspan::support
