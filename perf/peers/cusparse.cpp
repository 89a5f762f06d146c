#include "peers/cusparse.hpp"

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/support/error.hpp>

#ifdef BLOCKSPAN_HAS_CUSPARSE
#include "peers/cusparse_spmm.hpp"
#include "peers/cusparse_spmv.hpp"
#endif

namespace blockspan::perf {

#ifdef BLOCKSPAN_HAS_CUSPARSE

namespace {

using blockspan::operators::CusparseHandle;

template <class Product, class Algorithm, class Scalar>
void add(std::vector<Contender>& all, Operands<Scalar> const& with, std::string const& id,
         Order order, Algorithm algorithm) {
  for (bool const preprocess : {false, true}) {
    if (preprocess && !Product::has_preprocess) continue;
    all.push_back({"cusparse/" + id + (preprocess ? "/preprocessed" : ""), "cusparse", order, false,
                   [with, order, algorithm, preprocess] {
                     return prepare_cusparse<Product>(with, order, algorithm, preprocess);
                   }});
  }
}

}  // namespace

template <class Scalar>
std::vector<Contender> cusparse_contenders(Operands<Scalar> const& with) {
  std::vector<Contender> all;
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    for (Order const order : {Order::row, Order::column})
      for (auto const& [name, algorithm] : cusparse_spmm_algorithms)
        add<CusparseSpmm<Scalar>>(all, with, std::string("spmm/") + name + "/" + to_string(order),
                                  order, algorithm);
    if (with.columns() == 1)
      for (auto const& [name, algorithm] : cusparse_spmv_algorithms)
        add<CusparseSpmv<Scalar>>(all, with, std::string("spmv/") + name, Order::row, algorithm);
  }
  return all;
}

std::string cusparse_version() { return blockspan::operators::cusparse_version(); }

#else

template <class Scalar>
std::vector<Contender> cusparse_contenders(Operands<Scalar> const&) {
  auto const refuse = []() -> Prepared {
    fail("cuSPARSE", "needs the component cusparse, which this build is without");
  };
  return {{"cusparse", "cusparse", Order::row, false, refuse}};
}

std::string cusparse_version() { return ""; }

#endif

template std::vector<Contender> cusparse_contenders(Operands<float> const&);
template std::vector<Contender> cusparse_contenders(Operands<double> const&);
template std::vector<Contender> cusparse_contenders(Operands<Kokkos::complex<float>> const&);
template std::vector<Contender> cusparse_contenders(Operands<Kokkos::complex<double>> const&);

}  // namespace blockspan::perf
