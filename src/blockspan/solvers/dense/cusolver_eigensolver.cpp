// Compiled where Kokkos has CUDA.
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/dense/eigensolver.hpp>
#include <blockspan/support/cuda_library.hpp>
#include <blockspan/support/memory.hpp>

#include <cusolverDn.h>

namespace blockspan::eigen {

namespace {

template <class Scalar>
class CusolverEigensolver {
 public:
  using Real = real_t<Scalar>;
  using Matrix = SmallMatrix<Scalar>;

  explicit CusolverEigensolver(Kokkos::Cuda const& exec) : exec_(exec) {}

  int operator()(Matrix const& G, std::vector<Real>& eigenvalues) {
    int const n = static_cast<int>(G.extent(0));
    bool const here =
        n >= least_device_order && n == static_cast<int>(G.extent(1)) && all_finite(G);
    // G is as it was where the device has failed
    return here && on_device(G, eigenvalues) ? 0 : lapack::hermitian_eigen(G, eigenvalues);
  }

 private:
  using Handle = CudaObject<cusolverDnHandle_t, cusolverDnDestroy>;
  using Parameters = CudaObject<cusolverDnParams_t, cusolverDnDestroyParams>;
  template <class T>
  using Device = Kokkos::View<T*, Kokkos::CudaSpace>;
  template <class T>
  using Host = Kokkos::View<T*, Kokkos::HostSpace>;

  static constexpr auto vectors = CUSOLVER_EIG_MODE_VECTOR;
  static constexpr auto lower = CUBLAS_FILL_MODE_LOWER;

  bool on_device(Matrix const& G, std::vector<Real>& eigenvalues) {
    if (!ready(G.extent(0))) return false;
    int const n = static_cast<int>(G.extent(0));
    Matrix const packed(staging_.data(), n, n);
    copy_small(G, packed);
    std::pair<std::size_t, std::size_t> const used(0, packed.span());
    auto const entries = Kokkos::subview(staging_, used);
    auto const image = Kokkos::subview(entries_, used);
    Kokkos::deep_copy(exec_, image, entries);
    if (!solve(n)) return false;
    Kokkos::deep_copy(exec_, entries, image);
    Kokkos::deep_copy(exec_, host_values_, values_);
    Kokkos::deep_copy(exec_, host_info_, info_);
    exec_.fence("Blockspan::lobpcg: eigenpairs");
    if (host_info_(0) != 0) return false;
    copy_small(packed, G);
    eigenvalues.assign(host_values_.data(), host_values_.data() + n);
    return true;
  }

  /// The handle, and memory for matrices of this order.
  bool ready(std::size_t n) {
    if (handle_.object == nullptr && cusolverDnCreate(&handle_.object) != CUSOLVER_STATUS_SUCCESS)
      return false;
    if (parameters_.object == nullptr &&
        cusolverDnCreateParams(&parameters_.object) != CUSOLVER_STATUS_SUCCESS)
      return false;
    if (cusolverDnSetStream(handle_.object, exec_.cuda_stream()) != CUSOLVER_STATUS_SUCCESS)
      return false;
    if (values_.extent(0) >= n) return true;
    entries_ = allocate<Device<Scalar>>(exec_, "Blockspan::lobpcg::small", n * n);
    info_ = allocate<Device<int>>(exec_, "Blockspan::lobpcg::info", 1);
    staging_ = allocate<Host<Scalar>>(exec_, "Blockspan::lobpcg::small", n * n);
    host_values_ = allocate<Host<Real>>(exec_, "Blockspan::lobpcg::small", n);
    host_info_ = allocate<Host<int>>(exec_, "Blockspan::lobpcg::small", 1);
    // the last, because its extent says that all are there
    values_ = allocate<Device<Real>>(exec_, "Blockspan::lobpcg::eigenvalues", n);
    return true;
  }

  /// Starts the solver, with its own work space as large as it wants it.
  bool solve(int n) {
    constexpr auto type = cuda_type<Scalar>(), real_type = cuda_type<Real>();
    std::size_t device_bytes = 0, host_bytes = 0;
    if (cusolverDnXsyevd_bufferSize(handle_.object, parameters_.object, vectors, lower, n, type,
                                    entries_.data(), n, real_type, values_.data(), type,
                                    &device_bytes, &host_bytes) != CUSOLVER_STATUS_SUCCESS)
      return false;
    if (work_.extent(0) < device_bytes)
      work_ = allocate<Device<char>>(exec_, "Blockspan::lobpcg::cusolver", device_bytes);
    host_work_.resize(host_bytes);
    return cusolverDnXsyevd(handle_.object, parameters_.object, vectors, lower, n, type,
                            entries_.data(), n, real_type, values_.data(), type, work_.data(),
                            device_bytes, host_work_.data(), host_bytes,
                            info_.data()) == CUSOLVER_STATUS_SUCCESS;
  }

  Kokkos::Cuda exec_;
  Handle handle_;
  Parameters parameters_;
  Device<Scalar> entries_;
  Device<Real> values_;
  Device<int> info_;
  Device<char> work_;
  Host<Scalar> staging_;
  Host<Real> host_values_;
  Host<int> host_info_;
  std::vector<char> host_work_;
};

}  // namespace

template <class Scalar, class Exec>
Eigensolver<Scalar> device_eigensolver(Exec const& exec) {
  auto const solver = std::make_shared<CusolverEigensolver<Scalar>>(exec);
  return [solver](SmallMatrix<Scalar> const& G, std::vector<real_t<Scalar>>& eigenvalues) {
    return (*solver)(G, eigenvalues);
  };
}

#define BLOCKSPAN_INSTANTIATE(S) \
  template Eigensolver<S> device_eigensolver<S, Kokkos::Cuda>(Kokkos::Cuda const&);
BLOCKSPAN_INSTANTIATE(float)
BLOCKSPAN_INSTANTIATE(double)
BLOCKSPAN_INSTANTIATE(Kokkos::complex<float>)
BLOCKSPAN_INSTANTIATE(Kokkos::complex<double>)
#undef BLOCKSPAN_INSTANTIATE

}  // namespace blockspan::eigen
