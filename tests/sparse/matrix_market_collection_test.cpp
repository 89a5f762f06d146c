#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/validate.hpp>

#include "sparse/dense.hpp"
#include "support/matrices.hpp"
#include "support/types.hpp"
#include <zlib.h>

namespace blockspan::test {
namespace {

/// One line of the table in the folder's README.md.
struct Listed {
  std::string name;
  long rows, columns, entries, expanded, explicit_zeros;
  std::string field, symmetry;
};

long number(std::string text) {
  std::erase(text, ',');
  return text.empty() ? 0 : std::stol(text);
}

std::vector<Listed> listed_matrices() {
  std::ifstream file(matrix_dir().value() / "README.md");
  std::vector<Listed> listed;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, '|');) {
      auto const first = cell.find_first_not_of(" *");
      cells.push_back(first == std::string::npos
                          ? ""
                          : cell.substr(first, cell.find_last_not_of(" *") - first + 1));
    }
    if (!line.starts_with('|') || cells.size() < 16 || cells[1] == "name" ||
        cells[1].starts_with("---"))
      continue;
    listed.push_back({cells[1], number(cells[3]), number(cells[4]), number(cells[5]),
                      number(cells[6]), number(cells[7]), cells[8], cells[9]});
  }
  return listed;
}

struct Entry {
  std::uint64_t place;  ///< row 2^32 + column: one comparison, which unoptimised builds sort by
  double re, im;
  Entry(long row, long column, double real, double imaginary)
      : place((static_cast<std::uint64_t>(row) << 32) + static_cast<std::uint64_t>(column)),
        re(real),
        im(imaginary) {}
  bool operator==(Entry const&) const = default;
};

/// A reader of its own, line by line through the C library: files known to be good, one triangle.
std::vector<Entry> reference_entries(Listed const& matrix) {
  std::vector<Entry> entries;
  gzFile const file = ::gzopen(matrix_path(matrix.name).c_str(), "rb");
  char line[4096];
  bool size_seen = false;
  while (::gzgets(file, line, sizeof line) != nullptr) {
    if (line[0] == '%' || line[0] == '\n' || line[0] == '\r') continue;
    if (!std::exchange(size_seen, true)) continue;
    char* at = line;
    long const row = std::strtol(at, &at, 10) - 1;
    long const column = std::strtol(at, &at, 10) - 1;
    double const re = matrix.field == "pattern" ? 1 : std::strtod(at, &at);
    double const im = matrix.field == "complex" ? std::strtod(at, &at) : 0;
    entries.emplace_back(row, column, re, im);
    if (matrix.symmetry != "general" && row != column)
      entries.emplace_back(column, row, re, matrix.symmetry == "hermitian" ? -im : im);
  }
  ::gzclose(file);
  std::sort(entries.begin(), entries.end(),
            [](Entry const& a, Entry const& b) { return a.place < b.place; });
  return entries;
}

class MatrixCollection : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!matrix_dir()) GTEST_SKIP() << "no real matrices: set BLOCKSPAN_MATRIX_DIR";
  }
};

TEST_F(MatrixCollection, EveryFileReadsAsTheIndependentReaderSays) {
  Kokkos::DefaultHostExecutionSpace const host;
  auto const listed = listed_matrices();
  ASSERT_EQ(listed.size(), 96u);
  for (auto const& matrix : listed) {
    SCOPED_TRACE(matrix.name);
    auto const header = read_matrix_market_header(matrix_path(matrix.name));
    EXPECT_EQ(header.rows, matrix.rows);
    EXPECT_EQ(header.columns, matrix.columns);
    EXPECT_EQ(header.entries, matrix.entries);
    EXPECT_EQ(to_string(header.field), matrix.field);
    EXPECT_EQ(to_string(header.symmetry), matrix.symmetry);
    auto const A = read_matrix_market<Kokkos::complex<double>>(host, matrix_path(matrix.name));
    EXPECT_EQ(A.numRows(), matrix.rows);
    EXPECT_EQ(A.numCols(), matrix.columns);
    EXPECT_EQ(A.nnz(), matrix.expanded);
    ASSERT_TRUE(validate(host, A, {.finite = true}));
    HostCopy const copy(A);
    ASSERT_TRUE(copy.sorted_and_unique());
    auto const reference = reference_entries(matrix);
    ASSERT_EQ(static_cast<std::size_t>(A.nnz()), reference.size());
    std::size_t differences = 0;
    for (long i = 0, p = 0; i < matrix.rows; ++i)
      for (; p < copy.offsets(i + 1); ++p)
        differences += Entry(i, copy.indices(p), copy.values(p).real(), copy.values(p).imag()) !=
                       reference[static_cast<std::size_t>(p)];
    EXPECT_EQ(differences, 0u);
  }
  EXPECT_GE(matrices_read(), 96u);
}

template <class Exec>
class MatrixCollectionOn : public MatrixCollection {};
TYPED_TEST_SUITE(MatrixCollectionOn, Backends, ConfigNames);

TYPED_TEST(MatrixCollectionOn, BackendsHoldTheSameBits) {
  Kokkos::DefaultHostExecutionSpace const host;
  for (std::string const name : {"bcsstk13", "wiki-Vote", "lp_afiro"}) {
    auto const path = matrix_path(name);
    auto const A = read_matrix_market<double>(TypeParam(), path);
    EXPECT_TRUE(validate(TypeParam(), A, {.finite = true}));
    auto const B =
        read_matrix_market<double, Kokkos::DefaultHostExecutionSpace, std::size_t>(host, path);
    EXPECT_EQ(entries_of(A), entries_of(B));
  }
}

}  // namespace
}  // namespace blockspan::test
