#pragma once

// Problems whose answers are known in closed form, and the handles of blockspan.h with owners.
// Knows nothing of Blockspan but its C header.

#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan.h>

namespace c_test {

template <class Scalar>
struct Traits {
  using Real = Scalar;
  static constexpr std::int32_t number =
      std::is_same_v<Scalar, float> ? BLOCKSPAN_FLOAT : BLOCKSPAN_DOUBLE;
  static Scalar unit(double) { return 1; }
};
template <class Part>
struct Traits<std::complex<Part>> {
  using Real = Part;
  static constexpr std::int32_t number =
      std::is_same_v<Part, float> ? BLOCKSPAN_COMPLEX_FLOAT : BLOCKSPAN_COMPLEX_DOUBLE;
  static std::complex<Part> unit(double angle) {
    return {static_cast<Part>(std::cos(angle)), static_cast<Part>(std::sin(angle))};
  }
};

/// What single precision leaves of double's bounds.
template <class Scalar>
double accuracy(double in_double) {
  return std::is_same_v<typename Traits<Scalar>::Real, float> ? std::max(in_double, 2e-4)
                                                              : in_double;
}

/// Expects success, and says the library's words where there is none.
inline void ok(blockspan_code code) {
  std::string const text = blockspan_last_error();
  ASSERT_EQ(code, BLOCKSPAN_OK) << text;
}

/// Expects that a call was refused with that code, and words that contain `part`.
inline void refused(blockspan_code code, blockspan_code expected, std::string const& part) {
  std::string const text = blockspan_last_error();
  EXPECT_EQ(code, expected) << text;
  EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' has no '" << part << "'";
}

struct Context {
  blockspan_context handle = nullptr;
  Context() { ok(blockspan_context_create(nullptr, &handle)); }
  ~Context() { EXPECT_EQ(blockspan_context_destroy(&handle), BLOCKSPAN_OK); }
  Context(Context const&) = delete;
  Context& operator=(Context const&) = delete;
  operator blockspan_context() const { return handle; }
};

struct Operator {
  blockspan_operator handle = nullptr;
  Operator() = default;
  ~Operator() { EXPECT_EQ(blockspan_operator_destroy(&handle), BLOCKSPAN_OK); }
  Operator(Operator&& other) noexcept : handle(other.handle) { other.handle = nullptr; }
  Operator& operator=(Operator const&) = delete;
  blockspan_operator* operator&() { return &handle; }
  operator blockspan_operator() const { return handle; }
};

/// A sparse matrix in compressed rows. Complex ones are D^H A D of a real A, D a diagonal of units
/// of the circle: Hermitian, with the eigenvalues of A.
template <class Scalar>
struct Csr {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int32_t> offsets{0}, indices;
  std::vector<Scalar> values;

  void add(std::int64_t row, std::int64_t column, double value) {
    Scalar const turn = Traits<Scalar>::unit(0.7 * static_cast<double>(column)) *
                        conjugate(Traits<Scalar>::unit(0.7 * static_cast<double>(row)));
    indices.push_back(static_cast<std::int32_t>(column));
    values.push_back(static_cast<typename Traits<Scalar>::Real>(value) * turn);
  }
  void end_row() { offsets.push_back(static_cast<std::int32_t>(indices.size())); }

  static Scalar conjugate(Scalar x) {
    if constexpr (std::is_floating_point_v<Scalar>)
      return x;
    else
      return std::conj(x);
  }

  Operator as_operator(blockspan_context context) const {
    Operator made;
    ok(blockspan_matrix_csr(context, Traits<Scalar>::number, rows, columns, offsets.data(), 32,
                            indices.data(), values.data(), BLOCKSPAN_HOST, &made));
    return made;
  }
};

/// Nodes of a grid of side x side (or side alone, with `lines` 1): 2 dimensions - neighbours.
template <class Scalar>
Csr<Scalar> laplacian(std::int64_t side, std::int64_t lines = 1, bool neumann = false) {
  Csr<Scalar> A;
  A.rows = A.columns = side * lines;
  for (std::int64_t y = 0; y < lines; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      std::int64_t const i = y * side + x;
      int const below = y > 0, left = x > 0, right = x + 1 < side, above = y + 1 < lines;
      int const all = lines > 1 ? 4 : 2;
      if (below) A.add(i, i - side, -1);
      if (left) A.add(i, i - 1, -1);
      A.add(i, i, neumann ? below + left + right + above : all);
      if (right) A.add(i, i + 1, -1);
      if (above) A.add(i, i + side, -1);
      A.end_row();
    }
  return A;
}

/// Linear elements on a line: (1, 4, 1) / 6.
template <class Scalar>
Csr<Scalar> line_mass(std::int64_t n) {
  Csr<Scalar> M;
  M.rows = M.columns = n;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0) M.add(i, i - 1, 1.0 / 6);
    M.add(i, i, 4.0 / 6);
    if (i + 1 < n) M.add(i, i + 1, 1.0 / 6);
    M.end_row();
  }
  return M;
}

inline double angle(std::int64_t j, std::int64_t n) {  // j from 1
  return static_cast<double>(j) * std::acos(-1.0) / static_cast<double>(n + 1);
}
/// The j-th eigenvalue, from 1, of laplacian(n): 2 - 2 cos.
inline double line_eigenvalue(std::int64_t j, std::int64_t n) {
  double const s = std::sin(angle(j, n) / 2);
  return 4 * s * s;
}
/// The same of the pencil (laplacian(n), line_mass(n)): 6 (1 - cos) / (2 + cos).
inline double pencil_eigenvalue(std::int64_t j, std::int64_t n) {
  return 6 * (1 - std::cos(angle(j, n))) / (2 + std::cos(angle(j, n)));
}

/// Numbers in [-1, 1) that depend on i alone.
inline double pseudo_random(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  i ^= i >> 31, i *= 0xbf58476d1ce4e5b9u, i ^= i >> 27;
  return static_cast<double>(i >> 11) / static_cast<double>(std::uint64_t(1) << 52) - 1;
}

/// A block in memory of its own, with gaps of marked elements between rows or columns.
template <class Scalar>
struct Columns {
  std::int64_t rows, columns, row_stride, column_stride;
  std::vector<Scalar> memory;

  Columns(std::int64_t n, std::int64_t k, std::int64_t rs, std::int64_t cs)
      : rows(n),
        columns(k),
        row_stride(rs),
        column_stride(cs),
        memory(static_cast<std::size_t>((n - 1) * rs + (k - 1) * cs + 1), Scalar(mark)) {}
  static Columns by_columns(std::int64_t n, std::int64_t k, std::int64_t gap = 0) {
    return {n, k, 1, n + gap};
  }
  static Columns by_rows(std::int64_t n, std::int64_t k, std::int64_t gap = 0) {
    return {n, k, k + gap, 1};
  }

  Scalar& operator()(std::int64_t i, std::int64_t j) {
    return memory[static_cast<std::size_t>(i * row_stride + j * column_stride)];
  }
  Columns& fill(std::uint64_t seed) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        (*this)(i, j) = static_cast<typename Traits<Scalar>::Real>(
                            pseudo_random(seed + static_cast<std::uint64_t>(i * columns + j))) *
                        Traits<Scalar>::unit(static_cast<double>(i + j));
    return *this;
  }
  /// How many elements of the gaps still have their mark.
  std::size_t marks() const {
    std::size_t count = 0;
    for (auto const& x : memory) count += x == Scalar(mark) ? 1 : 0;
    return count;
  }
  std::size_t gaps() const { return memory.size() - static_cast<std::size_t>(rows * columns); }

  blockspan_block block() {
    return {memory.data(),          rows,          columns, row_stride, column_stride,
            Traits<Scalar>::number, BLOCKSPAN_HOST};
  }

  static constexpr int mark = 12345;
};

/// The largest |(A X - B)(i, j)|.
template <class Scalar>
double largest_residual(Csr<Scalar> const& A, Columns<Scalar> X, Columns<Scalar> B) {
  double worst = 0;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t j = 0; j < X.columns; ++j) {
      Scalar sum = -B(i, j);
      for (auto e = A.offsets[i]; e < A.offsets[i + 1]; ++e)
        sum += A.values[static_cast<std::size_t>(e)] * X(A.indices[static_cast<std::size_t>(e)], j);
      worst = std::max(worst, static_cast<double>(std::abs(sum)));
    }
  return worst;
}

inline blockspan_lobpcg_options lobpcg_options(std::int32_t wanted) {
  blockspan_lobpcg_options o;
  ok(blockspan_lobpcg_defaults(&o, sizeof o));
  o.wanted = wanted;
  return o;
}
inline blockspan_cg_options cg_options() {
  blockspan_cg_options o;
  ok(blockspan_cg_defaults(&o, sizeof o));
  return o;
}
inline blockspan_exact_options exact_options(std::int32_t pairs) {
  blockspan_exact_options o;
  ok(blockspan_exact_defaults(&o, sizeof o));
  o.pairs = pairs;
  return o;
}
inline blockspan_summary empty_summary() { return {sizeof(blockspan_summary), -1, 0, 0, 0, 0, 0}; }

inline std::string report_of(blockspan_context context) {
  std::size_t needed = 0;
  ok(blockspan_report(context, nullptr, 0, &needed));
  std::string text(needed, '\0');
  ok(blockspan_report(context, text.data(), text.size(), nullptr));
  text.pop_back();
  return text;
}

using Scalars = testing::Types<BLOCKSPAN_TEST_SCALARS>;

}  // namespace c_test
