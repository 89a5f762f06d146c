#pragma once

#include <utility>
#include <vector>

#include <blockspan/solvers/detail/cg_problem.hpp>
#include <blockspan/solvers/detail/small_dense.hpp>

namespace blockspan::detail {

/// The passes of the block method over T, Q, S and E, and the small matrices they need where Exec
/// computes. `width` columns are allocated, the leading ones used; Q becomes M^-1 T once A S is no
/// longer needed.
template <class Scalar, class Exec>
class BlockPasses {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Small = SmallMatrix<Scalar>;

  BlockPasses(CgProblem<Scalar, Exec>& problem, CgBlocks<Scalar, Exec>& blocks, int most)
      : problem_(problem),
        blocks_(blocks),
        grams_(
            Kokkos::view_alloc(problem.exec, Kokkos::WithoutInitializing, "Blockspan::cg::grams"),
            2 * most * most),
        on_host_(Kokkos::create_mirror_view(
            Kokkos::view_alloc(Kokkos::HostSpace(), Kokkos::WithoutInitializing), grams_)),
        coefficients_(Kokkos::view_alloc(problem.exec, Kokkos::WithoutInitializing,
                                         "Blockspan::cg::coefficients"),
                      3 * most * most),
        packed_(Kokkos::create_mirror_view(
            Kokkos::view_alloc(Kokkos::HostSpace(), Kokkos::WithoutInitializing), coefficients_)) {}

  void set_width(int width) { width_ = width; }
  View e() const { return blocks_.correction(width_); }
  View s(int r) const { return leading(blocks_.direction(width_), r); }
  View q(int r) const { return leading(blocks_.spare(width_), r); }
  View t(int r) const { return leading(blocks_.residual(width_), r); }
  /// M^-1 T
  View y(int r) const { return problem_.preconditioned() ? q(r) : t(r); }

  /// M^-1 T into its place.
  void precondition(int r) {
    if (problem_.preconditioned()) problem_.apply_m(t(r), q(r));
  }

  /// K = S^H Q on the host. Synchronizes.
  void gram_of_product(int r, Small const& K) { to_host({{s(r), q(r)}}, {K}); }
  /// G = T^H M^-1 T. Synchronizes.
  void gram(int r, Small const& G) { to_host({{t(r), y(r)}}, {G}); }
  /// G = T^H M^-1 T and H = T^H T (G if there is no preconditioner). Synchronizes.
  void grams(int r, Small const& G, Small const& H) {
    if (problem_.preconditioned()) {
      to_host({{t(r), q(r)}, {t(r), t(r)}}, {G, H});
    } else {
      gram(r, G);
      copy_small(G, H);
    }
  }

  /// T = T F - Q Xi, then M^-1 T. from: columns of T before (rows of F; null: T as it is).
  void step_residual(int r, Small const* F, Small const& minus_xi) {
    {
      auto const timer = problem_.time(problem_.seconds.update);
      if (F) {
        auto const c = on_device({*F, minus_xi});
        combine_in_place(problem_.exec, t(r), c[0], problem_.workspace);
        combine(problem_.exec, Scalar(1), q(r), c[1], Scalar(1), t(r), problem_.workspace);
      } else {
        auto const c = on_device({minus_xi});
        combine(problem_.exec, Scalar(1), q(r), c[0], Scalar(1), t(r), problem_.workspace);
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
      combine_in_place(problem_.exec, t(static_cast<int>(C.extent(0))), c[0], problem_.workspace);
    }
    precondition(static_cast<int>(C.extent(1)));
  }

  /// E += S C
  void step_correction(Small const& C) {
    auto const timer = problem_.time(problem_.seconds.update);
    auto const c = on_device({C});
    combine(problem_.exec, Scalar(1), s(static_cast<int>(C.extent(0))), c[0], Scalar(1), e(),
            problem_.workspace);
  }

  /// E += S C, then S = M^-1 T F + S Z (F null: the identity). Z: r_old x r_new.
  void step(Small const& C, Small const* F, Small const& Z) {
    auto const timer = problem_.time(problem_.seconds.update);
    int const r_old = static_cast<int>(Z.extent(0)), r = static_cast<int>(Z.extent(1));
    auto const c = F ? on_device({C, Z, *F}) : on_device({C, Z});
    combine(problem_.exec, Scalar(1), s(r_old), c[0], Scalar(1), e(), problem_.workspace);
    combine_in_place(problem_.exec, s(r_old), c[1], problem_.workspace);
    if (F)
      combine(problem_.exec, Scalar(1), y(r), c[2], Scalar(1), s(r), problem_.workspace);
    else
      for_each_entry(problem_.exec, "Blockspan::cg::add", block_ref<Exec>(s(r)),
                     AddBlock<Scalar>{block_ref<Exec>(y(r)), block_ref<Exec>(s(r))});
  }

  /// S = M^-1 T
  void start(int r) {
    copy_block<Exec, Scalar>(problem_.exec, block_ref<Exec>(y(r)), block_ref<Exec>(s(r)));
    zero_block(problem_.exec, block_ref<Exec>(e()));
  }

  /// d^H A d / ||d||^2 for d = S v. T and Q are lost.
  Real curvature(int r, Small const& v) {
    View const d = blocks_.residual(1), image = blocks_.spare(1);
    combine(problem_.exec, Scalar(1), s(r), v, Scalar(0), d, problem_.workspace);
    problem_.apply_a(d, image);
    Small const products = part(small_, 0, 3, 0, 1);
    auto const one = [&](int i) { return part(products, i, 1, 0, 1); };
    to_host({{d, image}, {d, d}}, {one(0), one(1)});
    return real_part(one(0)(0, 0)) / real_part(one(1)(0, 0));
  }

  /// max_j ||A s_j|| / ||s_j||, a lower bound of ||A||, while Q = A S.
  Real norm_seen(int r) {
    Small const diagonal = part(small_, 0, 3, 0, 1);
    Real largest = 0;
    for (int j = 0; j < r; ++j) {
      auto const column = [j](View const& X) {
        return Kokkos::subview(X, Kokkos::ALL, std::pair<int, int>(j, j + 1));
      };
      View const x = column(s(r)), image = column(q(r));
      auto const one = [&](int i) { return part(diagonal, i, 1, 0, 1); };
      to_host({{image, image}, {x, x}}, {one(0), one(1)});
      largest = std::max(largest, std::sqrt(real_part(one(0)(0, 0)) / real_part(one(1)(0, 0))));
    }
    return largest;
  }

 private:
  using Flat = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  using OnDevice =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::Device<Exec, typename Exec::memory_space>,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static View leading(View const& X, int columns) {
    return Kokkos::subview(X, Kokkos::ALL, std::pair<int, int>(0, columns));
  }

  /// Small matrices where kernels read them, valid until the next call: everything queued before
  /// has read the last ones, or the host has waited since.
  std::vector<OnDevice> on_device(std::initializer_list<Small> matrices) {
    std::size_t count = 0;
    for (Small const& M : matrices)
      for (std::size_t j = 0; j < M.extent(1); ++j)
        for (std::size_t i = 0; i < M.extent(0); ++i) packed_(count++) = M(i, j);
    std::pair<std::size_t, std::size_t> const used(0, count);
    if (packed_.data() != coefficients_.data())
      Kokkos::deep_copy(problem_.exec, Kokkos::subview(coefficients_, used),
                        Kokkos::subview(packed_, used));
    std::vector<OnDevice> result;
    Scalar* next = coefficients_.data();
    for (Small const& M : matrices) {
      result.emplace_back(next, M.extent(0), M.extent(1));
      next += M.extent(0) * M.extent(1);
    }
    return result;
  }

  /// Gram matrices of pairs of blocks in one copy.
  void to_host(std::initializer_list<std::pair<View, View>> pairs,
               std::initializer_list<Small> results) {
    auto const timer = problem_.time(problem_.seconds.gram);
    std::size_t count = 0;
    for (auto const& [X, Y] : pairs) {
      auto const rows = static_cast<std::int64_t>(X.extent(1)),
                 columns = static_cast<std::int64_t>(Y.extent(1));
      BlockRef<Scalar> const G{grams_.data() + count, rows, columns, 1, rows};
      detail::gram<Exec, Scalar>(problem_.exec, block_ref<Exec>(X), block_ref<Exec>(Y),
                                 SmallRef<Scalar>{G, true, false}, problem_.workspace);
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
  Small small_ = small_matrix<Scalar>(3, 1);
  int width_ = 0;
};

}  // namespace blockspan::detail
