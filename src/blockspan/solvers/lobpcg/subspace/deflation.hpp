#pragma once

#include <cstdint>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::eigen {

/// The B-orthonormal vectors Y that are deflated, with B Y: the caller's constraints first, then
/// the pairs that are locked. The iteration sees the problem projected by P = I - Y (B Y)^H:
/// vectors become P v, residuals P^H r.
template <class Scalar, class Exec>
class Deflation {
 public:
  using View = Block<Scalar, Exec>;

  Deflation() = default;
  Deflation(Exec const& exec, std::int64_t rows, int capacity, bool generalized) {
    if (capacity == 0) return;
    y_ = allocate<View>(exec, "Blockspan::lobpcg::Y", rows, capacity);
    by_ = generalized ? allocate<View>(exec, "Blockspan::lobpcg::BY", rows, capacity) : y_;
  }

  int count() const { return count_; }
  bool empty() const { return count_ == 0; }
  View y(int first, int count) const { return column_range(y_, first, count); }
  View by(int first, int count) const { return column_range(by_, first, count); }

  /// The first `count` vectors count from now on.
  void resize(int count) { count_ = count; }

  /// How far the span of the constraints may be from that of the vectors given, as an angle.
  real_t<Scalar> angle() const { return angle_; }
  void set_angle(real_t<Scalar> angle) { angle_ = angle; }

  /// V := P V. Twice for orthogonality to working precision.
  void project(Exec const& exec, View const& V, Workspace<Exec>& workspace) const {
    if (!empty()) blockspan::project_out(exec, y(0, count_), by(0, count_), V, workspace);
  }
  /// R := P^H R.
  void project_residual(Exec const& exec, View const& R, Workspace<Exec>& workspace) const {
    if (!empty()) blockspan::project_out(exec, by(0, count_), y(0, count_), R, workspace);
  }

  template <class Archive>
  void visit(Archive& archive, Exec const& exec) {
    archive(count_);
    if constexpr (Archive::reads)
      archive.require_between("the number of deflated vectors", 0, count_,
                              static_cast<int>(y_.extent(1)));
    archive.block(exec, y(0, count_));
    if (by_.data() != y_.data()) archive.block(exec, by(0, count_));
  }

 private:
  View y_, by_;
  int count_ = 0;
  real_t<Scalar> angle_ = 0;
};

}  // namespace blockspan::eigen
