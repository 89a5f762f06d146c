#pragma once

#include <algorithm>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/column_sums.hpp>
#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/blocks/entries.hpp>
#include <blockspan/multivector/columns.hpp>
#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::multivector {

/// Columns whose indices or factors are passed by value in the arguments of one kernel.
inline constexpr int columns_per_launch = 64;

template <class Factor>
struct FactorsInView {
  BlockRef<Factor const> factors;
  KOKKOS_FORCEINLINE_FUNCTION Factor operator()(std::int64_t j) const { return factors(j, 0); }
};

template <class T>
struct Listed {
  T values[columns_per_launch];
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t j) const { return values[j]; }
};

template <class Scalar, class FactorList>
struct ScaleColumns {
  FactorList factors;
  BlockRef<Scalar> X;
  using Operands = Scalar;
  KOKKOS_FORCEINLINE_FUNCTION Scalar load(std::int64_t i, std::int64_t j) const { return X(i, j); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Scalar x) const {
    X(i, j) = x *= factors(j);
  }
};

template <class Scalar>
struct CopyColumns {
  Listed<int> columns;
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;
  using Operands = Scalar;
  KOKKOS_FORCEINLINE_FUNCTION Scalar load(std::int64_t i, std::int64_t j) const {
    return X(i, columns(j));
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Scalar x) const {
    Y(i, j) = x;
  }
};

template <class Exec, class Scalar>
void column_norms(Exec const& exec, BlockRef<Scalar const> const& X,
                  SmallRef<real_t<Scalar>> const& norms, Workspace<Exec>& workspace) {
  auto const result = result_on_device(exec, norms, workspace);
  with_strides<Exec>(X, X, [&]<class Ref>(Ref const& x, Ref const&) {
    reduce_columns(exec, "Blockspan::column_norms", SquareTerms<Ref>{x},
                   local_chunks(X.rows, workspace), X.columns, StoreRoots<real_t<Scalar>>{result},
                   workspace);
  });
  deliver(exec, result, norms, workspace);
}

template <class Exec, class Scalar>
void column_dots(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y,
                 SmallRef<Scalar> const& dots, Workspace<Exec>& workspace) {
  auto const result = result_on_device(exec, dots, workspace);
  with_strides<Exec>(X, Y, [&]<class Ref>(Ref const& x, Ref const& y) {
    reduce_columns(exec, "Blockspan::column_dots", DotTerms<Ref>{x, y},
                   local_chunks(X.rows, workspace), X.columns,
                   StoreDots<Scalar, false>{result.data, result.row_stride}, workspace);
  });
  deliver(exec, result, dots, workspace);
}

template <class Exec, class Scalar, Factors kind>
void scale_columns(Exec const& exec, SmallRef<factor_t<kind, Scalar> const> const& factors,
                   BlockRef<Scalar> const& X) {
  using Factor = factor_t<kind, Scalar>;
  char const* const label = "Blockspan::scale_columns";
  if (factors.on_device) {
    for_each_entry(exec, label, X, ScaleColumns<Scalar, FactorsInView<Factor>>{{factors.block}, X});
    return;
  }
  for (std::int64_t j = 0; j < X.columns; j += columns_per_launch) {
    std::int64_t const count = std::min<std::int64_t>(columns_per_launch, X.columns - j);
    Listed<Factor> some{};
    for (std::int64_t b = 0; b < count; ++b) some.values[b] = factors.block(j + b, 0);
    auto const part = column_range(X, j, count);
    for_each_entry(exec, label, part, ScaleColumns<Scalar, Listed<Factor>>{some, part});
  }
}

template <class Exec, class Scalar>
void copy_columns(Exec const& exec, BlockRef<Scalar const> const& X,
                  std::vector<int> const& columns, BlockRef<Scalar> const& Y) {
  for (std::int64_t j = 0; j < Y.columns; j += columns_per_launch) {
    std::int64_t const count = std::min<std::int64_t>(columns_per_launch, Y.columns - j);
    Listed<int> some{};
    std::copy_n(columns.begin() + j, count, some.values);
    auto const part = column_range(Y, j, count);
    for_each_entry(exec, "Blockspan::copy_columns", part, CopyColumns<Scalar>{some, X, part});
  }
}

template <class Scalar>
struct FillRandom {
  using Real = real_t<Scalar>;

  BlockRef<Scalar> X;
  std::uint64_t stream;  ///< from the seed, by mix_bits
  std::int64_t first_column, first_row;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    auto const column =
        mix_bits(stream + golden_gamma * static_cast<std::uint64_t>(first_column + j + 1));
    auto const hash =
        mix_bits(column + golden_gamma * static_cast<std::uint64_t>(first_row + i + 1));
    if constexpr (is_complex_v<Scalar>)
      X(i, j) = Scalar(number(hash), number(mix_bits(hash + golden_gamma)));
    else
      X(i, j) = number(hash);
  }

  /// The leading bits of the hash as a multiple of 2^-52 (2^-23) in [-1, 1); every step is exact.
  KOKKOS_FORCEINLINE_FUNCTION static Real number(std::uint64_t hash) {
    if constexpr (std::is_same_v<Real, float>)
      return static_cast<float>(static_cast<std::int32_t>(hash >> 40)) * 0x1p-23f - 1.0f;
    else
      return static_cast<double>(static_cast<std::int64_t>(hash >> 11)) * 0x1p-52 - 1.0;
  }
};

template <class Exec, class Scalar>
void fill_random(Exec const& exec, BlockRef<Scalar> const& X, std::uint64_t seed,
                 std::int64_t first_column, std::int64_t first_row) {
  for_each_entry(exec, "Blockspan::fill_random", X,
                 FillRandom<Scalar>{X, mix_bits(seed + golden_gamma), first_column, first_row});
}

}  // namespace blockspan::multivector
