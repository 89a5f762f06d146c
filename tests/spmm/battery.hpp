#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/prepared/prepared_pattern.hpp>
#include <blockspan/spmm/variants.hpp>

namespace blockspan::test {

/// The menu as far as the backend offers it for the scalar.
template <class Exec, class Scalar = double>
std::vector<SpmmVariant> offered_variants() {
  std::vector<SpmmVariant> offered;
  for (auto const* const variant : spmm_variants())
    if (blockspan::products::is_offered<Exec, real_t<Scalar>>(*variant))
      offered.push_back(*variant);
  return offered;
}

/// A compressed-row matrix on the host.
template <class Scalar>
struct HostMatrix {
  std::string name;
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> indices;
  std::vector<Scalar> values;

  void add(std::int64_t column, Scalar value) {
    indices.push_back(column);
    values.push_back(value);
  }
  void end_row() { offsets.push_back(static_cast<std::int64_t>(indices.size())); }
};

/// The same matrix where `Exec` computes.
template <class Matrix, class Exec, class Scalar>
Matrix matrix_on(Exec const& exec, HostMatrix<Scalar> const& A);
template <class Offset = int, class Ordinal = int, class Scalar, class Exec>
CrsMatrix<Scalar, Exec, Offset, Ordinal> to_device(Exec const& exec, HostMatrix<Scalar> const& A) {
  return matrix_on<CrsMatrix<Scalar, Exec, Offset, Ordinal>>(exec, A);
}

/// What an array holds, on the host.
template <class View>
auto on_host(View const& view) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  using Value = typename View::non_const_value_type;
  return std::vector<Value>(mirror.data(), mirror.data() + mirror.extent(0));
}

/// A number for each row, or run of rows.
using Numbers = std::function<std::int64_t(std::int64_t)>;

/// rows x columns, each row with the number of random entries that `length(row)` says, in any
/// order, repeated columns possible.
template <class Scalar>
HostMatrix<Scalar> random_matrix(std::string name, std::int64_t rows, std::int64_t columns,
                                 Numbers const& length, std::uint64_t seed = 1);

template <class Scalar>
HostMatrix<Scalar> band(std::int64_t n);

template <class Scalar>
HostMatrix<Scalar> arrow(std::int64_t n);

template <class Scalar>
HostMatrix<Scalar> explicit_zeros(std::int64_t n);

/// Runs of rows with the same `length(run)` random columns, as many rows as `rows_of(run)`; other
/// values in every row.
template <class Scalar>
HostMatrix<Scalar> shared_columns(std::string name, std::int64_t runs, std::int64_t columns,
                                  Numbers const& rows_of, Numbers const& length);

/// Small hostile matrices.
template <class Scalar>
std::vector<HostMatrix<Scalar>> battery();

}  // namespace blockspan::test
