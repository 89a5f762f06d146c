#pragma once

#include <cstdint>

namespace blockspan::detail::tuning {

// How the lanes of a device kernel stand over rows and columns, and how long the pieces are. See
// tuning.hpp.

/// Devices. One H200, CUDA 13.0, Kokkos 4.7.0, double; milliseconds at 7-point 128^3 / 27-point
/// 96^3 / elasticity 44^3 x 3. Blocks asked of the compiler bound its registers: 48 at <256, 5>.
/// One pack a lane, depth 4, n = 8: 0.168 / 0.176 / 0.148 at 5 blocks, 0.238 / 0.223 / 0.164 at 6
/// (spills), 0.311 / 0.226 / 0.164 at 4 with depth 8. Two packs, n = 32: 0.428 / 0.446 / 0.347 at 5
/// blocks and depth 2, 0.487 / 0.467 / 0.338 at 3 and 4, 0.605 / 0.500 / 0.335 at 4 and 4.
inline constexpr unsigned device_threads = 256;
inline constexpr unsigned device_blocks = 5;

/// Nonzeros whose loads are in flight in one lane, by packs a lane; of single columns, as many as
/// of one pack (two and four of them in flight, 7-point 128^3, n = 11, 17, 31, 63: 240, 416, 535,
/// 1011; 212, 348, 515, 952; 27-point 96^3 262, 415, 576, 856; 232, 394, 559, 770).
template <int Packs>
inline constexpr int device_depth = Packs >= 2 ? 2 : 4;

/// Rows of so many nonzeros keep the depth of one pack with two packs a lane, in the registers of
/// as many blocks; two packs then serve fewer pieces too, if there are so many packs to make. One
/// H200, microseconds without and with: 8192 rows of 82 random nonzeros, n = 64 39.5, 34.6; 399,
/// n = 64 -, 143; elasticity 44^3 x 3 without groups, n = 32, 64 347, 319; 563, 541; R-MAT 18 150,
/// 139; 268, 263; R-MAT 20 589, 588; 1168, 1160; 27-point some 5 and 3 % less.
inline constexpr double device_deep_row = 16;
inline constexpr std::int64_t device_many_packs = std::int64_t{1} << 18;

/// What the code of a kernel with direct loads does so that registers are left for loads in flight.
struct LaneCode {
  bool piece_a_thread = false;  ///< no loop over pieces
  bool passes_outside = false;  ///< passes over the columns stand around the pieces
  bool tail_in_flight = false;  ///< loads of the last few nonzeros stand before all products
  bool ends_by_place = false;   ///< an end is a place, not a number of nonzeros left
  bool loads_first = false;     ///< all loads of some nonzeros stand before their products
};

/// Column-major X: a lane owns a row and so many bytes of its columns at a time (where few hold all
/// of them; otherwise), and as many blocks as the registers of that allow. Same machine,
/// microseconds with 4, 8 and 16 columns of doubles (the last with 2 nonzeros in flight) and of the
/// row-major product: 7-point n = 8 -, 182, -, 165; 16 -, 263, 285, 258; 64 -, 985, 1102, 799;
/// 27-point n = 4 137, -, -, 133; 8 -, 181, -, 169; 16 -, 293, 331, 281; 64 -, 1053, 1151, 792.
inline constexpr int device_few_column_bytes = 32;
inline constexpr int device_column_bytes = 64;

/// Column-major X of more columns than that, by way of scratch (StagedColumns): rows of a thread,
/// which is a warp, and bytes of the entries that a team keeps.
inline constexpr int staged_column_rows = 32;  // a warp's
inline constexpr int staged_column_bytes = 11 << 10;

/// Entries of a tile that a team copies through scratch from one layout to another.
inline constexpr int device_copy_bits = 10;

/// Width of a lane's load. 16 bytes is the widest load there is.
inline constexpr int device_pack_bytes = 16;

/// Lanes of a team thread, at most, as a power of two: the width of a warp.
inline constexpr int device_lane_bits = 5;

/// Rows of fewer nonzeros than this are short: their lanes are few, so that a warp owns more rows.
/// Same machine, 7-point 128^3, n = 64: 0.80 with 8 lanes in two passes, 0.89 with 16 in one;
/// 27-point: 0.81 and 0.80.
inline constexpr double device_short_row = 12;

/// Where packs do not fit, a lane owns two single columns from so many of them on (short rows;
/// others), and so many lanes, as a power of two, stand side by side at most. Microseconds with one
/// and two columns a lane, at the best number of lanes: 27-point 80^3, n = 7: 135 and 129; 9: 213
/// and 200; 31: 383 and 354; 63: 700 and 598; R-MAT 18, n = 7: 73 and 100; 9: 112 and 105; 31: 210
/// and 187; 7-point 100^3, n = 63, two columns: 541 with 8 lanes, 646 with 32. Four of them where
/// there are more than a few columns, and of even rows also where four lanes are enough; two and
/// four, n = 9, 13, 15, 17, 31, 63: 7-point 128^3 337, 253; 352, 280; 358, 331; 465, 475; 596, 547;
/// 1216, 1002; 27-point 96^3 333, 268; 353, 304; 358, 442; 584, 481; 598, 571; 1018, 862; R-MAT 18
/// 98, 104; 105, 128; 108, 133; 160, 143; 182, 176; 356, 319; R-MAT 20 411, 406; 452, 484; 468,
/// 535; 684, 593; 794, 750; 1417, 1362. Three, or five of at least as many lanes, where that leaves
/// fewer of them idle; four and five, n = 33, 37, 39: 7-point 791, 806, 813; 571, 592, 604; R-MAT
/// 18 213, 221, 226; 199, 207, 214. In aligned pairs, with a share of three columns in each lane:
/// 7-point n = 31 995, 27-point 818, R-MAT 18 237: twice the instructions.
inline constexpr std::int64_t device_pair_columns_short = 7;
inline constexpr std::int64_t device_pair_columns = 9;
inline constexpr int device_pair_lane_bits_short = 3;
inline constexpr int device_pair_lane_bits = 4;
inline constexpr int device_columns_of_lane = 5;
inline constexpr int device_five_columns_bits = 3;  // lanes, as a power of two
inline constexpr std::int64_t device_four_columns = 17;
inline constexpr std::int64_t device_four_columns_of_even_rows[] = {5, 13};

/// Rows of at most this imbalance are even.
inline constexpr double device_even_imbalance = 1.25;

/// From so many packs in a row of X on a lane owns two of them (short rows; others). n = 16: 0.256
/// against 0.284 on the 7-point grid, 0.304 against 0.287 on the 27-point one. (With one each, n =
/// 20 costs more than n = 32 with two: 27-point 0.494 and 0.420, R-MAT 18 0.166 and 0.138.)
inline constexpr std::int64_t device_two_packs_short = 5;
inline constexpr std::int64_t device_two_packs = 9;

/// Three where fewer lanes are idle then, if rows are no more uneven than this or the lanes of a
/// row as many (a power of two). Same machine, microseconds with up to two and with three:
/// 27-point, n = 18, 24, 36, 48, 96 413, 385; 412, 370; 748, 587; 754, 602; 1359, 1090; 7-point, n
/// = 18, 24, 40, 66 350, 309; 368, 343; 635, 567; 1121, 971; wave, n = 20, 48, 96 62, 55; 102, 86;
/// 170, 148; R-MAT 18, n = 20 116, 166 (4 lanes); 36, 48, 96 200, 180; 222, 205; 422, 404. Of
/// single columns, beside four: 27-point, n = 11, 17, 41 279, 250; 481, 435; 843, 725; 7-point 260,
/// 257; 476, 443; 926, 856; R-MAT 18, n = 17, 33 143, 130; 239, 214.
inline constexpr double device_three_packs_uneven = 1;
inline constexpr int device_three_packs_bits = 3;

/// Lanes stand over the nonzeros too while each of them has this many of a mean piece (one column;
/// one pack; more), up to this many lanes in all (a power of two). n = 2, elasticity: 4 lanes
/// 0.084, 8 lanes 0.094, none 0.149; 27-point: 2 lanes 0.115, 4 lanes 0.122, none 0.179. One
/// column, 1, 2, 4 and 8 lanes, microseconds: wave (13.6 nonzeros a row) 16.4, 13.2, 14.4, 17.7.
inline constexpr double device_entries_one_column = 6;
inline constexpr double device_entries_one_pack = 8;
inline constexpr double device_entries_more_packs = 16;
inline constexpr int device_shared_lane_bits = 3;

/// Devices: matrices of so many nonzeros keep their columns in 16 bits too, where rows are not cut
/// and all columns are near enough (smaller ones stay in the second-level cache, and what is
/// allocated for them takes longer than the product), for so many bytes of a row of X. Same
/// machine, microseconds with 32 and 16 bits, n = 1, 2, 4, 8, 16, 32: 7-point 128^3 70, 84, 113,
/// 167, 259, 428 and 66, 78, 102, 163, 253, 428; 27-point 96^3 104, 109, 133, 169, 281, 441 and 90,
/// 92, 116, 162, 280, 431; 7-point 40^3, n = 16, 32 10.3, 20.0 and 10.3, 21.1.
inline constexpr std::int64_t device_narrow_entries = std::int64_t{1} << 19;
inline constexpr std::int64_t device_narrow_bytes = 128;

/// A step of a polynomial is taken by the product (ProductStep) where the blocks it then saves are
/// more than this share of A. One H200, a Chebyshev polynomial of degree 8 over the one with passes
/// of its own, n = 1, 4, 16: 7-point 100^3, double 1.12, 1.42, 1.55, float 1.14, 1.52, 1.70;
/// 27-point 80^3 0.98, 1.09, 1.23; 1.05, 1.09, 1.37; elasticity 44^3 x 3 0.97, 1.11, 1.15; 0.97,
/// 1.04, 1.18.
inline constexpr double device_step_share = 24;

/// Fewer pieces than this, or pieces more uneven, may take more lanes than their mean would keep
/// busy, because the longest piece then ends sooner (shape_time says when that pays). Same machine,
/// 8 columns, microseconds: ca-GrQc 14.8 -> 5.8, email-Enron 27 -> 14, soc-Slashdot0902 47 -> 21.
inline constexpr std::int64_t device_few_pieces = 65536;
inline constexpr double device_uneven = 0.25;

/// Whole rows of so few packs in all may have each pass over their packs as a piece of its own,
/// with so many lanes over columns at least, as a power of two, where they are this even and the
/// model expects the loads that wait for each other to take this part of the time. Same machine,
/// microseconds in turn and side by side: 512 x 512, 5 % full, n = 512 23.0, 7.0; 1024 x 1024,
/// n = 1024 53, 33; 2048 x 2048, 1 % full, n = 256 12.0, 9.4; G1 and bcsstk13, n = 64 9.6, 6.2 and
/// 11.7, 9.7; but bcsstk13, n = 32 (the model: 0.66) 7.3, 8.6; email-Eu-core and mbeacxc
/// (unevenness 1.5), against cut rows, 8.3, 11.0 and 9.4, 11.1.
inline constexpr std::int64_t device_spread_packs = std::int64_t{1} << 20;
inline constexpr double device_spread_uneven = 1;
inline constexpr int device_spread_least_bits = 2;
inline constexpr double device_spread_gain = 0.55;

/// Classes of pieces by length, where they are sorted: no plan for a device cuts longer than fill
/// them.
inline constexpr int piece_classes = 16;

/// Longest row of the kernel that fills empty rows beside the products of the others
/// (SparseRowsKernel). Same machine, 4e6 rows of 0.3 nonzeros, n = 2, 4,
/// 8, 16, 64: filled before 100, 96, 156, 228, 795; beside 69, 86, 131, 212, 777; by teams that
/// walk a list of the nonempty rows among 256: 78, 108, 171, 265, 921. 1e6 rows of 0.05, n = 2, 4,
/// 8, 16: 11, 17, 29, 49; 13, 18, 27, 43.
inline constexpr std::int64_t device_sparse_row = 32;

/// Items of the scan that writes pieces, about: more have several rows each. Same machine,
/// microseconds of the scan with one row an item and with eight: email-Enron (36,692 rows) 26, 55;
/// R-MAT 18 108, 131; R-MAT 20 314, 213.
inline constexpr std::int64_t piece_items = std::int64_t{1} << 18;

/// Devices: lengths of pieces that the model chooses among. Same machine, R-MAT of 0.1, 0.4, 0.9,
/// 2.0 and 15.7 million nonzeros, n = 8: the best are 32, 64, 64, 64 and 512, and 512 costs 2.6,
/// 1.5, 2.1, 2.6 and 1 times the best.
inline constexpr std::int64_t device_pieces[] = {32, 64, 128, 256, 512};

/// Nonzeros of the matrix for one of a piece, at least (of pieces longer than device_short_piece)
/// and at most: there must be pieces enough, and not too many.
inline constexpr std::int64_t device_piece_least_share = 512;
inline constexpr std::int64_t device_piece_most_share = 65536;
inline constexpr std::int64_t device_short_piece = 64;

/// Products with more columns than the model was fitted to cut only rows that stand out, as many
/// times longer than the mean or longer than this: 8192 rows of 1229, f32, n = 256, whole 0.69, cut
/// 0.93.
inline constexpr int device_fitted_columns = 128;
inline constexpr double device_outlier = 4;
inline constexpr std::int64_t device_whole_row = 4096;

}  // namespace blockspan::detail::tuning
