#include <algorithm>
#include <limits>

#include <blockspan/operators/cudss/lower_pencil.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::operators::cudss {

namespace {

/// An entry of both matrices.
struct Entry {
  int column;
  double k[2], m[2];
};

template <class Add>
void for_lower(HostHermitian const& A, int i, Add const& add) {
  for (auto e = A.offsets[i]; e < A.offsets[i + 1]; ++e)
    if (A.columns[e] <= i)
      add(A.columns[e], A.values[e * A.parts], A.parts == 2 ? A.values[e * A.parts + 1] : 0.0);
}

void take_row(HostHermitian const& K, HostHermitian const* M, int i, std::vector<Entry>& row) {
  row.clear();
  for_lower(K, i, [&](int j, double re, double im) { row.push_back({j, {re, im}, {0, 0}}); });
  if (M != nullptr)
    for_lower(*M, i, [&](int j, double re, double im) { row.push_back({j, {0, 0}, {re, im}}); });
  row.push_back({i, {0, 0}, {M == nullptr ? 1.0 : 0.0, 0}});
  auto const before = [](Entry const& a, Entry const& b) { return a.column < b.column; };
  if (!std::is_sorted(row.begin(), row.end(), before))  // nearly always they are
    std::stable_sort(row.begin(), row.end(), before);
}

}  // namespace

LowerPencil lower_pencil(HostHermitian const& K, HostHermitian const* M,
                         std::vector<double> const& scaling) {
  LowerPencil result;
  result.offsets.push_back(0);
  auto const entries = (K.columns.size() + static_cast<std::size_t>(K.rows)) / 2;  // about
  result.columns.reserve(entries);
  result.k.reserve(entries * K.parts), result.m.reserve(entries * K.parts);
  std::vector<Entry> row;
  for (int i = 0; i < K.rows; ++i) {
    take_row(K, M, i, row);
    for (std::size_t e = 0; e < row.size(); ++e) {
      bool const repeated = e > 0 && row[e].column == row[e - 1].column;
      if (!repeated) {
        result.columns.push_back(row[e].column);
        result.k.insert(result.k.end(), K.parts, 0.0);
        result.m.insert(result.m.end(), K.parts, 0.0);
      }
      double const scale = scaling[i] * scaling[row[e].column];
      for (int p = 0; p < K.parts; ++p) {
        auto const at = result.k.size() - static_cast<std::size_t>(K.parts - p);
        result.k[at] += scale * row[e].k[p];
        result.m[at] += scale * row[e].m[p];
      }
    }
    require(result.columns.size() < std::numeric_limits<int>::max(), "blockspan::direct",
            "a matrix of ", K.rows, " rows has too many entries for cuDSS");
    result.offsets.push_back(static_cast<int>(result.columns.size()));
  }
  return result;
}

}  // namespace blockspan::operators::cudss
