#pragma once

#include <blockspan/multivector/combine.hpp>
#include <blockspan/multivector/compiled/combine_device.hpp>
#include <blockspan/multivector/compiled/combine_host.hpp>
#include <blockspan/multivector/compiled/gram_device.hpp>
#include <blockspan/multivector/compiled/gram_host.hpp>
#include <blockspan/multivector/gram.hpp>
#include <blockspan/support/backend.hpp>

// Gram matrices and combinations of blocks: chooses the kernels of hosts and devices, and joins the
// sums of all ranks.

namespace blockspan::multivector {

template <class Exec, class Scalar>
void gram_of_all_ranks(Exec const& exec, BlockRef<Scalar const> const& X,
                       BlockRef<Scalar const> const& Y, BlockRef<Scalar> const& G,
                       Workspace<Exec>& workspace, real_t<Scalar> const* weights = nullptr) {
  GramsOverRanks<Exec, Scalar, 1> const grams(exec, {G}, X.rows, workspace);
  gram_on_device(exec, X, Y, grams.nodes(0), workspace, weights);
  grams.join();
}

template <class Exec, class Scalar>
void gram(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y,
          SmallRef<Scalar> const& G, Workspace<Exec>& workspace) {
  if (X.columns == 0 || Y.columns == 0) return;
  auto const result = result_on_device(exec, G, workspace);
  if constexpr (runs_on_host_v<Exec>)
    gram_on_host(exec, X, Y, result, workspace);
  else
    gram_of_all_ranks(exec, X, Y, result, workspace);
  deliver(exec, result, G, workspace);
}

template <class Exec, class Scalar>
void combine(Exec const& exec, Scalar alpha, BlockRef<Scalar const> const& X,
             SmallRef<Scalar const> const& C, Scalar beta, BlockRef<Scalar> const& Y,
             Workspace<Exec>& workspace) {
  if (Y.rows == 0 || Y.columns == 0) return;
  auto const coefficients = operand_on_device(exec, C, workspace);
  if constexpr (runs_on_host_v<Exec>)
    combine_on_host(exec, alpha, X, coefficients, beta, Y, false, workspace);
  else
    combine_on_device(exec, alpha, X, coefficients, beta, Y, workspace);
}

template <class Exec, class Scalar>
void combine_in_place(Exec const& exec, BlockRef<Scalar> const& X, SmallRef<Scalar const> const& C,
                      Workspace<Exec>& workspace) {
  if (X.rows == 0 || C.block.columns == 0) return;
  auto const coefficients = operand_on_device(exec, C, workspace);
  BlockRef<Scalar> const Y{X.data, X.rows, C.block.columns, X.row_stride, X.column_stride};
  if constexpr (runs_on_host_v<Exec>)
    combine_on_host<Exec, Scalar>(exec, Scalar(1), X, coefficients, Scalar(0), Y, true, workspace);
  else
    combine_in_place_on_device(exec, X, coefficients, Y, workspace);
}

template <class Exec, class Scalar>
void combine_terms(Exec const& exec, RowTerm<Scalar> const& first, RowTerm<Scalar> const& second,
                   BlockRef<Scalar> const& Y, Workspace<Exec>& workspace) {
  if (Y.rows == 0 || Y.columns == 0) return;
  if constexpr (runs_on_host_v<Exec>)
    combine_terms_on_host(exec, first, second, Y, workspace);
  else
    combine_terms_on_device(exec, first, second, Y, workspace);
}

template <class Exec, class Scalar>
void gram_pair(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y,
               BlockRef<Scalar> const& G, BlockRef<Scalar const> const& Z,
               BlockRef<Scalar> const& H, Workspace<Exec>& workspace) {
  if (X.columns == 0 || Y.columns == 0) return;
  if constexpr (runs_on_host_v<Exec>) {
    gram_on_host(exec, X, Y, G, workspace);
    gram_on_host(exec, X, Z, H, workspace);
  } else {
    GramsOverRanks<Exec, Scalar, 2> const grams(exec, {G, H}, X.rows, workspace);
    gram_pair_on_device(exec, X, Y, grams.nodes(0), Z, grams.nodes(1), workspace);
    grams.join();
  }
}

template <class Exec, class Scalar>
void weighted_gram(Exec const& exec, BlockRef<Scalar const> const& X, real_t<Scalar> const* weights,
                   BlockRef<Scalar> const& G, Workspace<Exec>& workspace) {
  if (X.columns == 0) return;
  if constexpr (runs_on_host_v<Exec>)
    gram_on_host(exec, X, X, G, workspace, weights);
  else
    gram_of_all_ranks(exec, X, X, G, workspace, weights);
}

}  // namespace blockspan::multivector
