#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

// Matrix Market files (Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", NISTIR
// 5935, 1996), read and written, plain or gzip. The reader is Blockspan's own, over
// std::from_chars: it reports bad input by line and column, which a wrapped library would not.
//
// What is read, beyond the letter of the format: words of the banner in any case, any spacing,
// CRLF, comments and blank lines anywhere, Fortran `D` exponents, a leading `+`, a byte order mark
// of UTF-8, more words behind the banner. What the format leaves open, and what is meant here:
//   - entries given more than once add up (in an order fixed by their values, so that every thread
//     count gives the same bits, and mirrored sums stay exact mirrors);
//   - symmetric, skew-symmetric and Hermitian files may hold entries of either triangle, each
//     standing for its mirror image too; a position given in both triangles is refused (adding
//     would double it, dropping would lose it), and so is a repeated one when a file uses both
//     triangles;
//   - explicit zeros stay entries; every value of an array file is an entry, zeros included;
//   - integers may be written with a point or an exponent (1e+16), if they are integers; they are
//     rounded to the nearest scalar, and a number too small for the scalar becomes zero; a number
//     too large is refused, as are NaN and infinities;
//   - Hermitian files that are not complex are symmetric;
//   - the other combinations that the format excludes are refused: pattern arrays, skew-symmetric
//     pattern files.

namespace blockspan {

enum class MatrixMarketFormat { coordinate, array };
enum class MatrixMarketField { real, integer, complex, pattern };  ///< `double` is real
enum class MatrixMarketSymmetry { general, symmetric, skew_symmetric, hermitian };

/// The words of the format: "coordinate", "real", "skew-symmetric", ...
char const* to_string(MatrixMarketFormat format);
char const* to_string(MatrixMarketField field);
char const* to_string(MatrixMarketSymmetry symmetry);

/// The banner and the size line of a file.
struct MatrixMarketHeader {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;  ///< stored in the file: before symmetric expansion; arrays: values
  MatrixMarketFormat format = MatrixMarketFormat::coordinate;
  MatrixMarketField field = MatrixMarketField::real;
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
};

/// A file that cannot be read: "file:line:column: expected ..., found '...'".
class MatrixMarketError : public Error {
 public:
  /// `line` and `column` (in bytes) count from 1; both are 0 where the file as a whole is at fault.
  MatrixMarketError(std::string file, std::int64_t line, std::int64_t column, std::string expected,
                    std::string token);

  std::string file;
  std::int64_t line;
  std::int64_t column;
  std::string expected;
  std::string token;  ///< what was found, unprintable bytes as `\xNN`; or "end of line",
                      ///< "end of file"
};

struct MatrixMarketReadOptions {
  int threads = 0;  ///< 0: those of the default host execution space
};

struct MatrixMarketWriteOptions {
  /// Anything but general writes the lower triangle only, and refuses a matrix that lacks the
  /// symmetry to the last bit. Hermitian needs a complex scalar.
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  std::string comment = {};  ///< written below the banner; may hold several lines
};

/// Reads banner and size line, so that a caller can choose a scalar. Throws MatrixMarketError.
MatrixMarketHeader read_matrix_market_header(std::string const& path);

/// Reads the matrix of a file, plain or gzip (recognized by content, not by name).
///
/// Returns rows x columns on `exec`, symmetric storage expanded, columns of a row ascending and
/// unique. Pattern entries are 1. Complex files need a complex Scalar; real files fit any. The
/// result does not depend on the number of threads. Fences `exec`.
///
/// Offset is int or std::size_t, Ordinal is int (or std::int64_t with Offset std::size_t).
/// Throws MatrixMarketError for whatever is wrong with the file, also when it does not fit Ordinal,
/// Offset, Scalar or the machine's memory; every such check comes before the allocation it
/// protects. Throws Error where that fails all the same, and where a device's memory is short.
///
/// The text is read twice in chunks (entries of each row are counted, then put in place), so that
/// memory stays at the matrix itself plus 1 MiB a thread; twice the matrix while repeated entries
/// are added up. O(entries) time, plus the sort of the rows. Plain text is parsed by all threads,
/// gzip is inflated by one at a time.
template <class Scalar, class Exec, class Offset = int, class Ordinal = int>
CrsMatrix<Scalar, Exec, Offset, Ordinal> read_matrix_market(
    Exec const& exec, std::string const& path, MatrixMarketReadOptions const& options = {}) {
  static_assert(sparse::has_file_types<Offset, Ordinal>,
                "offsets are int or std::size_t, ordinals int (or std::int64_t with std::size_t)");
  return sparse::to_device(exec, sparse::read_csr<Scalar, Offset, Ordinal>(path, options));
}

/// A dense block on the host, as files of vectors hold it.
template <class Scalar>
using HostBlock = Kokkos::View<Scalar**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Reads a file into a dense block, rows x columns, row-major on the host; array and coordinate
/// files of every field and symmetry. Scalars, errors and determinism as read_matrix_market.
/// Instantiated for float, double and Kokkos::complex of both.
template <class Scalar>
HostBlock<Scalar> read_block(std::string const& path, MatrixMarketReadOptions const& options = {});

/// Writes A in coordinate format, field real or complex, in the shortest digits that give back the
/// same bits; gzip when `path` ends in ".gz".
///
/// `general` writes the entries in the order stored, repeated ones and zeros included. The file
/// appears whole or not at all (a temporary file next to it is renamed). A link is followed;
/// anything else than a regular file is not replaced. Throws Error for NaN and infinite values, for
/// a matrix without the symmetry asked for, for whatever the file system refuses, and where memory
/// for a sorted copy is short. Fences.
template <class Matrix>
void write_matrix_market(std::string const& path, Matrix const& A,
                         MatrixMarketWriteOptions const& options = {}) {
  static_assert(sparse::has_file_types<typename Matrix::non_const_size_type,
                                       typename Matrix::non_const_ordinal_type>,
                "offsets are int or std::size_t, ordinals int (or std::int64_t with std::size_t)");
  sparse::write_csr(path, sparse::to_host(A), options);
}

namespace sparse {
template <class Scalar>
void write_dense(std::string const& path, HostBlock<Scalar const> const& X,
                 MatrixMarketWriteOptions const& options);
}

/// Writes X, a rank-2 view of any layout in any memory, in array format: column by column, all
/// values. Digits, atomic replacement, gzip and errors as write_matrix_market; only `general`.
/// Fences.
template <class Block>
void write_block(std::string const& path, Block const& X,
                 MatrixMarketWriteOptions const& options = {}) {
  static_assert(Block::rank() == 2, "write_block takes a rank-2 view");
  using Scalar = typename Block::non_const_value_type;
  auto const host = allocate<HostBlock<Scalar>>(Kokkos::DefaultHostExecutionSpace(),
                                                "Blockspan::write", X.extent(0), X.extent(1));
  sparse::copy_to_host(X, host);
  sparse::write_dense<Scalar>(path, host, options);
}

}  // namespace blockspan
