#pragma once

#include <cstdint>

#include <blockspan/spmm/plan/facts.hpp>

// Arguments and result of SpmmVariant::cost, by which a plan chooses a kernel.

namespace blockspan::products {

/// The expected time of a product.
struct Cost {
  double microseconds;
  std::int64_t segment = 0;  ///< with rows longer than this cut; 0: it cuts none
};

/// How a team may multiply with staged tiles of X: a vector of a row a lane, or windows of rows on
/// tensor cores.
struct TileForms {
  bool lanes = false;
  bool windows = false;
  bool any() const { return lanes || windows; }
};

/// A matrix and a width, as far as the costs of kernels depend on them. What has not been counted,
/// because its kernel is no candidate, is zero.
struct CostFacts {
  RowStatistics const& rows;
  GroupCount groups;
  WindowCount windows;
  TileForms tiles;
  std::int64_t columns;
  std::int64_t segment;  ///< the length asked for; 0: the kernel's choice
  ScalarKind scalar;
  DeviceFacts const& device;
  bool chosen = false;  ///< whether the kernel is a candidate is out of the question
  ClusterSample clusters{};
};

}  // namespace blockspan::products
