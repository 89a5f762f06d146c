#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/detail/pack_rows.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/spmm/detail/step.hpp>
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
/// memory for packed rows grows to the widest block seen, so one product at a time. Rows go between
/// devices in the order of the stream where the communicator has a transport for them; else by way
/// of page-locked memory of the host, which waits.
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
    if (device() != nullptr) beside_ = detail::instance_on<Exec>(device()->own_stream());
  }

  std::int64_t rows() const override { return matrix_->local_rows(); }
  RowSpace row_space() const override { return matrix_->row_space(); }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    multiply(exec, Op::none, Scalar(1), X, Scalar(0), Y);
  }

  bool apply_step(Exec const& exec, ConstBlock<Scalar, Exec> const& Z,
                  OperatorStep<Scalar, Exec> const& step,
                  Block<Scalar, Exec> const& Y) const override {
    if constexpr (detail::runs_on_host_v<Exec>) return false;
    grow(exec, static_cast<std::int64_t>(Z.extent(1)));
    ConstBlock<Scalar, Exec> const packed = packed_block(Z.extent(1));
    auto const rows_of_step = [&](Which which) {
      auto const& part = matrix_->part(which);
      return detail::ProductStep<Scalar>{
          step.keeps,
          step.remembers,
          step.momentum,
          step.factor,
          step.weights.data() ? step.weights.data() + part.first : nullptr,
          detail::block_ref<Exec>(rows_of(part, step.R)),
          detail::block_ref<Exec>(rows_of(part, Z))};
    };
    auto const rows_of_y = [&](Which which) {
      return detail::block_ref<Exec>(rows_of(matrix_->part(which), Y));
    };
    auto const block = [&](Which which) {
      return detail::block_ref<Exec>(which == Matrix::interior ? Z : packed);
    };
    for (Which const which : {Matrix::head, Matrix::interior, Matrix::tail})
      if (matrix_->part(which).rows() > 0 &&
          !detail::fuses_step<Exec, Scalar>(plans_[which]->panels(), block(which),
                                            rows_of_step(which), rows_of_y(which)))
        return false;
    auto const multiply = [&](Exec const& on, Which which) {
      auto const& part = matrix_->part(which);
      if (part.rows() > 0)
        detail::multiply_with_step<Exec, Scalar>(
            on, plans_[which]->panels(), detail::planned_matrix_ref<Exec>(part.matrix),
            block(which), rows_of_step(which), rows_of_y(which));
    };
    exchanged(
        exec, detail::block_ref<Exec>(Z), [&] { multiply(exec, Matrix::interior); },
        [&](Exec const& on) { multiply(on, Matrix::head), multiply(on, Matrix::tail); });
    return true;
  }

  /// Y = alpha op(A) X + beta Y; see spmm below.
  template <class XView, class YView>
  void multiply(Exec const& exec, Op op, Scalar const& alpha, XView const& X, Scalar const& beta,
                YView const& Y) const {
    require(X.extent(0) == static_cast<std::size_t>(rows()) && Y.extent(0) == X.extent(0) &&
                Y.extent(1) == X.extent(1),
            "spmm", "X is ", X.extent(0), " x ", X.extent(1), " and Y ", Y.extent(0), " x ",
            Y.extent(1), " where rank ", ranks().rank(), " has ", rows(), " rows");
    if (transposes(op))
      multiply_transposed(exec, op, alpha, X, beta, Y);
    else
      multiply_rows(exec, op, alpha, X, beta, Y);
  }

  /// The two halves of a product, for measurements: the exchange of the rows of X alone, and the
  /// work with the rows that the last exchange of as many columns has left. All ranks together.
  template <class XView>
  void exchange(Exec const& exec, XView const& X) const {
    exchange_rows(exec, detail::block_ref<Exec>(X));
  }
  template <class XView, class YView>
  void multiply_local(Exec const& exec, XView const& X, YView const& Y) const {
    multiply_part(exec, Matrix::interior, Op::none, Scalar(1), X, Scalar(0), Y);
    multiply_ends(exec, Op::none, Scalar(1), packed_block(X.extent(1)), Scalar(0), Y);
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
  bool replayable() const override { return ranks().size() == 1 || device() != nullptr; }

  bool apply_magnitudes(Exec const& exec, OperatorValues<Real const, Exec> const& x,
                        OperatorValues<Real, Exec> const& y) const override {
    auto const n = x.extent(0);
    Block<Scalar, Exec> const X =
        allocate<Block<Scalar, Exec>>(exec, "Blockspan::distributed::magnitudes", n, 1);
    Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, 0), x);
    exchange_rows(exec, detail::block_ref<Exec>(X));
    using Reals = Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>>;
    auto const count = static_cast<std::size_t>(matrix_->packed_rows());
    auto const reals = allocate<Reals>(exec, "Blockspan::distributed::magnitudes", count);
    Kokkos::parallel_for("Blockspan::distributed::magnitudes",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, static_cast<std::int64_t>(count)),
                         detail::TakeRealParts<Scalar>{packed_.data(), reals.data()});
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
  std::shared_ptr<Matrix const> const& shared_matrix() const { return matrix_; }
  /// The plan of a part; see Matrix::Which.
  SpmmPlan<Exec> const& plan(int part) const { return *plans_[part]; }

 private:
  using Which = typename Matrix::Which;
  using Memory = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  using HostMemory =
      Kokkos::View<Scalar*,
                   std::conditional_t<detail::runs_on_host_v<Exec>, typename Exec::memory_space,
                                      Kokkos::SharedHostPinnedSpace>>;
  struct Messages {
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
  };

  Communicator const& ranks() const { return matrix_->row_space().communicator(); }

  /// The rows of a part, in a block of all local rows.
  template <class View>
  static auto rows_of(typename Matrix::Part const& part, View const& block) {
    return Kokkos::subview(block, std::pair(part.first, part.first + part.rows()), Kokkos::ALL);
  }

  /// The packed block of k columns.
  Block<Scalar, Exec> packed_block(std::size_t k) const {
    return Block<Scalar, Exec>(packed_.data(), static_cast<std::size_t>(matrix_->packed_rows()), k);
  }

  template <class XView, class YView>
  void multiply_part(Exec const& exec, Which which, Op op, Scalar const& alpha, XView const& X,
                     Scalar const& beta, YView const& Y) const {
    auto const& part = matrix_->part(which);
    if (part.rows() > 0)
      spmm(exec, *plans_[which], op, alpha, part.matrix, X, beta, rows_of(part, Y));
  }

  template <class YView>
  void multiply_ends(Exec const& exec, Op op, Scalar const& alpha,
                     Block<Scalar, Exec> const& packed, Scalar const& beta, YView const& Y) const {
    multiply_part(exec, Matrix::head, op, alpha, packed, beta, Y);
    multiply_part(exec, Matrix::tail, op, alpha, packed, beta, Y);
  }

  /// Packs and sends; multiplies the rows that need no others; receives; multiplies the rest. Every
  /// row of Y is written once.
  template <class XView, class YView>
  void multiply_rows(Exec const& exec, Op op, Scalar const& alpha, XView const& X,
                     Scalar const& beta, YView const& Y) const {
    exchanged(
        exec, detail::block_ref<Exec>(X),
        [&] { multiply_part(exec, Matrix::interior, op, alpha, X, beta, Y); },
        [&](Exec const& on) { multiply_ends(on, op, alpha, packed_block(X.extent(1)), beta, Y); });
  }

  /// The exchange the other way: head and tail give contributions to the rows of the packed block,
  /// which go to the ranks that have those rows while the interior is multiplied. They are added in
  /// the order of the ranks that sent them.
  template <class XView, class YView>
  void multiply_transposed(Exec const& exec, Op op, Scalar const& alpha, XView const& X,
                           Scalar const& beta, YView const& Y) const {
    auto const k = static_cast<std::int64_t>(X.extent(1));
    auto const& halo = matrix_->halo();
    grow(exec, k);
    auto const part = [&](Which which, Scalar const& keep, auto const& to) {
      auto const& rows = matrix_->part(which);
      spmm(exec, *plans_[which], op, alpha, rows.matrix, rows_of(rows, X), keep, to);
    };
    auto const packed = packed_block(X.extent(1));
    part(Matrix::head, Scalar(0), packed);
    part(Matrix::tail, Scalar(1), packed);
    auto const y = detail::block_ref<Exec>(Y);
    auto const meanwhile = [&] {
      part(Matrix::interior, beta, Y);
      detail::add_rows<Exec, Scalar>(exec, packed_.data() + matrix_->lower_rows() * k,
                                     matrix_->packed_from().data(), matrix_->own_rows(), y);
    };
    if (halo.sends.empty() && halo.receives.empty()) return meanwhile();
    if (device() != nullptr) {
      device()->begin(detail::native_stream(exec));
      meanwhile();
      send(messages(packed_, halo.receives, sent_, halo.sends, k));
      device()->finish(detail::native_stream(exec));
    } else {
      copy_halo(exec, host_packed_, packed_, k);
      exec.fence("Blockspan::distributed: contributions to rows of other ranks");
      auto const pending = start(messages(host_packed_, halo.receives, host_sent_, halo.sends, k));
      meanwhile();
      pending->finish();
      copy(exec, sent_, host_sent_, 0, static_cast<std::int64_t>(halo.sent.size()) * k);
    }
    for (auto const& from : halo.sends)
      detail::add_rows<Exec, Scalar>(exec, sent_.data() + from.first * k,
                                     matrix_->sent_rows().data() + from.first, from.count, y);
    exec.fence("Blockspan::distributed: contributions of other ranks");
  }

  /// Fills the packed block with rows of x. interior() runs while those of others are on their way,
  /// ends(exec) when they are there; with a transport of devices it runs beside the interior too.
  template <class Interior, class Ends>
  void exchanged(Exec const& exec, detail::BlockRef<Scalar const> const& x,
                 Interior const& interior, Ends const& ends) const {
    std::int64_t const k = x.columns;
    auto const& halo = matrix_->halo();
    auto const sent = static_cast<std::int64_t>(halo.sent.size());
    grow(exec, k);
    detail::pack_rows<Exec, Scalar>(exec, x, {matrix_->sent_rows().data(), sent, sent_.data()},
                                    {matrix_->packed_from().data(), matrix_->own_rows(),
                                     packed_.data() + matrix_->lower_rows() * k});
    if (halo.sends.empty() && halo.receives.empty()) {
      interior();
      ends(exec);
    } else if (device() != nullptr) {
      void* const stream = detail::native_stream(exec);
      device()->begin(stream);
      interior();
      send(messages(sent_, halo.sends, packed_, halo.receives, k));
      if (beside_) ends(*beside_);
      device()->finish(stream);
      if (!beside_) ends(exec);
    } else {
      copy(exec, host_sent_, sent_, 0, sent * k);
      exec.fence("Blockspan::distributed: rows for other ranks");
      auto const pending = start(messages(host_sent_, halo.sends, host_packed_, halo.receives, k));
      interior();
      pending->finish();
      copy_halo(exec, packed_, host_packed_, k);
      ends(exec);
    }
  }
  void exchange_rows(Exec const& exec, detail::BlockRef<Scalar const> const& x) const {
    exchanged(
        exec, x, [] {}, [](Exec const&) {});
  }

  DeviceTransport* device() const { return ranks().device(); }

  auto start(Messages messages) const {
    return ranks().start(std::move(messages.in), std::move(messages.out));
  }
  void send(Messages const& messages) const { device()->start(messages.in, messages.out); }

  /// That send the `sends` parts of one array and receive the `receives` parts of the other. Parts
  /// of the halo have their places in the packed block.
  template <class Rows>
  Messages messages(Rows const& from, std::vector<HaloPart> const& sends, Rows const& to,
                    std::vector<HaloPart> const& receives, std::int64_t k) const {
    auto const rows = [&](Rows const& memory, HaloPart const& part) {
      bool const in_halo = memory.data() == host_packed_.data() || memory.data() == packed_.data();
      std::int64_t const first = in_halo ? place(part.first) : part.first;
      return std::span(memory.data() + first * k, static_cast<std::size_t>(part.count * k));
    };
    Messages result;
    for (auto const& part : receives)
      result.in.push_back({part.rank, std::as_writable_bytes(rows(to, part))});
    for (auto const& part : sends)
      result.out.push_back({part.rank, std::as_bytes(rows(from, part))});
    return result;
  }

  /// Where a row of the halo is in the packed block: this rank's rows are in between.
  std::int64_t place(std::int64_t row) const {
    return row < matrix_->lower_rows() ? row : row + matrix_->own_rows();
  }

  /// The rows of other ranks in the packed block, between a device and its host.
  template <class To, class From>
  void copy_halo(Exec const& exec, To const& to, From const& from, std::int64_t k) const {
    std::int64_t const behind = matrix_->lower_rows() + matrix_->own_rows();
    copy(exec, to, from, 0, matrix_->lower_rows() * k);
    copy(exec, to, from, behind * k, (matrix_->packed_rows() - behind) * k);
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
      else if (device() == nullptr)
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
  std::optional<Exec> beside_;  ///< where messages and the ends of a product are in order
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

/// Y = alpha op(A) X + beta Y of a matrix on ranks: A^T, conj(A) and A^H too. All ranks together,
/// with the same op, alpha, beta and columns; X and Y: the local rows, any layouts and strides,
/// which must not overlap. Y is overwritten; beta = 0 never reads it. The same bits from run to
/// run; a transposed product adds what ranks contribute to a row in the order of the ranks, so its
/// bits depend on their number. Waits for the exchange; one product at a time. Throws Error for
/// shapes that clash, on the rank where they do.
///
/// Cost of a rank: its entries once, and one row of X, or one contribution to a row of Y, for each
/// row of the halo, sent and received.
template <class Scalar, class Exec, class XView, class YView>
void spmm(Exec const& exec, Op op, std::type_identity_t<Scalar> const& alpha,
          DistributedOperator<Scalar, Exec> const& A, XView const& X,
          std::type_identity_t<Scalar> const& beta, YView const& Y) {
  A.multiply(exec, op, alpha, X, beta, Y);
}

}  // namespace blockspan
