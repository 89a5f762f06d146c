#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/generators.hpp>

namespace blockspan::test {

/// A generated matrix copied to the host.
template <class Scalar>
struct HostMatrix {
  std::int64_t rows;
  std::int64_t columns;
  std::vector<std::int64_t> row_map;  // rows + 1
  std::vector<int> entries;
  std::vector<Scalar> values;

  std::int64_t length(std::int64_t i) const { return row_map[i + 1] - row_map[i]; }
  bool operator==(HostMatrix const&) const = default;
};

template <class View>
auto host_vector(View const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  using Value = typename View::non_const_value_type;
  return std::vector<Value>(host.data(), host.data() + host.extent(0));
}

template <class Exec, class Scalar = double, class Offset = int>
HostMatrix<Scalar> generated(std::string_view spec) {
  auto const A = generate<Scalar, Exec, Offset>(Exec(), spec);
  auto const offsets = host_vector(A.graph.row_map);
  return {A.numRows(), A.numCols(), std::vector<std::int64_t>(offsets.begin(), offsets.end()),
          host_vector(A.graph.entries), host_vector(A.values)};
}

/// Row-major rows x columns copy.
template <class Scalar>
std::vector<Scalar> dense(HostMatrix<Scalar> const& A) {
  std::vector<Scalar> full(std::size_t(A.rows * A.columns), Scalar(0));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      full[std::size_t(i * A.columns + A.entries[k])] = A.values[k];
  return full;
}

/// One square matrix of every generator, small, none of them symmetric by luck alone.
inline std::vector<std::string_view> square_specs() {
  return {"laplace5:7x9",
          "laplace7:4x5x6",
          "laplace27:3x4x5",
          "aniso7:4x3x5:1,0.1,30",
          "jump7:9x8x7:1000:width=2:seed=4",
          "elasticity:4",
          "elasticity:3:free",
          "elasticity-mass:4",
          "elasticity-mass:3:free",
          "rmat:8:6:seed=7",
          "rmat:7:9:symmetric",
          "uniform:60x60:20:seed=2",
          "uniform:60x60:20:symmetric",
          "fixed:50x50:7",
          "powerlaw:90x90:6:2.2:seed=5",
          "hypersparse:200x200:0.3",
          "banded:40:3",
          "banded:40:3:symmetric",
          "star:6x3x7:4",
          "spins:7",
          "queues:4",
          "wells:4x3x5:2,6,40",
          "wells:4x3x5:2,6,40:symmetric",
          "lognormal:80x80:7:1.2:seed=3",
          "circuit:150:4,5,60",
          "circuit:150:4,5,60:symmetric",
          "patches:150:9",
          "patches:150:9:symmetric",
          "attachment:70:4",
          "saddle:40:15",
          "permute:seed=2:attachment:50:3",
          "laplace7:5:permute=6",
          "permute:seed=6:fixed:50x50:7:symmetric"};
}

inline std::vector<std::string_view> wide_specs() {
  return {"uniform:20x300:10",      "fixed:30x70:5:permute=2", "powerlaw:40x200:8:2.5",
          "hypersparse:100x60:1.4", "lognormal:50x300:9:0.5",  "wide:5x20000:600:values=positive"};
}

inline std::vector<std::string_view> all_specs() {
  auto specs = square_specs();
  for (auto const spec : wide_specs()) specs.push_back(spec);
  return specs;
}

}  // namespace blockspan::test
