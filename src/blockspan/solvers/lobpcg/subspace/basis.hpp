#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/multivector/terms/row_terms.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/subspace/problem.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::eigen {

/// A block of vectors and its images; BX is X without B.
template <class Scalar, class Exec>
struct Images {
  Block<Scalar, Exec> X, AX, BX;
};

/// The basis S = [X P W] and its images A S, B S: one wide row-major block each, so that a Gram
/// matrix of all sections, or the update of X and P together, is one pass. X has m columns, P and W
/// the columns they need, at most m each. The last m columns of S (or of AS) double as the place of
/// the residuals while there is no W. Without B, B S is S. Rows begin at multiples of 16 bytes, as
/// the products on tensor cores need them.
template <class Scalar, class Exec>
struct Basis {
  using View = Block<Scalar, Exec>;

  Basis(Exec const& exec, std::int64_t rows, int columns, bool generalized) : m(columns) {
    auto const block = [&](char const* label) {
      return allocate<View>(exec, label, rows, ceil_div(3 * columns, 2) * 2);
    };
    s = block("Blockspan::lobpcg::S");
    as = block("Blockspan::lobpcg::AS");
    bs = generalized ? block("Blockspan::lobpcg::BS") : s;
  }

  int order() const { return m + p + w; }
  bool generalized() const { return bs.data() != s.data(); }

  View x() const { return column_range(s, 0, m); }
  View ax() const { return column_range(as, 0, m); }
  View bx() const { return column_range(bs, 0, m); }
  Images<Scalar, Exec> x_and_images() const { return {x(), ax(), bx()}; }
  View xp() const { return column_range(s, 0, m + p); }
  View bxp() const { return column_range(bs, 0, m + p); }
  View dirs() const { return column_range(s, m + p, w); }
  View a_dirs() const { return column_range(as, m + p, w); }
  View b_dirs() const { return column_range(bs, m + p, w); }
  View all() const { return column_range(s, 0, order()); }
  View a_all() const { return column_range(as, 0, order()); }
  View b_all() const { return column_range(bs, 0, order()); }
  /// The last `count` of the last m columns' place, for residuals.
  View spare(int count) const { return column_range(s, 2 * m, count); }
  View a_spare(int count) const { return column_range(as, 2 * m, count); }

  /// X and P with their images. The reader must have made the basis for the m of the writer.
  template <class Archive>
  void visit(Archive& archive, Exec const& exec) {
    archive(p);
    if constexpr (Archive::reads) archive.require_between("the columns of P", 0, p, m);
    w = 0;
    archive.block(exec, xp());
    archive.block(exec, column_range(as, 0, m + p));
    if (generalized()) archive.block(exec, bxp());
  }

  View s, as, bs;
  int m;
  int p = 0, w = 0;
  std::vector<real_t<Scalar>> w_norms;  ///< of the columns of W, where they are not 1
};

/// The Gram matrices G = S^H B S and H = sign S^H A S of leading columns of a basis, made on the
/// device in one buffer and brought to the host in one copy.
template <class Scalar, class Exec>
class Grams {
 public:
  using Matrix = SmallMatrix<Scalar>;

  Grams(Exec const& exec, int max_order)
      : device_(allocate<Device>(exec, "Blockspan::lobpcg::grams", max_order, 2 * max_order)),
        host_(allocate_mirror(device_)) {}

  /// From the first `order` columns. Fences exec.
  void compute(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec> const& basis, int order) {
    auto const timer = problem.time(problem.seconds.gram);
    order_ = order;
    auto const S = column_range(basis.s, 0, order);
    auto const AS = column_range(basis.as, 0, order), BS = column_range(basis.bs, 0, order);
    multivector::gram_pair<Exec, Scalar>(problem.exec, block_ref<Exec>(S), block_ref<Exec>(AS),
                                         block_ref<Exec>(device_part(0)), block_ref<Exec>(BS),
                                         block_ref<Exec>(device_part(order)), problem.workspace);
    Kokkos::deep_copy(problem.exec, column_range(host_, 0, 2 * order),
                      column_range(device_, 0, 2 * order));
    problem.exec.fence("Blockspan::lobpcg: Gram matrices");
    symmetrize(H(), problem.sign);
    symmetrize(G(), real_t<Scalar>(1));
  }

  Matrix H() const { return host_part(0); }
  Matrix G() const { return host_part(order_); }
  bool finite() const { return all_finite(H()) && all_finite(G()); }

 private:
  using Device =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::Device<Exec, typename Exec::memory_space>>;

  auto device_part(int first) const {
    return Kokkos::subview(device_, std::pair<int, int>(0, order_),
                           std::pair<int, int>(first, first + order_));
  }
  Matrix host_part(int first) const {
    return Kokkos::subview(host_, std::pair<int, int>(0, order_),
                           std::pair<int, int>(first, first + order_));
  }

  Device device_;
  typename Device::host_mirror_type host_;
  int order_ = 0;
};

/// The rows of all ranks of a block in host memory, on each of them.
template <class HostView>
HostView all_rows(RowSpace const& rows, HostView const& local) {
  if (!rows.distributed()) return local;
  auto const& ranks = rows.communicator();
  HostView const all("Blockspan::lobpcg::dense", static_cast<std::size_t>(rows.cuts().back()),
                     local.extent(1));
  auto const row_bytes =
      static_cast<std::int64_t>(local.extent(1) * sizeof(typename HostView::value_type));
  std::vector<std::int64_t> sizes;
  for (int r = 0; r < ranks.size(); ++r) {
    auto const [first, last] = rows.range(r, 0);
    sizes.push_back((last - first) * row_bytes);
  }
  ranks.gather(std::as_bytes(std::span(local.data(), local.size())),
               std::as_writable_bytes(std::span(all.data(), all.size())), sizes);
  return all;
}

}  // namespace blockspan::eigen
