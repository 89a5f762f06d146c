#pragma once

#include <cstdint>
#include <vector>

namespace blockspan {

/// Rows of a sparse matrix in host memory, with global columns.
template <class Scalar>
struct LocalRows {
  std::vector<std::int64_t> offsets = {0};  ///< number of rows + 1, from 0
  std::vector<std::int64_t> columns;        ///< global
  std::vector<Scalar> values;
};

}  // namespace blockspan
