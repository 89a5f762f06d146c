#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

#include "blockspan-spmm/host_matrix.hpp"
#include "peers/contender.hpp"

namespace blockspan::perf {

/// The product A X of a case in another form, by what its plan chooses: blocks of two layouts,
/// 64-bit offsets, one column of a matrix that is held in slices, a matrix that holds A^T. They
/// take part in the studies that name them.
inline constexpr char const* form_family = "form";

/// A^T, its rows sorted. Made by the host.
template <class Scalar>
CrsMatrix<Scalar, Exec> transpose_of(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  using Matrix = CrsMatrix<Scalar, Exec>;
  apps::HostMatrix<Scalar, Exec> const host(A);
  auto const rows = static_cast<std::size_t>(host.columns);
  std::vector<int> offsets(rows + 1);
  host.for_each_entry([&](std::int64_t, std::int64_t j, Scalar const&) {
    ++offsets[static_cast<std::size_t>(j) + 1];
  });
  for (std::size_t i = 0; i < rows; ++i) offsets[i + 1] += offsets[i];
  std::vector<int> next(offsets.begin(), offsets.end() - 1), columns(A.nnz());
  std::vector<Scalar> values(A.nnz());
  host.for_each_entry([&](std::int64_t i, std::int64_t j, Scalar const& value) {
    auto const place = static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++);
    columns[place] = static_cast<int>(i);
    values[place] = value;
  });
  auto const on_device = [&]<class View>(auto const& from) {
    using Value = typename View::non_const_value_type;
    typename View::non_const_type const to(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Blockspan::perf::transpose"),
        from.size());
    Kokkos::deep_copy(exec, to,
                      Kokkos::View<Value const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          from.data(), from.size()));
    exec.fence("Blockspan::perf::transpose");
    return to;
  };
  return Matrix("Blockspan::perf::transpose", A.numCols(), A.numRows(), A.nnz(),
                on_device.template operator()<typename Matrix::values_type>(values),
                on_device.template operator()<typename Matrix::row_map_type>(offsets),
                on_device.template operator()<typename Matrix::index_type>(columns));
}

/// A with 64-bit row offsets; columns and values are shared.
template <class Scalar>
CrsMatrix<Scalar, Exec, std::size_t> with_long_offsets(Exec const& exec,
                                                       CrsMatrix<Scalar, Exec> const& A) {
  using Matrix = CrsMatrix<Scalar, Exec, std::size_t>;
  typename Matrix::row_map_type::non_const_type const offsets(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Blockspan::perf::offsets"),
      A.graph.row_map.extent(0));
  Kokkos::deep_copy(exec, offsets, A.graph.row_map);
  return Matrix("Blockspan::perf::offsets", A.numRows(), A.numCols(), A.nnz(), A.values, offsets,
                A.graph.entries);
}

/// multiply(plan) with a plan for `A`, made ready by `make_ready`; both are the setup.
template <class Scalar, class Matrix, class MakeReady, class Multiply>
Prepared prepare_form(Operands<Scalar> const& with, Matrix const& A, MakeReady const& make_ready,
                      Multiply const& multiply) {
  Kokkos::Timer const timer;
  SpmmPlan plan(with.exec, A, {.columns = with.columns()});
  make_ready(plan);
  with.exec.fence("Blockspan::perf::plan");
  double const setup_ms = 1e3 * timer.seconds();
  return {[multiply, plan] { multiply(plan); }, setup_ms, ""};
}

template <class Scalar>
std::vector<Contender> form_contenders(Operands<Scalar> const& with) {
  auto const as_it_is = [](auto&) {};
  std::vector<Contender> all;
  auto const add = [&](char const* id, Order order, auto const& prepare) {
    all.push_back({id, form_family, order, false, prepare});
  };
  add("form/column_x", Order::row, [with, as_it_is] {
    return prepare_form(with, with.A, as_it_is, [with](auto const& plan) {
      spmm(with.exec, plan, Op::none, with.alpha, with.A, with.X_column, with.beta, with.Y_row);
    });
  });
  add("form/column_y", Order::column, [with, as_it_is] {
    return prepare_form(with, with.A, as_it_is, [with](auto const& plan) {
      spmm(with.exec, plan, Op::none, with.alpha, with.A, with.X_row, with.beta, with.Y_column);
    });
  });
  if constexpr (blockspan::products::pattern_is_compiled_v<Exec, std::size_t, int>)
    add("form/long_offsets", Order::row, [with, as_it_is] {
      auto const A = with_long_offsets(with.exec, with.A);
      return prepare_form(with, A, as_it_is, [with, A](auto const& plan) {
        spmm(with.exec, plan, Op::none, with.alpha, A, with.X_row, with.beta, with.Y_row);
      });
    });
  if (with.columns() == 1)
    add("form/held_slices", Order::row, [with] {
      auto const hold = [with](auto& plan) { plan.hold_slices(with.exec, with.A); };
      return prepare_form(with, with.A, hold, [with](auto const& plan) {
        spmm(with.exec, plan, Op::none, with.alpha, with.A, with.X_row, with.beta, with.Y_row);
      });
    });
  auto const transposed = [with](auto const& make_ready) {
    auto const B = transpose_of(with.exec, with.A);
    auto const ready = [&](auto& plan) { make_ready(plan, B); };
    return prepare_form(with, B, ready, [with, B](auto const& plan) {
      spmm(with.exec, plan, Op::transpose, with.alpha, B, with.X_row, with.beta, with.Y_row);
    });
  };
  add("form/transposed", Order::row,
      [transposed] { return transposed([](auto&, auto const&) {}); });
  add("form/held_transpose", Order::row, [with, transposed] {
    return transposed([&](auto& plan, auto const& B) { plan.hold_transpose(with.exec, B); });
  });
  return all;
}

}  // namespace blockspan::perf
