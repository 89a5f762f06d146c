#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/column_sums.hpp>
#include <blockspan/multivector/workspace.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// First step of a reduction whose second step is take_sums: nodes of Terms, kept until the next
/// call. Memory grows with the rows and the columns only, so that a recorded step allocates
/// nothing.
template <class Exec, class Real>
class KeptNodes {
 public:
  explicit KeptNodes(RowSpace const& rows) : memory_(rows) {}

  /// width: of the rows, in real numbers; `parts` of them are a column. Nothing waits.
  template <class Terms>
  void operator()(Exec const& exec, char const* label, Terms const& terms, std::int64_t rows,
                  std::int64_t width, int parts) {
    static_assert(Terms::count <= most_terms);
    auto const chunks = local_chunks(rows, memory_);
    auto here = sum_chunks(exec, label, terms, chunks, width, [&](std::int64_t) {
      return memory_.template device<Real>(exec, Workspace<Exec>::partials,
                                           most_nodes<Exec, Real>(rows) * most_terms * width);
    });
    here.parts = parts;
    nodes_ = over_ranks<FoldOf<Terms>>(exec, here, Terms::count, chunks, memory_);
  }

  Nodes<Real> const& nodes() const { return nodes_; }

 private:
  static constexpr int most_terms = 3;

  Workspace<Exec> memory_;
  Nodes<Real> nodes_{};
};

/// What a product has summed beside it (LinearOperator::apply_dots), as one node: x.y, then 1 in
/// place of x.x, then y.(w y).
template <class Scalar, class Exec>
struct ProductDots {
  using Real = real_t<Scalar>;
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  static constexpr std::int64_t count = 1;

  ProductDots(Exec const& exec, int columns)
      : x_dot_y(allocate<decltype(x_dot_y)>(exec, "Blockspan::cg::dots", columns)),
        y_dot_y(allocate<decltype(y_dot_y)>(exec, "Blockspan::cg::dots", columns)) {}

  Kokkos::View<Scalar*, Device> x_dot_y;
  Kokkos::View<Real*, Device> y_dot_y;

  KOKKOS_FUNCTION Real operator()(int q, std::int64_t j, std::int64_t) const {
    return q == 0 ? real_part(x_dot_y(j)) : q == 1 ? Real(1) : y_dot_y(j);
  }
};

/// A Take that knows the parts of its columns.
template <class Take>
struct TakeParts {
  static constexpr int count = Take::count;
  Take take;
  int parts;

  template <class Real>
  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* roots) const {
    take(j, parts, roots);
  }
};

/// Hands the sums of each column to `take` where Exec computes, `of_first` of them from `first`.
/// Nothing waits.
template <int of_first, class Exec, class First, class Real, class Take>
void take_sums(Exec const& exec, First const& first, Nodes<Real> const& second, Take const& take,
               std::int64_t columns, int parts) {
  using Taken = TakeParts<Take>;
  TakeRoots<Exec, AddTerms, Real, of_first, First, Nodes<Real>, Taken>{first, second, {take, parts}}
      .launch(exec, "Blockspan::cg::columns", columns);
}

}  // namespace blockspan::detail
