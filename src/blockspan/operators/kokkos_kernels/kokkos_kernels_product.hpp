#pragma once

#include <memory>
#include <string>
#include <utility>

#include <KokkosSparse_spmv.hpp>

#include <blockspan/operators/entries/peer_operator.hpp>
#include <blockspan/operators/kokkos_kernels_operator.hpp>

// The product of Kokkos Kernels (KokkosSparse::spmv), for comparison.

namespace blockspan::operators {

template <class Scalar, class Exec>
class KokkosKernelsProduct final : public PeerProduct<Scalar, Exec> {
 public:
  using Matrix = CrsMatrix<Scalar, Exec>;

  explicit KokkosKernelsProduct(Matrix A) : matrix_(std::move(A)) {}

  void multiply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                Block<Scalar, Exec> const& Y) override {
    if (Y.extent(0) == 0 || Y.extent(1) == 0) return;
    // its vendor paths do not support these row-major views: the native implementation
    KokkosSparse::SPMVAlgorithm const native = KokkosSparse::SPMV_NATIVE;
    KokkosSparse::SPMVHandle<Exec, Matrix, ConstBlock<Scalar, Exec>, Block<Scalar, Exec>> handle(
        native);
    KokkosSparse::spmv(exec, &handle, "N", Scalar(1), matrix_, X, Scalar(0), Y);
  }

  std::string name() const override {
    return "Kokkos Kernels " + std::to_string(KOKKOSKERNELS_VERSION_MAJOR) + "." +
           std::to_string(KOKKOSKERNELS_VERSION_MINOR) + "." +
           std::to_string(KOKKOSKERNELS_VERSION_PATCH) + ", native";
  }
  double setup_seconds() const override { return 0; }

 private:
  Matrix matrix_;
};

template <class Scalar, class Exec>
std::unique_ptr<PeerProduct<Scalar, Exec>> make_kokkos_kernels_product(
    Exec const&, CrsMatrix<Scalar, Exec> const& A) {
  return std::make_unique<KokkosKernelsProduct<Scalar, Exec>>(A);
}

template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> make_kokkos_kernels_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  return std::make_unique<PeerOperator<Scalar, Exec>>("blockspan::kokkos_kernels_operator",
                                                      "matrix (Kokkos Kernels)", exec, A,
                                                      make_kokkos_kernels_product(exec, A));
}

}  // namespace blockspan::operators
