#pragma once

#include <cstdint>
#include <vector>

namespace blockspan {

/// Rows of a sparse matrix in host memory, with columns of the whole matrix.
template <class Scalar>
struct LocalRows {
  std::vector<std::int64_t> offsets = {0};  ///< one more than rows, from 0
  std::vector<std::int64_t> columns;        ///< global
  std::vector<Scalar> values;
};

}  // namespace blockspan
