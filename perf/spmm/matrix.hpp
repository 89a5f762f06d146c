#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "blockspan-spmm/host_matrix.hpp"
#include "common/machine/dispatch.hpp"
#include "common/problem/problem.hpp"
#include "peers/contender.hpp"

namespace blockspan::perf {

/// A matrix and what the cases ask of it, on the host too.
template <class Scalar>
struct LoadedMatrix {
  LoadedMatrix(Exec const& exec, std::string const& source)
      : A(apps::load_matrix<Scalar>(exec, source)), host(A), lengths(host.row_lengths(Op::none)) {
    std::vector<bool> used(static_cast<std::size_t>(host.columns));
    host.for_each_entry([&](std::int64_t, std::int64_t j, Scalar const&) {
      auto&& seen = used[static_cast<std::size_t>(j)];
      used_columns += seen ? 0 : 1;
      seen = true;
    });
  }

  /// Compulsory traffic of a product: A once, each row of X that is used once, Y written once, and
  /// read where beta is not zero.
  double floor_bytes(int columns, bool reads_y) const {
    auto const offsets = static_cast<double>(host.rows + 1) * sizeof(int);
    auto const entries = static_cast<double>(A.nnz()) * (sizeof(int) + sizeof(Scalar));
    auto const rows = static_cast<double>(used_columns + (reads_y ? 2 : 1) * host.rows);
    return offsets + entries + rows * columns * sizeof(Scalar);
  }

  /// What the gather reads: a row of X for every nonzero.
  double gather_bytes(int columns) const {
    return static_cast<double>(A.nnz()) * columns * sizeof(Scalar);
  }

  CrsMatrix<Scalar, Exec> A;
  apps::HostMatrix<Scalar, Exec> host;
  std::vector<std::int64_t> lengths;  ///< of the rows
  std::int64_t used_columns = 0;      ///< columns that have entries
};

/// Keeps the matrix of the last case: the next one is often on the same.
class MatrixCache {
 public:
  template <class Scalar>
  std::shared_ptr<LoadedMatrix<Scalar> const> load(Exec const& exec, std::string const& source) {
    using Kept = std::shared_ptr<LoadedMatrix<Scalar> const>;
    std::string const key = apps::scalar_name<Scalar>() + " " + source;
    if (key != key_) {
      kept_.reset();  // room for the next one
      key_.clear();
      kept_ = Kept(std::make_shared<LoadedMatrix<Scalar>>(exec, source));
      key_ = key;
    }
    return std::any_cast<Kept>(kept_);
  }

 private:
  std::string key_;
  std::any kept_;
};

}  // namespace blockspan::perf
