#pragma once

#include <array>
#include <string>
#include <string_view>

namespace blockspan {

/// Where the nonzeros of a matrix are cut.
enum class SpmmPartition {
  whole_rows,
  segments,         ///< long rows in equal pieces, whose sums a second pass adds in a fixed order
  sorted_segments,  ///< the same in classes of equal length, the longest first
  nonempty_rows,    ///< segments of the rows that have entries; a pass of its own fills the others
};

/// Who multiplies a piece.
enum class SpmmWorker {
  team_thread,   ///< a thread of a team, its vector lanes over columns (and nonzeros)
  team,          ///< the same with a team of one thread for each piece
  row_item,      ///< one work item a row, which walks it once a column
  element_item,  ///< one work item an element of Y
};

/// One supported combination of the parts of a product: an entry of the menu.
struct SpmmVariant {
  std::string_view id;  ///< what SpmmPlanOptions::algorithm asks for
  char const* label;    ///< what Kokkos Tools sees: "Blockspan::spmm::" and the id
  char const* parts;    ///< in words
  char const* source;   ///< author, year, venue
  char const* needs;    ///< what an input must offer, in words; empty: nothing
  char const* loses;    ///< why it is not taken where it is not, in words
  SpmmPartition partition;
  SpmmWorker worker;
  bool needs_whole_packs;  ///< on devices: 16-byte packs must fit X and Y exactly
  bool takes_packs;        ///< a lane (on hosts a thread) owns neighbouring columns where it can

  constexpr bool lists_pieces() const { return partition != SpmmPartition::whole_rows; }
  constexpr bool skips_empty_rows() const { return partition == SpmmPartition::nonempty_rows; }
};

/// The menu: each supported combination once. Nothing else is instantiated, measured or documented;
/// the variant asked for is the variant run, or the call says why not.
inline constexpr std::array<SpmmVariant, 8> spmm_variants{{
    {"thread_per_row", "Blockspan::spmm::thread_per_row",
     "whole rows; a work item walks its row once a column",
     "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR scalar)", "", "the naive baseline",
     SpmmPartition::whole_rows, SpmmWorker::row_item, false, false},
    {"thread_per_element", "Blockspan::spmm::thread_per_element",
     "whole rows; a work item makes one element of Y",
     "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR scalar, a thread a column too)", "",
     "the naive baseline with a thread a column", SpmmPartition::whole_rows,
     SpmmWorker::element_item, false, false},
    {"team_per_row", "Blockspan::spmm::team_per_row",
     "whole rows; a team of one thread a row, lanes over columns",
     "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR vector), taken literally", "",
     "a team is too small for one row of few columns", SpmmPartition::whole_rows, SpmmWorker::team,
     false, true},
    {"warp_per_row", "Blockspan::spmm::warp_per_row",
     "whole rows; direct loads; a lane owns single columns",
     "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR vector, lanes over columns)", "",
     "one column a lane, for blocks whose rows are no whole packs", SpmmPartition::whole_rows,
     SpmmWorker::team_thread, false, false},
    {"warp_per_row_packs", "Blockspan::spmm::warp_per_row_packs",
     "whole rows; direct loads; a lane owns packs of neighbouring columns",
     "Yang, Buluc, Owens 2018, Euro-Par, doi:10.1007/978-3-319-96983-1_48 (row split; 16-byte "
     "loads as in its successors)",
     "on devices: rows of X and Y contiguous, 16-byte aligned and a multiple of 16 bytes wide",
     "whole rows, for rows of about equal length", SpmmPartition::whole_rows,
     SpmmWorker::team_thread, true, true},
    {"segments", "Blockspan::spmm::segments",
     "long rows cut into equal pieces, their sums added in order by a second pass; direct loads; "
     "packs where they fit, else single columns",
     "Blockspan; cutting as in Flegar, Quintana-Orti 2017, Euro-Par, "
     "doi:10.1007/978-3-319-64203-1_51, without its atomics",
     "", "for even matrices with rows too long for one thread", SpmmPartition::segments,
     SpmmWorker::team_thread, false, true},
    {"segments_sorted", "Blockspan::spmm::segments_sorted",
     "as segments, the pieces in classes of equal length, the longest first",
     "Blockspan; classes by powers of two as in Ashari, Sedaghati, Eisenlohr, Parthasarathy, "
     "Sadayappan 2014, SC, doi:10.1109/SC.2014.69",
     "", "for rows of uneven length", SpmmPartition::sorted_segments, SpmmWorker::team_thread,
     false, true},
    {"nonempty_rows", "Blockspan::spmm::nonempty_rows",
     "as segments, over the rows that have entries; one pass fills the others",
     "Blockspan; the row list of Buluc, Gilbert 2008, IPDPS, doi:10.1109/IPDPS.2008.4536313", "",
     "for mostly empty rows", SpmmPartition::nonempty_rows, SpmmWorker::team_thread, false, true},
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
