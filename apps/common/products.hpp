#pragma once

#include <memory>
#include <string>
#include <utility>

#include <blockspan/operators/cusparse_operator.hpp>
#include <blockspan/operators/kokkos_kernels_operator.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/error.hpp>

#include "common/components.hpp"
#include "common/dispatch.hpp"

namespace blockspan::apps {

/// Throws Error where the product called `spmm` cannot run on this backend or was not linked,
/// before anything is loaded.
template <class Exec>
void require_product(std::string const& spmm) {
  require(spmm != "cusparse" || backend_name<Exec>() == "cuda", "--spmm cusparse",
          "cuSPARSE runs on the backend cuda only, and this run is on ", backend_name<Exec>());
  require(has_cusparse || spmm != "cusparse", "--spmm cusparse", left_out("cusparse"));
  require(has_kokkos_kernels || spmm != "kokkos-kernels", "--spmm kokkos-kernels",
          left_out("kokkos_kernels"));
}

/// A matrix as the operator of a solver, and who multiplies.
template <class Scalar, class Exec>
struct Product {
  std::unique_ptr<LinearOperator<Scalar, Exec>> op;
  std::string name;    ///< the kernel, or whose product it is
  std::string reason;  ///< why the plan chose that kernel; empty for a peer
};

/// The product of A by `spmm`: blockspan, one of its kernels by the id, kokkos-kernels or cusparse.
/// columns: the widest block expected. Throws Error as require_product and SpmmPlan.
template <class Scalar, class Exec>
Product<Scalar, Exec> make_product(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                   std::string const& spmm, int columns) {
  require_product<Exec>(spmm);
  if constexpr (has_kokkos_kernels)
    if (spmm == "kokkos-kernels") return {kokkos_kernels_operator(exec, A), "Kokkos Kernels", ""};
  if constexpr (has_cusparse)
    if (spmm == "cusparse") return {cusparse_operator(exec, A), "cuSPARSE", ""};
  using Operator = MatrixOperator<Scalar, Exec>;
  SpmmPlanOptions options{.columns = columns};
  if (spmm != "blockspan") options.algorithm = spmm;
  auto op = std::make_unique<Operator>(exec, A, options);
  std::string const kernel = op->plan().kernel(columns, sizeof(Scalar));
  std::string const reason = op->plan().explain(columns, sizeof(Scalar));
  return {std::move(op), kernel, reason};
}

/// The product of A without the plan of a solve: what checks it multiplies so.
template <class Scalar, class Exec>
auto plain_product(CrsMatrix<Scalar, Exec> const& A) {
  return function_operator<Scalar, Exec>(
      A.numRows(),
      [A](Exec const& exec, ConstBlock<Scalar, Exec> const& X, Block<Scalar, Exec> const& Y) {
        spmm(exec, Op::none, Scalar(1), A, X, Scalar(0), Y);
      });
}

}  // namespace blockspan::apps
