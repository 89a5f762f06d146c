#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::apps {

/// A block of vectors of either layout.
template <class Scalar, class Layout, class Exec>
using BlockOf = Kokkos::View<Scalar**, Layout, Kokkos::Device<Exec, typename Exec::memory_space>>;

/// Rows taken out of a block, on the host.
template <class Scalar>
using HostRows = Kokkos::View<Scalar**, Kokkos::LayoutRight, Kokkos::HostSpace>;

namespace block_work {

// Functors, not lambdas, each over all elements of a block, in memory order or nearly so.

template <class From, class To, class Rows>
struct GatherRows {
  From from;  ///< n x k
  To to;      ///< rows of `rows` x k
  Rows rows;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    auto const k = static_cast<std::int64_t>(to.extent(1));
    to(e / k, e % k) = from(rows(e / k), e % k);
  }
};

template <class Real>
KOKKOS_FUNCTION bool same_bits(Real a, Real b) {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  return Kokkos::bit_cast<Bits>(a) == Kokkos::bit_cast<Bits>(b);
}

template <class View>
struct CountDifferent {
  View a, b;  ///< n x k
  KOKKOS_FUNCTION void operator()(std::int64_t e, std::int64_t& count) const {
    auto const k = static_cast<std::int64_t>(a.extent(1));
    auto const x = a(e / k, e % k), y = b(e / k, e % k);
    if (!same_bits(real_part(x), real_part(y)) || !same_bits(imaginary_part(x), imaginary_part(y)))
      ++count;
  }
};

template <class View>
struct CountNan {
  View a;  ///< n x k
  KOKKOS_FUNCTION void operator()(std::int64_t e, std::int64_t& count) const {
    auto const k = static_cast<std::int64_t>(a.extent(1));
    auto const x = a(e / k, e % k);
    if (x != x) ++count;  // NaN alone differs from itself
  }
};

template <class View>
struct Shift {
  View a;
  std::int64_t row, column;
  typename View::value_type by;
  KOKKOS_FUNCTION void operator()(std::int64_t) const { a(row, column) += by; }
};

template <class Exec, class View>
Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> elements(Exec const& exec,
                                                                    View const& view) {
  return {exec, 0, static_cast<std::int64_t>(view.extent(0) * view.extent(1))};
}

template <class Exec, class Functor, class View>
std::int64_t count(Exec const& exec, char const* label, View const& view, Functor const& functor) {
  std::int64_t result = 0;
  Kokkos::parallel_reduce(label, elements(exec, view), functor, result);
  return result;
}

}  // namespace block_work

/// Every element of Y is NaN afterwards, both parts of a complex one.
template <class Exec, class View>
void fill_nan(Exec const& exec, View const& Y) {
  using Scalar = typename View::value_type;
  auto const nan = std::numeric_limits<real_t<Scalar>>::quiet_NaN();
  if constexpr (is_complex_v<Scalar>)
    Kokkos::deep_copy(exec, Y, Scalar(nan, nan));
  else
    Kokkos::deep_copy(exec, Y, nan);
}

/// Elements that are NaN, in either part. Fences.
template <class Exec, class View>
std::int64_t count_nan(Exec const& exec, View const& Y) {
  return block_work::count(exec, "Blockspan::count_nan", Y, block_work::CountNan<View>{Y});
}

/// Elements whose bits differ. Fences.
template <class Exec, class View>
std::int64_t count_different(Exec const& exec, View const& Y, View const& Z) {
  return block_work::count(exec, "Blockspan::count_different", Y,
                           block_work::CountDifferent<View>{Y, Z});
}

/// The given rows of a block, copied to the host. Fences.
template <class Exec, class View>
HostRows<typename View::non_const_value_type> gather_rows(Exec const& exec, View const& X,
                                                          std::vector<std::int64_t> const& rows) {
  using Scalar = typename View::non_const_value_type;
  using Rows = Kokkos::View<std::int64_t*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  using Taken = BlockOf<Scalar, Kokkos::LayoutRight, Exec>;
  auto const list = allocate<Rows>(exec, "Blockspan::rows", rows.size());
  Kokkos::View<std::int64_t const*, Kokkos::HostSpace> const host_list(rows.data(), rows.size());
  Kokkos::deep_copy(exec, list, host_list);
  auto const taken = allocate<Taken>(exec, "Blockspan::taken_rows", rows.size(), X.extent(1));
  Kokkos::parallel_for("Blockspan::gather_rows", block_work::elements(exec, taken),
                       block_work::GatherRows<View, Taken, Rows>{X, taken, list});
  HostRows<Scalar> const result("Blockspan::taken_rows", rows.size(), X.extent(1));
  Kokkos::deep_copy(exec, result, taken);
  exec.fence("Blockspan::gather_rows");
  return result;
}

/// Y(row, column) += by.
template <class Exec, class View>
void shift_element(Exec const& exec, View const& Y, std::int64_t row, std::int64_t column,
                   typename View::value_type const& by) {
  Kokkos::parallel_for("Blockspan::shift_element",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, 1),
                       block_work::Shift<View>{Y, row, column, by});
}

}  // namespace blockspan::apps
