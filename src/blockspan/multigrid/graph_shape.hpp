#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <blockspan/support/scalar.hpp>

// Which method suits a matrix, predicted from its graph and row sums before any is tried.
namespace blockspan {

/// whole: everything of a GraphShape except small_eigenvalue. early: that too, but only `narrow` if
/// the graph is not narrow.
enum class GraphLook { whole, early };

/// Properties of a matrix' graph that predict which method suits, before any is tried.
struct GraphShape {
  /// The levels of a breadth-first search are as narrow as in a planar graph: the iterations with a
  /// polynomial or Jacobi grow with the number of levels, and factors stay small.
  bool narrow = false;
  /// The off-diagonal entries with the sign of the diagonal sum up to more than a twelfth of the
  /// others, as in matrices of plates, or of anisotropy that is not aligned with the grid. Strength
  /// of connection then misleads coarsening.
  bool mixed_signs = false;
  /// Fewer than three quarters of the rows have as many entries as the row before, all of similar
  /// size: not a grid with smooth coefficients, where a hierarchy needs a third of the usual work.
  bool uneven = false;
  /// Work of factors with a dense block of the average width w of a level, w^3, in products with A.
  double dissection = 0;
  /// At least three eigenvalues of D^-1 A, D its diagonal, are at most this; infinite: unknown.
  double small_eigenvalue = std::numeric_limits<double>::infinity();
};

namespace levels {

/// Breadth-first searches of the graph of a square CrsMatrix in host memory. O(entries) each.
template <class Matrix>
class GraphSearch {
 public:
  explicit GraphSearch(Matrix const& A) : A_(A), marks_(static_cast<std::size_t>(A.numRows()), 0) {}

  /// The rows that are reached from `row`. False: it stopped at a level of more than `widest` rows.
  bool from(std::size_t row, std::size_t widest = std::numeric_limits<std::size_t>::max()) {
    ++mark_;
    reached_.assign(1, row);
    begins_.assign(1, 0);
    marks_[row] = mark_;
    for (std::size_t next = 0; next < reached_.size();) {
      std::size_t const end = reached_.size();
      for (; next < end; ++next)
        of_entries(reached_[next], [&](std::size_t j, auto) {
          if (std::exchange(marks_[j], mark_) != mark_) reached_.push_back(j);
        });
      if (reached_.size() > end) begins_.push_back(end);
      if (reached_.size() - end > widest) return false;
    }
    return true;
  }

  std::vector<std::size_t> const& reached() const { return reached_; }  ///< level by level
  std::vector<std::size_t> const& begins() const { return begins_; }    ///< of the levels there

  /// An upper bound of the third smallest eigenvalue of D^-1 A, D the diagonal of the Hermitian A;
  /// infinite where it finds none. After a search that reached the end.
  ///
  /// By the theorem of Courant and Fischer: the levels are cut into four bands of about as many
  /// rows, and x counts the edges to the nearest row that begins a band or whose entries do not
  /// cancel, where a boundary condition acts. Bands couple across rows with x = 0 alone, so that
  /// the third smallest of their quotients x^H A x / x^H D x bounds three eigenvalues. O(entries).
  double small_eigenvalue() const {
    constexpr double none = std::numeric_limits<double>::infinity();
    std::array<std::size_t, bands + 1> cuts{};
    for (std::size_t b = 1; b < bands; ++b) {
      auto const level =
          std::upper_bound(begins_.begin(), begins_.end(), b * reached_.size() / bands);
      cuts[b] = *(level - 1);
      if (cuts[b] <= cuts[b - 1]) return none;
    }
    cuts[bands] = reached_.size();
    auto const edges = edges_to_fixed(cuts);
    if (edges.empty()) return none;
    std::array<double, bands> quotients{};
    for (std::size_t b = 0; b < bands; ++b) {
      double energy = 0, mass = 0;
      for (std::size_t k = cuts[b]; k < cuts[b + 1]; ++k) {
        std::size_t const i = reached_[k];
        if (edges[i] == 0) continue;
        auto const [sum, diagonal] = row_times(i, [&](std::size_t j) { return edges[j]; });
        energy += edges[i] * sum, mass += diagonal * edges[i] * edges[i];
      }
      quotients[b] = mass > 0 ? energy / mass : none;
    }
    std::sort(quotients.begin(), quotients.end());
    return quotients[2];
  }

 private:
  static constexpr std::size_t bands = 4;

  template <class Function>
  void of_entries(std::size_t row, Function const& f) const {
    auto const& offsets = A_.graph.row_map;
    for (auto p = offsets(row); p < offsets(row + 1); ++p)
      f(static_cast<std::size_t>(A_.graph.entries(p)),
        static_cast<double>(real_part(A_.values(p))));
  }

  /// Row i of A times x, and the sum of its diagonal entries.
  template <class Vector>
  std::pair<double, double> row_times(std::size_t i, Vector const& x) const {
    double sum = 0, diagonal = 0;
    of_entries(i, [&](std::size_t j, double value) {
      sum += value * x(j);
      if (i == j) diagonal += value;
    });
    return {sum, diagonal};
  }

  /// Of every row reached the edges to the nearest fixed one; empty where a diagonal entry is not
  /// positive.
  std::vector<int> edges_to_fixed(std::array<std::size_t, bands + 1> const& cuts) const {
    constexpr double cancels = 1e-3;
    constexpr int far = std::numeric_limits<int>::max();
    std::vector<int> edges(marks_.size(), far);
    std::vector<std::size_t> queue;
    queue.reserve(reached_.size());
    auto const reach = [&](std::size_t row, int distance) {
      if (edges[row] != far) return;
      edges[row] = distance;
      queue.push_back(row);
    };
    for (std::size_t b = 1; b < bands; ++b) {
      auto const next = std::upper_bound(begins_.begin(), begins_.end(), cuts[b]);
      std::size_t const end = next == begins_.end() ? reached_.size() : *next;
      for (std::size_t k = cuts[b]; k < end; ++k) reach(reached_[k], 0);
    }
    for (std::size_t const i : reached_) {
      auto const [sum, diagonal] = row_times(i, [](std::size_t) { return 1; });
      if (!(diagonal > 0)) return {};
      if (!(sum <= cancels * diagonal)) reach(i, 0);
    }
    for (std::size_t next = 0; next < queue.size(); ++next)
      of_entries(queue[next],
                 [&, i = queue[next]](std::size_t j, auto) { reach(j, edges[i] + 1); });
    return edges;
  }

  Matrix const& A_;
  std::vector<char> marks_;
  char mark_ = 0;
  std::vector<std::size_t> reached_, begins_;
};

}  // namespace levels

/// The shape of a square CrsMatrix in host memory, by a breadth-first search from a row far from
/// the middle one; if it reaches fewer than half of the rows, the graph does not count as narrow.
/// An early look ends where the first search meets a level wider than those of a planar graph.
/// O(entries), the time of some iterations.
template <class Matrix>
GraphShape graph_shape(Matrix const& A, GraphLook look = GraphLook::whole) {
  auto const n = static_cast<std::size_t>(A.numRows());
  bool const early = look == GraphLook::early;
  if (n == 0) return {};
  auto const& offsets = A.graph.row_map;
  auto const& columns = A.graph.entries;
  levels::GraphSearch<Matrix> search(A);
  auto const widest = static_cast<std::size_t>(8 * std::sqrt(static_cast<double>(n)));
  if (!search.from(n / 2, early ? widest : n)) return {};
  search.from(search.reached().back());
  double const rows = static_cast<double>(search.reached().size()),
               width = rows / static_cast<double>(search.begins().size());
  // a square of the plane has levels of between half a side and one and a half
  GraphShape shape{.narrow = 2 * search.reached().size() >= n && width * width <= 2.25 * rows};
  if (early && !shape.narrow) return {};
  if (early) shape.small_eigenvalue = search.small_eigenvalue();
  shape.dissection = width * width * width / std::max<double>(offsets(n), 1);
  double of_diagonal = 0, others = 0;
  std::size_t even = 0;
  for (std::size_t i = 0, length = 0; i < n; ++i) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (auto p = offsets(i); p < offsets(i + 1); ++p) {
      double const value = static_cast<double>(real_part(A.values(p))), size = std::abs(value);
      if (static_cast<std::size_t>(columns(p)) == i || size == 0) continue;
      (value > 0 ? of_diagonal : others) += size;
      least = std::min(least, size), most = std::max(most, size);
    }
    auto const before =
        std::exchange(length, static_cast<std::size_t>(offsets(i + 1) - offsets(i)));
    if (length == before && most <= 4 * least) ++even;
  }
  shape.mixed_signs = 12 * of_diagonal > others;
  shape.uneven = 4 * even < 3 * n;
  return shape;
}

}  // namespace blockspan
