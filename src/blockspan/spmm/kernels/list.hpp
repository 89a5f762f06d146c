#pragma once

#include <blockspan/spmm/kernels/adaptive/adaptive_choice.hpp>
#include <blockspan/spmm/kernels/clusters/clusters_choice.hpp>
#include <blockspan/spmm/kernels/groups/groups_choice.hpp>
#include <blockspan/spmm/kernels/row_pairs/row_pairs_choice.hpp>
#include <blockspan/spmm/kernels/rows/rows_choice.hpp>
#include <blockspan/spmm/kernels/rows/segments_choice.hpp>
#include <blockspan/spmm/kernels/shared_tiles/shared_tiles_choice.hpp>
#include <blockspan/spmm/kernels/windows/windows_choice.hpp>

// The one list of the kernels of the core: choosing (plan/menu.cpp) and running
// (run/multiply_impl.hpp) are loops over it.

namespace blockspan::products {

/// Each has `row`, its row of the menu, and launch(call), what runs it.
template <class... Kernels>
struct KernelList {};

/// In the order of SpmmKernelId. Of two with the same expected time the first runs.
using CoreKernels = KernelList<RowsChoice, SingleColumnsChoice, AdaptiveChoice, RowPairsChoice,
                               SegmentsChoice, SegmentsSortedChoice, NonemptyRowsChoice,
                               GroupsChoice, WindowsChoice, SharedTilesChoice, ClustersChoice>;

}  // namespace blockspan::products

// Kernels that are translation units of their own.
#ifdef BLOCKSPAN_SPMM_HEADER_ONLY
#include <blockspan/spmm/kernels/adaptive/adaptive_block.hpp>
#include <blockspan/spmm/kernels/groups/groups.hpp>
#include <blockspan/spmm/kernels/row_pairs/row_pairs.hpp>
#include <blockspan/spmm/kernels/shared_tiles/shared_tiles.hpp>
#include <blockspan/spmm/kernels/shared_tiles/shared_windows.hpp>
#include <blockspan/spmm/kernels/windows/windows.hpp>
#endif
