#pragma once

#include <functional>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>

#include "blockspan-spmm/blocks.hpp"

namespace blockspan::perf {

using Exec = Kokkos::DefaultExecutionSpace;

/// How the elements of X and Y follow each other in memory.
enum class Order { row, column };

inline char const* to_string(Order order) { return order == Order::row ? "row" : "column"; }

/// What all contenders of a case multiply, Y = alpha A X + beta Y: the same X in both orders, a Y
/// of each.
template <class Scalar>
struct Operands {
  template <class Layout>
  using Block = apps::BlockOf<Scalar, Layout, Exec>;

  Exec exec;
  CrsMatrix<Scalar, Exec> A;         ///< m x k
  Block<Kokkos::LayoutRight> X_row;  ///< k x n
  Block<Kokkos::LayoutRight> Y_row;  ///< m x n
  Block<Kokkos::LayoutLeft> X_column;
  Block<Kokkos::LayoutLeft> Y_column;
  Scalar alpha = Scalar(1), beta = Scalar(0);

  int columns() const { return static_cast<int>(X_row.extent(1)); }

  template <class Layout>
  auto const& X() const {
    if constexpr (std::is_same_v<Layout, Kokkos::LayoutRight>)
      return X_row;
    else
      return X_column;
  }
  template <class Layout>
  auto const& Y() const {
    if constexpr (std::is_same_v<Layout, Kokkos::LayoutRight>)
      return Y_row;
    else
      return Y_column;
  }
};

/// A contender that is ready: multiply() queues its product into the Y of its order.
struct Prepared {
  std::function<void()> multiply;
  double setup_ms = 0;  ///< what had to be made before the first product, waited for
  std::string label;    ///< Blockspan's: the kernel that the plan names; empty for a peer
};

/// A kernel that takes part in a case.
struct Contender {
  std::string id;      ///< "auto", "segments", "cusparse/spmm/csr_alg2/row/preprocessed"
  std::string family;  ///< whose it is: blockspan, cusparse, kokkos-kernels
  Order order;         ///< of its X and Y
  bool whole_rows;     ///< Blockspan's variants: no row is cut
  /// Throws where it cannot serve the operands.
  std::function<Prepared()> prepare;
};

}  // namespace blockspan::perf
