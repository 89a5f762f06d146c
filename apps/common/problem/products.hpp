#pragma once

#include <memory>
#include <string>
#include <utility>

#include <blockspan/distributed/convert.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/operators/cusparse_operator.hpp>
#include <blockspan/operators/kokkos_kernels_operator.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/error.hpp>

#include "common/machine/components.hpp"
#include "common/machine/dispatch.hpp"

namespace blockspan::apps {

/// Throws Error where the product called `spmm` cannot run on this backend or on so many ranks, or
/// was not linked, before anything is loaded.
template <class Exec>
void require_product(std::string const& spmm, int ranks) {
  require(ranks == 1 || (spmm != "cusparse" && spmm != "kokkos-kernels"), "--spmm " + spmm,
          "runs on one rank only");
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
/// columns: the widest block expected. All ranks together. Throws Error as require_product and
/// SpmmPlan.
template <class Scalar, class Exec>
Product<Scalar, Exec> make_product(Exec const& exec,
                                   std::shared_ptr<DistributedMatrix<Scalar, Exec> const> const& A,
                                   std::string const& spmm, int columns) {
  int const ranks = A->partition().ranks();
  require_product<Exec>(spmm, ranks);
  if constexpr (has_kokkos_kernels)
    if (spmm == "kokkos-kernels")
      return {kokkos_kernels_operator(exec, A->whole()), "Kokkos Kernels", ""};
  if constexpr (has_cusparse)
    if (spmm == "cusparse") return {cusparse_operator(exec, A->whole()), "cuSPARSE", ""};
  SpmmPlanOptions options{.columns = columns};
  if (spmm != "blockspan") options.algorithm = spmm;
  auto op = std::make_unique<DistributedOperator<Scalar, Exec>>(exec, A, options);
  auto const& plan = op->parts().plan(DistributedMatrix<Scalar, Exec>::interior);
  std::string const kernel = plan.kernel(columns, sizeof(Scalar));
  std::string const reason =
      ranks == 1 ? plan.explain(columns, sizeof(Scalar)) : "of the rows that need no others";
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

/// The same of a matrix on ranks; where there are several, `product` itself.
template <class Scalar, class Exec>
std::shared_ptr<LinearOperator<Scalar, Exec> const> plain_product(
    DistributedMatrix<Scalar, Exec> const& A, Product<Scalar, Exec> const& product) {
  if (A.partition().ranks() > 1) return {std::shared_ptr<void>(), product.op.get()};
  auto plain = plain_product<Scalar>(A.whole());
  return std::make_shared<decltype(plain) const>(std::move(plain));
}

/// A in single precision, for --precision mixed.
template <class Scalar, class Exec>
struct SingleProduct {
  using Rows = DistributedMatrix<single_t<Scalar>, Exec>;

  SingleProduct(Exec const& exec, DistributedMatrix<Scalar, Exec> const& of, int columns)
      : SingleProduct(exec, single_precision_rows(exec, of), columns) {}

  std::shared_ptr<Rows const> A;  ///< factor A, rounded
  DistributedOperator<single_t<Scalar>, Exec> op;
  real_t<Scalar> factor;

 private:
  SingleProduct(Exec const& exec, SinglePrecisionRows<Scalar, Exec> const& of, int columns)
      : A(of.matrix), op(exec, A, SpmmPlanOptions{.columns = columns}), factor(of.factor) {}
};

}  // namespace blockspan::apps
