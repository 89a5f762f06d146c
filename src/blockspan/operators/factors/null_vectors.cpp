#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <blockspan/operators/factors/null_vectors.hpp>
#include <blockspan/sparse/host/permuted.hpp>

namespace blockspan::operators {

namespace {

constexpr std::size_t most = 32;

template <class Scalar>
using Vectors = std::vector<std::vector<Scalar>>;

constexpr std::size_t lanes = 8;

/// sum of g_k conj(l_k), in eight sums that a compiler keeps in registers.
template <class Scalar>
Scalar dot(Scalar const* g, Scalar const* l, std::size_t length) {
  std::array<Scalar, lanes> sums{};
  std::size_t k = 0;
  for (; k + lanes <= length; k += lanes)
    for (std::size_t i = 0; i < lanes; ++i) sums[i] += g[k + i] * conjugate(l[k + i]);
  for (; k < length; ++k) sums[k % lanes] += g[k] * conjugate(l[k]);
  Scalar sum(0);
  for (Scalar const& part : sums) sum += part;
  return sum;
}

/// The graph of a matrix whose pattern is symmetric, as graph_pattern but in one pass; of others
/// edges may be missing. Repeated entries are one edge.
template <class Scalar, class Offset>
Neighbours<int> neighbours(HostCsr<Scalar const, Offset const, int const> const& A) {
  Neighbours<int> graph;
  graph.offsets.push_back(0);
  graph.indices.reserve(A.indices.extent(0));
  std::vector<int> last(static_cast<std::size_t>(A.rows), -1);  // row in which a column was seen
  for (int i = 0; i < static_cast<int>(A.rows); ++i) {
    last[static_cast<std::size_t>(i)] = i;
    for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p)
      if (std::exchange(last[static_cast<std::size_t>(A.indices(p))], i) != i)
        graph.indices.push_back(A.indices(p));
    graph.offsets.push_back(graph.indices.size());
  }
  return graph;
}

/// Whether a sum of `terms` entries is only their rounding errors.
template <class Scalar, class Offset>
bool is_nothing(Scalar const& sum, real_t<Scalar> magnitude, Offset terms) {
  return Kokkos::abs(sum) <=
         static_cast<real_t<Scalar>>(terms + 4) * 2 * unit_roundoff<Scalar> * magnitude;
}

/// Ones on the rows of a class, for the classes that the flags name.
template <class Scalar, class Class>
void add_ones(std::size_t rows, std::vector<bool> const& flags, Class const& class_of,
              Vectors<Scalar>& vectors) {
  for (std::size_t c = 0; c < flags.size() && vectors.size() < most; ++c) {
    if (!flags[c]) continue;
    std::vector<Scalar> ones(rows, Scalar(0));
    for (std::size_t i = 0; i < rows; ++i)
      if (class_of(i) == c) ones[i] = Scalar(1);
    vectors.push_back(std::move(ones));
  }
}

/// Of each component whose rows add up to zero.
template <class Scalar, class Offset>
void add_components(HostCsr<Scalar const, Offset const, int const> const& A,
                    Neighbours<int> const& graph, Vectors<Scalar>& vectors) {
  auto const all = components(graph);
  std::vector<bool> vanishes(all.count, true);
  for (std::size_t i = 0; i < all.of.size(); ++i) {
    Scalar sum(0);
    real_t<Scalar> magnitude = 0;
    for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p)
      sum += A.values(p), magnitude += Kokkos::abs(A.values(p));
    if (!is_nothing(sum, magnitude, A.offsets(i + 1) - A.offsets(i))) vanishes[all.of[i]] = false;
  }
  add_ones(
      all.of.size(), vanishes, [&](std::size_t i) { return all.of[i]; }, vectors);
}

/// Of every `unknowns`-th row, where the entries of each row in these columns add up to zero.
template <class Scalar, class Offset>
void add_translations(HostCsr<Scalar const, Offset const, int const> const& A, std::size_t unknowns,
                      Vectors<Scalar>& vectors) {
  auto const rows = static_cast<std::size_t>(A.rows);
  if (rows % unknowns != 0) return;
  std::vector<bool> vanishes(unknowns, true);
  std::vector<Scalar> sums(unknowns);
  for (std::size_t i = 0; i < rows; ++i) {
    if (std::find(vanishes.begin(), vanishes.end(), true) == vanishes.end()) return;
    sums.assign(unknowns, Scalar(0));
    real_t<Scalar> magnitude = 0;
    for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p) {
      sums[static_cast<std::size_t>(A.indices(p)) % unknowns] += A.values(p);
      magnitude += Kokkos::abs(A.values(p));
    }
    for (std::size_t c = 0; c < unknowns; ++c)
      if (!is_nothing(sums[c], magnitude, A.offsets(i + 1) - A.offsets(i))) vanishes[c] = false;
  }
  add_ones(
      rows, vanishes, [&](std::size_t i) { return i % unknowns; }, vectors);
}

/// A vector, and the rows where it may be nonzero: [first, last). Vectors of small components cost
/// what those rows cost.
template <class Scalar>
struct Direction {
  std::vector<Scalar> values;
  std::size_t first = 0, last = 0;

  explicit Direction(std::vector<Scalar> of) : values(std::move(of)) { find_rows(); }

  /// The first row is a multiple of the lanes of dot, which adds up rows in the same order then.
  void find_rows() {
    auto const nonzero = [](Scalar const& value) { return value != Scalar(0); };
    auto const begin = std::find_if(values.begin(), values.end(), nonzero);
    first = static_cast<std::size_t>(begin - values.begin()) / lanes * lanes;
    last = values.size() -
           static_cast<std::size_t>(std::find_if(values.rbegin(), values.rend(), nonzero) -
                                    values.rbegin());
    if (begin == values.end()) first = last = 0;
  }

  real_t<Scalar> length() const {
    auto const* const z = values.data() + first;
    return std::sqrt(real_part(dot(z, z, last - first)));
  }

  /// Becomes (I - v v^H) times itself.
  void project_out(Direction const& v) {
    std::size_t const low = std::max(first, v.first), high = std::min(last, v.last);
    if (low >= high) return;
    Scalar const part = dot(values.data() + low, v.values.data() + low, high - low);
    for (std::size_t i = v.first; i < v.last; ++i) values[i] -= part * v.values[i];
    first = std::min(first, v.first);
    last = std::max(last, v.last);
  }
};

/// Gram and Schmidt, twice; a vector that has no direction of its own is left out, and so is what
/// comes after the first 32.
template <class Scalar>
std::vector<Direction<Scalar>> orthonormal(Vectors<Scalar> vectors) {
  using Real = real_t<Scalar>;
  std::vector<Direction<Scalar>> basis;
  for (auto& vector : vectors) {
    if (basis.size() == most) break;
    Direction<Scalar> z(std::move(vector));
    for (int pass = 0;; ++pass) {
      Real const size = z.length();
      if (!(size > (pass == 0 ? Real(0) : Real(1e-3))) || !std::isfinite(size)) break;
      for (std::size_t i = z.first; i < z.last; ++i) z.values[i] /= size;
      if (pass == 2) {
        basis.push_back(std::move(z));
        break;
      }
      for (auto const& v : basis) z.project_out(v);
    }
  }
  return basis;
}

/// The values alone.
template <class Scalar>
Vectors<Scalar> values_of(std::vector<Direction<Scalar>> basis) {
  Vectors<Scalar> vectors;
  for (auto& z : basis) vectors.push_back(std::move(z.values));
  return vectors;
}

/// S A S = L D L^H with S = diag(|a_ii|)^-1/2, rows and columns in a new order, each row of L from
/// its first entry to the diagonal.
template <class Scalar>
class Envelope {
 public:
  using Real = real_t<Scalar>;

  template <class Offset>
  Envelope(HostCsr<Scalar const, Offset const, int const> const& A, std::vector<int> places)
      : places_(std::move(places)), starts_(places_.size() + 1, 0), first_(places_.size()) {
    for (std::size_t i = 0; i < rows(); ++i) {
      std::size_t const row = place(i);
      first_[row] = row;
      for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p)
        first_[row] = std::min(first_[row], place(static_cast<std::size_t>(A.indices(p))));
    }
    for (std::size_t row = 0; row < rows(); ++row)
      starts_[row + 1] = starts_[row] + (row - first_[row]);
  }

  /// Multiplications that the factors take.
  double work() const {
    double sum = 0;
    for (std::size_t row = 0; row < rows(); ++row) {
      double const width = static_cast<double>(row - first_[row]);
      sum += width * (width + 1) / 2;
    }
    return is_complex_v<Scalar> ? 4 * sum : sum;
  }

  /// False: A is not semidefinite, or not finite.
  template <class Offset>
  bool factor(HostCsr<Scalar const, Offset const, int const> const& A) {
    fill(A);
    for (std::size_t i = 0; i < rows(); ++i) {
      Scalar* const g = row_of(i);  // L(i, j) d_j, until the row is done
      std::size_t const low = first_[i];
      for (std::size_t j = low; j < i; ++j) {
        std::size_t const from = std::max(low, first_[j]);
        g[j - low] -= dot(g + (from - low), row_of(j) + (from - first_[j]), j - from);
      }
      Real pivot = diagonal_[i];
      for (std::size_t j = low; j < i; ++j) {
        Scalar const l = diagonal_[j] > 0 ? g[j - low] / diagonal_[j] : Scalar(0);
        pivot -= real_part(g[j - low] * conjugate(l));
        g[j - low] = l;
      }
      if (!(pivot >= -nothing) || !std::isfinite(pivot)) return false;
      if (pivot <= nothing) null_.push_back(i);
      diagonal_[i] = pivot <= nothing ? Real(0) : pivot;
    }
    return true;
  }

  /// L^-H e_k of each null pivot k, in the order and units of A. Refined by corrections for A z but
  /// for its part along them all, which no correction can remove.
  template <class Offset>
  void add_null_vectors(HostCsr<Scalar const, Offset const, int const> const& A,
                        Vectors<Scalar>& vectors) const {
    constexpr int rounds = 2;
    Vectors<Scalar> found;
    for (std::size_t n = 0; n < std::min(most, null_.size()); ++n) {
      found.emplace_back(rows(), Scalar(0));
      found.back()[null_[n]] = Scalar(1);
      solve_upper(found.back());
    }
    auto basis = orthonormal(std::move(found));
    for (int round = 0; round < rounds; ++round)
      for (auto& z : basis) {
        Direction<Scalar> correction(image(A, z.values));
        for (auto const& v : basis) correction.project_out(v);
        auto& values = correction.values;
        solve_lower(values);
        for (std::size_t i = 0; i < rows(); ++i)
          values[i] = diagonal_[i] > 0 ? values[i] / diagonal_[i] : Scalar(0);
        solve_upper(values);
        for (std::size_t i = 0; i < rows(); ++i) z.values[i] -= values[i];
        z.find_rows();
      }
    for (auto const& z : basis) {
      vectors.emplace_back(rows());
      for (std::size_t i = 0; i < rows(); ++i) vectors.back()[i] = scale_[i] * z.values[place(i)];
    }
  }

 private:
  /// A pivot up to this, relative to a diagonal entry of one, may be rounding errors.
  static constexpr Real nothing = std::numeric_limits<Real>::digits >= 50 ? Real(1e-9) : Real(1e-4);

  std::size_t rows() const { return places_.size(); }
  std::size_t place(std::size_t i) const { return static_cast<std::size_t>(places_[i]); }
  Scalar* row_of(std::size_t row) { return values_.data() + starts_[row]; }
  Scalar const* row_of(std::size_t row) const { return values_.data() + starts_[row]; }

  /// x := L^-1 x
  void solve_lower(std::vector<Scalar>& x) const {
    for (std::size_t i = 0; i < rows(); ++i)
      for (std::size_t j = first_[i]; j < i; ++j) x[i] -= row_of(i)[j - first_[i]] * x[j];
  }
  /// x := L^-H x
  void solve_upper(std::vector<Scalar>& x) const {
    for (std::size_t i = rows(); i-- > 0;)
      for (std::size_t j = first_[i]; j < i; ++j)
        x[j] -= conjugate(row_of(i)[j - first_[i]]) * x[i];
  }
  /// S A S z
  template <class Offset>
  std::vector<Scalar> image(HostCsr<Scalar const, Offset const, int const> const& A,
                            std::vector<Scalar> const& z) const {
    std::vector<Scalar> result(rows(), Scalar(0));
    for (std::size_t i = 0; i < rows(); ++i)
      for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p) {
        auto const j = static_cast<std::size_t>(A.indices(p));
        result[place(i)] += scale_[i] * A.values(p) * scale_[j] * z[place(j)];
      }
    return result;
  }

  template <class Offset>
  void fill(HostCsr<Scalar const, Offset const, int const> const& A) {
    scale_.assign(rows(), Real(0));
    auto const each = [&](auto const& entry) {
      for (std::size_t i = 0; i < rows(); ++i)
        for (Offset p = A.offsets(i); p < A.offsets(i + 1); ++p)
          entry(i, static_cast<std::size_t>(A.indices(p)), A.values(p));
    };
    each([&](std::size_t i, std::size_t j, Scalar const& value) {
      if (i == j) scale_[i] += real_part(value);
    });
    for (Real& scale : scale_) scale = scale > 0 ? 1 / std::sqrt(scale) : Real(1);
    values_.assign(starts_.back(), Scalar(0));
    diagonal_.assign(rows(), Real(0));
    each([&](std::size_t i, std::size_t j, Scalar const& value) {
      std::size_t const row = place(i), column = place(j);
      Scalar const scaled = scale_[i] * value * scale_[j];
      if (row == column) diagonal_[row] += real_part(scaled);
      if (column < row) row_of(row)[column - first_[row]] += scaled;
    });
  }

  std::vector<int> places_;
  std::vector<std::size_t> starts_, first_;
  std::vector<Real> scale_, diagonal_;
  std::vector<Scalar> values_;
  std::vector<std::size_t> null_;
};

}  // namespace

template <class Scalar, class Offset>
Vectors<Scalar> null_vectors_of(HostCsr<Scalar const, Offset const, int const> const& A,
                                std::int64_t work) {
  auto const graph = neighbours(A);
  Vectors<Scalar> vectors;
  add_components(A, graph, vectors);
  // ones on different rows: no others have a direction besides them that counts
  if (vectors.size() == most) return values_of(orthonormal(std::move(vectors)));
  for (std::size_t const unknowns : {2, 3, 6}) add_translations(A, unknowns, vectors);
  Envelope<Scalar> envelope(A, rcm_places(graph));
  if (envelope.work() <= static_cast<double>(work) && envelope.factor(A))
    envelope.add_null_vectors(A, vectors);
  return values_of(orthonormal(std::move(vectors)));
}

#define BLOCKSPAN_NULL_VECTORS(Scalar)                                                         \
  template Vectors<Scalar> null_vectors_of(HostCsr<Scalar const, int const, int const> const&, \
                                           std::int64_t);                                      \
  template Vectors<Scalar> null_vectors_of(                                                    \
      HostCsr<Scalar const, std::size_t const, int const> const&, std::int64_t);
BLOCKSPAN_NULL_VECTORS(float)
BLOCKSPAN_NULL_VECTORS(double)
BLOCKSPAN_NULL_VECTORS(Kokkos::complex<float>)
BLOCKSPAN_NULL_VECTORS(Kokkos::complex<double>)
#undef BLOCKSPAN_NULL_VECTORS

}  // namespace blockspan::operators
