#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/solvers/detail/column_kernels.hpp>
#include <blockspan/solvers/detail/column_recurrence.hpp>
#include <blockspan/solvers/detail/device_numbers.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// The scalars of pseudo-block conjugate gradients, where Exec computes, and those that the host
/// looks at, on the host: alpha and beta for each part of a column, then, one row of columns after
/// the other, what `Number` names.
template <class Scalar, class Exec>
class ColumnNumbers {
 public:
  using Real = real_t<Scalar>;
  enum Number { phi, state, gamma, curvature, square, goal, held, count };

  ColumnNumbers(Exec const& exec, int columns)
      : exec_(exec),
        most_(columns),
        device_(allocate<decltype(device_)>(exec, "Blockspan::cg::scalars",
                                            columns * (2 * parts<Scalar> + count))),
        host_(host_mirror<Exec>(device_)) {}

  int width() const { return width_; }
  void set_width(int columns) { width_ = columns; }

  Real& operator()(Number which, int c) { return host_(rest() + which * width_ + c); }

  ColumnScalars<Real> on_device() const {
    Real* const first = device_.data();
    auto const row = [&](Number which) { return first + rest() + which * width_; };
    return {first,       first + parts<Scalar> * most_,
            row(phi),    row(state),
            row(gamma),  row(curvature),
            row(square), row(goal),
            row(held)};
  }

  void upload() {
    if constexpr (!on_host) Kokkos::deep_copy(exec_, shown(device_), shown(host_));
  }
  void download() {
    if constexpr (!on_host) Kokkos::deep_copy(exec_, shown(host_), shown(device_));
  }

  /// Leaves the columns `kept` only, on the host.
  void keep(std::vector<int> const& kept) {
    std::vector<Real> moved;
    for (int which = 0; which < count; ++which)
      for (int const c : kept) moved.push_back((*this)(static_cast<Number>(which), c));
    width_ = static_cast<int>(kept.size());
    for (std::size_t i = 0; i < moved.size(); ++i)
      host_(static_cast<std::size_t>(rest()) + i) = moved[i];
  }

 private:
  static constexpr bool on_host = runs_on_host_v<Exec>;

  int rest() const { return 2 * parts<Scalar> * most_; }
  /// The numbers behind alpha and beta.
  template <class All>
  auto shown(All const& all) const {
    return Kokkos::subview(all, std::pair<int, int>(rest(), rest() + count * width_));
  }

  Exec exec_;
  int most_, width_ = 0;
  Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>> device_;
  HostMirror<Exec, Real> host_;
};

}  // namespace blockspan::detail
