#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <KokkosSparse_spmv.hpp>
#include <Kokkos_Timer.hpp>

#include "peers/kokkos_kernels.hpp"

namespace blockspan::perf {
namespace kokkos_kernels {

#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOSKERNELS_ENABLE_TPL_CUSPARSE)
inline constexpr bool has_vendor_path = std::is_same_v<Exec, Kokkos::Cuda>;
#else
inline constexpr bool has_vendor_path = false;
#endif

template <class Layout, class Scalar>
Prepared prepare(Operands<Scalar> const& with, KokkosSparse::SPMVAlgorithm algorithm) {
  using Matrix = CrsMatrix<Scalar, Exec>;
  using Block = typename Operands<Scalar>::template Block<Layout>;
  Kokkos::Timer const timer;
  // a fresh one for each case: it keeps the buffer size of its first product
  auto const handle =
      std::make_shared<KokkosSparse::SPMVHandle<Exec, Matrix, Block, Block>>(algorithm);
  auto const multiply = [with, handle] {
    KokkosSparse::spmv(with.exec, handle.get(), "N", with.alpha, with.A, with.template X<Layout>(),
                       with.beta, with.template Y<Layout>());
  };
  return {multiply, 1e3 * timer.seconds(), ""};
}

template <class Layout, class Scalar>
Contender contender(Operands<Scalar> const& with, std::string const& path,
                    KokkosSparse::SPMVAlgorithm algorithm) {
  Order const order = std::is_same_v<Layout, Kokkos::LayoutRight> ? Order::row : Order::column;
  return {"kokkos-kernels/" + path + "/" + to_string(order), "kokkos-kernels", order, false,
          [with, algorithm] { return prepare<Layout>(with, algorithm); }};
}

}  // namespace kokkos_kernels

template <class Scalar>
std::vector<Contender> kokkos_kernels_contenders(Operands<Scalar> const& with) {
  using kokkos_kernels::contender, Kokkos::LayoutLeft, Kokkos::LayoutRight;
  std::vector<Contender> all{contender<LayoutRight>(with, "native", KokkosSparse::SPMV_NATIVE),
                             contender<LayoutLeft>(with, "native", KokkosSparse::SPMV_NATIVE)};
  if (with.columns() == 1)
    all.push_back(contender<LayoutLeft>(with, "merge", KokkosSparse::SPMV_NATIVE_MERGE_PATH));
  if constexpr (kokkos_kernels::has_vendor_path)
    all.push_back(contender<LayoutLeft>(with, "vendor", KokkosSparse::SPMV_DEFAULT));
  return all;
}

}  // namespace blockspan::perf
