#pragma once

#include <cstddef>
#include <cstdint>

namespace blockspan::detail {

/// Every number of the product's kernels that was chosen rather than derived, with what chose it.
namespace tuning {

/// Devices. One H200, CUDA 13.0, Kokkos 4.7.0, double; milliseconds at 7-point 128^3 / 27-point
/// 96^3 / elasticity 44^3 x 3. Blocks asked of the compiler bound its registers: 48 at <256, 5>.
/// One pack a lane, depth 4, n = 8: 0.168 / 0.176 / 0.148 at 5 blocks, 0.238 / 0.223 / 0.164 at 6
/// (spills), 0.311 / 0.226 / 0.164 at 4 with depth 8. Two packs, n = 32: 0.428 / 0.446 / 0.347 at 5
/// blocks and depth 2, 0.487 / 0.467 / 0.338 at 3 and 4, 0.605 / 0.500 / 0.335 at 4 and 4.
inline constexpr unsigned device_threads = 256;
inline constexpr unsigned device_blocks = 5;

/// Nonzeros whose loads are in flight in one lane, by packs a lane.
template <int Packs>
inline constexpr int device_depth = Packs == 2 ? 2 : 4;

/// Rows of so many nonzeros keep the depth of one pack with two packs a lane, in the registers of
/// as many blocks; two packs then serve fewer pieces too, if there are so many packs to make. One
/// H200, microseconds without and with: 8192 rows of 82 random nonzeros, n = 64 39.5, 34.6; 399,
/// n = 64 -, 143; elasticity 44^3 x 3 without groups, n = 32, 64 347, 319; 563, 541; R-MAT 18 150,
/// 139; 268, 263; R-MAT 20 589, 588; 1168, 1160; 27-point some 5 and 3 % less.
inline constexpr double device_deep_row = 16;
inline constexpr unsigned device_deep_blocks = 4;
inline constexpr std::int64_t device_many_packs = std::int64_t{1} << 18;

/// Column-major X: a lane owns a row and so many bytes of its columns at a time (where few hold all
/// of them; otherwise), and as many blocks as the registers of that allow. Same machine,
/// microseconds with 4, 8 and 16 columns of doubles (the last with 2 nonzeros in flight) and of the
/// row-major product: 7-point n = 8 -, 182, -, 165; 16 -, 263, 285, 258; 64 -, 985, 1102, 799;
/// 27-point n = 4 137, -, -, 133; 8 -, 181, -, 169; 16 -, 293, 331, 281; 64 -, 1053, 1151, 792.
inline constexpr int device_few_column_bytes = 32;
inline constexpr int device_column_bytes = 64;
template <int Bytes>
inline constexpr unsigned device_column_blocks = Bytes > device_few_column_bytes ? 2 : 3;

/// Blocks for lanes over the nonzeros of listed pieces, of which there are many: 64 registers keep
/// what a piece needs. Same machine, with 5 blocks and with 4, microseconds: R-MAT 18, n = 1 51,
/// 49; 2 55, 48; 4 63, 55; R-MAT 20, n = 2 233, 209; but 512 rows of 2242 nonzeros (36,000 pieces),
/// n = 4 16, 20; 8 21, 26.
inline constexpr unsigned device_many_piece_blocks = 4;

/// Entries of a tile that a team copies through scratch from one layout to another.
inline constexpr int device_copy_bits = 10;

/// Nonzeros in flight in a lane for a group of rows that share what is fetched of X, by its rows:
/// more sums, more values. 64 registers at 4 blocks hold them without spills (ptxas, CUDA 13.0:
/// double; with products summed beside it, 40 to 72 bytes). Same machine, elasticity 44^3 x 3, n =
/// 1, 2, 4, 8, 16, 32, 64, microseconds: 69, 66, 81, 107, 163, 263, 413; without groups 73, 77, 97,
/// 139, 219, 346, 563. Other depths and blocks were not tried.
template <int Rows>
inline constexpr int device_group_depth = Rows == 2 ? 4 : 2;
inline constexpr unsigned device_group_blocks = 4;

/// Rows of a group, at most: what the sums of a lane have registers for.
inline constexpr int group_rows = 4;

/// A group of as many rows costs an entry's index and its row of X once, and as many values: the
/// first two weigh this many values where the plan chooses how many rows a group may have.
/// (Reasoned: an index, a row of X, a value are a load each.)
inline constexpr double group_fetch = 2;

/// Rows of more entries than this are not compared: one thread does that, and a group is the work
/// of one thread as well. (Reasoned.)
inline constexpr std::int64_t group_longest_row = 4096;

/// A place in a row of blocks is an int, and so is the number after the last.
inline constexpr std::int64_t longest_block_row = INT32_MAX;

/// Groups are worth it where each row of X that is fetched serves this many rows on average
/// (reasoned), and on devices from so many rows on. Same machine, groups of three, 8 columns,
/// microseconds without and with groups: elasticity of 1,344 rows 5.5 and 6.6, of 22,800 16.0 and
/// 13.7, of 252,000 139.5 and 106.7.
inline constexpr double group_least_share = 1.5;
inline constexpr std::int64_t device_group_least_rows = 8192;

/// Windows of rows on tensor cores: columns of a tile, which is as many bits of a row's mask. Same
/// machine, here and below a scratch kernel with the same loop, microseconds with 16 and 8, n = 8:
/// elasticity 44^3 x 3 82, 92; 27-point 96^3 144, 163.
inline constexpr int window_columns = 16;

/// Rows of a window where the plan's columns are up to this many; above: 16, whose instruction does
/// twice the work and whose rows share more of X, but leave more of a tile empty. 8 and 16 rows, n
/// = 8, 16, 32, 64: elasticity 80, 122, 197, 357 and 82, 116, 177, 302; 27-point 143, 231, 411, 779
/// and 166, 250, 407, 730.
inline constexpr int window_few_rows_columns = 16;

/// Groups of eight packs that a warp multiplies at once, the blocks asked of the compiler, and the
/// steps of a tile (4 columns each) whose rows of X are on their way together, by groups (0: eight
/// single columns or fewer). Elasticity, 16 rows, n = 32: two groups in one pass 178 at 3 blocks,
/// 195 at 2; two passes of one group 202. n = 64: four groups 302, two passes of two 327. Steps: as
/// many as there are registers for (ptxas). Complex values take twice as many. Values fetched a
/// tile ahead, all of a window asked into the L2 cache, or neighbouring columns in one lane gained
/// nothing.
template <int Groups, int Rows, bool Complex>
inline constexpr unsigned window_blocks = Groups == 0                               ? 4
                                          : Groups == 1 && Rows == 8 && !Complex    ? 4
                                          : Groups == 4 || (Groups == 2 && Complex) ? 2
                                                                                    : 3;
template <int Groups>
inline constexpr int window_steps = Groups == 4   ? 1
                                    : Groups == 2 ? 2
                                                  : 4;

/// Windows come into question from so many columns on; from so many of them with 8 and with 16 rows
/// (fewer leave multiprocessors waiting: 27-point 40^3, n = 8, 8,000 windows of 8 rows 20, rows 24;
/// n = 32, 4,000 of 16 rows 60, rows 50; elasticity 20, n = 8, 2,850 of 8 rows 16, groups 20;
/// bcsstk29, n = 8, 1,749 of 8 rows 5.8, rows 9.2; bcsstk15, 494 of them 5.4, rows 5.3); where rows
/// have so many nonzeros, and each row of X that is fetched serves so many of them, on average:
/// with up to 8 columns, with 8 rows, with 16; and up to rows of so many nonzeros (reasoned: one
/// thread merges those of a window). The kernel here, windows and the best of the others:
/// elasticity (4.2 and 5.8) n = 8 94, 117; 16 134, 174; 32 197, 264; 64 344, 430; 27-point (2.2
/// and 2.5) 168, 170; 257, 285; 461, 449; 872, 801; a band of 33 85, 159 at n = 8; 7-point (1.2)
/// 120, 92; random (0.9) 43, 42. Odd widths, in passes of eight single columns, and the best of the
/// others: elasticity n = 3, 5, 7, 9, 13, 31 80, 131; 82, 157; 85, 181; 131, 201; 138, 257; 301,
/// 470; even ones n = 4, 6 80, 81; 83, 104; 27-point n = 5, 7, 9 153, 165; 156, 182; 278, 250.
inline constexpr int window_least_columns = 6;
inline constexpr int window_least_odd_columns = 3;
inline constexpr std::int64_t window_least_of_8_rows = 1536;
inline constexpr std::int64_t window_least_of_16_rows = 8192;
inline constexpr double window_least_row = 12;
inline constexpr double window_least_share_of_8_columns = 3;
inline constexpr double window_least_share_of_8_rows = 2;
inline constexpr double window_least_share_of_16_rows = 4;
inline constexpr std::int64_t window_longest_row = 1024;

/// Windows that an estimate looks at, and columns of a window up to which it counts.
inline constexpr std::int64_t window_samples = 1024;
inline constexpr int window_sample_columns = 1024;

/// Width of a lane's load. 16 bytes is the widest load there is.
inline constexpr int device_pack_bytes = 16;

/// Lanes of a team thread, at most, as a power of two: the width of a warp.
inline constexpr int device_lane_bits = 5;

/// Rows of fewer nonzeros than this are short: their lanes are few, so that a warp owns more rows.
/// Same machine, 7-point 128^3, n = 64: 0.80 with 8 lanes in two passes, 0.89 with 16 in one;
/// 27-point: 0.81 and 0.80.
inline constexpr double device_short_row = 12;

/// Rows so short that, where packs do not fit, an element of Y is a work item, or rows so even (the
/// imbalance of the row statistics), and up to how many columns. Microseconds of work items and of
/// lanes (two columns each from 7 or 9 on), n = 3, 5, 7, 9, 11, 13: 7-point 128^3 92, 119; 137,
/// 198; 182, 194; 230, 343; 277, 348; 324, 357; 27-point 96^3 127, 155; 168, 257; 208, 257; 250,
/// 338; 293, 343; 335, 358; a band of 33, n = 7, 9, 13, 146, 171; 172, 223; 224, 241. Elasticity
/// with groups in place of lanes 131, 129; 162, 198; 187, 201; 209, 294; 237, 297; 266, 299. One
/// column: 7-point 66 and 68, 27-point 235 and 91, delaunay_n15 (6 nonzeros a row) 6.0 and 4.8,
/// wing and bfly (4) 5.2 and 5.7, 4.9 and 5.1; 1e6 rows of 6 to 12 random nonzeros 200 and 130.
inline constexpr double device_item_row = 8;
inline constexpr double device_item_row_one_column = 4.5;
inline constexpr double device_item_imbalance = 1.25;
inline constexpr std::int64_t device_item_columns = 14;

/// Where packs do not fit, a lane owns two single columns from so many of them on (short rows;
/// others), and so many lanes, as a power of two, stand side by side at most. Microseconds with one
/// and two columns a lane, at the best number of lanes: 27-point 80^3, n = 7: 135 and 129; 9: 213
/// and 200; 31: 383 and 354; 63: 700 and 598; R-MAT 18, n = 7: 73 and 100; 9: 112 and 105; 31: 210
/// and 187; 7-point 100^3, n = 63, two columns: 541 with 8 lanes, 646 with 32.
inline constexpr std::int64_t device_pair_columns_short = 7;
inline constexpr std::int64_t device_pair_columns = 9;
inline constexpr int device_pair_lane_bits_short = 3;
inline constexpr int device_pair_lane_bits = 4;

/// From so many packs in a row of X on a lane owns two of them (short rows; others). n = 16: 0.256
/// against 0.284 on the 7-point grid, 0.304 against 0.287 on the 27-point one.
inline constexpr std::int64_t device_two_packs_short = 5;
inline constexpr std::int64_t device_two_packs = 12;

/// Lanes stand over the nonzeros too while each of them has this many of a mean piece (one pack;
/// more), up to this many lanes in all (a power of two). n = 2, elasticity: 4 lanes 0.084, 8 lanes
/// 0.094, none 0.149; 27-point: 2 lanes 0.115, 4 lanes 0.122, none 0.179.
inline constexpr double device_entries_one_pack = 8;
inline constexpr double device_entries_more_packs = 16;
inline constexpr int device_shared_lane_bits = 3;

/// Devices: matrices of so many nonzeros keep their columns in 16 bits too, where rows are not cut
/// and all columns are near enough (smaller ones wait for the launch; reasoned), for so many bytes
/// of a row of X. Same machine, microseconds with 32 and 16 bits, n = 1, 2, 4, 8, 16, 32: 7-point
/// 128^3 70, 84, 113, 167, 259, 428 and 66, 78, 102, 163, 253, 428; 27-point 96^3 104, 109, 133,
/// 169, 281, 441 and 90, 92, 116, 162, 280, 431; 7-point 40^3, n = 16, 32 10.3, 20.0
/// and 10.3, 21.1.
inline constexpr std::int64_t device_narrow_entries = std::int64_t{1} << 17;
inline constexpr std::int64_t device_narrow_bytes = 128;

/// Fewer pieces than this, or pieces more uneven, may take more lanes than their mean would keep
/// busy, because the longest piece then ends sooner (shape_time says when that pays). Same machine,
/// 8 columns, microseconds: ca-GrQc 14.8 -> 5.8, email-Enron 27 -> 14, soc-Slashdot0902 47 -> 21.
inline constexpr std::int64_t device_few_pieces = 65536;
inline constexpr double device_uneven = 0.25;

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

/// Entries of a chunk that the lanes of a thread stage in scratch (GE-SpMM takes a warp's 32), and
/// the least lanes of such a thread: more threads a team would be more chunks than scratch has room
/// for.
inline constexpr int staged_entries = 32;
inline constexpr int staged_lanes = 8;

/// Tiles of merge_path and equal_entries: work of a team thread. Devices: few enough that all
/// threads are busy, enough that the sums of cut rows stay a small part of the traffic (reasoned).
inline constexpr std::int64_t device_thread_tile = 128;
inline constexpr std::int64_t host_thread_tile = 4096;

/// Tiles of whole teams (row_classes, prefix_sum): entries of a common tile of short rows, whose
/// products lie in scratch; a row of more than team_longest entries is cut. (Reasoned: 1024
/// products of 16 bytes leave room for ten teams on a multiprocessor; a team of 256 takes 8192
/// entries in 32 turns.)
inline constexpr int team_stream = 512;
inline constexpr std::int64_t team_longest = 8192;
inline constexpr int team_scan = 1024;

/// Staged tiles of X: packs side by side, rows of X a tile (16 KiB), rows of A a thread.
inline constexpr int tile_packs = 8;
inline constexpr int tile_rows = 128;
inline constexpr int tile_thread_rows = 2;

/// The same with bulk copies (SharedTiles): warps of a team that multiply, and that fetch; rows of
/// A a warp; rows of X a tile (48 or 64 KiB, two of them) and entries of a row in a tile that are
/// staged, by the packs side by side. Together some 200 KB of scratch, so a team has a
/// multiprocessor to itself. One H200, 8192 x 4096, 10 % full, microseconds (of a kernel with the
/// starts of all tiles listed): double, n = 64, three tiles of 96 rows 107, two of 128 100; n = 16,
/// two of 256 and 384 rows 42, 38.
inline constexpr std::size_t shared_tile_scratch = 227 << 10;  // bytes that a block can have
inline constexpr int shared_tile_warps = 16;
inline constexpr int shared_tile_fetchers = 3;
inline constexpr int shared_tile_warp_rows = 4;
template <int Lanes>
inline constexpr int shared_tile_rows = Lanes == 32   ? 128
                                        : Lanes == 16 ? 256
                                                      : 384;
template <int Lanes>
inline constexpr int shared_tile_entries = Lanes == 32   ? 32
                                           : Lanes == 16 ? 48
                                                         : 80;

/// They stand in for staged tiles from so many packs in a row of X on, where so large a part of all
/// places has an entry. Same machine, a row's lanes (one pack each) and shared tiles: double, n =
/// 64, 8192 x 4096, 3 % 48, 51; 10 % 158, 105; 13 % 217, 128; 20 % 317, 208; float, n = 128, 3 %
/// 44, 51; 10 % 141, 101; 20 % 282, 197. Copies by the warps that multiply took 123 at 10 %, n =
/// 64; counts of a tile's entries exchanged between lanes in place of kept in registers 126.
inline constexpr int shared_tile_packs = 8;
inline constexpr double shared_tile_least_fill = 0.02;

/// The plan takes them where so large a part of all places is full (from 16 packs on; fewer) and of
/// the panels is used, where the mean row has no more than so much of what is staged in a tile, and
/// where there are so many teams; it then expects this part of the time of whole rows. Double, as
/// above, whole rows (two packs a lane) and shared tiles: 3 %, n = 64, 128 43, 51; 91, 105; 5.3 %
/// 75, 67; 155, 135; 9.7 %, n = 16, 32, 64, 128 47, 38; 88, 59; 143, 102; 277, 204; 13.5 %, n = 64
/// 201, 136; but 4096 x 4096 with 5 % in a regular pattern, n = 128 47, 65. 20 % (staged: 25 % with
/// 32 packs side by side, 19 % with 16, 21 % with 8), n = 16, 32, 64: shared tiles 110, 171, 208;
/// 13 % 52, 82, 128.
inline constexpr double shared_tile_plan_fill = 0.06;
inline constexpr double shared_tile_plan_fill_of_few = 0.08;
inline constexpr double shared_tile_used = 0.8;
inline constexpr double shared_tile_most_staged = 0.8;
inline constexpr int shared_tile_least_teams = 96;
inline constexpr double model_shared_tiles = 0.75;

/// The largest A that is written out as a dense matrix.
inline constexpr std::int64_t device_dense_bytes = std::int64_t{8} << 30;
inline constexpr std::int64_t host_dense_bytes = std::int64_t{1} << 30;

/// Devices: the model of partition/predict.hpp and inner/device_shape.hpp; microseconds, bytes a
/// microsecond, and factors. Fitted to 24,000 products of 67 matrices with 1 to 128 columns on one
/// H200, with every grid of lanes and length of pieces (perf/results/spmm_shapes_h200.csv):
/// tests/spmm/model_test.cpp says what its choice costs against the best that was measured.
inline constexpr double model_stream = 3.3e6;
inline constexpr double model_gather = 6.5e6;
inline constexpr double model_without_packs = 1.4;
inline constexpr double model_groups_without_packs = 2;
inline constexpr double model_launch = 3.7;
inline constexpr double model_body_stream = 0.676;
inline constexpr double model_body_gather = 0.18;
inline constexpr double model_wait = 0.282;
inline constexpr double model_warp = 2.08e-4;
inline constexpr double model_uneven = 8.03e-6;
inline constexpr double model_tail = 0.0312;
inline constexpr double model_list = 1.71;
inline constexpr double model_sorted = 0.046;
inline constexpr double model_part = 0.0552;
inline constexpr double model_cut = 1.84;
inline constexpr double model_carry = 3.22e-6;
/// (4e6 rows of 0.3, n = 4, 8: 95, 153; adaptive 122, 193. R-MAT 20, n = 8, 32, 64: 369, 803, 1357;
/// sorted 251, 617, 1220: no other rows hide that uneven ones stand in their order.)
inline constexpr double model_empty_rows = 2;
inline constexpr double model_team_launch = 4.75;
inline constexpr double model_team_stream = 1.35;
inline constexpr double model_team_stream_one_pack = 1.7;
inline constexpr double model_team_gather = 0.512;
inline constexpr double model_team_wide = 2.46;
inline constexpr double model_team_wait_long = 0.14;
inline constexpr double model_team_wait = 0.09;
inline constexpr double model_team_wait_one_pack = 0.003;
inline constexpr double model_whole_rows = 0.99;   // a tie is theirs: they need no list
inline constexpr double model_team_long_rows = 2;  // rows that all are longer than a team's tile

/// What explain() says of an order: of X larger than a first-level cache has, and where so large a
/// part of the columns lies far from their row. (Reasoned. A permuted 7-point grid of 128^3, 8
/// columns, costs 2.3 times; the model says 1.9.)
inline constexpr std::int64_t order_least_bytes = std::int64_t{1} << 20;
inline constexpr double order_least_far = 0.1;

/// The same of a product whose X or Y is not row-major: a nonzero of a lane that owns a row of
/// column-major X, once for each pass over its columns: what the longest row waits for it, and what
/// it takes of the machine, the more the more bytes of columns a pass has; bytes of a row-major
/// copy; an element of X that is fetched alone, by columns up to so many, and of a block. (Same
/// machine: the figures at device_column_bytes; copies of 2.3 to 3.6 bytes a picosecond; strided
/// products of 2, 4 and 8 columns.)
inline constexpr double model_column_wait = 0.3;
inline constexpr double model_column_entry = 4e-6;
inline constexpr double model_column_byte = 0.028e-6;
inline constexpr double model_copy = 2.8e6;
inline constexpr double model_strided = 0.4e-6;
inline constexpr int model_strided_columns = 8;
inline constexpr double model_strided_element = 8e-6;

/// The same for windows: a launch, bytes a microsecond streamed and fetched of X, and what a tile
/// of 16 rows costs more than one of 8. Fitted to the times beside window_few_rows_columns, and
/// then divided by 1.54, because the times of groups come out too small by as much.
inline constexpr double model_window_launch = 2;
inline constexpr double model_window_stream = 6.3e6;
inline constexpr double model_window_fetch = 16e6;
inline constexpr double model_window_two_halves = 3.1e-5;

/// Hosts: the same, of one core (reasoned: some 1e9 entries, 1e10 bytes a second).
inline constexpr double host_model_entry = 1e-3;
inline constexpr double host_model_column = 2.5e-4;
inline constexpr double host_model_byte = 1e-4;

/// Hosts: what an entry saves whose row of X was fetched for the row before, as a part of the time
/// of its columns, beyond the first few. One core of a Xeon with AVX-512, elasticity 20,
/// milliseconds without and with groups: n = 4 0.86, 0.83; 8 1.11, 0.97; 16 1.87, 1.19;
/// 32 3.62, 2.09; 64 7.8, 4.7; transposed n = 1 1.54, 1.65; 16 2.66, 2.19.
inline constexpr double host_model_group = 0.7;
inline constexpr int host_model_group_columns = 4;

/// Hosts: scratch of a team for the products summed beside a multiplication, at most (what Kokkos
/// has there).
inline constexpr std::size_t host_dots_bytes = 30 << 10;

/// Hosts: a row is cut only when it alone could hold up a core; 4096 nonzeros are about 10 us
/// (reasoned, not measured).
inline constexpr std::int64_t host_piece = 4096;
inline constexpr std::int64_t host_longest_whole_row = 16384;

/// Hosts: bytes of sums kept in registers while a row is read once: two of the widest registers.
/// One core of a Xeon with AVX-512, GCC 12, 7-point 60^3, n = 32: 18 ms, and 40 with four, which
/// the compiler keeps in memory.
inline constexpr int host_pack_bytes = 128;
/// Hosts: bytes of one register of the target, as the compiler was told.
#if defined(__AVX512F__)
inline constexpr int host_register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int host_register_bytes = 32;
#else
inline constexpr int host_register_bytes = 16;
#endif

/// Hosts: the same for each row of a group, whose sums are all kept: eight registers with four
/// rows, and SSE and AVX have sixteen.
inline constexpr int host_group_pack_bytes = 2 * host_register_bytes;

/// Hosts: at most so many chains of sums (the latency of an addition in its throughput), in rows of
/// so many nonzeros or more. One core of an EPYC 9004 (2.6 GHz, AVX-512), n = 1: elasticity 44 (77
/// nonzeros a row) 15.2 -> 12.4 ms with chains; 7-point 100^3 9.2 -> 11.7 ms, hence the bound.
inline constexpr int host_chains = 4;
inline constexpr int host_chained_row = 16;

/// Hosts: so many columns or fewer, left at the end, are multiplied in one pass over the row. Same
/// core, elasticity 44, n = 7: 47 -> 30 ms.
inline constexpr int host_last_few = 8;

/// Hosts: a value of the transposed pattern is asked for this many entries ahead.
inline constexpr int host_prefetch = 32;

/// Hosts: X whose rows are not contiguous is copied into row-major scratch first where it has at
/// least host_packed_columns columns and a row of A times its columns is at least host_packed_work:
/// below, strided loads cost less than the copy. Where it is not copied, this many columns at a
/// time (more would be more pages at a time).
inline constexpr std::int64_t host_packed_columns = 4;
inline constexpr std::int64_t host_packed_work = 48;
inline constexpr int host_strided_columns = 4;

/// Hosts: rows of X copied together; 64 rows of 32 doubles fit the first-level cache.
inline constexpr std::int64_t host_packed_rows = 64;

/// Hosts: a Y of at least this many bytes is written around the caches, because it would not stay
/// in them, and lines written whole need not be read first.
inline constexpr std::int64_t host_stream_bytes = std::int64_t{32} << 20;

/// Hosts: a team's block of rows holds about this many nonzeros (reasoned: large against the cost
/// of handing out a team, small against a core's share), and no more rows than this.
inline constexpr std::int64_t host_team_entries = 4096;
inline constexpr std::int64_t host_team_rows = 512;

}  // namespace tuning
}  // namespace blockspan::detail
