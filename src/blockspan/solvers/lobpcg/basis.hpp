#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/multivector/block.hpp>
#include <blockspan/solvers/lobpcg/problem.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

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

  static View columns(View const& v, int first, int count) {
    return Kokkos::subview(v, Kokkos::ALL, std::pair<int, int>(first, first + count));
  }
  View x() const { return columns(s, 0, m); }
  View ax() const { return columns(as, 0, m); }
  View bx() const { return columns(bs, 0, m); }
  Images<Scalar, Exec> x_and_images() const { return {x(), ax(), bx()}; }
  View xp() const { return columns(s, 0, m + p); }
  View bxp() const { return columns(bs, 0, m + p); }
  View dirs() const { return columns(s, m + p, w); }
  View a_dirs() const { return columns(as, m + p, w); }
  View b_dirs() const { return columns(bs, m + p, w); }
  View all() const { return columns(s, 0, order()); }
  View a_all() const { return columns(as, 0, order()); }
  View b_all() const { return columns(bs, 0, order()); }
  /// The last `count` of the last m columns' place, for residuals.
  View spare(int count) const { return columns(s, 2 * m, count); }
  View a_spare(int count) const { return columns(as, 2 * m, count); }

  /// X and P with their images. The reader must have made the basis for the m of the writer.
  template <class Archive>
  void visit(Archive& archive, Exec const& exec) {
    archive(p);
    w = 0;
    archive.block(exec, xp());
    archive.block(exec, columns(as, 0, m + p));
    if (generalized()) archive.block(exec, bxp());
  }

  View s, as, bs;
  int m;
  int p = 0, w = 0;
  std::vector<real_t<Scalar>> w_norms;  ///< of the columns of W, where they are not 1
};

}  // namespace blockspan::detail
