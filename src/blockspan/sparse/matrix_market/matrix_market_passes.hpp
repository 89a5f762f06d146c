#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <blockspan/sparse/matrix_market/matrix_market_entries.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::sparse {

/// Threads worth starting for a file of this size.
int reader_threads(MatrixMarketReadOptions const& options, std::int64_t file_size);

/// Runs `worker` once on each of `threads` threads of the host, waits, and rethrows what one threw.
void run_workers(int threads, std::function<void()> const& worker);

/// Begins the body again and calls body(chunk) for all its chunks, on any thread, in any order.
void for_each_chunk(TextSource& source, ParsedHeader const& header, int threads,
                    std::function<void(TextChunk const&)> const& body);

/// Throws unless `bytes` fit into the machine; the size line is to blame.
void check_memory(std::string const& path, ParsedHeader const& header, std::int64_t entries,
                  std::int64_t bytes_per_entry, std::int64_t bytes_per_row);

/// Throws at the field's word when the file is complex and the scalar is not.
void check_field(std::string const& path, ParsedHeader const& header, bool complex_scalar);

/// First value of each chunk of an array file (by chunk index), and the total behind the last.
std::vector<std::int64_t> count_values(TextSource& source, ParsedHeader const& header, int threads);

template <class Scalar, class Real>
Scalar to_scalar(FileValue<Real> const& value) {
  if constexpr (is_complex_v<Scalar>)
    return Scalar(value.real, value.imaginary);
  else
    return value.real;
}

/// The mirror image of `value` across the diagonal.
template <class Scalar>
Scalar mirrored(MatrixMarketSymmetry symmetry, Scalar const& value) {
  if (symmetry == MatrixMarketSymmetry::skew_symmetric) return -value;
  if (symmetry == MatrixMarketSymmetry::hermitian) return conjugate(value);
  return value;
}

/// Reads the whole body in order on one thread and throws its first error, as every thread count
/// must. sink(row, column, value, cursor) sees each entry on the way.
template <class Real, class Sink>
void scan_body(TextSource& source, ParsedHeader const& header, Sink const& sink) {
  source.restart(header.body_position, header.size_line + 1);
  std::int64_t count = 0;
  for (TextChunk chunk; source.next(chunk);)
    count += header.format == MatrixMarketFormat::array
                 ? parse_array<Real>(source.path(), chunk, header, count, header.entries, sink)
                 : parse_coordinates<Real, true>(source.path(), chunk, header, count,
                                                 header.entries, sink);
  if (count < header.entries)
    throw MatrixMarketError(
        source.path(), source.line(), 1,
        "entry " + std::to_string(count + 1) + " of " + std::to_string(header.entries),
        "end of file");
}

template <class Real>
void find_first_error(TextSource& source, ParsedHeader const& header) {
  scan_body<Real>(source, header, [](auto const&...) {});
}

/// Throws at the last line that gives this position, or its mirror image.
template <class Real>
[[noreturn]] void refuse_position(TextSource& source, ParsedHeader const& header, std::int64_t row,
                                  std::int64_t column, char const* expected) {
  std::int64_t line = 0;
  std::string token;
  bool const general = header.symmetry == MatrixMarketSymmetry::general;
  scan_body<Real>(source, header,
                  [&](std::int64_t i, std::int64_t j, auto const&, TextCursor const& cursor) {
                    bool const mirror = !general && i == column && j == row;
                    if (!mirror && (i != row || j != column)) return;
                    line = cursor.line();
                    token = std::to_string(i + 1) + " " + std::to_string(j + 1);
                  });
  throw MatrixMarketError(source.path(), line, 1, expected, token);
}

/// Runs the parallel passes; if one fails, the error thrown is the first in the file.
template <class Real, class Passes>
void run_passes(TextSource& source, ParsedHeader const& header, Passes const& passes) {
  try {
    passes();
    source.check_unchanged();
  } catch (...) {
    find_first_error<Real>(source, header);
    throw;
  }
}

}  // namespace blockspan::sparse
