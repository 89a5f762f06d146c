#pragma once

#include <cstdint>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

// The seam to the library Blockspan::published, which fills these tables before main begins. The
// core calls it through them, and so is linked without it.

namespace blockspan::detail {

template <class Exec, class Scalar, class Ordinal, class Stored = Scalar>
struct SpmmCall;

/// What a plan needs, for each backend.
template <class Exec, class Ordinal>
struct PublishedTiles {
  /// Tiles for a variant that lists them, of at most `asked` entries if that is not 0.
  using Cut = TileList<Exec, Ordinal> (*)(Exec const&, PatternRef<int, Ordinal> const&,
                                          RowStatistics const&, SpmmVariant const&,
                                          std::int64_t asked);
  static inline Cut cut = nullptr;  ///< null: the library is not linked
};

/// What a product needs, for each backend and scalar.
template <class Exec, class Scalar, class Ordinal>
struct PublishedKernels {
  using Call = SpmmCall<Exec, Scalar, Ordinal>;
  static inline void (*launch)(Call const&) = nullptr;
  static inline void (*multiply_dense)(Call const&, PlanState<Exec, Ordinal>&) = nullptr;
};

/// Throws Error unless the library is linked.
template <class Exec, class Function>
void require_published(char const* where, SpmmVariant const& variant, Function* function) {
  require(function != nullptr, where, variant.id, " on ", Exec::name(),
          " is a kernel of the component Blockspan::published, which this program does not link");
}

}  // namespace blockspan::detail
