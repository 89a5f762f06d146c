#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <blockspan/operators/factors/direct_factors.hpp>
#include <blockspan/operators/pencil_factors.hpp>

namespace blockspan::operators {

/// K and M on the host, and a scaling S of both: what factors of S (K - shift M) S by any library
/// have in common.
class ScaledPencil : public PencilFactors {
 public:
  /// Throws Error for no rows, orders that differ and entries that are not finite.
  ScaledPencil(HostHermitian K, std::optional<HostHermitian> M, bool scale_by_mass);

  std::int64_t rows() const override { return k_.rows; }
  double scaled_size() const override { return mass_size_ > 0 ? stiffness_size_ / mass_size_ : 0; }
  double norm_k() const override { return norm_k_; }
  double norm_m() const override { return norm_m_; }
  bool massless_rows() const override { return massless_; }
  std::vector<double> energies(double const* X, std::vector<double> const& values) const override;
  std::vector<double> scaled_squares(double const* R, std::int64_t columns) const override;

 protected:
  HostHermitian const& stiffness() const { return k_; }
  HostHermitian const* mass() const { return m_ ? &*m_ : nullptr; }
  int parts() const { return k_.parts; }
  int order() const { return k_.rows * k_.parts; }                 ///< of the real form
  std::vector<double> const& scaling() const { return scaling_; }  ///< powers of two, one a row
  /// The largest row sum of |S (K - shift M) S|, or more.
  double size_at(double shift) const;

 private:
  void choose_scaling(bool by_mass);
  void measure();

  HostHermitian k_;
  std::optional<HostHermitian> m_;
  std::vector<double> scaling_;
  double stiffness_size_ = 0, mass_size_ = 0;  ///< ||S K S||, ||S M S||
  double norm_k_ = 0, norm_m_ = 1;
  bool massless_ = false;
};

}  // namespace blockspan::operators
