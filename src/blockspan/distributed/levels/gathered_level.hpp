#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/multigrid/cycle/cycle.hpp>
#include <blockspan/multigrid/cycle/narrow_blocks.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::distributed {

/// The cycle over the levels that every rank has completely: gathers the rows of all ranks,
/// performs the same computations on each, and keeps the local rows of the result.
template <class Scalar, class Exec>
class GatheredLevel final : public LinearOperator<Scalar, Exec> {
 public:
  using Levels = WholeHierarchy<double_t<Scalar>, Exec>;

  /// factor: see Cycle.
  GatheredLevel(Exec const& exec, Arena<Exec>& arena, RowSpace const& space, Levels const& levels,
                int degree, int columns, double factor)
      : space_(space), cycle_(exec, arena, levels, degree, columns, factor) {}

  /// Updates the values from the same hierarchy.
  void refresh(Exec const& exec, Levels const& levels, double factor) {
    cycle_.refresh(exec, levels, factor);
  }

  std::int64_t rows() const override { return own().second - own().first; }
  OperatorFacts<Scalar, Exec> facts() const override {
    return {.row_space = space_, .replayable = ranks().device() != nullptr};
  }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    auto const k = static_cast<std::int64_t>(X.extent(1));
    if (k > columns_) grow(exec, k);
    auto const n = space_.cuts().back();
    auto const block = [&](Rows const& memory) {
      return Block<Scalar, Exec>(memory.data(), static_cast<std::size_t>(n),
                                 static_cast<std::size_t>(k));
    };
    // a range of columns of a wider block is not contiguous: copied first
    Rows local(const_cast<Scalar*>(X.data()), static_cast<std::size_t>(rows() * k));
    if (!X.span_is_contiguous()) {
      local = Kokkos::subview(result_, std::pair(std::int64_t{0}, rows() * k));
      Kokkos::deep_copy(exec, Block<Scalar, Exec>(local.data(), X.extent(0), X.extent(1)), X);
    }
    if (ranks().device() != nullptr)
      gather_on_device(exec, local, k);
    else
      gather_by_host(exec, local, k);
    cycle_.apply(exec, block(whole_), block(result_));
    Kokkos::deep_copy(
        exec, Y, Block<Scalar, Exec>(result_.data() + own().first * k, Y.extent(0), Y.extent(1)));
  }

 private:
  using Rows = Kokkos::View<Scalar*, Kokkos::Device<Exec, typename Exec::memory_space>,
                            Kokkos::MemoryTraits<0>>;

  Communicator const& ranks() const { return space_.communicator(); }
  std::pair<std::int64_t, std::int64_t> own() const { return space_.range(ranks().rank(), 0); }
  std::int64_t most_rows() const {
    std::int64_t most = 0;
    for (int r = 0; r < ranks().size(); ++r) {
      auto const [first, last] = space_.range(r, 0);
      most = std::max(most, last - first);
    }
    return most;
  }

  void grow(Exec const& exec, std::int64_t k) const {
    exec.fence("Blockspan::multigrid grows");
    auto const rows = [&](std::int64_t count) {
      return allocate<Rows>(exec, "Blockspan::multigrid", count * k);
    };
    columns_ = 0;
    whole_ = rows(space_.cuts().back());
    result_ = rows(space_.cuts().back());
    if (ranks().device() != nullptr) parts_ = rows(most_rows() * ranks().size());
    columns_ = k;
  }

  /// Gathers parts padded to equal size, as one call requires, then removes the padding.
  void gather_on_device(Exec const& exec, Rows const& local, std::int64_t k) const {
    std::int64_t const room = most_rows() * k;
    auto const part = [&](int rank, std::int64_t size) {
      return Kokkos::subview(parts_, std::pair(rank * room, rank * room + size));
    };
    Kokkos::deep_copy(exec, part(ranks().rank(), rows() * k), local);
    ranks().device()->gather(native_stream(exec), reinterpret_cast<std::byte*>(parts_.data()),
                             room * static_cast<std::int64_t>(sizeof(Scalar)));
    for (int r = 0; r < ranks().size(); ++r) {
      auto const [first, last] = space_.range(r, 0);
      if (last > first)
        Kokkos::deep_copy(exec, Kokkos::subview(whole_, std::pair(first * k, last * k)),
                          part(r, (last - first) * k));
    }
  }

  void gather_by_host(Exec const& exec, Rows const& local, std::int64_t k) const {
    std::vector<std::int64_t> sizes;
    for (int r = 0; r < ranks().size(); ++r) {
      auto const [first, last] = space_.range(r, 0);
      sizes.push_back((last - first) * k * static_cast<std::int64_t>(sizeof(Scalar)));
    }
    auto const all = Kokkos::subview(whole_, std::pair(std::int64_t{0}, space_.cuts().back() * k));
    auto const from = Kokkos::create_mirror_view(local);
    auto const to = Kokkos::create_mirror_view(all);
    Kokkos::deep_copy(exec, from, local);
    exec.fence("Blockspan::multigrid: rows for other ranks");
    ranks().gather(std::as_bytes(std::span(from.data(), from.extent(0))),
                   std::as_writable_bytes(std::span(to.data(), to.extent(0))), sizes);
    Kokkos::deep_copy(exec, all, to);
  }

  RowSpace space_;
  Cycle<Scalar, Exec, Levels> cycle_;
  mutable Rows whole_, result_, parts_;
  mutable std::int64_t columns_ = 0;
};

}  // namespace blockspan::distributed
