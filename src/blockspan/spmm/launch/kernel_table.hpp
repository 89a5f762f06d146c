#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/prepared/plan_state.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

// Registration of kernels from other libraries, such as Blockspan::published: before main begins
// they register the row of the menu (register_spmm_variant) and, for each combination of types, the
// function that launches it. The core calls them through these tables and does not link them.

namespace blockspan::products {

template <class Exec, class Scalar, class Ordinal, class Storage = Scalar>
struct SpmmCall;

/// Functions by kernel.
template <class Function>
class FunctionsOfKernels {
 public:
  void add(SpmmVariant const& variant, Function function) {
    if (find(variant) == nullptr) all_.emplace_back(&variant, function);
  }
  /// Null: there is none.
  Function find(SpmmVariant const& variant) const {
    for (auto const& [known, function] : all_)
      if (known == &variant) return function;
    return nullptr;
  }

 private:
  std::vector<std::pair<SpmmVariant const*, Function>> all_;
};

/// What launches a product, for each backend and scalar.
template <class Exec, class Scalar, class Ordinal>
auto& kernel_table() {
  using Function = void (*)(SpmmCall<Exec, Scalar, Ordinal> const&, PlanState<Exec, Ordinal>&);
  static FunctionsOfKernels<Function> table;
  return table;
}

/// What cuts a pattern into tiles, for each backend: of at most `asked` entries if that is not 0.
template <class Exec, class Ordinal>
auto& tile_table() {
  using Function = TileList<Exec, Ordinal> (*)(Exec const&, PatternRef<int, Ordinal> const&,
                                               RowStatistics const&, std::int64_t asked);
  static FunctionsOfKernels<Function> table;
  return table;
}

/// The function for this kernel. Throws Error where its library is not linked.
template <class Exec, class Function>
Function registered(char const* where, FunctionsOfKernels<Function> const& table,
                    SpmmVariant const& variant) {
  auto const function = table.find(variant);
  char const* const component =
      variant.component != nullptr ? variant.component : "Blockspan::published";
  require(function != nullptr, where, variant.id, " on ", Exec::name(),
          " is a kernel of the component ", component, ", which this program does not link");
  return function;
}

}  // namespace blockspan::products
