#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/prepared/plan_state.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/run/multiply.hpp>

namespace blockspan::products {

/// Entries of a panel at most: kernels count them with 32 bits.
inline constexpr std::int64_t most_panel_entries = INT32_MAX;

/// Neighbouring rows of a matrix, with row offsets that begin at 0.
template <class Ordinal>
struct RowPanel {
  std::int64_t first_row;    ///< in the matrix; of blocks, where it has blocks
  std::int64_t first_entry;  ///< in the matrix
  PatternRef<int, Ordinal> pattern;
};

/// A matrix cut into panels of rows with 32-bit offsets. A matrix with int offsets that fits one
/// panel is that panel; otherwise rows + panels ints are kept in `offsets`.
template <class Exec, class Ordinal>
struct RowPanels {
  std::vector<RowPanel<Ordinal>> panels;  ///< at least one
  Kokkos::View<int*, typename Exec::memory_space> offsets;
};

/// Waits for the instance, unless the matrix is its own panel. Throws Error if one row has more
/// entries than a panel may have, or where memory is short. O(rows).
template <class Exec, class Offset, class Ordinal>
RowPanels<Exec, Ordinal> cut_into_panels(Exec const& exec, PatternRef<Offset, Ordinal> const& A,
                                         std::int64_t most_entries = most_panel_entries);

/// The values of a panel.
template <class Scalar, class Ordinal>
Scalar const* values_of(MatrixRef<Scalar, void, Ordinal> const& A, RowPanel<Ordinal> const& panel) {
  return A.values + panel.first_entry * panel.pattern.block * panel.pattern.block;
}

/// The product with a panel of rows of A. Those of a transposed A add up, in the order of the
/// panels.
template <class Scalar, class Storage, class Ordinal>
Product<Scalar, Storage> product_of_panel(Product<Scalar, Storage> product,
                                          RowPanel<Ordinal> const& panel) {
  std::int64_t const first = panel.first_row * panel.pattern.block;
  if (transposes(product.op)) {
    product.X.data += first * product.X.row_stride;
    product.X.rows = panel.pattern.vector_rows();
    if (first > 0) product.beta = Scalar(1);
  } else {
    product.Y.data += first * product.Y.row_stride;
    product.Y.rows = panel.pattern.vector_rows();
  }
  return product;
}

/// What a plan holds: a state for each panel, all of the same options.
template <class Exec, class Ordinal>
struct PlanPanels {
  PatternRef<void, Ordinal> given{};  ///< the pattern that the plan was made for
  RowStatistics statistics;           ///< of the whole matrix
  RowPanels<Exec, Ordinal> rows;
  std::vector<std::shared_ptr<PlanState<Exec, Ordinal>>> states;  ///< of the panels
  std::shared_ptr<void const> owner;               ///< keeps the pattern's arrays alive
  std::int64_t most_entries = most_panel_entries;  ///< of a panel

  PlanState<Exec, Ordinal>& first() const { return *states.front(); }
  bool is_cut() const { return states.size() > 1; }
};

}  // namespace blockspan::products
