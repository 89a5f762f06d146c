#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/distributed/rank_zero.hpp>
#include <blockspan/operators/direct.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

namespace distributed {

/// Factors on rank 0 only, on its host or its device: blocks are gathered on its host, solved and
/// scattered. Results and Errors are the same on all ranks.
template <class Scalar, class Exec>
class FactorsOnRankZero final : public operators::PencilFactors {
 public:
  /// make(): returns a FactoredPencil of all rows; called on rank 0.
  template <class Make>
  FactorsOnRankZero(Exec const& exec, RowSpace space, Make const& make)
      : exec_(exec), space_(std::move(space)) {
    on_rank_zero(ranks(), [&] { whole_ = make(); });
    broadcast_facts();
    library_ = ranks().words_of_first(whole_.factors ? factors().library() + " of rank 0" : "");
    note_ = ranks().words_of_first(whole_.notes.empty() ? "" : whole_.notes.front());
  }

  /// Why the factors are not on the device; empty if they are where the options requested them.
  std::string const& note() const { return note_; }

  std::int64_t rows() const override { return space_.cuts().back(); }

  ShiftCount factor(double shift) override {
    ShiftCount count;
    on_rank_zero(ranks(), [&] { count = factors().factor(shift); });
    ranks().broadcast(std::span(&count, 1), 0);
    broadcast_facts();
    return count;
  }

  std::vector<std::int64_t> null_rows() const override {
    std::vector<std::int64_t> rows;
    on_rank_zero(ranks(), [&] { rows = factors().null_rows(); });
    ranks().broadcast(rows, 0);
    return rows;
  }

  void solve(double* B, std::int64_t columns) const override {
    change_on_rank_zero(space_, rows_of_rank(reinterpret_cast<Scalar*>(B), columns),
                        [&](auto const& whole) { solve_whole(whole, columns); });
  }

  std::vector<double> energies(double const* X, std::vector<double> const& values) const override {
    return values_of_columns(X, static_cast<std::int64_t>(values.size()),
                             [&](double const* all) { return factors().energies(all, values); });
  }
  std::vector<double> scaled_squares(double const* R, std::int64_t columns) const override {
    return values_of_columns(
        R, columns, [&](double const* all) { return factors().scaled_squares(all, columns); });
  }

  std::string library() const override { return library_; }
  double scaled_size() const override { return facts_.scaled_size; }
  double norm_k() const override { return facts_.norm_k; }
  double norm_m() const override { return facts_.norm_m; }
  bool massless_rows() const override { return facts_.massless_rows; }
  std::int64_t factor_entries() const override { return facts_.entries; }
  std::int64_t bytes() const override { return facts_.bytes; }
  double flops() const override { return facts_.flops; }

 private:
  template <class Value>
  using Columns = Kokkos::View<Value**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  struct Facts {
    double scaled_size, norm_k, norm_m, flops;
    std::int64_t entries, bytes;
    bool massless_rows;
  };

  Communicator const& ranks() const { return space_.communicator(); }

  operators::PencilFactors& factors() const { return *whole_.factors; }

  void broadcast_facts() {
    if (whole_.factors)
      facts_ = {factors().scaled_size(),  factors().norm_k(),         factors().norm_m(),
                factors().flops(),        factors().factor_entries(), factors().bytes(),
                factors().massless_rows()};
    ranks().broadcast(std::span(&facts_, 1), 0);
  }

  /// On rank 0; `whole` is in host memory.
  void solve_whole(Columns<Scalar> const& whole, std::int64_t columns) const {
    if (!factors().on_device())
      return factors().solve(reinterpret_cast<double*>(whole.data()), columns);
    using OnDevice = Kokkos::View<Scalar**, Kokkos::LayoutLeft, typename Exec::memory_space>;
    auto const copy = allocate<OnDevice>(exec_, "Blockspan::distributed::factors", rows(), columns);
    Kokkos::deep_copy(exec_, copy, whole);
    factors().solve(reinterpret_cast<double*>(copy.data()), columns);
    Kokkos::deep_copy(exec_, whole, copy);
    exec_.fence("Blockspan::distributed::factors");
  }

  template <class Value>
  Columns<Value> rows_of_rank(Value* X, std::int64_t columns) const {
    auto const [first, last] = space_.range(ranks().rank(), 0);
    return Columns<Value>(X, static_cast<std::size_t>(last - first),
                          static_cast<std::size_t>(columns));
  }

  /// Values that rank 0 computes from all rows, one per column.
  template <class Compute>
  std::vector<double> values_of_columns(double const* X, std::int64_t columns,
                                        Compute const& compute) const {
    auto const whole =
        block_on_rank_zero(space_, rows_of_rank(reinterpret_cast<Scalar const*>(X), columns));
    std::vector<double> values;
    on_rank_zero(ranks(), [&] { values = compute(reinterpret_cast<double const*>(whole.data())); });
    ranks().broadcast(values, 0);
    return values;
  }

  Exec exec_;
  RowSpace space_;
  FactoredPencil<Scalar, Exec> whole_;  ///< on rank 0
  Facts facts_{};
  std::string library_, note_;
};

/// DirectSolver for matrices whose rows are distributed over ranks, with the factors on rank 0
/// only. Rank 0 needs memory for both matrices, the factors and a block of all rows. A product
/// gathers X there, fences the instance, and has the bits of one rank. All ranks call all functions
/// together, including the constructor; an exception on rank 0 is an Error on all.
template <class Scalar, class Exec>
class DirectOnRankZero final : public LinearOperator<Scalar, Exec> {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;

  /// mass: null for the identity.
  DirectOnRankZero(Exec const& exec, Matrix const& A, Matrix const* mass,
                   DirectOptions const& options)
      : space_(A.row_space()), rows_(A.local_rows()) {
    auto a = rows_on_rank_zero(exec, A);
    WholeRows<Scalar> m;
    if (mass != nullptr) m = rows_on_rank_zero(exec, *mass);
    on_rank_zero(ranks(), [&] {
      auto const of_mass = mass != nullptr ? m.matrix(exec) : CrsMatrix<Scalar, Exec>();
      whole_ = std::make_unique<DirectSolver<Scalar, Exec>>(
          direct(exec, a.matrix(exec), options, mass != nullptr ? &of_mass : nullptr));
    });
    take_report();
  }

  std::int64_t rows() const override { return rows_; }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    operators::require_blocks("blockspan::DirectSolver", rows(), blocks::block_ref<Exec>(X),
                              blocks::block_ref<Exec>(Y));
    operators::apply_on_host(exec, X, Y, [&](auto const& local) {
      change_on_rank_zero(space_, local, [&](auto const& whole) { whole_->solve(whole); });
    });
  }

  /// Updates the factors for values of the same pattern.
  void refresh(Exec const& exec, Matrix const& A) {
    auto a = rows_on_rank_zero(exec, A);
    on_rank_zero(ranks(), [&] { whole_->refresh(exec, a.matrix(exec)); });
    take_report();
  }

  OperatorFacts<Scalar, Exec> facts() const override {
    return {.name = "direct (LDL^T by MUMPS, " + report_.size() + ", of rank 0)",
            .row_space = space_,
            .nearly_exact = true};
  }

  DirectReport const& report() const { return report_; }

 private:
  Communicator const& ranks() const { return space_.communicator(); }

  void take_report() {
    if (whole_) report_ = whole_->report();
    ranks().broadcast(std::span(&report_, 1), 0);
  }

  RowSpace space_;
  std::int64_t rows_;
  std::unique_ptr<DirectSolver<Scalar, Exec>> whole_;  ///< on rank 0
  DirectReport report_;
};

}  // namespace distributed

/// factored_pencil for matrices whose rows are distributed over ranks; M has the partition of K. K
/// and M are gathered on rank 0, which factors and solves on its host or its device while the other
/// ranks wait; products, blocks and sums over rows stay distributed. Rank 0 needs memory for both
/// matrices, the factors, and a block of all rows. Called by all ranks; an exception on rank 0 is
/// an Error on all. On one rank: as for the matrix itself.
///
/// On hosts products sum whole rows: if the partition is at chunk boundaries (see RowSpace), the
/// results of exact methods have the same bits for any number of ranks.
template <class Scalar, class Exec>
FactoredPencil<Scalar, Exec> factored_pencil(
    Exec const& exec, DistributedMatrix<Scalar, Exec> const& K,
    std::type_identity_t<DistributedMatrix<Scalar, Exec>> const* M, PencilOptions const& options) {
  using Rows = DistributedMatrix<Scalar, Exec>;
  if (K.partition().ranks() == 1)
    return factored_pencil(exec, K.whole(), M != nullptr ? &M->whole() : nullptr, options);
  K.row_space().communicator().run_agreed([&] {
    require(M == nullptr || M->partition().cuts() == K.partition().cuts(), "blockspan::exact",
            "M has its rows on other ranks than K");
  });
  FactoredPencil<Scalar, Exec> pencil;
  auto const product = [&](Rows const& A) {
    std::shared_ptr<Rows const> const matrix(std::shared_ptr<void>(), &A);
    return std::make_unique<DistributedOperator<Scalar, Exec>>(
        exec, matrix, operators::pencil_plan<Exec>(options.columns));
  };
  if (options.products) pencil.K = product(K);
  if (options.products && M != nullptr) pencil.M = product(*M);
  auto const start = std::chrono::steady_clock::now();
  auto k = distributed::rows_on_rank_zero(exec, K);
  std::optional<distributed::WholeRows<Scalar>> m;
  if (M != nullptr) m = distributed::rows_on_rank_zero(exec, *M);
  auto factors =
      std::make_unique<distributed::FactorsOnRankZero<Scalar, Exec>>(exec, K.row_space(), [&] {
        auto of_factors = options;
        of_factors.products = false;
        auto const mass = m ? m->matrix(exec) : CrsMatrix<Scalar, Exec>();
        return factored_pencil(exec, k.matrix(exec), m ? &mass : nullptr, of_factors);
      });
  if (!factors->note().empty()) pencil.notes.push_back(factors->note());
  pencil.factors = std::move(factors);
  pencil.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return pencil;
}

}  // namespace blockspan
