#include <algorithm>

#include <blockspan/sparse/matrix_market/matrix_market_passes.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

namespace sparse {

namespace {

void check_block(std::string const& path, ParsedHeader const& header, std::int64_t scalar_bytes) {
  std::int64_t const width = std::max<std::int64_t>(header.columns, 1);
  if (width > no_limit / scalar_bytes)
    throw MatrixMarketError(path, header.size_line, header.columns_column,
                            "a block that fits into memory", std::to_string(header.columns));
  check_memory(path, header, 0, 1, width * scalar_bytes);
}

template <class Scalar>
HostBlock<Scalar> allocate_block(ParsedHeader const& header) {
  return allocate_zeros<HostBlock<Scalar>>(Kokkos::DefaultHostExecutionSpace(), "Blockspan::block",
                                           header.rows, header.columns);
}

template <class Scalar>
HostBlock<Scalar> read_array_block(TextSource& source, ParsedHeader const& header, int threads) {
  using Real = real_t<Scalar>;
  HostBlock<Scalar> block;
  run_passes<Real>(source, header, [&] {
    auto const starts = count_values(source, header, threads);
    if (starts.back() != header.entries) find_first_error<Real>(source, header);
    block = allocate_block<Scalar>(header);
    for_each_chunk(source, header, threads, [&](TextChunk const& chunk) {
      parse_array<Real>(
          source.path(), chunk, header, starts.at(static_cast<std::size_t>(chunk.index)),
          header.entries,
          [&](std::int64_t row, std::int64_t column, FileValue<Real> const& value, auto const&) {
            block(row, column) = to_scalar<Scalar>(value);
            if (header.symmetry != MatrixMarketSymmetry::general && row != column)
              block(column, row) = mirrored(header.symmetry, block(row, column));
          });
    });
  });
  return block;
}

template <class Scalar>
HostBlock<Scalar> read_coordinate_block(std::string const& path, ParsedHeader const& header,
                                        MatrixMarketReadOptions const& options) {
  auto const A = read_csr<Scalar, std::size_t, std::int64_t>(path, options);
  auto const block = allocate_block<Scalar>(header);
  for (std::int64_t row = 0; row < A.rows; ++row)
    for (auto p = A.offsets(row); p < A.offsets(row + 1); ++p)
      block(row, A.indices(p)) = A.values(p);
  return block;
}

}  // namespace

}  // namespace sparse

template <class Scalar>
HostBlock<Scalar> read_block(std::string const& path, MatrixMarketReadOptions const& options) {
  sparse::TextSource source(path);
  auto const header = sparse::parse_header(source);
  sparse::check_field(path, header, is_complex_v<Scalar>);
  sparse::check_block(path, header, sizeof(Scalar));
  if (header.format == MatrixMarketFormat::coordinate)
    return sparse::read_coordinate_block<Scalar>(path, header, options);
  return sparse::read_array_block<Scalar>(source, header,
                                          sparse::reader_threads(options, source.file_size()));
}

template HostBlock<float> read_block(std::string const&, MatrixMarketReadOptions const&);
template HostBlock<double> read_block(std::string const&, MatrixMarketReadOptions const&);
template HostBlock<Kokkos::complex<float>> read_block(std::string const&,
                                                      MatrixMarketReadOptions const&);
template HostBlock<Kokkos::complex<double>> read_block(std::string const&,
                                                       MatrixMarketReadOptions const&);

}  // namespace blockspan
