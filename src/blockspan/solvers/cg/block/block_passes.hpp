#pragma once

#include <utility>
#include <vector>

#include <blockspan/multivector/terms/row_terms.hpp>
#include <blockspan/solvers/cg/problem.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::krylov {

/// The passes of the block method over T, Q, S and E, and the small matrices they need where Exec
/// computes. `width` columns are allocated, the leading ones used, at most 64 real ones (a row of
/// them is updated in place). Q becomes M^-1 T once A S is no longer needed; without a
/// preconditioner, or with row weights, T itself serves. Words of an iteration: 2 for K, 3 for T, 1
/// for each of G and H, 3 for E and 3 for S; any other M^-1 costs one more for G, and its own.
template <class Scalar, class Exec>
class BlockPasses {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Small = SmallMatrix<Scalar>;

  BlockPasses(CgProblem<Scalar, Exec>& problem, CgBlocks<Scalar, Exec>& blocks, int most)
      : problem_(problem),
        blocks_(blocks),
        grams_(allocate<Flat>(problem.exec, "Blockspan::cg::grams", 2 * most * most)),
        on_host_(allocate_mirror(grams_)),
        coefficients_(allocate<Flat>(problem.exec, "Blockspan::cg::coefficients", 3 * most * most)),
        packed_(allocate_mirror(coefficients_)) {}

  void set_width(int width) { width_ = width; }
  View e() const { return blocks_.correction(width_); }
  View s(int r) const { return column_range(blocks_.direction(width_), 0, r); }
  View q(int r) const { return column_range(blocks_.spare(width_), 0, r); }
  View t(int r) const { return column_range(blocks_.residual(width_), 0, r); }
  /// M^-1 T into the place of A S, unless it is T with row weights.
  void precondition(int r) {
    if (problem_.general()) problem_.apply_m(t(r), q(r));
  }

  /// K = S^H Q on the host. Synchronizes.
  void gram_of_product(int r, Small const& K) { to_host({{s(r), q(r)}}, {K}); }
  /// G = T^H M^-1 T. Synchronizes.
  void gram(int r, Small const& G) { to_host({preconditioned_product(r)}, {G}); }
  /// G = T^H M^-1 T and H = T^H T (G if there is no preconditioner). Synchronizes.
  void grams(int r, Small const& G, Small const& H) {
    if (problem_.preconditioned()) {
      to_host({preconditioned_product(r), {t(r), t(r)}}, {G, H});
    } else {
      gram(r, G);
      copy_small(G, H);
    }
  }

  /// T = T F - Q Xi (F null: the identity), then M^-1 T.
  void step_residual(int r, Small const* F, Small const& minus_xi) {
    {
      auto const timer = problem_.time(problem_.seconds.update);
      if (F) {
        auto const c = on_device({*F, minus_xi});
        combine_terms(problem_.exec, RowTerm<Scalar>{ref(t(r)), c[0]},
                      RowTerm<Scalar>{ref(q(r)), c[1]}, ref(t(r)), problem_.workspace);
      } else {
        auto const c = on_device({minus_xi});
        add_product(q(r), c[0], t(r));
      }
    }
    precondition(r);
  }

  /// T = T C (r x r_new, r_new <= r), and M^-1 T anew: the same combination of the old M^-1 T would
  /// have rounding errors of its own, which C may amplify beyond any use.
  void transform(Small const& C) {
    {
      auto const timer = problem_.time(problem_.seconds.update);
      auto const c = on_device({C});
      multivector::combine_in_place<Exec, Scalar>(problem_.exec,
                                                  ref(t(static_cast<int>(C.extent(0)))),
                                                  {c[0], true, false}, problem_.workspace);
    }
    precondition(static_cast<int>(C.extent(1)));
  }

  /// E += S C
  void step_correction(Small const& C) {
    auto const timer = problem_.time(problem_.seconds.update);
    auto const c = on_device({C});
    add_product(s(static_cast<int>(C.extent(0))), c[0], e());
  }

  /// E += S C, then S = M^-1 T F + S Z. Z: r_old x r, F: r x r.
  void step(Small const& C, Small const& F, Small const& Z) {
    auto const timer = problem_.time(problem_.seconds.update);
    int const r_old = static_cast<int>(Z.extent(0)), r = static_cast<int>(Z.extent(1));
    auto const c = on_device({C, F, Z});
    add_product(s(r_old), c[0], e());
    View const Y = problem_.general() ? q(r) : t(r);
    combine_terms(problem_.exec, RowTerm<Scalar>{ref(Y), c[1], problem_.weights()},
                  RowTerm<Scalar>{ref(s(r_old)), c[2]}, ref(s(r)), problem_.workspace);
  }

  /// S = M^-1 T, E = 0
  void start(int r) {
    if (problem_.weights())
      problem_.apply_m(t(r), s(r));
    else
      copy_block<Exec, Scalar>(problem_.exec, ref(problem_.general() ? q(r) : t(r)), ref(s(r)));
    zero_block(problem_.exec, ref(e()));
  }

  /// d = S v. T is lost.
  View direction(int r, Small const& v) {
    View const d = blocks_.residual(1);
    auto const c = on_device({v});
    zero_block(problem_.exec, ref(d));
    add_product(s(r), c[0], d);
    return d;
  }

  /// max_j ||A s_j|| / ||s_j||, a lower bound of ||A||, while Q = A S.
  Real norm_seen(int r) {
    auto const images = problem_.norms(q(r)), vectors = problem_.norms(s(r));
    problem_.counters.synchronizations += 2;
    Real largest = 0;
    for (std::size_t j = 0; j < images.size(); ++j)
      largest = std::max(largest, images[j] / vectors[j]);
    return largest;
  }

 private:
  using Flat = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;

  /// One Gram matrix X^H diag(weights) Y; X is Y where there are weights.
  struct Product {
    View X, Y;
    Real const* weights = nullptr;
  };

  static BlockRef<Scalar> ref(View const& X) { return block_ref<Exec>(X); }

  Product preconditioned_product(int r) const {
    return {t(r), problem_.general() ? q(r) : t(r), problem_.weights()};
  }

  /// Y += X C
  void add_product(View const& X, BlockRef<Scalar const> const& C, View const& Y) {
    multivector::combine<Exec, Scalar>(problem_.exec, Scalar(1), ref(X), {C, true, false},
                                       Scalar(1), ref(Y), problem_.workspace);
  }

  /// Small matrices where kernels read them, valid until the next call: everything queued before
  /// has read the last ones, or the host has waited since.
  std::vector<BlockRef<Scalar const>> on_device(std::initializer_list<Small> matrices) {
    std::size_t count = 0;
    for (Small const& M : matrices)
      for (std::size_t j = 0; j < M.extent(1); ++j)
        for (std::size_t i = 0; i < M.extent(0); ++i) packed_(count++) = M(i, j);
    std::pair<std::size_t, std::size_t> const used(0, count);
    if (packed_.data() != coefficients_.data())
      Kokkos::deep_copy(problem_.exec, Kokkos::subview(coefficients_, used),
                        Kokkos::subview(packed_, used));
    std::vector<BlockRef<Scalar const>> result;
    Scalar const* next = coefficients_.data();
    for (Small const& M : matrices) {
      auto const rows = static_cast<std::int64_t>(M.extent(0)),
                 columns = static_cast<std::int64_t>(M.extent(1));
      result.push_back({next, rows, columns, 1, rows});
      next += rows * columns;
    }
    return result;
  }

  /// Gram matrices of blocks in one copy.
  void to_host(std::initializer_list<Product> products, std::initializer_list<Small> results) {
    auto const timer = problem_.time(problem_.seconds.gram);
    std::size_t count = 0;
    for (auto const& [X, Y, weights] : products) {
      auto const rows = static_cast<std::int64_t>(X.extent(1)),
                 columns = static_cast<std::int64_t>(Y.extent(1));
      BlockRef<Scalar> const G{grams_.data() + count, rows, columns, 1, rows};
      if (weights)
        weighted_gram<Exec, Scalar>(problem_.exec, ref(X), weights, G, problem_.workspace);
      else
        multivector::gram<Exec, Scalar>(problem_.exec, ref(X), ref(Y), {G, true, false},
                                        problem_.workspace);
      count += static_cast<std::size_t>(rows * columns);
    }
    std::pair<std::size_t, std::size_t> const used(0, count);
    if (on_host_.data() != grams_.data())
      Kokkos::deep_copy(problem_.exec, Kokkos::subview(on_host_, used),
                        Kokkos::subview(grams_, used));
    problem_.synchronize("Blockspan::cg: Gram matrices");
    count = 0;
    for (Small const& G : results)
      for (std::size_t j = 0; j < G.extent(1); ++j)
        for (std::size_t i = 0; i < G.extent(0); ++i) G(i, j) = on_host_(count++);
  }

  CgProblem<Scalar, Exec>& problem_;
  CgBlocks<Scalar, Exec>& blocks_;
  Flat grams_;
  typename Flat::host_mirror_type on_host_;
  Flat coefficients_;
  typename Flat::host_mirror_type packed_;
  int width_ = 0;
};

}  // namespace blockspan::krylov
