#pragma once

#include <blockspan/support/scalar.hpp>

#include <library_types.h>

// Helpers for the libraries of the CUDA Toolkit.
namespace blockspan::support {

template <class Scalar>
constexpr cudaDataType cuda_type() {
  if constexpr (is_complex_v<Scalar>)
    return sizeof(real_t<Scalar>) == 8 ? CUDA_C_64F : CUDA_C_32F;
  else
    return sizeof(Scalar) == 8 ? CUDA_R_64F : CUDA_R_32F;
}

/// Owns an object of such a library. `destroy` accepts T, or a const handle that T converts to.
template <class T, auto destroy>
class CudaObject {
 public:
  CudaObject() = default;
  CudaObject(CudaObject const&) = delete;
  CudaObject& operator=(CudaObject const&) = delete;
  ~CudaObject() {
    if (object != nullptr) destroy(object);
  }
  T object = nullptr;
};

}  // namespace blockspan::support
