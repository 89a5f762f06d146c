#pragma once

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/small_factor.hpp>
#include <blockspan/multivector/columns.hpp>
#include <blockspan/multivector/combine.hpp>
#include <blockspan/multivector/compiled/columns_impl.hpp>
#include <blockspan/multivector/gram.hpp>
#include <blockspan/multivector/orthonormalize.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::multivector {

/// One orthonormalization. The invariant: the leading `rank` columns of V are U T, where U holds
/// the original columns (those kept) scaled to unit length. A column of V whose length is below 16
/// k u ||t_j|| therefore consists of rounding errors of U only.
template <class Exec, class Scalar>
class Orthonormalizer {
 public:
  using Real = real_t<Scalar>;

  Orthonormalizer(Exec const& exec, BlockRef<Scalar> const& V, BlockRef<Scalar> const* BV,
                  Workspace<Exec>& workspace)
      : exec_(exec),
        V_(V),
        BV_(BV ? *BV : V),
        has_B_(BV != nullptr),
        workspace_(workspace),
        rank_(static_cast<int>(V.columns)),
        T_(0, 0) {}

  OrthonormalizeReport run() {
    // rescue() may be called for the first time in a later iteration, which must not allocate
    workspace_.template device<Real>(exec_, Workspace<Exec>::result, V_.columns);
    constexpr int most_passes = 10;
    if (workspace_.rows().global_rows(V_.rows) == 0) rank_ = 0;
    while (rank_ > 0 && report_.passes < most_passes) {
      HostMatrix<Scalar> G = gram_matrix();
      if (report_.passes == 0) {
        if (!in_range(G)) {
          if (!rescue()) break;
          G = gram_matrix();
        }
        if (!start(G)) continue;
      }
      if (drop_noise(G)) continue;
      Real const smallest_pivot = improve(G);
      if (++report_.passes >= 2 && smallest_pivot > Real(0.5)) break;
    }
    zero_from(rank_);
    report_.rank = rank_;
    return report_;
  }

 private:
  BlockRef<Scalar> leading(BlockRef<Scalar> const& X) const { return column_range(X, 0, rank_); }

  template <class T>
  SmallRef<T> host_ref(T* data, int rows, int columns) const {
    return {{data, rows, columns, 1, rows}, runs_on_host_v<Exec>, true};
  }

  /// V^H B V, symmetrized to be exactly Hermitian.
  HostMatrix<Scalar> gram_matrix() {
    HostMatrix<Scalar> G(rank_, rank_);
    gram<Exec, Scalar>(exec_, leading(V_), leading(BV_), host_ref(G.values.data(), rank_, rank_),
                       workspace_);
    for (int j = 0; j < rank_; ++j) {
      G(j, j) = Scalar(real_part(G(j, j)));
      for (int i = 0; i < j; ++i) {
        G(i, j) = (G(i, j) + conjugate(G(j, i))) * Real(0.5);
        G(j, i) = conjugate(G(i, j));
      }
    }
    return G;
  }

  /// Whether all squared lengths are finite and far enough from overflow and underflow.
  bool in_range(HostMatrix<Scalar> const& G) const {
    Real const least = std::sqrt(std::numeric_limits<Real>::min());
    for (int j = 0; j < rank_; ++j) {
      Real const square = real_part(G(j, j));
      if (!(square > least && square < 1 / least)) return false;
    }
    return true;
  }

  /// Scales every column by a power of two so that its largest part is about 1; drops columns that
  /// are zero or not finite. False if none is left.
  bool rescue() {
    auto const largest = column_maxima(V_);
    auto const largest_B = has_B_ ? column_maxima(BV_) : largest;
    std::vector<int> keep;
    std::vector<Real> factors;
    int const most = std::numeric_limits<Real>::max_exponent - 8;
    for (int j = 0; j < rank_; ++j) {
      Real const x = largest[static_cast<std::size_t>(j)];
      if (!(x > 0) || !std::isfinite(x) || !std::isfinite(largest_B[static_cast<std::size_t>(j)]))
        continue;
      keep.push_back(j);
      factors.push_back(std::ldexp(Real(1), std::clamp(-std::ilogb(x), -most, most)));
    }
    keep_columns(keep);
    SmallRef<Real const> const list{{factors.data(), rank_, 1, 1, 1}, runs_on_host_v<Exec>, true};
    scale_columns<Exec, Scalar, Factors::real>(exec_, list, leading(V_));
    if (has_B_) scale_columns<Exec, Scalar, Factors::real>(exec_, list, leading(BV_));
    exec_.fence("Blockspan::orthonormalize: factors are read");
    return rank_ > 0;
  }

  std::vector<Real> column_maxima(BlockRef<Scalar> const& X) {
    return columns_to_host(exec_, "Blockspan::column_maxima", LargestTerms<Scalar>{leading(X)},
                           local_chunks(X.rows, workspace_), rank_, workspace_);
  }

  /// Initializes T for the current columns. False, with the columns dropped, if some have no length
  /// in B.
  bool start(HostMatrix<Scalar> const& G) {
    std::vector<int> keep;
    std::vector<Real> least(static_cast<std::size_t>(rank_), Real(0));
    if (has_B_) least = least_squares_in_B(G);
    for (int j = 0; j < rank_; ++j)
      if (real_part(G(j, j)) > least[static_cast<std::size_t>(j)]) keep.push_back(j);
    if (static_cast<int>(keep.size()) < rank_) {
      keep_columns(keep);
      return false;
    }
    T_ = HostMatrix<Scalar>(rank_, rank_);
    for (int j = 0; j < rank_; ++j) T_(j, j) = Scalar(std::sqrt(real_part(G(j, j))));
    return true;
  }

  /// For every column the value of v^H B v that counts as zero: 4 u b ||v||^2.
  std::vector<Real> least_squares_in_B(HostMatrix<Scalar> const& G) {
    auto const v = column_lengths(V_), Bv = column_lengths(BV_);
    Real b = 0;
    for (std::size_t j = 0; j < v.size(); ++j) {
      if (v[j] > 0 && std::isfinite(Bv[j] / v[j])) b = std::max(b, Bv[j] / v[j]);
      if (real_part(G(static_cast<int>(j), static_cast<int>(j))) < Real(-1e-10) * v[j] * Bv[j])
        report_.indefinite = true;
    }
    std::vector<Real> least;
    for (Real const length : v) least.push_back(4 * unit_roundoff<Scalar> * b * length * length);
    return least;
  }

  std::vector<Real> column_lengths(BlockRef<Scalar> const& X) {
    std::vector<Real> norms(static_cast<std::size_t>(rank_));
    column_norms<Exec, Scalar>(exec_, leading(X), host_ref(norms.data(), rank_, 1), workspace_);
    return norms;
  }

  /// Drops columns that hold only rounding errors (or became non-finite). True if there were any.
  bool drop_noise(HostMatrix<Scalar> const& G) {
    std::vector<int> keep;
    Real const noise = Real(16 * T_.rows()) * unit_roundoff<Scalar>;
    for (int j = 0; j < rank_; ++j) {
      Real square = 0;
      for (int i = 0; i < T_.rows(); ++i) square += squared_magnitude(T_(i, j));
      if (std::sqrt(real_part(G(j, j))) > noise * std::sqrt(square)) keep.push_back(j);
    }
    if (static_cast<int>(keep.size()) == rank_) return false;
    HostMatrix<Scalar> T(T_.rows(), static_cast<int>(keep.size()));
    for (int j = 0; j < T.columns(); ++j)
      for (int i = 0; i < T.rows(); ++i) T(i, j) = T_(i, keep[static_cast<std::size_t>(j)]);
    T_ = std::move(T);
    keep_columns(keep);
    return true;
  }

  /// V := V C. Returns the smallest pivot of the Cholesky factor, 0 where SVQB was needed.
  Real improve(HostMatrix<Scalar>& G) {
    std::vector<Real> D, eigenvalues;
    scale_to_unit_diagonal(G.view, D, G.view);
    HostMatrix<Scalar> C(rank_, rank_), copy(rank_, rank_);
    std::copy(G.values.begin(), G.values.end(), copy.values.begin());
    Real const noise = gram_noise<Scalar>(rank_);
    Real smallest = cholesky_coefficients(copy.view, D, noise, C.view);
    // In later passes the floored factor is used: it keeps the order of columns and leaves good
    // ones alone.
    if (!(smallest > noise)) {
      smallest = 0;
      if (!report_.used_svqb && lapack::hermitian_eigen(G.view, eigenvalues) == 0) {
        svqb_coefficients(G.view, eigenvalues, D, rank_, noise * eigenvalues.back(), C.view);
        report_.used_svqb = true;
      }
    }
    apply(C);
    return std::sqrt(smallest);
  }

  void apply(HostMatrix<Scalar> const& C) {
    auto const coefficients = host_ref<Scalar const>(C.values.data(), rank_, rank_);
    combine_in_place<Exec, Scalar>(exec_, leading(V_), coefficients, workspace_);
    if (has_B_) combine_in_place<Exec, Scalar>(exec_, leading(BV_), coefficients, workspace_);
    HostMatrix<Scalar> T(T_.rows(), rank_);
    lapack::multiply(lapack::Transform::none, lapack::Transform::none, Scalar(1), T_.view, C.view,
                     Scalar(0), T.view);
    T_ = std::move(T);
  }

  /// Moves the columns of `keep` (ascending) to the front.
  void keep_columns(std::vector<int> const& keep) {
    for (int p = 0; p < static_cast<int>(keep.size()); ++p) {
      int const from = keep[static_cast<std::size_t>(p)];
      if (from == p) continue;
      move_column(V_, from, p);
      if (has_B_) move_column(BV_, from, p);
    }
    rank_ = static_cast<int>(keep.size());
  }

  void move_column(BlockRef<Scalar> const& X, int from, int to) {
    copy_block<Exec, Scalar>(exec_, column_range(X, from, 1), column_range(X, to, 1));
  }

  void zero_from(int first) {
    zero_block(exec_, column_range(V_, first, V_.columns - first));
    if (has_B_) zero_block(exec_, column_range(BV_, first, V_.columns - first));
  }

  Exec exec_;
  BlockRef<Scalar> V_, BV_;
  bool has_B_;
  Workspace<Exec>& workspace_;
  int rank_;              ///< columns still kept
  HostMatrix<Scalar> T_;  ///< V(:, 0:rank) = U T
  OrthonormalizeReport report_;
};

template <class Exec, class Scalar>
OrthonormalizeReport orthonormalize(Exec const& exec, BlockRef<Scalar> const& V,
                                    BlockRef<Scalar> const* BV, Workspace<Exec>& workspace) {
  return Orthonormalizer<Exec, Scalar>(exec, V, BV, workspace).run();
}

template <class Exec, class Scalar>
void project_out(Exec const& exec, BlockRef<Scalar const> const& Q,
                 BlockRef<Scalar const> const& BQ, BlockRef<Scalar> const& V,
                 Workspace<Exec>& workspace) {
  if (Q.columns == 0 || V.columns == 0) return;
  if (workspace.rows().global_rows(V.rows) == 0) return;
  auto* const data =
      workspace.template device<Scalar>(exec, Workspace<Exec>::product, Q.columns * V.columns);
  BlockRef<Scalar> const product{data, Q.columns, V.columns, 1, Q.columns};
  gram<Exec, Scalar>(exec, BQ, V, SmallRef<Scalar>{product, true, false}, workspace);
  combine<Exec, Scalar>(exec, Scalar(-1), Q, SmallRef<Scalar const>{product, true, false},
                        Scalar(1), V, workspace);
}

}  // namespace blockspan::multivector
