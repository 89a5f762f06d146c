#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/detail/pack_rows.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan {

namespace detail {

template <class Scalar>
struct TakeRealParts {
  Scalar const* from;
  real_t<Scalar>* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = real_part(from[i]); }
};

}  // namespace detail

/// A DistributedMatrix as an operator on local rows of blocks; solvers take it as any other. Its
/// memory for packed rows grows to the widest block seen, so one product at a time.
template <class Scalar, class Exec>
class DistributedOperator final : public LinearOperator<Scalar, Exec> {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Real = real_t<Scalar>;

  /// A plan for each part. All ranks together; waits for the instance. Throws Error, on all ranks,
  /// if an option is bad, or where memory is short.
  DistributedOperator(Exec const& exec, std::shared_ptr<Matrix const> matrix,
                      SpmmPlanOptions const& options)
      : matrix_(std::move(matrix)) {
    ranks().together([&] {
      for (int p = 0; p < 3; ++p)
        plans_[p].emplace(exec, matrix_->part(static_cast<Which>(p)).matrix, options);
    });
  }

  std::int64_t rows() const override { return matrix_->local_rows(); }
  RowSpace row_space() const override { return matrix_->row_space(); }

  /// Packs and sends; multiplies the rows that need no others; receives; multiplies the rest. Every
  /// row of Y is written once. On devices rows go by way of the host, which waits for them.
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    auto const k = static_cast<std::int64_t>(X.extent(1));
    auto const packed = exchanged(exec, X, [&] { multiply(exec, Matrix::interior, X, Y); });
    ConstBlock<Scalar, Exec> const rows(packed, static_cast<std::size_t>(matrix_->packed_rows()),
                                        static_cast<std::size_t>(k));
    multiply(exec, Matrix::head, rows, Y);
    multiply(exec, Matrix::tail, rows, Y);
  }

  std::optional<Real> norm_bound() const override { return matrix_->norm_bound(); }
  bool annihilates_constants(Exec const&) const override {
    return matrix_->annihilates_constants();
  }
  std::int64_t terms_per_row() const override { return matrix_->longest_row(); }
  std::int64_t work() const override { return matrix_->nonzeros(); }
  std::optional<Real> eigenvalue_lower_bound() const override {
    return matrix_->eigenvalue_lower_bound();
  }
  std::vector<Real> diagonal(Exec const&) const override { return matrix_->diagonal(); }

  bool apply_magnitudes(Exec const& exec, OperatorValues<Real const, Exec> const& x,
                        OperatorValues<Real, Exec> const& y) const override {
    auto const n = x.extent(0);
    Block<Scalar, Exec> const X =
        allocate<Block<Scalar, Exec>>(exec, "Blockspan::distributed::magnitudes", n, 1);
    Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, 0), x);
    auto const packed = exchanged(exec, X, [] {});
    using Reals = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;
    auto const count = static_cast<std::size_t>(matrix_->packed_rows());
    auto const reals = allocate<Reals>(exec, "Blockspan::distributed::magnitudes", count);
    Kokkos::parallel_for("Blockspan::distributed::magnitudes",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, static_cast<std::int64_t>(count)),
                         detail::TakeRealParts<Scalar>{packed, reals.data()});
    for (int p = 0; p < 3; ++p) {
      auto const& part = matrix_->part(static_cast<Which>(p));
      detail::multiply_magnitudes(exec, detail::matrix_ref<Exec>(part.matrix),
                                  p == Matrix::interior ? x.data() : reals.data(),
                                  y.data() + part.first);
    }
    return true;
  }

  std::string name() const override {
    return "matrix on " + std::to_string(ranks().size()) + " ranks";
  }

  Matrix const& matrix() const { return *matrix_; }
  /// The plan of a part; see Matrix::Which.
  SpmmPlan<Exec> const& plan(int part) const { return *plans_[part]; }

 private:
  using Which = typename Matrix::Which;
  using Memory = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  using HostMemory =
      Kokkos::View<Scalar*, std::conditional_t<detail::runs_on_host_v<Exec>,
                                               typename Exec::memory_space, Kokkos::HostSpace>>;

  Communicator const& ranks() const { return matrix_->row_space().communicator(); }

  void multiply(Exec const& exec, int which, ConstBlock<Scalar, Exec> const& X,
                Block<Scalar, Exec> const& Y) const {
    auto const& part = matrix_->part(static_cast<Which>(which));
    if (part.rows() == 0) return;
    auto const to =
        Kokkos::subview(Y, std::pair(part.first, part.first + part.rows()), Kokkos::ALL);
    spmm(exec, *plans_[which], Op::none, Scalar(1), part.matrix, X, Scalar(0), to);
  }

  /// The packed rows of X, after `meanwhile`.
  template <class Work>
  Scalar const* exchanged(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                          Work const& meanwhile) const {
    auto const k = static_cast<std::int64_t>(X.extent(1));
    auto const& halo = matrix_->halo();
    auto const sent = static_cast<std::int64_t>(halo.sent.size());
    grow(exec, k);
    auto const x = detail::block_ref<Exec>(X);
    detail::pack_rows<Exec, Scalar>(exec, x, matrix_->sent_rows().data(), sent, sent_.data());
    detail::pack_rows<Exec, Scalar>(exec, x, matrix_->packed_from().data(), matrix_->own_rows(),
                                    packed_.data() + matrix_->lower_rows() * k);
    if (halo.sends.empty() && halo.receives.empty()) {
      meanwhile();
      return packed_.data();
    }
    copy(exec, host_sent_, sent_, 0, sent * k);
    exec.fence("Blockspan::distributed: rows for other ranks");
    auto const bytes = [&](auto* data, std::int64_t first, std::int64_t count) {
      return std::span(data + first * k, static_cast<std::size_t>(count * k));
    };
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
    for (auto const& part : halo.receives)
      in.push_back({part.rank, std::as_writable_bytes(
                                   bytes(host_packed_.data(), place(part.first), part.count))});
    for (auto const& part : halo.sends)
      out.push_back({part.rank, std::as_bytes(bytes(host_sent_.data(), part.first, part.count))});
    auto const pending = ranks().start(std::move(in), std::move(out));
    meanwhile();
    pending->finish();
    std::int64_t const behind = matrix_->lower_rows() + matrix_->own_rows();
    copy(exec, packed_, host_packed_, 0, matrix_->lower_rows() * k);
    copy(exec, packed_, host_packed_, behind * k, (matrix_->packed_rows() - behind) * k);
    return packed_.data();
  }

  /// Where a row of the halo stands in the packed block: this rank's rows are in between.
  std::int64_t place(std::int64_t row) const {
    return row < matrix_->lower_rows() ? row : row + matrix_->own_rows();
  }

  template <class To, class From>
  static void copy(Exec const& exec, To const& to, From const& from, std::int64_t first,
                   std::int64_t count) {
    if constexpr (!detail::runs_on_host_v<Exec>) {
      std::pair<std::int64_t, std::int64_t> const range(first, first + count);
      Kokkos::deep_copy(exec, Kokkos::subview(to, range), Kokkos::subview(from, range));
    }
  }

  void grow(Exec const& exec, std::int64_t k) const {
    if (k <= columns_) return;
    auto const make = [&](Memory& memory, HostMemory& host, std::int64_t rows) {
      memory = allocate<Memory>(exec, "Blockspan::distributed::rows", rows * k);
      if constexpr (detail::runs_on_host_v<Exec>)
        host = memory;
      else
        host = allocate<HostMemory>(Kokkos::DefaultHostExecutionSpace(),
                                    "Blockspan::distributed::rows", rows * k);
    };
    exec.fence("Blockspan::distributed grows");
    make(packed_, host_packed_, matrix_->packed_rows());
    make(sent_, host_sent_, static_cast<std::int64_t>(matrix_->halo().sent.size()));
    columns_ = k;
  }

  std::shared_ptr<Matrix const> matrix_;
  std::array<std::optional<SpmmPlan<Exec>>, 3> plans_;
  mutable Memory packed_, sent_;
  mutable HostMemory host_packed_, host_sent_;
  mutable std::int64_t columns_ = 0;
};

struct DistributedOptions {
  int columns = 16;  ///< widest block expected
  /// Hosts: the same bits for any number of ranks, one too, where rows are cut at chunks (as
  /// distribute and generate_distributed do). Whole rows, whatever kernel a plan would choose.
  bool same_bits = false;
};

/// The operator of a matrix. All ranks together; waits for the instance.
template <class Scalar, class Exec>
DistributedOperator<Scalar, Exec> distributed_operator(
    Exec const& exec, std::shared_ptr<DistributedMatrix<Scalar, Exec> const> matrix,
    DistributedOptions const& options = {}) {
  SpmmPlanOptions plan{.columns = options.columns};
  if (options.same_bits) plan.algorithm = "warp_per_row_packs";
  return {exec, std::move(matrix), plan};
}

}  // namespace blockspan
