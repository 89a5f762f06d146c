#pragma once

#include <array>
#include <string>
#include <string_view>

namespace blockspan {

/// Where the nonzeros of a matrix are cut.
enum class SpmmPartition {
  whole_rows,
  segments,         ///< long rows in equal segments, whose sums are added in a fixed order
  sorted_segments,  ///< the same in classes of equal length, the longest first
  nonempty_rows,    ///< segments of the rows that have entries; the others are filled
  equal_entries,    ///< tiles of equally many entries, wherever rows begin
  merge_path,       ///< tiles of equally many rows and entries together
  row_classes,      ///< tiles of many short rows, of one row, of part of a long row
  row_groups,       ///< neighbouring rows that have the same columns
  row_windows,      ///< eight neighbouring rows, and the columns that any of them has
};

/// Who multiplies a segment (or tile) of the matrix.
enum class SpmmWorker {
  team_thread,   ///< a thread of a team, its vector lanes over columns (and nonzeros)
  team,          ///< the same with a team of one thread for each segment
  row_item,      ///< one work item a row, which walks it once a column
  element_item,  ///< one work item an element of Y
  whole_team,    ///< all threads of a team together
  blas,          ///< a library's dense product
};

/// How the worker reads the entries and the rows of X that they need.
enum class SpmmInner {
  direct,       ///< every lane for itself, from memory
  broadcast,    ///< each lane reads one entry and hands it to the others
  staged,       ///< the lanes read a chunk of entries into team scratch
  prefix_sum,   ///< products into team scratch, summed by a segmented scan, a column at a time
  staged_tile,  ///< the team reads a tile of X into team scratch
  tensor_tile,  ///< small dense tiles, zeros where there is no entry, on tensor cores
  dense,        ///< A written out as a dense matrix
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
  SpmmInner inner;
  bool requires_aligned_x;  ///< on devices: rows of X and Y are whole 16-byte vectors
  bool vectorized;          ///< a lane (on hosts a thread) owns neighbouring columns where it can

  constexpr bool lists_segments() const {
    return partition == SpmmPartition::segments || partition == SpmmPartition::sorted_segments ||
           partition == SpmmPartition::nonempty_rows;
  }
  constexpr bool lists_tiles() const {
    return partition == SpmmPartition::equal_entries || partition == SpmmPartition::merge_path ||
           partition == SpmmPartition::row_classes;
  }
  constexpr bool lists_groups() const { return partition == SpmmPartition::row_groups; }
  constexpr bool lists_windows() const { return partition == SpmmPartition::row_windows; }
  /// Needs the library Blockspan::published: what serves as a peer, and no plan takes by itself.
  constexpr bool is_published() const {
    if (worker != SpmmWorker::team_thread) return !stages_tiles();
    return lists_tiles() || inner == SpmmInner::staged || inner == SpmmInner::broadcast;
  }
  constexpr bool stages_tiles() const { return inner == SpmmInner::staged_tile; }
  /// On devices: only X has to be whole vectors; sums go to Y of any strides.
  constexpr bool supports_strided_y() const {
    return lists_windows() || lists_groups() ||
           (is_direct() && vectorized && partition == SpmmPartition::whole_rows);
  }
  /// On devices: the elements of a row of X are neighbours.
  constexpr bool needs_contiguous_x() const { return requires_aligned_x || lists_windows(); }
  constexpr bool skips_empty_rows() const { return partition == SpmmPartition::nonempty_rows; }
  constexpr bool needs_sorted_rows() const {
    return inner == SpmmInner::staged_tile || inner == SpmmInner::tensor_tile ||
           inner == SpmmInner::dense;
  }
  /// Direct loads by team threads, over rows or segments of them.
  constexpr bool is_direct() const {
    return inner == SpmmInner::direct && worker != SpmmWorker::whole_team && !lists_tiles() &&
           !lists_groups();
  }
};

/// The menu: each supported combination once. Nothing else is instantiated, measured or documented;
/// the variant asked for is the variant run, or the call says why not. Those that are
/// is_published() run where the library Blockspan::published is linked.
inline constexpr std::array<SpmmVariant, 19> spmm_variants{{
    {"thread_per_row", "Blockspan::spmm::thread_per_row",
     "whole rows; a work item walks its row once a column",
     "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR scalar)", "", "the naive baseline",
     SpmmPartition::whole_rows, SpmmWorker::row_item, SpmmInner::direct, false, false},
    {"thread_per_element", "Blockspan::spmm::thread_per_element",
     "whole rows; a work item makes one element of Y",
     "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR scalar, a thread a column too)", "",
     "the naive baseline with a thread a column", SpmmPartition::whole_rows,
     SpmmWorker::element_item, SpmmInner::direct, false, false},
    {"team_per_row", "Blockspan::spmm::team_per_row",
     "whole rows; a team of one thread a row, lanes over columns",
     "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR vector), taken literally", "",
     "a team is too small for one row of few columns", SpmmPartition::whole_rows, SpmmWorker::team,
     SpmmInner::direct, false, true},
    {"single_columns", "Blockspan::spmm::single_columns",
     "whole rows; direct loads; a lane owns single columns",
     "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR vector, lanes over columns)", "",
     "one column a lane, for blocks whose rows are no whole vectors", SpmmPartition::whole_rows,
     SpmmWorker::team_thread, SpmmInner::direct, false, false},
    {"rows", "Blockspan::spmm::rows",
     "whole rows; direct loads; a lane owns vectors of neighbouring columns",
     "Yang, Buluc, Owens 2018, Euro-Par, doi:10.1007/978-3-319-96983-1_48 (row split; 16-byte "
     "loads as in its successors)",
     "on devices: rows of X contiguous, 16-byte aligned and a multiple of 16 bytes wide",
     "whole rows, for rows of about equal length", SpmmPartition::whole_rows,
     SpmmWorker::team_thread, SpmmInner::direct, true, true},
    {"segments", "Blockspan::spmm::segments",
     "long rows cut into equal segments, their sums added in order by the segment that comes last; "
     "direct loads; "
     "vectors where they fit, else single columns",
     "Blockspan; cutting as in Flegar, Quintana-Orti 2017, Euro-Par, "
     "doi:10.1007/978-3-319-64203-1_51, without its atomics",
     "", "for even matrices with rows too long for one thread", SpmmPartition::segments,
     SpmmWorker::team_thread, SpmmInner::direct, false, true},
    {"segments_sorted", "Blockspan::spmm::segments_sorted",
     "as segments, the segments in classes of equal length, the longest first",
     "Blockspan; classes by powers of two as in Ashari, Sedaghati, Eisenlohr, Parthasarathy, "
     "Sadayappan 2014, SC, doi:10.1109/SC.2014.69",
     "", "for rows of uneven length", SpmmPartition::sorted_segments, SpmmWorker::team_thread,
     SpmmInner::direct, false, true},
    {"nonempty_rows", "Blockspan::spmm::nonempty_rows",
     "as segments, over the rows that have entries; one pass fills the others",
     "Blockspan; the row list of Buluc, Gilbert 2008, IPDPS, doi:10.1109/IPDPS.2008.4536313", "",
     "for mostly empty rows", SpmmPartition::nonempty_rows, SpmmWorker::team_thread,
     SpmmInner::direct, false, true},
    {"groups", "Blockspan::spmm::groups",
     "neighbouring rows with the same columns, up to four together: each row of X is fetched once "
     "for all of them; direct loads; vectors where they fit, else single columns",
     "Blockspan; register blocking of sparse rows as in Im, Yelick, Vuduc 2004, IJHPCA, "
     "doi:10.1177/1094342004041296, without its explicit zeros",
     "", "for rows that share their columns, as unknowns of one node do", SpmmPartition::row_groups,
     SpmmWorker::team_thread, SpmmInner::direct, false, true},
    {"windows", "Blockspan::spmm::windows",
     "windows of eight neighbouring rows; the columns that any of them has, in tiles with a bit "
     "for each entry, on tensor cores in full double precision; values as stored in the matrix",
     "Blockspan; condensed windows of rows as in Fan, Wang, Chu 2024, ASPLOS (DTC-SpMM), "
     "doi:10.1145/3620666.3651378, FP64 tensor cores as in Lu, Liu 2023, SC (DASP), "
     "doi:10.1145/3581784.3607051",
     "FP64 tensor cores (CUDA, from Ampere on); double or complex double; rows of X "
     "contiguous",
     "for sorted rows whose neighbours have many columns in common, and more than a few columns",
     SpmmPartition::row_windows, SpmmWorker::team_thread, SpmmInner::tensor_tile, false, true},
    {"staged_single_columns", "Blockspan::spmm::staged_single_columns",
     "whole rows; chunks of 32 entries through team scratch; a lane owns single columns",
     "Huang, Dai, Wang, Yang 2020, SC (GE-SpMM), doi:10.1109/SC41405.2020.00076", "",
     "staging costs more than the cache's own broadcast", SpmmPartition::whole_rows,
     SpmmWorker::team_thread, SpmmInner::staged, false, false},
    {"staged_rows", "Blockspan::spmm::staged_rows",
     "whole rows; chunks of 32 entries through team scratch; a lane owns vectors of columns",
     "Huang, Dai, Wang, Yang 2020, SC (GE-SpMM), doi:10.1109/SC41405.2020.00076, with 16-byte "
     "loads",
     "on devices: rows of X and Y contiguous, 16-byte aligned and a multiple of 16 bytes wide",
     "staging costs more than the cache's own broadcast", SpmmPartition::whole_rows,
     SpmmWorker::team_thread, SpmmInner::staged, true, true},
    {"row_split", "Blockspan::spmm::row_split",
     "whole rows; 32 lanes a row, each reads one entry and broadcasts it to the others",
     "Yang, Buluc, Owens 2018, Euro-Par, doi:10.1007/978-3-319-96983-1_48", "",
     "few columns leave most of its lanes idle", SpmmPartition::whole_rows, SpmmWorker::team_thread,
     SpmmInner::broadcast, false, true},
    {"merge", "Blockspan::spmm::merge",
     "tiles of equally many rows and entries, a team thread each; sums of cut rows added in order",
     "Merrill, Garland 2016, SC, doi:10.1109/SC.2016.57; Yang, Buluc, Owens 2018, Euro-Par, "
     "doi:10.1007/978-3-319-96983-1_48",
     "", "most rows need no cutting, and its sums of cut rows are traffic",
     SpmmPartition::merge_path, SpmmWorker::team_thread, SpmmInner::direct, false, true},
    {"balanced", "Blockspan::spmm::balanced",
     "tiles of equally many entries, a team thread each; sums of cut rows added in order",
     "Flegar, Quintana-Orti 2017, Euro-Par, doi:10.1007/978-3-319-64203-1_51, without its atomics",
     "", "most rows need no cutting, and its sums of cut rows are traffic",
     SpmmPartition::equal_entries, SpmmWorker::team_thread, SpmmInner::direct, false, true},
    {"adaptive", "Blockspan::spmm::adaptive",
     "a team takes many short rows through scratch, one row, or a part of a long row",
     "Greathouse, Daga 2014, SC, doi:10.1109/SC.2014.68; Daga, Greathouse 2015, HiPC, "
     "doi:10.1109/HiPC.2015.55",
     "", "a whole team a row, for few long rows and few columns", SpmmPartition::row_classes,
     SpmmWorker::whole_team, SpmmInner::staged, false, true},
    {"prefix_sum", "Blockspan::spmm::prefix_sum",
     "tiles of equally many entries; products in scratch, a segmented scan, a column at a time",
     "Blelloch, Heroux, Zagha 1993, CMU-CS-93-173; Liu, Vinter 2015, ICS (CSR5), "
     "doi:10.1145/2751205.2751209",
     "", "reads the matrix once a column", SpmmPartition::equal_entries, SpmmWorker::whole_team,
     SpmmInner::prefix_sum, false, false},
    {"shared_tiles", "Blockspan::spmm::shared_tiles",
     "blocks of rows; the team stages tiles of X in scratch and every row takes what it needs; on "
     "Hopper, where rows are full enough, with all the scratch of a multiprocessor, fetched ahead; "
     "where they are fuller, windows of eight rows share the tiles on tensor cores (double)",
     "Hong, Sukumaran-Rajam, Nisa, Singh, Sadayappan 2019, PPoPP, doi:10.1145/3293883.3295712 "
     "(tiles of X), without its reordering; bits for the places of a tile as in Fan, Wang, Chu "
     "2024, ASPLOS (DTC-SpMM), doi:10.1145/3620666.3651378",
     "Blockspan::published, but where tiles are fetched ahead",
     "pays only where a tile serves many rows: sorted rows with some 5 % of the places full",
     SpmmPartition::whole_rows, SpmmWorker::whole_team, SpmmInner::staged_tile, false, true},
    {"dense", "Blockspan::spmm::dense", "A written out, then the BLAS' matrix product", "GEMM",
     "X without NaN and infinities (zeros of A multiply them too), room for the dense A, a BLAS: "
     "CUDA or a host",
     "for the crossover, above some 10 % of nonzeros", SpmmPartition::whole_rows, SpmmWorker::blas,
     SpmmInner::dense, false, false},
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
