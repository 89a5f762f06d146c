#pragma once

#include <utility>

#include <blockspan/multivector/detail/row_terms.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/basis.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// The Gram matrices G = S^H B S and H = sign S^H A S of leading columns of a basis, made on the
/// device in one buffer and brought to the host in one copy.
template <class Scalar, class Exec>
class Grams {
 public:
  using Matrix = SmallMatrix<Scalar>;

  Grams(Exec const& exec, int max_order)
      : device_(allocate<Device>(exec, "Blockspan::lobpcg::grams", max_order, 2 * max_order)),
        host_(allocate_mirror(device_)) {}

  /// From the first `order` columns. Fences exec.
  void compute(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec> const& basis, int order) {
    auto const timer = problem.time(problem.seconds.gram);
    order_ = order;
    auto const S = basis.columns(basis.s, 0, order);
    auto const AS = basis.columns(basis.as, 0, order), BS = basis.columns(basis.bs, 0, order);
    detail::gram_pair<Exec, Scalar>(problem.exec, block_ref<Exec>(S), block_ref<Exec>(AS),
                                    block_ref<Exec>(device_part(0)), block_ref<Exec>(BS),
                                    block_ref<Exec>(device_part(order)), problem.workspace);
    std::pair<int, int> const used(0, 2 * order);
    Kokkos::deep_copy(problem.exec, Kokkos::subview(host_, Kokkos::ALL, used),
                      Kokkos::subview(device_, Kokkos::ALL, used));
    problem.exec.fence("Blockspan::lobpcg: Gram matrices");
    skew_ = skew_norm(H());
    symmetrize(H(), problem.sign);
    symmetrize(G(), real_t<Scalar>(1));
  }

  Matrix H() const { return host_part(0); }
  Matrix G() const { return host_part(order_); }
  bool finite() const { return all_finite(H()) && all_finite(G()); }
  real_t<Scalar> skew_of_h() const { return skew_; }  ///< ||H - H^H||_F before symmetrization

 private:
  using Device =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::Device<Exec, typename Exec::memory_space>>;

  auto device_part(int first) const {
    return Kokkos::subview(device_, std::pair<int, int>(0, order_),
                           std::pair<int, int>(first, first + order_));
  }
  Matrix host_part(int first) const {
    return Kokkos::subview(host_, std::pair<int, int>(0, order_),
                           std::pair<int, int>(first, first + order_));
  }

  Device device_;
  typename Device::host_mirror_type host_;
  int order_ = 0;
  real_t<Scalar> skew_ = 0;
};

}  // namespace blockspan::detail
