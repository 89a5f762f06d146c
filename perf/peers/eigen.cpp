#include "peers/eigen.hpp"

#ifdef BLOCKSPAN_PERF_EIGEN

#include <complex>
#include <string>
#include <type_traits>

#include <blockspan/support/scalar.hpp>

#include <Eigen/SparseCore>

#endif

namespace blockspan::perf {

#ifdef BLOCKSPAN_PERF_EIGEN

namespace {

/// Eigen knows std::complex, which has the same layout.
template <class Scalar>
using EigenScalar = std::conditional_t<is_complex_v<Scalar>, std::complex<real_t<Scalar>>, Scalar>;

template <int options, class View>
auto dense(View const& view) {
  using Scalar = EigenScalar<typename View::value_type>;
  using Dense = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, options>;
  int const far = options == Eigen::RowMajor ? 0 : 1;  // whose neighbours lie a stride apart
  return Eigen::Map<Dense, 0, Eigen::OuterStride<>>(
      reinterpret_cast<Scalar*>(view.data()), static_cast<Eigen::Index>(view.extent(0)),
      static_cast<Eigen::Index>(view.extent(1)),
      Eigen::OuterStride<>(static_cast<Eigen::Index>(view.stride(far))));
}

template <class Layout, class Scalar>
void multiply(Operands<Scalar> const& with) {
  using Value = EigenScalar<Scalar>;
  constexpr int options =
      std::is_same_v<Layout, Kokkos::LayoutRight> ? int{Eigen::RowMajor} : int{Eigen::ColMajor};
  auto const& A = with.A;
  Eigen::Map<Eigen::SparseMatrix<Value, Eigen::RowMajor, int> const> const a(
      A.numRows(), A.numCols(), static_cast<Eigen::Index>(A.nnz()), A.graph.row_map.data(),
      A.graph.entries.data(), reinterpret_cast<Value const*>(A.values.data()));
  auto const x = dense<options>(with.template X<Layout>());
  auto y = dense<options>(with.template Y<Layout>());
  with.exec.fence("Blockspan::perf::eigen");  // Eigen knows no instance
  if (with.beta == Scalar(0))
    y.setZero();
  else
    y *= Value(with.beta);
  if (with.alpha == Scalar(1))
    y.noalias() += a * x;
  else
    y.noalias() += (Value(with.alpha) * a) * x;
}

template <class Layout, class Scalar>
Contender contender(Operands<Scalar> const& with, Order order) {
  return {std::string("eigen/") + to_string(order), "eigen", order, false, [with] {
            return Prepared{[with] { multiply<Layout>(with); }, 0, ""};
          }};
}

}  // namespace

template <class Scalar>
std::vector<Contender> eigen_contenders(Operands<Scalar> const& with) {
  return {contender<Kokkos::LayoutRight>(with, Order::row),
          contender<Kokkos::LayoutLeft>(with, Order::column)};
}

#else

template <class Scalar>
std::vector<Contender> eigen_contenders(Operands<Scalar> const&) {
  return {};
}

#endif

template std::vector<Contender> eigen_contenders(Operands<float> const&);
template std::vector<Contender> eigen_contenders(Operands<double> const&);
template std::vector<Contender> eigen_contenders(Operands<Kokkos::complex<float>> const&);
template std::vector<Contender> eigen_contenders(Operands<Kokkos::complex<double>> const&);

}  // namespace blockspan::perf
