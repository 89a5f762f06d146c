#pragma once

#include <memory>
#include <string>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/reading/read_rows.hpp>
#include <blockspan/sparse/matrix_market.hpp>

namespace blockspan {

/// The square matrix of a Matrix Market file that all ranks can open, partitioned as `like`, or at
/// chunk boundaries of the sums over rows, balanced by entries. The same entries as from
/// read_matrix_market.
///
/// Of an uncompressed file every rank parses its share of the lines, and computes a checksum of the
/// bytes of another rank, so that two ranks read each share; a gzip file is decompressed by rank 0,
/// which sends the lines to the others. No rank holds an array of global length: memory for twice
/// its share of the entries, about 24 bytes each, then for its rows. Array files, which are dense,
/// are read by rank 0. One thread per rank parses.
///
/// Called by all ranks; fences the instance. Throws Error, on all ranks: for the first fault of the
/// file, with the message of read_matrix_market (rank 0 finds its line by reading the whole file),
/// if the matrix is not square, if a rank cannot open the file or sees another file under its name,
/// and as DistributedMatrix does.
template <class Scalar, class Exec>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> read_distributed(
    Exec const& exec, Communicator const& ranks, std::string const& path,
    RowPartition const* like = nullptr) {
  bool whole = ranks.size() == 1;
  ranks.run_agreed([&] {
    if (ranks.rank() > 0) return;
    auto const header = read_matrix_market_header(path);
    require(header.rows == header.columns, path, "the matrix must be square (", header.rows, " x ",
            header.columns, ")");
    whole = whole || header.format == MatrixMarketFormat::array;
  });
  ranks.broadcast(std::span(&whole, 1), 0);
  if (whole) {
    CrsMatrix<Scalar, Exec> A;
    ranks.run_agreed([&] {
      if (ranks.rank() == 0) A = read_matrix_market<Scalar>(exec, path);
    });
    return distribute(exec, ranks, A, like);
  }
  auto const [partition, rows] =
      distributed::read_rows<Scalar>(ranks, path, &blocks::chunk_rows<Exec>, like);
  return std::make_shared<DistributedMatrix<Scalar, Exec> const>(exec, ranks, partition, rows);
}

}  // namespace blockspan
