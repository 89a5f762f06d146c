#pragma once

#include <cstdint>

namespace blockspan::detail::tuning {

// The models that choose among the variants. See tuning.hpp.

/// Devices: the model of plan/predict.hpp and plan/lanes.hpp; microseconds, bytes a
/// microsecond, and factors. Fitted to 24,000 products of 67 matrices with 1 to 128 columns on one
/// H200, with every grid of lanes and length of pieces (tests/spmm/model_record.csv):
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
inline constexpr double model_whole_rows = 0.99;  // a tie is theirs: they need no list

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
inline constexpr double model_column_entry = 3.4e-6;
inline constexpr double model_column_byte = 0.06e-6;
inline constexpr double model_column_scattered = 6e-6;
inline constexpr double model_staged_column_entry = 2.7e-6;
inline constexpr double model_staged_column_stream = 0.83;
inline constexpr double model_copy = 2.8e6;
inline constexpr double model_copy_cached = 5.6e6;
inline constexpr double model_copy_cached_bytes = 1 << 25;
inline constexpr double model_strided = 0.4e-6;
inline constexpr int model_strided_columns = 8;
inline constexpr double model_strided_element = 8e-6;

/// The same for windows: a launch, bytes a microsecond streamed and fetched of X (of eight columns
/// or fewer; of more). Fitted to the times at window_rows, and then divided by 1.54, because the
/// times of groups come out too small by as much.
inline constexpr double model_window_launch = 2;
inline constexpr double model_window_time = 1.6;  // measured over the model's
inline constexpr double model_window_stream = 5.7e6;
inline constexpr double model_window_fetch_few = 20e6;
inline constexpr double model_window_fetch = 24e6;

}  // namespace blockspan::detail::tuning
