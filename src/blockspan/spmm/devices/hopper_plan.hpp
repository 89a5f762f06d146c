#pragma once

#include <cstdint>

// The table of NVIDIA's Hopper: when kernels are chosen, and with which lanes. What they are
// compiled with: hopper.hpp. Figures are microseconds on one H200 in double, unless they say
// otherwise.

namespace blockspan::products {

/// What device kernels make of a device: sixteen parameters for all of them, fitted by
/// perf/fit_model.cpp to the products of one NVIDIA H200 (tests/spmm/model_record.csv and
/// cases_record.csv; how well: perf/notes/model.md). Cycles are those of a multiprocessor.
struct ModelParameters {
  double launch = 3.1;       ///< us: a launch, until its first loads are there
  double wait = 0.282;       ///< us: loads in flight together, until what waits for them
  double stream = 0.88;      ///< of the DRAM's bandwidth: A, X and Y once
  double near = 128;         ///< bytes a cycle: rows of X that a diagonal keeps close
  double far = 48;           ///< bytes a cycle: other rows of X, from the second-level cache
  double complex_far = 1.4;  ///< times as long: those of complex scalars
  double single = 1.2;       ///< times as long: rows of X by single scalars, not by vectors
  double tile = 60;          ///< bytes a cycle: rows of X of tiles
  double tile_start = 400;   ///< cycles: a tile that windows share, whatever its width
  double tensor = 114;       ///< products a cycle: tensor cores with such tiles
  double lane_row = 0.1;     ///< cycles: an element of X for a lane that owns a row
  double warp = 54.4;        ///< cycles: a warp, however short its rows
  double uneven = 2.1;       ///< cycles: lanes that wait for a longer row next to theirs
  double tail = 0.055;       ///< of the time: multiprocessors that wait for the longest rows
  double list = 25;          ///< bytes: a segment of a row in a list
  double carry = 34;         ///< bytes: each byte of the sums of cut rows
};

namespace tuning {

/// An H200, as CUDA reports it: multiprocessors, cycles and bytes of DRAM a microsecond, bytes of
/// the second-level cache, and those of scratch that a team can have; bytes of a sector.
namespace h200 {
inline constexpr int multiprocessors = 132;
inline constexpr double clock = 1980, dram = 4.9e6;
inline constexpr std::int64_t cache = std::int64_t{60} << 20, scratch = 227 << 10;
}  // namespace h200
inline constexpr double sector_bytes = 32;

// Products (plan/decide.cpp).

/// Column indices in 16 bits: up to this many bytes of a row of X, for matrices of at least a tenth
/// of the cache (smaller ones stay there with wide indices). 32 and 16 bits, n = 1, 4, 16, 32:
/// 7-point 128^3 70, 113, 259, 428; 66, 102, 253, 428; 27-point 104, 133, 281, 441; 90, 116, 280,
/// 431.
inline constexpr std::int64_t narrow_bytes = 128, narrow_share = 10;

/// Single columns of a lane, at most; of sums of products fewer: registers would spill.
inline constexpr int columns_of_lane_at_most = 5, columns_of_lane_with_sums = 2;

/// A step of a polynomial is taken by the product (ProductStep) where the blocks it then saves are
/// more than this share of A. A Chebyshev polynomial of degree 8 over the one with passes of its
/// own, n = 1, 4, 16: 7-point 100^3, double 1.12, 1.42, 1.55, float 1.14, 1.52, 1.70; 27-point 80^3
/// 0.98, 1.09, 1.23; 1.05, 1.09, 1.37; elasticity 44^3 x 3 0.97, 1.11, 1.15; 0.97, 1.04, 1.18.
inline constexpr double step_share = 24;

// Lanes (plan/lanes.cpp).

/// Vectors in a row of X from which on a lane owns two (short rows; others). 7-point
/// 128^3, n = 16: 284 -> 256; 27-point 96^3 287 -> 304. Short rows, n = 8: 5-point 1500^2 165 ->
/// 144; a prolongator of a 7-point grid 88 -> 72; fixed:1000000x1000000:8 275 -> 174.
inline constexpr std::int64_t two_vectors_short = 4, two_vectors = 9;

/// Three, where fewer lanes are idle then, if rows are no more uneven than this or a row has this
/// many lanes (a power of two). Up to two and up to three: 27-point, n = 18, 36, 48 413, 385; 748,
/// 587; 754, 602; R-MAT 18, n = 20 (4 lanes) 116, 166; 36 200, 180.
inline constexpr double three_vectors_uneven = 1;
inline constexpr int three_vectors_bits = 3;

/// Lanes of two vectors from which on short rows take passes instead of more. With 4 in two passes
/// and 8, n = 32: 7-point 128^3 444, 423; spins 187, 176; queues 95, 95; saddle 125, 124.
inline constexpr std::int64_t short_row_lanes = 8;

/// Long rows need fewer segments for two vectors a lane, of wide blocks and from this many vectors
/// of Y a multiprocessor on: 8192 rows of 82, n = 64 39.5 -> 34.6; but 21,909 of 57, n = 32 31
/// -> 47.
inline constexpr std::int64_t many_vectors = 1985, wide_vectors = 17;

/// Lanes are laid over the nonzeros too while each of them has this many of a mean segment (one
/// column; one vector; two; more), up to this many lanes in all (a power of two). Elasticity 44,
/// n = 2: 4 lanes 84, 8 94, none 149; 27-point 2 lanes 115, 4 122, none 179; two vectors, groups of
/// 31 in a prolongator of elasticity 44, float, n = 8: none 58, whole rows with 2 lanes 46.
/// Scattered rows use more of them, whose loads of A are neighbours. With those of others and
/// these, n = 1, 2, 4: fixed:500000x500000:20 106, 108, 125; 99, 101, 107; 27-point 64^3, permuted,
/// n = 2, 4 80, 92; 70, 70; a restriction of a 7-point grid 40, 59; 36, 46.
inline constexpr double entries_of_scattered_rows[] = {5, 5, 6, 16},
                        entries_of_others[] = {6, 8, 14, 16};
inline constexpr int shared_lane_bits = 3;

/// Share of the groups of rows that follow a diagonal from which on rows are near. Grids have 0.8
/// to 1, a mesh of tetrahedra in the order of a grid 0.95, others at most 0.2.
inline constexpr double near_diagonal = 0.5;
/// Different columns of neighbouring rows, over their entries, from which on they share none.
inline constexpr double least_scattered = 0.9;

/// More uneven segments than this may use more lanes than their mean keeps busy, because the
/// longest then ends sooner. n = 8: ca-GrQc 14.8 -> 5.8, email-Enron 27 -> 14.
inline constexpr double uneven = 0.25;

/// Whole rows of so few vectors a multiprocessor may have each pass over their vectors as a unit of
/// work of its own, with this many lanes over columns at least (a power of two), where row lengths
/// are this even and dependent loads are expected to be this share of the time. 512 x 512, 5 %
/// full, n = 512 23.0 -> 7.0; 2048 x 2048, 1 % full, n = 256 12.0 -> 9.4; but bcsstk13, n = 32 (the
/// model: 0.66) 7.3 -> 8.6; email-Eu-core (unevenness 1.5) cut 8.3, so 11.0.
/// From there on short even rows have two vectors a lane: 7-point 40^3, n = 64 40.1 -> 32.1.
inline constexpr std::int64_t spread_vectors = 7943;
inline constexpr double spread_uneven = 1, spread_gain = 0.55;
inline constexpr int spread_least_bits = 2;

/// Where vectors do not fit: columns from which on a lane owns two (short rows; others), and lanes
/// at most (a power of two). One and two, n = 7, 9, 31: 27-point 80^3 135, 129; 213, 200; 383, 354;
/// R-MAT 18 73, 100; 112, 105; 210, 187.
inline constexpr std::int64_t pair_columns_short = 7, pair_columns = 9;
inline constexpr int pair_lane_bits_short = 3, pair_lane_bits = 4;

/// Columns from which on a lane owns four; in even rows also where four lanes are enough. Two and
/// four, n = 9, 15, 31: 7-point 128^3 337, 253; 358, 331; 596, 547; 27-point 333, 268; 358, 442;
/// 598, 571; R-MAT 18 98, 104; 108, 133; 182, 176. Three, or five with this many lanes at least,
/// where that leaves fewer idle. Of rows more uneven than three_vectors_uneven as few as all lanes
/// of a warp leave, but two: n = 33, five by 8 lanes and two by 32: soc-Slashdot0902 99, 61; power
/// law of 2e5 217, 141; rows of 490 98, 82; R-MAT 18 203, 210; less uneven ones 187, 213; n = 63,
/// rows of 490 149, 108; n = 17 (by 16) power law 94, 81; R-MAT 18 123, 126.
inline constexpr std::int64_t four_columns = 17, four_columns_of_even_rows[] = {5, 13};
inline constexpr int five_columns_bits = 3;

/// Segments a multiprocessor below which lanes of the device idle.
inline constexpr std::int64_t few_segments_of_multiprocessor = 496;

// Panels of columns (plan/panels.cpp).

/// A wide block is multiplied in panels where A has a band, but the rows of X within it do not stay
/// in the cache at that width: they may fill this share of it. Bytes of a row of a panel. 7-point
/// 128^3, n = 80, 96, 128 in one product and in panels 1415, 1667, 2189; 1077, 1268, 1681; but
/// 27-point 96^3 (19,000 rows in use), n = 128 1470, 1610.
inline constexpr double panel_diagonal = 0.5;
inline constexpr std::int64_t panel_bytes = 512, panel_cache_share = 3;

/// Or where a few vectors more than a power of two leave most lanes idle: a panel is at least this
/// many times what is left over. 27-point, n = 66 1330, 950; 80 1316, 1054; of short rows a few
/// columns cost too much: 7-point, n = 34 591, 780; and not where rows are cut: R-MAT 18, n = 34
/// 217, 231.
inline constexpr std::int64_t panel_least_share = 8;

/// Windows: bytes of a row of X in a panel at least, and those left over at most. 27-point, n = 33,
/// 40 678, 633; 603, 536; but n = 63 757, 890; elasticity, n = 48 293, 305.
inline constexpr std::int64_t panel_window_bytes = 256, panel_window_rest = 64;

/// Lengths of segments that the model chooses among (the best of R-MAT of 0.1, 0.4, 2.0 and 15.7
/// million nonzeros, n = 8, are 32, 64, 64 and 512; 512 costs 2.6, 1.5, 2.6 and 1 times the best),
/// and classes of them by length where they are sorted: longer ones do not fill them.
inline constexpr std::int64_t device_segment_lengths[] = {32, 64, 128, 256, 512};
inline constexpr int segment_classes = 16;

// Kernels (kernels/*_choice.hpp).

/// A row is long from this many times a mean one on, and that many nonzeros. One column of 27,000
/// cells with wells by groups of three rows, pairs and tiles -, 24, 10; n = 16, 32, 64 by groups
/// and sorted segments 61, 103, 176; 27, 43, 66.
inline constexpr double long_row = 16;

struct GroupsLimits {
  /// Entries a fetched row of X at least; rows a multiprocessor at least, which idles otherwise.
  /// Without and with groups, n = 8: elasticity of 1,344 rows 5.5, 6.6; 22,800 16.0, 13.7.
  static constexpr double share = 1.5;
  static constexpr std::int64_t rows_of_multiprocessor = 62;
};

struct RowPairsLimits {
  /// Rows a multiprocessor, below which a row a thread keeps more of them busy. (Reasoned.)
  static constexpr std::int64_t rows_of_multiprocessor = few_segments_of_multiprocessor;

  /// Nonzeros of a mean row for each lane, where neighbouring rows read neighbouring rows of X, and
  /// elsewhere. With 2, 4, 8, 16 lanes (in brackets single_columns at its best): 7-point 128^3 59,
  /// 71, 125, 235 (61); P1 mesh of 154,548 nodes 10.1, 10.3, 11.1, 18.3 (10.4); 27-point 80^3 79,
  /// 55, 53, 69 (55); band of 33 43, 29, 29, 34 (32); elasticity 40 131, 67, 51, 51 (54; groups
  /// 56); the mesh permuted 30, 25, 22, 21 (22); 500,000 rows of 20 random 126, 112, 96, 89 (89);
  /// spins, 10.5 a row 34, 31, 37, 63 (33).
  static constexpr double entries_of_lane = 3.6, entries_of_scattered_lane = 2.2;
  /// Lanes at most, as a power of two: with 32 elasticity takes 63.
  static constexpr int most_lane_bits = 4;
};

struct AdaptiveLimits {
  /// Entries of a part of a long row, at least; parts of a row, at most. With parts of 8,192 and
  /// 2,048: circuit of 1e6 47, 39; power law of 2e5 31, 26; R-MAT 18 41, 39; with 2,048 and 1,024:
  /// circuits of 3e5 and 1e6 13.4, 12.4; 39, 37, and with 16 columns 64, 58; 154, 143. Several
  /// columns are not multiplied where they are longer than the last: a team would walk them alone.
  static constexpr std::int64_t least_part = 1024, most_parts = 64, longest_of_columns = 8192;

  /// Nonzeros of a mean row, at most, where rows are uneven. Segments, sorted ones and tiles:
  /// circuits of 3e5 and 1e6 22, 21, 13; 74, 83, 39; preferential attachment, 2e5 43, 44, 34; R-MAT
  /// 18 56, 46, 39; power law, 1e6 214, 190, 115; log-normal rows, mean 33, 28, 26, 22; wells (14 a
  /// row) 27, 20, 22; but a layer of 482 a row 12.9, 10.4, 11.4.
  static constexpr double most_of_segments = 64;
  /// Several columns: nonzeros of a mean row, at most; of rows of which most are even, with their
  /// unevenness (RowStatistics::imbalance) and bytes of a row of X. Sorted segments (segments where
  /// they are faster) and tiles, n = 2, 4, 8, 16, 32, 64: circuit of 3e5 (5.6 a row) 26, 29, 50,
  /// 74, 108, 227; 18, 23, 35, 53, 87, 155; power laws of 2e5 (6) 32, 33, 39, 75, 96, 179; 20, 22,
  /// 29, 46, 90, 168; and 1.5e5 (12.2) 26, 33, 38, 63, 104, 199; 25, 27, 34, 50, 97, 200;
  /// preferential attachment (11) 31, 28, 41, 51, 105, 225; 24, 25, 31, 46, 97, 206; R-MAT 20 (7.8)
  /// 122, 152, 143, 205, 352, 706; 111, 120, 148, 205, 396, 686; log-normal rows (8) 23, 30, 29,
  /// 49, 97, 187; 23, 25, 34, 50, 100, 196; but R-MAT 18 (15) 46, 53, 67, 77, 131, 257; 52, 54, 63,
  /// 86, 158, 262; power law of 1e5 (31) 38, 45, 50, 71, 137, 218; 43, 44, 52, 71, 130, 254. Wells,
  /// an earlier kernel (14 a row, 1.1): 33, 34, 46, 54, 78, 131; 30, 32, 42, 65, 99, 168. Few
  /// rows, for the segments that a device needs, do not gain: soc-Slashdot0902 (82,168
  /// of 11.5) 14.0, 15.2, 15.5, 20.7, 38, 75; 16.9, 17.2, 19.6, 25, 47, 78; ca-CondMat (23,133), n
  /// = 8 8.1, 10.7.
  static constexpr double most_of_columns = 12.5;
  static constexpr std::int64_t rows_of_columns = 2;
  static constexpr double most_of_even_rows = 32, most_even = 1.5;
  static constexpr std::int64_t few_column_bytes = 64;
  /// Mean rows whose columns are near no neighbour's, pairs and tiles: 8 random a row 79, 71;
  /// saddle point, 5 a row 18.5, 16.6; but 15 (mesh in random order) 21, 22; where neighbours share
  /// columns (spin chain, 9.5) tiles 12.1, segments 8.7.
  static constexpr double least_short = 4, most_short = 10;
  /// The same, rows and tiles at 8 columns of double: random 5, 8, 12, 16, 20 a row 31, 79, 31.4,
  /// 42, 25; 29, 60, 30, 45, 23; in random order 7-point 64^3, queues, star, P1 35, 37, 21, 29; 28,
  /// 34, 18, 28; saddle points 18, 41; 16, 37; spin chains 20, 76; 17, 69. With 4 columns from 0.85
  /// (P1) to 1.19 (spins) of it, with 16 from 0.95 to 1.1.
  static constexpr double most_short_of_columns = 24;
  /// Rows at a time of a team that has four lanes a row. Tiles of 640 and of one round, 8 columns:
  /// 12 random a row 33.6, 30.1; P1 in random order 32.4, 27.8; but of one instead of 1.6 and 1.7
  /// rounds, spins 68.6, 74.2; 16.1, 17.8.
  static constexpr double rows_of_round = 32;
};

struct ClustersLimits {
  /// Bytes of a row of X, but of long rows, and X over the cache, at least: less is served well
  /// enough from anywhere, and the order costs some 2 ms. Rows and clusters, meshes and grids in
  /// random order: P1, 154,548 nodes, n = 4, 8, 16, 32, 64 28, 31, 53, 98, 193; 28, 32, 45, 70,
  /// 114; 7-point 100^3 87, 161, 235, 479, 963; -, 159, 190, 313, 521; elasticity 30, n = 1, 4, 8,
  /// 32 54, 69, 68, 191; 34, 45, 62, 129; 27-point 64^3 61, 72, 95, -; 50, 73, 82, 166.
  static constexpr std::int64_t least_bytes = 128, least_cache_share = 128;
  static constexpr double long_row = 24;
  /// A team has one row a thread, and even ones. (Reasoned.)
  static constexpr std::int64_t longest_row = 1024;
  static constexpr double most_imbalance = 2;
  /// Different columns of 16 rows over their entries: rows that are neighbours in the matrix have
  /// this many, those of clusters at most that. What clusters have, over a row with its neighbours
  /// (P1 mesh 1.9, 27-point 1.7, 7-point 1.4, elasticity 1.2).
  static constexpr double most_far = 0.85, of_ideal = 1.4;
};

struct SegmentsLimits {
  /// Segments longer than short ones need this many nonzeros of the matrix for one of theirs: there
  /// must be segments enough.
  static constexpr std::int64_t short_segment = 64, least_share = 512;

  /// Sorted rows are no longer next to those that read the same rows of X. Those that are about
  /// even and not cut are slower than in place by this factor, or more (restrictions of a 7- and a
  /// 27-point grid, 25.9 and 124.5 a row, n = 16, 32: 1.18, 1.30; 1.10, 1.34).
  static constexpr double sorted_even = 1.5, sorted_loss = 1.2;
};

struct NonemptyRowsLimits {
  /// Longest row of the kernel that fills empty rows alongside the products of the others. 4e6 rows
  /// of 0.3, n = 4, 16, 64: filled before 96, 228, 795; alongside 86, 212, 777.
  static constexpr std::int64_t sparse_row = 32;
};

struct WindowsLimits {
  /// Columns; windows a multiprocessor (n = 8, the best of the others and windows: bcsstk29, 1,749
  /// windows, 8.7, 6.6; nasa4704, 588, 5.3, 5.3); nonzeros of the longest row, because a thread
  /// merges those of a window (reasoned).
  static constexpr std::int64_t least_columns = 3, of_multiprocessor = 12, longest_row = 1024;

  /// And what the model does not see of the latency of their loads: nonzeros of a mean row, and
  /// those that must use a row of X which they fetch. 9-point 500^2 (8.9; 2.2), the best of the
  /// others over windows, n = 4, 5, 8, 32 0.79, 0.99, 1.20, 1.15; 5e5 rows of a band of 7 (3.5), n
  /// = 8, 64 1.05, 0.96; 27-point 96^3, n = 4 0.88; elasticity 44, n = 4 1.12. Of double rows that
  /// do not follow a diagonal, even and many: triangulations (7; 1.38), n = 5, 8, 24, 32 1.09,
  /// 1.08, 0.92, 1.15; in space (15; 1.58) 1.42, 1.28, 0.99, 1.08; but Dubcova1, 16,129 rows, n = 8
  /// 0.88.
  struct Least {
    double row;
    double share;
  };
  static constexpr Least of_few_columns{12, 3}, of_others{8.5, 2}, of_scattered_rows{5.5, 1.3};
  static constexpr std::int64_t few_columns = 4, scattered_rows_of_multiprocessor = 248;
  static constexpr double scattered_diagonal = 0.25, scattered_imbalance = 1.5;

  /// Loads of a tile of a window that wait for each other: a coarse level of elasticity 44, 312 a
  /// row, n = 4, 8 51, 51. Of the fullest window, which the others do not hide, more for each
  /// vector of X beyond four: rows of 900 among 250,000 of 14, n = 8, 16, 32, 64 62, 81, 160, 204.
  static constexpr double tile_waits = 3, tile_waits_of_vector = 0.35;
  /// Such a window has this many times the tiles of a mean one. (Reasoned.)
  static constexpr double uneven_windows = 8;
};

struct SharedTilesLimits {
  /// By lanes: the share of all places that is full (from 16 vectors on; fewer), and of what is
  /// staged of a row in a tile; the share of the lanes that is used; teams for the
  /// multiprocessors. 8192 x 4096, whole rows and shared tiles: 3 % full, n = 64 43, 51; 5.3 % 75,
  /// 67; 9.7 %, n = 16, 64 47, 38; 143, 102; 4096 x 4096, 5 % in a regular pattern, n = 128 47, 65.
  static constexpr double least_fill = 0.06, least_fill_of_few = 0.08, most_staged = 0.8,
                          least_used = 0.8, least_teams = 0.72;

  /// Shared tiles and shared windows replace staged tiles where such a share of all places is full.
  /// A row's lanes and shared tiles, 8192 x 4096, n = 64: 3 % 48, 51; 10 % 158, 105.
  static constexpr double tile_fill = 0.02, window_fill = 0.05;
};

}  // namespace tuning
}  // namespace blockspan::products
