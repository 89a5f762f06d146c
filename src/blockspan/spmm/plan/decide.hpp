#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/spmm/plan/cost.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/spmm/variants.hpp>

// Every decision about a product, from plain facts: the variant of a plan (choose_variant), once,
// and for each kind of blocks the launches (decide). Pure functions, compiled once, tested by
// tables on any host. Products of any kind, explanations, sweeps and tests read these.

namespace blockspan::products {

/// The expected time of a candidate of the menu.
struct SpmmPrediction {
  SpmmVariant const* variant;
  double microseconds;
  std::int64_t segment;  ///< with rows longer than this cut; 0: it cuts none
};

/// Which variant runs, with which cuts, and why: decided from the statistics alone, so the same
/// pattern gives the same bits on any number of threads.
struct SpmmChoice {
  SpmmVariant const* variant;
  std::int64_t segment;  ///< rows longer than this are cut; 0: none is
  std::string reason;
  std::string rejected;
  std::vector<SpmmPrediction> predictions;  ///< at the plan's width and scalar; the fastest first
  bool asked = false;                       ///< the variant, by its id: there is no fallback
};

/// The variant of a plan, with the reasons. `windows`: without tiles where they are no candidates;
/// `clusters`: without entries likewise.
SpmmChoice choose_variant(RowStatistics const& rows, GroupCount const& groups,
                          WindowCount const& windows, TileForms const& tiles,
                          SpmmPlanOptions const& options, ScalarKind const& scalar,
                          DeviceFacts const& device, ClusterSample const& clusters = {});

/// Copies and launches of a product with this pattern and choice. Without launches: the algorithm
/// must run, but does not support these blocks.
Decision decide(PatternFacts const& A, SpmmChoice const& choice, BlockFacts const& blocks,
                DeviceFacts const& device);

/// Decisions that were made, for as long as a plan lives. Several threads may ask.
class DecisionMemo {
 public:
  /// The decision for these blocks; make() is called the first time. The reference stays valid.
  template <class Make>
  Decision const& find(BlockFacts const& blocks, Make const& make) {
    std::lock_guard const lock(mutex_);
    for (auto const& [known, decision] : made_)
      if (known == blocks) return decision;
    return made_.emplace_back(blocks, make()).second;
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<BlockFacts, Decision>> made_;
};

/// The count of columns of a row-major block in the next product, such that rows of X in use
/// stay in the cache and few lanes are idle; the others follow in products of their own.
/// `vectorized`: the kernel reads whole vectors.
std::int64_t columns_of_panel(SpmmVariant const& variant, RowStatistics const& rows,
                              std::int64_t half_bandwidth, std::int64_t columns,
                              std::size_t scalar_bytes, bool vectorized, DeviceFacts const& device);

/// Whether whole rows keep the distances of their columns in 16 bits.
bool keeps_distances(RowStatistics const& rows, SpmmVariant const& variant,
                     DeviceFacts const& device);

/// Whether the device has what the variant needs.
bool is_offered(SpmmVariant const& variant, ScalarKind const& scalar, DeviceFacts const& device);

/// How the kernels of the menu may stage tiles of X, with sorted rows.
TileForms tile_forms(RowStatistics const& rows, std::int64_t columns, ScalarKind const& scalar,
                     DeviceFacts const& device);

/// What runs where a variant does not support these blocks ...
SpmmVariant const& fallback_of(PatternFacts const& A, SpmmChoice const& choice);
/// ... and what runs of a variant where whole vectors do not fit.
SpmmVariant const& unvectorized(SpmmVariant const& variant);

}  // namespace blockspan::products
