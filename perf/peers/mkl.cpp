#include "peers/mkl.hpp"

#ifdef BLOCKSPAN_PERF_MKL

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#include <Kokkos_Timer.hpp>

#include <blockspan/support/error.hpp>

#include <mkl_spblas.h>

#endif

namespace blockspan::perf {

#ifdef BLOCKSPAN_PERF_MKL

namespace {

/// The functions of a scalar, and its type in MKL, which has the same layout.
template <class Scalar>
struct Mkl;
template <>
struct Mkl<float> {
  using Type = float;
  static constexpr auto create = mkl_sparse_s_create_csr;
  static constexpr auto multiply = mkl_sparse_s_mm;
};
template <>
struct Mkl<double> {
  using Type = double;
  static constexpr auto create = mkl_sparse_d_create_csr;
  static constexpr auto multiply = mkl_sparse_d_mm;
};
template <>
struct Mkl<Kokkos::complex<float>> {
  using Type = MKL_Complex8;
  static constexpr auto create = mkl_sparse_c_create_csr;
  static constexpr auto multiply = mkl_sparse_c_mm;
};
template <>
struct Mkl<Kokkos::complex<double>> {
  using Type = MKL_Complex16;
  static constexpr auto create = mkl_sparse_z_create_csr;
  static constexpr auto multiply = mkl_sparse_z_mm;
};

constexpr matrix_descr general{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL,
                               SPARSE_DIAG_NON_UNIT};
constexpr MKL_INT many_products = 1000;  ///< that optimize is to pay for

void check(sparse_status_t status, char const* what) {
  require(status == SPARSE_STATUS_SUCCESS, what, "status ", static_cast<int>(status));
}

/// A matrix as MKL sees it, where it lies.
template <class Scalar>
class MklProduct {
 public:
  using Type = typename Mkl<Scalar>::Type;

  MklProduct(Operands<Scalar> const& with, Order order) : with_(with), order_(order) {
    auto const& A = with.A;
    auto* const offsets = const_cast<MKL_INT*>(A.graph.row_map.data());
    check(Mkl<Scalar>::create(&matrix_, SPARSE_INDEX_BASE_ZERO, A.numRows(), A.numCols(), offsets,
                              offsets + 1, A.graph.entries.data(),
                              reinterpret_cast<Type*>(A.values.data())),
          "mkl_sparse_create_csr");
  }
  ~MklProduct() { mkl_sparse_destroy(matrix_); }
  MklProduct(MklProduct const&) = delete;
  MklProduct& operator=(MklProduct const&) = delete;

  void optimize() {
    check(mkl_sparse_set_mm_hint(matrix_, SPARSE_OPERATION_NON_TRANSPOSE, general, layout(),
                                 with_.columns(), many_products),
          "mkl_sparse_set_mm_hint");
    check(mkl_sparse_optimize(matrix_), "mkl_sparse_optimize");
  }

  void multiply() const {
    with_.exec.fence("Blockspan::perf::mkl");  // MKL knows no instance
    if (order_ == Order::row)
      multiply(with_.X_row, with_.Y_row, 0);
    else
      multiply(with_.X_column, with_.Y_column, 1);
  }

 private:
  sparse_layout_t layout() const {
    return order_ == Order::row ? SPARSE_LAYOUT_ROW_MAJOR : SPARSE_LAYOUT_COLUMN_MAJOR;
  }
  /// far: the dimension whose neighbours lie a leading dimension apart.
  template <class Block>
  void multiply(Block const& X, Block const& Y, int far) const {
    auto const leading = [far](Block const& B) {
      return static_cast<MKL_INT>(std::max(B.stride(far), B.extent(1 - far)));
    };
    auto const scalar = [](Scalar const& value) { return reinterpret_cast<Type const&>(value); };
    check(Mkl<Scalar>::multiply(SPARSE_OPERATION_NON_TRANSPOSE, scalar(with_.alpha), matrix_,
                                general, layout(), reinterpret_cast<Type const*>(X.data()),
                                with_.columns(), leading(X), scalar(with_.beta),
                                reinterpret_cast<Type*>(Y.data()), leading(Y)),
          "mkl_sparse_mm");
  }

  Operands<Scalar> with_;
  Order order_;
  sparse_matrix_t matrix_ = nullptr;
};

template <class Scalar>
Contender contender(Operands<Scalar> const& with, Order order, bool optimized) {
  std::string const id = std::string("mkl/") + to_string(order) + (optimized ? "/optimized" : "");
  return {id, "mkl", order, false, [with, order, optimized] {
            Kokkos::Timer const timer;
            auto const product = std::make_shared<MklProduct<Scalar>>(with, order);
            if (optimized) product->optimize();
            double const setup_ms = 1e3 * timer.seconds();
            return Prepared{[product] { product->multiply(); }, setup_ms, ""};
          }};
}

}  // namespace

template <class Scalar>
std::vector<Contender> mkl_contenders(Operands<Scalar> const& with) {
  static_assert(std::is_same_v<MKL_INT, int>, "offsets and columns are 32-bit integers");
  std::vector<Contender> contenders;
  for (Order const order : {Order::row, Order::column})
    for (bool const optimized : {false, true})
      contenders.push_back(contender(with, order, optimized));
  return contenders;
}

#else

template <class Scalar>
std::vector<Contender> mkl_contenders(Operands<Scalar> const&) {
  return {};
}

#endif

template std::vector<Contender> mkl_contenders(Operands<float> const&);
template std::vector<Contender> mkl_contenders(Operands<double> const&);
template std::vector<Contender> mkl_contenders(Operands<Kokkos::complex<float>> const&);
template std::vector<Contender> mkl_contenders(Operands<Kokkos::complex<double>> const&);

}  // namespace blockspan::perf
