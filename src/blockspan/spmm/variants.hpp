#pragma once

#include <array>
#include <string>
#include <string_view>

namespace blockspan {

/// One supported combination of the parts of a product: an entry of the menu.
struct SpmmVariant {
  std::string_view id;     ///< what SpmmPlanOptions::algorithm asks for
  char const* label;       ///< what Kokkos Tools sees: "Blockspan::spmm::" and the id
  char const* parts;       ///< partition, schedule, inner
  char const* source;      ///< author, year, venue
  char const* needs;       ///< what an input must offer, in words; empty: nothing
  bool cuts_rows;          ///< long rows are cut into pieces
  bool needs_whole_packs;  ///< on devices: 16-byte packs must fit X and Y exactly
};

/// The menu: each supported combination once. Nothing else is instantiated, measured or documented;
/// the variant asked for is the variant run, or the call says why not.
inline constexpr std::array<SpmmVariant, 3> spmm_variants{{
    {"warp_per_row", "Blockspan::spmm::warp_per_row",
     "whole rows; direct loads; a lane owns single columns",
     "Bell, Garland 2009, SC'09, doi:10.1145/1654059.1654078 (vector kernel, lanes over columns)",
     "", false, false},
    {"warp_per_row_packs", "Blockspan::spmm::warp_per_row_packs",
     "whole rows; direct loads; a lane owns a pack of neighbouring columns",
     "Yang, Buluc, Owens 2018, Euro-Par, doi:10.1007/978-3-319-96983-1_48 (row split; 16-byte "
     "loads as in its successors)",
     "on devices: rows of X and Y contiguous, 16-byte aligned and a multiple of 16 bytes wide",
     false, true},
    {"segments", "Blockspan::spmm::segments",
     "long rows cut into equal pieces, their sums added in order by a second pass; direct loads; "
     "packs where they fit, else single columns",
     "Blockspan; cutting as in Flegar, Quintana-Orti 2017, Euro-Par, "
     "doi:10.1007/978-3-319-64203-1_51, without its atomics",
     "", true, false},
}};

/// The entry with this id, or null.
constexpr SpmmVariant const* find_spmm_variant(std::string_view id) {
  for (auto const& variant : spmm_variants)
    if (variant.id == id) return &variant;
  return nullptr;
}

/// The menu in one line a variant: id, parts, source.
inline std::string spmm_menu() {
  std::string menu;
  for (auto const& variant : spmm_variants)
    menu += "\n  " + std::string(variant.id) + ": " + variant.parts + " [" + variant.source + "]";
  return menu;
}

}  // namespace blockspan
