#include "spmm/battery.hpp"

#include <algorithm>
#include <utility>

#include "support/instantiations.hpp"
#include "support/random.hpp"

namespace blockspan::test {

template <class Matrix, class Exec, class Scalar>
Matrix matrix_on(Exec const& exec, HostMatrix<Scalar> const& A) {
  using Offset = typename Matrix::non_const_size_type;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  auto const copy = [&]<class To, class From>(To, std::vector<From> const& from) {
    Kokkos::View<To*, Device> const view("Blockspan::test", from.size());
    auto const mirror = Kokkos::create_mirror_view(view);
    for (std::size_t i = 0; i < from.size(); ++i) mirror(i) = static_cast<To>(from[i]);
    Kokkos::deep_copy(exec, view, mirror);
    exec.fence("Blockspan::test");
    return view;
  };
  return Matrix("A", static_cast<Ordinal>(A.rows), static_cast<Ordinal>(A.columns),
                static_cast<Offset>(A.values.size()), copy(Scalar(), A.values),
                copy(Offset(), A.offsets), copy(Ordinal(), A.indices));
}

template <class Scalar>
HostMatrix<Scalar> random_matrix(std::string name, std::int64_t rows, std::int64_t columns,
                                 Numbers const& length, std::uint64_t seed) {
  Random random(seed);
  HostMatrix<Scalar> A{std::move(name), rows, columns, {0}, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0, n = length(i); k < n; ++k)
      A.add(random.below(columns), random.value<Scalar>());
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> band(std::int64_t n) {
  Random random(5);
  HostMatrix<Scalar> A{"band", n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - 2); j < std::min(n, i + 4); ++j)
      A.add(j, random.value<Scalar>());
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> arrow(std::int64_t n) {
  Random random(6);
  HostMatrix<Scalar> A{"dense row and column", n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 3)
      for (std::int64_t j = 0; j < n; ++j) A.add(j, random.value<Scalar>());
    else
      A.add(7, random.value<Scalar>()), A.add(i, random.value<Scalar>());
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> explicit_zeros(std::int64_t n) {
  auto A = random_matrix<Scalar>("explicit zeros", n, n, [](std::int64_t) { return 5; });
  for (std::size_t k = 0; k < A.values.size(); k += 2) A.values[k] = Scalar(0);
  return A;
}

template <class Scalar>
HostMatrix<Scalar> shared_columns(std::string name, std::int64_t runs, std::int64_t columns,
                                  Numbers const& rows_of, Numbers const& length) {
  Random random(9);
  HostMatrix<Scalar> A{std::move(name), 0, columns, {0}, {}, {}};
  for (std::int64_t run = 0; run < runs; ++run) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(length(run)));
    for (auto& column : list) column = random.below(columns);
    for (std::int64_t i = 0; i < rows_of(run); ++i, ++A.rows) {
      for (auto const column : list) A.add(column, random.value<Scalar>());
      A.end_row();
    }
  }
  return A;
}

template <class Scalar>
std::vector<HostMatrix<Scalar>> battery() {
  using Row = std::int64_t;
  auto const constant = [](Row n) { return [n](Row) { return n; }; };
  return {
      random_matrix<Scalar>("0 x 0", 0, 0, constant(0)),
      random_matrix<Scalar>("0 x n", 0, 9, constant(0)),
      random_matrix<Scalar>("n x 0", 9, 0, constant(0)),
      random_matrix<Scalar>("1 x n", 1, 61, constant(40)),
      random_matrix<Scalar>("n x 1", 53, 1, constant(1)),
      random_matrix<Scalar>("no entries", 11, 7, constant(0)),
      random_matrix<Scalar>("empty rows", 40, 30, [](Row i) { return i % 3 == 1 ? 6 : 0; }),
      random_matrix<Scalar>("one heavy row", 30, 50, [](Row i) { return i == 11 ? 700 : 2; }),
      random_matrix<Scalar>("heavy first and last row", 25, 40,
                            [](Row i) { return i % 24 == 0 ? 45 : i % 3; }),
      arrow<Scalar>(48),
      band<Scalar>(45),
      random_matrix<Scalar>("random, unsorted, repeated", 37, 29, constant(12)),
      explicit_zeros<Scalar>(20),
      random_matrix<Scalar>("power law", 64, 64, [](Row i) { return 128 / (1 + i); }),
      random_matrix<Scalar>("wide", 5, 400, constant(90)),
      random_matrix<Scalar>("tall", 300, 6, [](Row i) { return i % 4; }),
      shared_columns<Scalar>(
          "runs of rows with the same columns", 14, 60, [](Row run) { return 1 + run % 7; },
          [](Row run) { return run % 5 == 2 ? 0 : 3 * run + 1; }),
  };
}

#define INSTANTIATE(Scalar)                                                                   \
  template HostMatrix<Scalar> random_matrix<Scalar>(std::string, std::int64_t, std::int64_t,  \
                                                    Numbers const&, std::uint64_t);           \
  template HostMatrix<Scalar> band<Scalar>(std::int64_t);                                     \
  template HostMatrix<Scalar> arrow<Scalar>(std::int64_t);                                    \
  template HostMatrix<Scalar> explicit_zeros<Scalar>(std::int64_t);                           \
  template HostMatrix<Scalar> shared_columns<Scalar>(std::string, std::int64_t, std::int64_t, \
                                                     Numbers const&, Numbers const&);         \
  template std::vector<HostMatrix<Scalar>> battery<Scalar>();
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

// some tests have matrices of scalars that the library need not be compiled for
#define INSTANTIATE(Scalar, Exec) \
  template CrsMatrix<Scalar, Exec> matrix_on(Exec const&, HostMatrix<Scalar> const&);
#define INSTANTIATE_ON(Exec)                \
  INSTANTIATE(float, Exec)                  \
  INSTANTIATE(double, Exec)                 \
  INSTANTIATE(Kokkos::complex<float>, Exec) \
  INSTANTIATE(Kokkos::complex<double>, Exec)
BLOCKSPAN_TEST_EACH_BACKEND(INSTANTIATE_ON)
#undef INSTANTIATE_ON
#undef INSTANTIATE

// 64-bit offsets, and the widest of both kinds of index
#define INSTANTIATE(Scalar, Exec)                                                                  \
  template CrsMatrix<Scalar, Exec, std::size_t> matrix_on(Exec const&, HostMatrix<Scalar> const&); \
  template CrsMatrix<Scalar, Exec, std::int64_t, std::int64_t> matrix_on(                          \
      Exec const&, HostMatrix<Scalar> const&);
BLOCKSPAN_TEST_EACH(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
