#pragma once

#include <cstdint>
#include <string>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/partition/local_rows.hpp>
#include <blockspan/distributed/row_partition.hpp>

namespace blockspan::distributed {

template <class Scalar>
struct ReadRows {
  RowPartition partition;
  LocalRows<Scalar> rows;  ///< columns are sorted and unique
};

/// Each rank's rows of the square matrix of a coordinate file. chunk_rows: computes the rows of a
/// chunk of the sums from the number of all rows. See read_distributed. Instantiated for the four
/// scalars.
template <class Scalar>
ReadRows<Scalar> read_rows(Communicator const& ranks, std::string const& path,
                           std::int64_t (*chunk_rows)(std::int64_t), RowPartition const* like);

}  // namespace blockspan::distributed
