#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <blockspan/spmm/kernels/list.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {
namespace {

using namespace products;

template <class... Kernels>
constexpr std::array<SpmmVariant const*, sizeof...(Kernels)> rows_of(KernelList<Kernels...>) {
  return {&Kernels::row...};
}
constexpr auto core = rows_of(CoreKernels{});

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(core); ++i)
    if (core[i]->kernel != static_cast<SpmmKernelId>(i)) return false;
  return std::size(core) == static_cast<std::size_t>(SpmmKernelId::registered);
}
static_assert(is_in_order());

/// Made when it is first asked for: libraries register before main begins, in any order.
std::vector<SpmmVariant const*>& menu() {
  static std::vector<SpmmVariant const*> all(std::begin(core), std::end(core));
  return all;
}

}  // namespace

std::vector<SpmmVariant const*> const& spmm_variants() { return menu(); }

SpmmVariant const& spmm_variant(SpmmKernelId kernel) {
  return *core[static_cast<std::size_t>(kernel)];
}

SpmmVariant const* find_spmm_variant(std::string_view id) {
  for (auto const* const variant : menu())
    if (variant->id == id) return variant;
  return nullptr;
}

void register_spmm_variant(SpmmVariant const& variant) {
  auto const* const known = find_spmm_variant(variant.id);
  require(known == nullptr || known == &variant, "blockspan::register_spmm_variant",
          "there is another kernel with the id ", variant.id);
  if (known == nullptr) menu().push_back(&variant);
}

std::string spmm_menu() {
  std::string text;
  for (auto const* const variant : menu())
    text +=
        "\n  " + std::string(variant->id) + ": " + variant->parts + " [" + variant->source + "]";
  return text;
}

}  // namespace blockspan
