#pragma once

#include <blockspan/spmm/variants.hpp>

// The rows of the menu that this library registers: kernels of the literature and naive baselines.
// No plan selects them automatically; launch_published.hpp launches them.

namespace blockspan::published {

inline constexpr char const* component = "Blockspan::published";

inline constexpr SpmmVariant thread_per_row{
    .id = "thread_per_row",
    .label = "Blockspan::spmm::thread_per_row",
    .parts = "whole rows; a work item walks its row once a column",
    .source = "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR scalar)",
    .needs = "",
    .loses = "the naive baseline",
    .component = component,
    .by_rows = true,
    .items = true};

inline constexpr SpmmVariant thread_per_element{
    .id = "thread_per_element",
    .label = "Blockspan::spmm::thread_per_element",
    .parts = "whole rows; a work item makes one element of Y",
    .source =
        "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR scalar, a thread a column too)",
    .needs = "",
    .loses = "the naive baseline with a thread a column",
    .component = component,
    .by_rows = true,
    .items = true};

inline constexpr SpmmVariant team_per_row{
    .id = "team_per_row",
    .label = "Blockspan::spmm::team_per_row",
    .parts = "whole rows; a team of one thread a row, lanes over columns",
    .source = "Bell, Garland 2009, SC, doi:10.1145/1654059.1654078 (CSR vector), taken literally",
    .needs = "",
    .loses = "a team is too small for one row of few columns",
    .kernel = SpmmKernelId::rows,
    .component = component,
    .vectorized = true,
    .strided_y = true,
    .by_rows = true,
    .team_of_one = true};

inline constexpr SpmmVariant staged_single_columns{
    .id = "staged_single_columns",
    .label = "Blockspan::spmm::staged_single_columns",
    .parts = "whole rows; chunks of 32 entries through team scratch; a lane owns single columns",
    .source = "Huang, Dai, Wang, Yang 2020, SC (GE-SpMM), doi:10.1109/SC41405.2020.00076",
    .needs = "",
    .loses = "staging costs more than the cache's own broadcast",
    .component = component};

inline constexpr SpmmVariant staged_rows{
    .id = "staged_rows",
    .label = "Blockspan::spmm::staged_rows",
    .parts =
        "whole rows; chunks of 32 entries through team scratch; a lane owns vectors of columns",
    .source =
        "Huang, Dai, Wang, Yang 2020, SC (GE-SpMM), doi:10.1109/SC41405.2020.00076, with 16-byte "
        "loads",
    .needs =
        "on devices: rows of X and Y contiguous, 16-byte aligned and a multiple of 16 bytes wide",
    .loses = "staging costs more than the cache's own broadcast",
    .component = component,
    .requires_aligned_x = true,
    .vectorized = true};

inline constexpr SpmmVariant row_split{
    .id = "row_split",
    .label = "Blockspan::spmm::row_split",
    .parts = "whole rows; 32 lanes a row, each reads one entry and broadcasts it to the others",
    .source = "Yang, Buluc, Owens 2018, Euro-Par, doi:10.1007/978-3-319-96983-1_48",
    .needs = "",
    .loses = "few columns leave most of its lanes idle",
    .component = component,
    .vectorized = true};

inline constexpr SpmmVariant merge{
    .id = "merge",
    .label = "Blockspan::spmm::merge",
    .parts =
        "tiles of equally many rows and entries, a team thread each; sums of cut rows added in "
        "order",
    .source =
        "Merrill, Garland 2016, SC, doi:10.1109/SC.2016.57; Yang, Buluc, Owens 2018, Euro-Par, "
        "doi:10.1007/978-3-319-96983-1_48",
    .needs = "",
    .loses = "most rows need no cutting, and its sums of cut rows are traffic",
    .units = SpmmUnits::tiles,
    .component = component,
    .vectorized = true};

inline constexpr SpmmVariant balanced{
    .id = "balanced",
    .label = "Blockspan::spmm::balanced",
    .parts = "tiles of equally many entries, a team thread each; sums of cut rows added in order",
    .source =
        "Flegar, Quintana-Orti 2017, Euro-Par, doi:10.1007/978-3-319-64203-1_51, without its "
        "atomics",
    .needs = "",
    .loses = "most rows need no cutting, and its sums of cut rows are traffic",
    .units = SpmmUnits::tiles,
    .component = component,
    .vectorized = true};

inline constexpr SpmmVariant prefix_sum{
    .id = "prefix_sum",
    .label = "Blockspan::spmm::prefix_sum",
    .parts =
        "tiles of equally many entries; products in scratch, a segmented scan, a column at a time",
    .source =
        "Blelloch, Heroux, Zagha 1993, CMU-CS-93-173; Liu, Vinter 2015, ICS (CSR5), "
        "doi:10.1145/2751205.2751209",
    .needs = "",
    .loses = "reads the matrix once a column",
    .units = SpmmUnits::tiles,
    .component = component};

inline constexpr SpmmVariant dense{.id = "dense",
                                   .label = "Blockspan::spmm::dense",
                                   .parts = "A written out, then the BLAS' matrix product",
                                   .source = "GEMM",
                                   .needs =
                                       "X without NaN and infinities (zeros of A multiply them "
                                       "too), room for the dense A, a BLAS: CUDA or a host",
                                   .loses = "for the crossover, above some 10 % of nonzeros",
                                   .component = component,
                                   .sorted_rows = true,
                                   .as_it_is = true};

inline constexpr SpmmVariant const* menu[] = {&thread_per_row, &thread_per_element,
                                              &team_per_row,   &staged_single_columns,
                                              &staged_rows,    &row_split,
                                              &merge,          &balanced,
                                              &prefix_sum,     &dense};

/// Adds the rows to the menu of the core.
inline void register_published_menu() {
  for (auto const* const variant : menu) register_spmm_variant(*variant);
}

}  // namespace blockspan::published
