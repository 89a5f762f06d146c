#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/workspace.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/solvers/common/device_copy.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

template <class Scalar>
struct AddScaled {
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;
  real_t<Scalar> factor;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    std::int64_t const i = k / Y.columns, j = k % Y.columns;
    Y(i, j) += factor * X(i, j);
  }
};

/// A + s B, s > 0, by reference. A product holds a copy of X.
template <class Scalar, class Exec>
class ShiftedOperator final : public LinearOperator<Scalar, Exec> {
 public:
  using Real = real_t<Scalar>;
  using Operator = LinearOperator<Scalar, Exec>;

  ShiftedOperator(Operator const& A, Operator const& B, Real s) : a_(A), b_(B), s_(s) {}

  std::int64_t rows() const override { return a_.rows(); }
  RowSpace row_space() const override { return a_.row_space(); }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    if (image_.extent(0) != X.extent(0) || image_.extent(1) != X.extent(1))
      image_ = allocate<Block<Scalar, Exec>>(exec, "Blockspan::lobpcg::shifted", X.extent(0),
                                             X.extent(1));
    a_.apply(exec, X, Y);
    b_.apply(exec, X, image_);
    auto const to = block_ref<Exec>(Y);
    Kokkos::parallel_for(
        "Blockspan::lobpcg::shift",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, to.rows * to.columns),
        AddScaled<Scalar>{block_ref<Exec>(ConstBlock<Scalar, Exec>(image_)), to, s_});
  }

  std::optional<Real> norm_bound() const override { return sum(a_.norm_bound(), b_.norm_bound()); }
  std::optional<Real> eigenvalue_lower_bound() const override {
    return sum(a_.eigenvalue_lower_bound(), b_.eigenvalue_lower_bound());
  }
  std::int64_t terms_per_row() const override {
    return a_.terms_per_row() + b_.terms_per_row() + 1;
  }
  std::int64_t work() const override { return a_.work() + b_.work(); }

  std::vector<Real> diagonal(Exec const& exec) const override {
    return sum(a_.diagonal(exec), b_.diagonal(exec));
  }

  bool apply_magnitudes(Exec const& exec, OperatorValues<Real const, Exec> const& x,
                        OperatorValues<Real, Exec> const& y) const override {
    auto const host = [&] { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y); };
    if (!a_.apply_magnitudes(exec, x, y)) return false;
    auto const a = host();
    std::vector<Real> const first(a.data(), a.data() + a.extent(0));
    if (!b_.apply_magnitudes(exec, x, y)) return false;
    auto const b = host();
    auto const total = sum(first, std::vector<Real>(b.data(), b.data() + b.extent(0)));
    Kokkos::deep_copy(exec, y, host_values(total));
    exec.fence("Blockspan::lobpcg: magnitudes");
    return true;
  }

 private:
  std::optional<Real> sum(std::optional<Real> a, std::optional<Real> b) const {
    return a && b ? std::optional(*a + s_ * *b) : std::nullopt;
  }
  std::vector<Real> sum(std::vector<Real> a, std::vector<Real> const& b) const {
    if (b.size() != a.size()) return {};
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += s_ * b[i];
    return a;
  }

  Operator const &a_, &b_;
  Real s_;
  mutable Block<Scalar, Exec> image_;
};

}  // namespace blockspan::detail
