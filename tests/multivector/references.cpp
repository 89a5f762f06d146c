#include "multivector/references.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "multivector/bases.hpp"
#include "support/instantiations.hpp"

namespace blockspan::test {

template <class Scalar>
Reference<Scalar> gram_reference(HostBlock<Scalar> const& X, HostBlock<Scalar> const& Y) {
  Reference<Scalar> G(X.columns(), Y.columns());
  for (std::int64_t r = 0; r < X.rows(); ++r)
    for (std::int64_t i = 0; i < X.columns(); ++i) {
      auto const x = conjugate(extended(X(r, i)));
      auto const size = std::abs(x);
      for (std::int64_t j = 0; j < Y.columns(); ++j) {
        auto const y = extended(Y(r, j));
        G.value(i, j) += x * y;
        G.bound(i, j) += size * std::abs(y);
      }
    }
  // Chunks and their sum: every product is rounded once and passes at most n + 2 additions.
  for (auto& bound : G.bounds) bound *= gamma_bound<Scalar>(X.rows() + 2);
  return G;
}

template <class Scalar>
Reference<Scalar> combine_reference(Scalar alpha, HostBlock<Scalar> const& X,
                                    HostBlock<Scalar> const& C, Scalar beta,
                                    HostBlock<Scalar> const& Y) {
  Reference<Scalar> R(X.rows(), C.columns());
  bool const add = beta != Scalar(0);
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < C.columns(); ++j) {
      extended_t<Scalar> sum = 0;
      long double sizes = 0;
      for (std::int64_t l = 0; l < X.columns(); ++l) {
        auto const x = extended(X(i, l)), c = extended(C(l, j));
        sum += x * c;
        sizes += std::abs(x) * std::abs(c);
      }
      R.value(i, j) = extended(alpha) * sum;
      R.bound(i, j) = magnitude(alpha) * sizes;
      if (add) R.value(i, j) += extended(beta) * extended(Y(i, j));
      if (add) R.bound(i, j) += magnitude(beta) * magnitude(Y(i, j));
    }
  for (auto& bound : R.bounds) bound *= gamma_bound<Scalar>(X.columns() + 3);
  return R;
}

template <class Scalar>
long double distance_from_identity(HostBlock<Scalar> const& V, HostBlock<Scalar> const& W,
                                   int rank) {
  auto const G = gram_reference(V, W);
  long double worst = 0;
  for (int i = 0; i < rank; ++i)
    for (int j = 0; j < rank; ++j)
      worst = std::max(worst, std::abs(G.value(i, j) - extended_t<Scalar>(i == j ? 1 : 0)));
  return worst;
}

template <class Scalar>
long double distance_from_span(HostBlock<Scalar> const& X, HostBlock<Scalar> const& V, int rank) {
  long double worst = 0;
  for (std::int64_t j = 0; j < X.columns(); ++j) {
    // Scaled by its largest entry, so that squares stay in range.
    long double largest = 0, length = 0, distance = 0;
    for (std::int64_t i = 0; i < X.rows(); ++i) largest = std::max(largest, magnitude(X(i, j)));
    if (!(largest > 0)) continue;
    std::vector<extended_t<Scalar>> x;
    for (std::int64_t i = 0; i < X.rows(); ++i) x.push_back(extended(X(i, j)) / largest);
    for (auto const& entry : x) length += std::norm(entry);
    for (int pass = 0; pass < 2; ++pass)
      for (int q = 0; q < rank; ++q) {
        extended_t<Scalar> dot = 0;
        for (std::int64_t i = 0; i < X.rows(); ++i)
          dot += conjugate(extended(V(i, q))) * x[static_cast<std::size_t>(i)];
        for (std::int64_t i = 0; i < X.rows(); ++i)
          x[static_cast<std::size_t>(i)] -= extended(V(i, q)) * dot;
      }
    for (auto const& entry : x) distance += std::norm(entry);
    worst = std::max(worst, std::sqrt(distance / length));
  }
  return worst;
}

#define INSTANTIATE(Scalar)                                                                       \
  template Reference<Scalar> gram_reference(HostBlock<Scalar> const&, HostBlock<Scalar> const&);  \
  template Reference<Scalar> combine_reference(Scalar, HostBlock<Scalar> const&,                  \
                                               HostBlock<Scalar> const&, Scalar,                  \
                                               HostBlock<Scalar> const&);                         \
  template long double distance_from_identity(HostBlock<Scalar> const&, HostBlock<Scalar> const&, \
                                              int);                                               \
  template long double distance_from_span(HostBlock<Scalar> const&, HostBlock<Scalar> const&, int);
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
