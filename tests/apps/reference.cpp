#include "apps/reference.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <zlib.h>

namespace blockspan::test {

namespace {

using LongComplex = std::complex<long double>;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The text of a file; zlib hands plain files through as they are.
std::string inflate(std::filesystem::path const& path) {
  gzFile const file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (int got; (got = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  gzclose(file);
  return text;
}

/// A coordinate file without comments among its entries and with exponents as C++ reads them.
std::string tidied(std::string const& text) {
  std::istringstream in(text);
  std::string line, result;
  std::getline(in, line);
  result = line + "\n";
  while (std::getline(in, line)) {
    auto const first = line.find_first_not_of(" \t\r");
    if (first == line.npos || line[first] == '%') continue;
    for (char& c : line)
      if (c == 'D' || c == 'd') c = 'e';
    result += line + "\n";
  }
  return result;
}

struct Banner {
  std::string format, field, symmetry;
};

/// Reads the banner and leaves the stream at the size line.
Banner read_banner(std::istream& in) {
  Banner banner;
  std::string magic, object, line;
  in >> magic >> object >> banner.format >> banner.field >> banner.symmetry;
  std::getline(in, line);
  while (in.peek() == '%' || in.peek() == '\n') std::getline(in, line);
  return {lower(banner.format), lower(banner.field), lower(banner.symmetry)};
}

Complex read_value(std::istream& in, std::string const& field) {
  double re = 1, im = 0;
  if (field != "pattern") in >> re;
  if (field == "complex") in >> im;
  return {re, im};
}

Complex mirrored(Complex value, std::string const& symmetry) {
  if (symmetry == "hermitian") return std::conj(value);
  return symmetry == "skew-symmetric" ? -value : value;
}

}  // namespace

Vector ReferenceMatrix::times(Vector const& x) const {
  std::vector<LongComplex> sums(rows);
  for (Entry const& e : entries) sums[e.row] += LongComplex(e.value) * LongComplex(x[e.column]);
  return {sums.begin(), sums.end()};
}

double ReferenceMatrix::norm1() const {
  std::vector<double> sums(columns);
  for (Entry const& e : entries) sums[e.column] += std::abs(e.value);
  return *std::max_element(sums.begin(), sums.end());
}

bool ReferenceMatrix::is_diagonal() const {
  return std::all_of(entries.begin(), entries.end(),
                     [](Entry const& e) { return e.row == e.column; });
}

ReferenceMatrix read_reference(std::filesystem::path const& path) {
  std::istringstream in(tidied(inflate(path)));
  Banner const banner = read_banner(in);
  ReferenceMatrix A;
  bool const general = banner.symmetry == "general";
  auto const add = [&](ReferenceMatrix::Entry const& e) {
    A.entries.push_back(e);
    if (!general && e.row != e.column)
      A.entries.push_back({e.column, e.row, mirrored(e.value, banner.symmetry)});
  };
  std::size_t count = 0;
  in >> A.rows >> A.columns;
  if (banner.format == "array") {
    ReferenceMatrix::Entry e{};
    for (e.column = 0; e.column < A.columns; ++e.column)
      for (e.row = general ? 0 : e.column; e.row < A.rows; ++e.row)
        e.value = read_value(in, banner.field), add(e);
  } else {
    in >> count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    ReferenceMatrix::Entry e{};
    in >> e.row >> e.column;
    e.value = read_value(in, banner.field);
    --e.row, --e.column;
    add(e);
  }
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return A;
}

std::vector<Vector> read_vectors(std::filesystem::path const& path) {
  std::istringstream in(inflate(path));
  Banner const banner = read_banner(in);
  std::size_t rows = 0, columns = 0;
  in >> rows >> columns;
  std::vector<Vector> vectors(columns, Vector(rows));
  for (Vector& x : vectors)
    for (Complex& value : x) value = read_value(in, banner.field);
  if (!in || banner.format != "array") throw std::runtime_error("cannot read " + path.string());
  return vectors;
}

ReferenceMatrix adjacency_of(ReferenceMatrix const& A) {
  std::set<std::pair<std::size_t, std::size_t>> edges;
  for (auto const& e : A.entries)
    if (e.row != e.column) edges.insert({e.row, e.column}), edges.insert({e.column, e.row});
  ReferenceMatrix G{A.rows, A.columns, {}};
  for (auto const& [i, j] : edges) G.entries.push_back({i, j, 1});
  return G;
}

ReferenceMatrix laplacian_of(ReferenceMatrix const& A) {
  ReferenceMatrix L = adjacency_of(A);
  std::vector<double> degrees(L.rows);
  for (auto& e : L.entries) {
    e.value = -1;
    degrees[e.row] += 1;
  }
  for (std::size_t i = 0; i < L.rows; ++i) L.entries.push_back({i, i, degrees[i]});
  return L;
}

double norm(Vector const& x) { return std::sqrt(dot(x, x).real()); }

Complex dot(Vector const& x, Vector const& y) {
  LongComplex sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += std::conj(LongComplex(x[i])) * LongComplex(y[i]);
  return Complex(sum);
}

Vector residual(ReferenceMatrix const& A, Vector const& x, double lambda, Vector const& y) {
  std::vector<LongComplex> sums(A.rows);
  for (auto const& e : A.entries) sums[e.row] += LongComplex(e.value) * LongComplex(x[e.column]);
  for (std::size_t i = 0; i < A.rows; ++i)
    sums[i] -= static_cast<long double>(lambda) * LongComplex(y[i]);
  return {sums.begin(), sums.end()};
}

}  // namespace blockspan::test
