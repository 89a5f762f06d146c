#include <atomic>
#include <type_traits>

#include <blockspan/sparse/matrix_market/matrix_market_rows.hpp>

namespace blockspan::sparse {

namespace {

enum Triangle : int { lower = 1, upper = 2 };

/// Adds to a counter that other threads may be using; wraps, as the totals are checked elsewhere.
template <class Integer>
Integer fetch_add(Integer& counter, Integer step, bool shared) {
  if (shared) return std::atomic_ref<Integer>(counter).fetch_add(step, std::memory_order_relaxed);
  using Unsigned = std::make_unsigned_t<Integer>;
  Integer const before = counter;
  counter = static_cast<Integer>(static_cast<Unsigned>(before) + static_cast<Unsigned>(step));
  return before;
}

/// Assembles a file in the matrix's own arrays: no triplets, no second copy.
///
/// 1. Count the entries of every row (mirror images too) in the offsets.
/// 2. Add them up: every offset is now the end of its row.
/// 3. Read again; each entry goes to --offset of its row, which so becomes the row's start.
/// 4. Sort the rows; add up repeated entries.
template <class Scalar, class Offset, class Ordinal>
class CsrReader {
 public:
  CsrReader(std::string const& path, MatrixMarketReadOptions const& options)
      : source_(path),
        header_(parse_header(source_)),
        threads_(reader_threads(options, source_.file_size())) {
    check_types();
    A_.rows = header_.rows;
    A_.columns = header_.columns;
  }

  HostCsr<Scalar, Offset, Ordinal> run() {
    bool const array = header_.format == MatrixMarketFormat::array;
    run_passes<Real>(source_, header_, [&] {
      if (array) return read_array();
      count_rows();
      fill_rows();
    });
    if (!array && sort_rows(A_, header_.symmetry, threads_)) merge_repeated();
    return A_;
  }

 private:
  using Real = real_t<Scalar>;
  static constexpr std::int64_t entry_bytes = sizeof(Scalar) + sizeof(Ordinal);

  bool general() const { return header_.symmetry == MatrixMarketSymmetry::general; }
  [[noreturn]] void size_fault(std::int64_t column, std::string const& expected,
                               std::int64_t found);
  void check_types();
  void check_entries(std::int64_t entries);
  void count_rows();
  void fill_rows();
  void read_array();
  void allocate_entries(std::int64_t entries);
  void store(std::int64_t row, std::int64_t column, Scalar const& value);
  void merge_repeated();
  void refuse(std::int64_t row, std::int64_t column, char const* expected) {
    refuse_position<Real>(source_, header_, row, column, expected);
  }

  TextSource source_;
  ParsedHeader header_;
  int threads_;
  HostCsr<Scalar, Offset, Ordinal> A_;
  std::int64_t expanded_ = 0;  ///< entries with their mirror images
  int triangles_ = 0;
};

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::size_fault(std::int64_t column,
                                                    std::string const& expected,
                                                    std::int64_t found) {
  throw MatrixMarketError(source_.path(), header_.size_line, column, expected,
                          std::to_string(found));
}

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::check_types() {
  check_field(source_.path(), header_, is_complex_v<Scalar>);
  std::int64_t const largest = std::numeric_limits<Ordinal>::max();
  std::string const bits = std::to_string(8 * sizeof(Ordinal)) + "-bit ordinals";
  if (header_.rows > largest)
    size_fault(header_.rows_column, "a number of rows that fits " + bits, header_.rows);
  if (header_.columns > largest)
    size_fault(header_.columns_column, "a number of columns that fits " + bits, header_.columns);
  check_entries(header_.entries);
}

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::check_entries(std::int64_t entries) {
  if constexpr (sizeof(Offset) < sizeof(std::int64_t))
    if (entries > std::int64_t(std::numeric_limits<Offset>::max()))
      size_fault(header_.entries_column,
                 "a number of entries, mirror images included, that fits " +
                     std::to_string(8 * sizeof(Offset)) + "-bit offsets",
                 entries);
}

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::count_rows() {
  check_memory(source_.path(), header_, 0, entry_bytes, sizeof(Offset));
  // A short file that claims many rows is read through before memory goes to its claim.
  if (header_.rows > (std::int64_t(1) << 24) && header_.rows > source_.file_size())
    find_first_error<Real>(source_, header_);
  A_.offsets = zeros_on_host<Offset>("Blockspan::offsets", header_.rows + 1);
  std::atomic<std::int64_t> entries = 0;
  std::atomic<std::int64_t> expanded = 0;
  std::atomic<int> triangles = 0;
  for_each_chunk(source_, header_, threads_, [&](TextChunk const& chunk) {
    Offset* const counts = A_.offsets.data();
    bool const shared = threads_ > 1;
    bool const mirror = !general();
    std::int64_t mirrors = 0;
    int seen = 0;
    auto const count = parse_coordinates<Real, false>(
        source_.path(), chunk, header_, 0, no_limit, [&](std::int64_t row, std::int64_t column) {
          fetch_add(counts[row], Offset(1), shared);
          if (!mirror || row == column) return;
          fetch_add(counts[column], Offset(1), shared);
          ++mirrors;
          seen |= row > column ? lower : upper;
        });
    entries += count;
    expanded += count + mirrors;
    triangles |= seen;
  });
  if (entries != header_.entries) find_first_error<Real>(source_, header_);
  expanded_ = expanded;
  triangles_ = triangles;
  check_entries(expanded_);
}

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::allocate_entries(std::int64_t entries) {
  check_memory(source_.path(), header_, entries, entry_bytes, sizeof(Offset));
  Kokkos::DefaultHostExecutionSpace const host;
  A_.indices = allocate<HostArray<Ordinal>>(host, "Blockspan::indices", entries);
  A_.values = allocate<HostArray<Scalar>>(host, "Blockspan::values", entries);
}

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::fill_rows() {
  allocate_entries(expanded_);
  Offset end = 0;
  for (std::int64_t row = 0; row < header_.rows; ++row) A_.offsets(row) = end += A_.offsets(row);
  A_.offsets(header_.rows) = end;
  for_each_chunk(source_, header_, threads_, [&](TextChunk const& chunk) {
    bool const mirror = !general();
    parse_coordinates<Real, true>(
        source_.path(), chunk, header_, 0, no_limit,
        [&](std::int64_t row, std::int64_t column, FileValue<Real> const& file_value, auto const&) {
          auto const value = to_scalar<Scalar>(file_value);
          store(row, column, value);
          if (mirror && row != column) store(column, row, mirrored(header_.symmetry, value));
        });
  });
}

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::store(std::int64_t row, std::int64_t column,
                                               Scalar const& value) {
  auto const end = fetch_add(A_.offsets(row), static_cast<Offset>(-1), threads_ > 1);
  auto const position = static_cast<std::int64_t>(end) - 1;
  // Only a file that changed since it was counted can leave the arrays.
  if (position < 0 || position >= expanded_) return source_.check_unchanged();
  A_.indices(position) = static_cast<Ordinal>(column);
  A_.values(position) = value;
}

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::read_array() {
  bool const skew = header_.symmetry == MatrixMarketSymmetry::skew_symmetric;
  std::int64_t const rows = header_.rows;
  std::int64_t const row_size = header_.columns - (skew && rows > 0 ? 1 : 0);
  check_entries(rows * row_size);
  auto const starts = count_values(source_, header_, threads_);
  if (starts.back() != header_.entries) find_first_error<Real>(source_, header_);
  allocate_entries(rows * row_size);
  A_.offsets = zeros_on_host<Offset>("Blockspan::offsets", rows + 1);
  for (std::int64_t row = 0; row <= rows; ++row)
    A_.offsets(row) = static_cast<Offset>(row * row_size);
  auto const put = [&](std::int64_t row, std::int64_t column, Scalar const& value) {
    auto const position = row * row_size + column - (skew && column > row ? 1 : 0);
    A_.indices(position) = static_cast<Ordinal>(column);
    A_.values(position) = value;
  };
  for_each_chunk(source_, header_, threads_, [&](TextChunk const& chunk) {
    parse_array<Real>(
        source_.path(), chunk, header_, starts.at(static_cast<std::size_t>(chunk.index)),
        header_.entries,
        [&](std::int64_t row, std::int64_t column, FileValue<Real> const& file_value, auto const&) {
          auto const value = to_scalar<Scalar>(file_value);
          put(row, column, value);
          if (!general() && row != column) put(column, row, mirrored(header_.symmetry, value));
        });
  });
}

template <class Scalar, class Offset, class Ordinal>
void CsrReader<Scalar, Offset, Ordinal>::merge_repeated() {
  if (triangles_ == (lower | upper))
    for (std::int64_t row = 0; row < A_.rows; ++row)
      for (auto p = A_.offsets(row) + 1; p < A_.offsets(row + 1); ++p)
        if (A_.indices(p) == A_.indices(p - 1))
          refuse(row, A_.indices(p), "each position once where both triangles are used");
  auto const left = static_cast<std::size_t>(add_repeated(A_));
  for (std::int64_t row = 0; row < A_.rows; ++row)
    for (auto p = A_.offsets(row); p < A_.offsets(row + 1); ++p)
      if (!is_finite(A_.values(p)))
        refuse(row, A_.indices(p), "repeated entries that add up to a finite number");
  HostCsr<Scalar, Offset, Ordinal> const whole = A_;
  allocate_entries(static_cast<std::int64_t>(left));
  auto const kept = std::make_pair(std::size_t(0), left);
  Kokkos::DefaultHostExecutionSpace const host;
  Kokkos::deep_copy(host, A_.indices, Kokkos::subview(whole.indices, kept));
  Kokkos::deep_copy(host, A_.values, Kokkos::subview(whole.values, kept));
  host.fence("Blockspan::read_matrix_market");
}

}  // namespace

template <class Scalar, class Offset, class Ordinal>
HostCsr<Scalar, Offset, Ordinal> read_csr(std::string const& path,
                                          MatrixMarketReadOptions const& options) {
  return CsrReader<Scalar, Offset, Ordinal>(path, options).run();
}

// Expands to the three pairs of index types for one scalar.
#define BLOCKSPAN_INSTANTIATE(SCALAR)                                                              \
  template HostCsr<SCALAR, int, int> read_csr(std::string const&, MatrixMarketReadOptions const&); \
  template HostCsr<SCALAR, std::size_t, int> read_csr(std::string const&,                          \
                                                      MatrixMarketReadOptions const&);             \
  template HostCsr<SCALAR, std::size_t, std::int64_t> read_csr(std::string const&,                 \
                                                               MatrixMarketReadOptions const&);
BLOCKSPAN_INSTANTIATE(float)
BLOCKSPAN_INSTANTIATE(double)
BLOCKSPAN_INSTANTIATE(Kokkos::complex<float>)
BLOCKSPAN_INSTANTIATE(Kokkos::complex<double>)
#undef BLOCKSPAN_INSTANTIATE

}  // namespace blockspan::sparse
