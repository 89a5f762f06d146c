#include <algorithm>
#include <charconv>
#include <cmath>

#include <blockspan/sparse/matrix_market/matrix_market_rows.hpp>
#include <blockspan/support/atomic_file.hpp>

namespace blockspan::sparse {

namespace {

/// Collects text and passes it on in large chunks.
class TextWriter {
 public:
  TextWriter(std::string_view where, std::string const& path) : where_(where), file_(where, path) {
    text_.reserve(chunk + longest_line);
  }

  void text(std::string_view words) { text_ += words; }

  void integer(std::int64_t value) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }

  template <class Scalar>
  void value(Scalar const& x, std::int64_t row, std::int64_t column) {
    if constexpr (is_complex_v<Scalar>) {
      real(x.real(), row, column);
      text_ += ' ';
      real(x.imag(), row, column);
    } else {
      real(x, row, column);
    }
  }

  void end_line() {
    text_ += '\n';
    if (text_.size() >= chunk) flush();
  }

  void commit() {
    flush();
    file_.commit();
  }

 private:
  static constexpr std::size_t chunk = std::size_t(1) << 18;
  static constexpr std::size_t longest_line = 256;

  template <class Real>
  void real(Real x, std::int64_t row, std::int64_t column) {
    require(std::isfinite(x), where_, "entry (", row + 1, ", ", column + 1, ") is ", x,
            ", which a Matrix Market file cannot hold");
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
  }

  void flush() {
    file_.write(text_);
    text_.clear();
  }

  std::string where_;
  AtomicFile file_;
  std::string text_;
};

template <class Scalar>
void write_banner(TextWriter& out, char const* format, MatrixMarketWriteOptions const& options) {
  out.text("%%MatrixMarket matrix ");
  out.text(format);
  out.text(is_complex_v<Scalar> ? " complex " : " real ");
  out.text(to_string(options.symmetry));
  out.end_line();
  if (options.comment.empty()) return;
  std::istringstream lines(options.comment);
  for (std::string line; std::getline(lines, line);) {
    out.text("% " + line);
    out.end_line();
  }
}

void write_size(TextWriter& out, std::initializer_list<std::int64_t> numbers) {
  for (auto const* number = numbers.begin(); number != numbers.end(); ++number) {
    if (number != numbers.begin()) out.text(" ");
    out.integer(*number);
  }
  out.end_line();
}

template <class Scalar>
void write_entry(TextWriter& out, std::int64_t row, std::int64_t column, Scalar const& value) {
  out.integer(row + 1);
  out.text(" ");
  out.integer(column + 1);
  out.text(" ");
  out.value(value, row, column);
  out.end_line();
}

/// What comes before entries are put in order by their values, which NaN have none of.
template <class Scalar, class Offset, class Ordinal>
void require_finite(HostCsr<Scalar const, Offset const, Ordinal const> const& A) {
  for (std::int64_t row = 0; row < A.rows; ++row)
    for (Offset p = A.offsets(row); p < A.offsets(row + 1); ++p)
      require(is_finite(A.values(p)), "write_matrix_market", "entry (", row + 1, ", ",
              static_cast<std::int64_t>(A.indices(p)) + 1, ") is ", A.values(p),
              ", which a Matrix Market file cannot hold");
}

/// A copy with sorted rows and repeated entries added up, in which entries can be looked up.
template <class Scalar, class Offset, class Ordinal>
HostCsr<Scalar, Offset, Ordinal> sorted_copy(
    HostCsr<Scalar const, Offset const, Ordinal const> const& A, MatrixMarketSymmetry symmetry) {
  auto const copy = zero_csr<Scalar, Offset, Ordinal>(A.rows, A.columns, A.values.extent(0));
  if (A.rows > 0) Kokkos::deep_copy(copy.offsets, A.offsets);
  Kokkos::deep_copy(copy.indices, A.indices);
  Kokkos::deep_copy(copy.values, A.values);
  sort_rows(copy, symmetry, 1);
  add_repeated(copy);
  return copy;
}

/// Throws unless each entry has its mirror image, bit for bit (an absent one is no zero).
template <class Scalar, class Offset, class Ordinal>
void require_symmetry(HostCsr<Scalar, Offset, Ordinal> const& A, MatrixMarketSymmetry symmetry) {
  constexpr char const* where = "write_matrix_market";
  require(A.rows == A.columns, where, "a ", A.rows, " x ", A.columns, " matrix is not ",
          to_string(symmetry));
  for (std::int64_t row = 0; row < A.rows; ++row) {
    for (Offset p = A.offsets(row); p < A.offsets(row + 1); ++p) {
      auto const column = static_cast<std::int64_t>(A.indices(p));
      auto const* const first = A.indices.data() + A.offsets(column);
      auto const* const last = A.indices.data() + A.offsets(column + 1);
      auto const* const found = std::lower_bound(first, last, static_cast<Ordinal>(row));
      bool const present = found != last && *found == static_cast<Ordinal>(row);
      Scalar const expected = mirrored(symmetry, Scalar(A.values(p)));
      require(present && A.values(found - A.indices.data()) == expected, where,
              "the matrix is not ", to_string(symmetry), ": entry (", row + 1, ", ", column + 1,
              ") is ", A.values(p), ", its mirror image is ",
              present ? Scalar(A.values(found - A.indices.data())) : Scalar(0));
    }
  }
}

template <class Scalar, class Offset, class Ordinal>
void write_lower(TextWriter& out, HostCsr<Scalar, Offset, Ordinal> const& A,
                 MatrixMarketSymmetry symmetry) {
  bool const skew = symmetry == MatrixMarketSymmetry::skew_symmetric;
  auto const each = [&](auto const& use) {
    for (std::int64_t row = 0; row < A.rows; ++row)
      for (Offset p = A.offsets(row); p < A.offsets(row + 1); ++p)
        if (std::int64_t const column = A.indices(p); column < row || (column == row && !skew))
          use(row, column, A.values(p));
  };
  std::int64_t entries = 0;
  each([&](auto const&...) { ++entries; });
  write_size(out, {A.rows, A.columns, entries});
  each([&](std::int64_t row, std::int64_t column, Scalar const& value) {
    write_entry(out, row, column, value);
  });
}

}  // namespace

template <class Scalar, class Offset, class Ordinal>
void write_csr(std::string const& path, HostCsr<Scalar const, Offset const, Ordinal const> const& A,
               MatrixMarketWriteOptions const& options) {
  require_walkable<Offset, Ordinal>("write_matrix_market", A.columns, A.offsets, A.indices);
  require(A.values.extent(0) == A.indices.extent(0), "write_matrix_market", A.values.extent(0),
          " values for ", A.indices.extent(0), " column indices");
  TextWriter out("write_matrix_market", path);
  write_banner<Scalar>(out, "coordinate", options);
  if (options.symmetry == MatrixMarketSymmetry::general) {
    write_size(out, {A.rows, A.columns, static_cast<std::int64_t>(A.values.extent(0))});
    for (std::int64_t row = 0; row < A.rows; ++row)
      for (Offset p = A.offsets(row); p < A.offsets(row + 1); ++p)
        write_entry(out, row, static_cast<std::int64_t>(A.indices(p)), A.values(p));
  } else {
    require(options.symmetry != MatrixMarketSymmetry::hermitian || is_complex_v<Scalar>,
            "write_matrix_market", "a real matrix is written as symmetric, not as Hermitian");
    require_finite<Scalar, Offset, Ordinal>(A);
    auto const sorted = sorted_copy<Scalar, Offset, Ordinal>(A, options.symmetry);
    require_symmetry(sorted, options.symmetry);
    write_lower(out, sorted, options.symmetry);
  }
  out.commit();
}

template <class Scalar>
void write_dense(std::string const& path, HostBlock<Scalar const> const& X,
                 MatrixMarketWriteOptions const& options) {
  require(options.symmetry == MatrixMarketSymmetry::general, "write_block",
          "a block is written as general, not as ", to_string(options.symmetry));
  TextWriter out("write_block", path);
  write_banner<Scalar>(out, "array", options);
  auto const rows = static_cast<std::int64_t>(X.extent(0));
  auto const columns = static_cast<std::int64_t>(X.extent(1));
  write_size(out, {rows, columns});
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      out.value(X(i, j), i, j);
      out.end_line();
    }
  }
  out.commit();
}

// Expands to everything written for one scalar.
#define BLOCKSPAN_INSTANTIATE(SCALAR)                                                             \
  template void write_csr(std::string const&, HostCsr<SCALAR const, int const, int const> const&, \
                          MatrixMarketWriteOptions const&);                                       \
  template void write_csr(std::string const&,                                                     \
                          HostCsr<SCALAR const, std::size_t const, int const> const&,             \
                          MatrixMarketWriteOptions const&);                                       \
  template void write_csr(std::string const&,                                                     \
                          HostCsr<SCALAR const, std::size_t const, std::int64_t const> const&,    \
                          MatrixMarketWriteOptions const&);                                       \
  template void write_dense<SCALAR>(std::string const&, HostBlock<SCALAR const> const&,           \
                                    MatrixMarketWriteOptions const&);
BLOCKSPAN_INSTANTIATE(float)
BLOCKSPAN_INSTANTIATE(double)
BLOCKSPAN_INSTANTIATE(Kokkos::complex<float>)
BLOCKSPAN_INSTANTIATE(Kokkos::complex<double>)
#undef BLOCKSPAN_INSTANTIATE

}  // namespace blockspan::sparse
