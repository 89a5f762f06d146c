#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/cudss/lower_pencil.hpp>
#include <blockspan/operators/cudss/self_test.hpp>
#include <blockspan/operators/cudss/solver.hpp>
#include <blockspan/operators/factors/scaled_pencil.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

// Factors of K - sigma M on a CUDA device by cuDSS.

namespace blockspan::operators::cudss {

template <class Scalar>
struct ScaleRows {
  double const* scaling;
  BlockRef<Scalar> X;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    X(e / X.columns, e % X.columns) *= scaling[e / X.columns];
  }
};

/// R = X - S (KW - shift MW)
template <class Scalar>
struct Residual {
  double const* scaling;
  double shift;
  BlockRef<Scalar> X, KW, MW, R;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    std::int64_t const i = e / X.columns, j = e % X.columns;
    R(i, j) = X(i, j) - scaling[i] * (KW(i, j) - shift * MW(i, j));
  }
};

/// Z += X
template <class Scalar>
struct Add {
  BlockRef<Scalar> X, Z;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    Z(e / X.columns, e % X.columns) += X(e / X.columns, e % X.columns);
  }
};

template <class Scalar>
struct Shift {
  Scalar const *k, *m;
  double shift;
  Scalar* values;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const { values[e] = k[e] - shift * m[e]; }
};

/// F = S (K - shift M) S on the device, by its values for every shift, and its factors.
template <class Scalar, class Exec>
class CudssPencil final : public ScaledPencil {
 public:
  using Operator = LinearOperator<Scalar, Exec>;

  /// Backward error of the factors above which solves are refined: a step more than doubles the
  /// time of a solve, and up to twice this error the steps of block Lanczos are as many as without.
  static constexpr double refined_above = 5e-13;

  /// K, M: the same matrices on the device, kept by reference; M null for the identity. Throws
  /// Error as Solver does, and where memory is short.
  CudssPencil(Exec const& exec, Library const& library, HostHermitian k,
              std::optional<HostHermitian> m, Operator const& K, Operator const* M,
              PencilUse const& use)
      : ScaledPencil(std::move(k), std::move(m), use.scale_by_mass),
        exec_(exec),
        library_("cuDSS " + library.version),
        K_(K),
        M_(M) {
    auto const pencil = lower_pencil(stiffness(), mass(), scaling());
    auto const entries = pencil.columns.size();
    auto const values = [&](std::vector<double> const& reals) {
      return copied(exec_, "values", reinterpret_cast<Scalar const*>(reals.data()), entries);
    };
    offsets_ = copied(exec_, "offsets", pencil.offsets.data(), pencil.offsets.size());
    columns_ = copied(exec_, "columns", pencil.columns.data(), entries);
    k_values_ = values(pencil.k), m_values_ = values(pencil.m);
    scaling_on_device_ = copied(exec_, "scaling", scaling().data(), scaling().size());
    values_ = allocate<Values>(exec_, "Blockspan::cudss::values", entries);
    use_device_of(exec_);
    solver_.emplace(library, native_stream(exec_),
                    LowerTriangle{rows(), static_cast<std::int64_t>(entries), offsets_.data(),
                                  columns_.data(), values_.data(), is_complex_v<Scalar>});
    set_values(0);
    exec_.fence("Blockspan::cudss");
    solver_->analyse();
    std::int64_t const free = support::free_device_bytes();
    std::int64_t const limit = use.memory_limit > 0 ? use.memory_limit : free;
    require(limit == 0 || bytes() <= limit, "blockspan::direct", "out of memory: the factors of ",
            rows(), " rows need ", bytes(), " bytes of the device, where ", limit,
            use.memory_limit > 0 ? " are allowed" : " are free");
  }

  ShiftCount factor(double shift) override {
    require(std::isfinite(shift), "blockspan::exact", "the shift is ", shift);
    shift_ = shift;
    set_values(shift);
    use_device_of(exec_);
    solver_->factor();
    exec_.fence("Blockspan::cudss::factor");
    auto const inertia = solver_->inertia();
    ShiftCount count;
    count.asked = count.shift = shift;
    count.count = inertia.negative;
    count.static_pivots = inertia.perturbed;
    // cuDSS reports a null pivot as one that it replaced
    count.null_pivots = std::max(inertia.perturbed, rows() - inertia.positive - inertia.negative);
    test_factors(count);
    count.trusted = count.null_pivots == 0 && count.rho < 0.1;
    return count;
  }

  /// The dominant rows of the eigenvector of least magnitude: that of a null pivot is nearly a unit
  /// vector.
  std::vector<std::int64_t> null_rows() const override { return null_rows_; }

  void solve(double* B, std::int64_t columns) const override {
    Columns const b(reinterpret_cast<Scalar*>(B), rows(), columns);
    auto const X = block("X", columns), Z = block("Z", columns);
    convert_block(exec_, b, X);
    scale_rows(X);
    invert(X, Z);
    if (refines_) {  // one step of iterative refinement
      auto const R = block("R", columns);
      subtract_product(X, Z, R);
      invert(R, X);
      for_entries("add", Add<Scalar>{ref(X), ref(Z)});
    }
    scale_rows(Z);
    convert_block(exec_, Z, b);
  }
  bool on_device() const override { return true; }
  std::string library() const override { return library_; }

  std::int64_t factor_entries() const override { return solver_->entries() * parts(); }
  std::int64_t bytes() const override { return solver_->bytes(); }
  /// A lower bound: the sum of squares of equal columns of a factor with so many entries.
  double flops() const override {
    auto const entries = static_cast<double>(solver_->entries());
    return entries * entries / static_cast<double>(rows()) * parts() * parts();
  }

 private:
  static constexpr int tested = 4;  ///< columns of the inverse iteration
  static constexpr int named = 64;  ///< null unknowns at most

  using Space = typename Exec::memory_space;
  using Values = Kokkos::View<Scalar*, Space>;
  using Columns = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Space>;
  using Rows = Block<Scalar, Exec>;

  Rows block(std::string const& label, std::int64_t columns) const {
    return allocate<Rows>(exec_, "Blockspan::cudss::" + label, rows(), columns);
  }
  static BlockRef<Scalar> ref(Rows const& X) { return block_ref<Exec>(X); }

  template <class Kernel>
  void launch(std::string const& label, std::int64_t count, Kernel const& kernel) const {
    Kokkos::parallel_for(
        "Blockspan::cudss::" + label,
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec_, 0, count), kernel);
  }
  template <class Kernel>
  void for_entries(std::string const& label, Kernel const& kernel) const {
    launch(label, rows() * kernel.X.columns, kernel);
  }

  void set_values(double shift) const {
    launch("shift", static_cast<std::int64_t>(values_.extent(0)),
           Shift<Scalar>{k_values_.data(), m_values_.data(), shift, values_.data()});
  }

  void scale_rows(Rows const& X) const {
    for_entries("scale", ScaleRows<Scalar>{scaling_on_device_.data(), ref(X)});
  }

  /// Z = F^-1 X
  void invert(Rows const& X, Rows const& Z) const {
    auto const columns = static_cast<std::int64_t>(X.extent(1));
    auto const in = allocate<Columns>(exec_, "Blockspan::cudss::in", rows(), columns);
    auto const out = allocate<Columns>(exec_, "Blockspan::cudss::out", rows(), columns);
    convert_block(exec_, X, in);
    use_device_of(exec_);
    solver_->solve(in.data(), out.data(), columns);
    convert_block(exec_, out, Z);
  }

  /// R = X - F Z by products with K and M, not with the assembled F.
  void subtract_product(Rows const& X, Rows const& Z, Rows const& R) const {
    auto const columns = static_cast<std::int64_t>(X.extent(1));
    auto const W = block("W", columns), KW = block("KW", columns);
    Kokkos::deep_copy(exec_, W, Z);
    scale_rows(W);
    K_.apply(exec_, W, KW);
    auto const MW = M_ != nullptr ? block("MW", columns) : W;
    if (M_ != nullptr) M_->apply(exec_, W, MW);
    for_entries("residual", Residual<Scalar>{scaling_on_device_.data(), shift_, ref(X), ref(KW),
                                             ref(MW), ref(R)});
  }

  std::vector<double> norms(Rows const& X) const {
    Kokkos::View<double*, Kokkos::HostSpace> const result("norms", X.extent(1));
    column_norms(exec_, X, result, workspace_);
    return {result.data(), result.data() + result.extent(0)};
  }

  /// As in direct_pencil.cpp for MUMPS: |E z| / |x| of inverse iteration, where the factors are
  /// exact for F + E.
  void test_factors(ShiftCount& count) {
    count.rho = count.inverse = std::numeric_limits<double>::infinity();
    auto const columns = std::min<std::int64_t>(tested, rows());
    auto X = block("X", columns), Z = block("Z", columns);
    auto const R = block("R", columns);
    fill_random(exec_, X, 1);
    double rho = 0, error = 0;
    null_rows_.clear();
    for (int step = 0; step < 3; ++step) {
      if (orthonormalize(exec_, X, workspace_).rank < columns) return;
      invert(X, Z);
      subtract_product(X, Z, R);
      auto const left = norms(R), lengths = norms(Z);
      for (std::size_t c = 0; c < left.size(); ++c) {
        error = std::max(error, left[c] / (1 + size_at(shift_) * lengths[c]));
        if (step > 0 && !(left[c] <= rho)) rho = left[c];
      }
      if (count.null_pivots > 0) find_null_rows(Z, lengths);
      if (!std::isfinite(rho)) return;
      count.inverse = *std::max_element(lengths.begin(), lengths.end());
      std::swap(X, Z);
    }
    count.rho = rho;
    refines_ = error > refined_above;
  }

  void find_null_rows(Rows const& Z, std::vector<double> const& lengths) {
    auto const longest = std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
    auto const host = allocate_mirror(Z);
    Kokkos::deep_copy(exec_, host, Z);
    exec_.fence("Blockspan::cudss::null_rows");
    double top = 0;
    for (std::int64_t i = 0; i < rows(); ++i)
      top = std::max(top, scaling()[i] * Kokkos::abs(host(i, longest)));
    null_rows_.clear();
    for (std::int64_t i = 0; i < rows() && null_rows_.size() < named; ++i)
      if (2 * scaling()[i] * Kokkos::abs(host(i, longest)) >= top) null_rows_.push_back(i);
  }

  Exec exec_;
  std::string library_;
  Operator const& K_;
  Operator const* M_;
  double shift_ = 0;
  bool refines_ = false;
  Kokkos::View<int*, Space> offsets_, columns_;
  Values k_values_, m_values_, values_;  // lower triangles of S K S, S M S and F
  Kokkos::View<double*, Space> scaling_on_device_;
  std::optional<Solver> solver_;
  std::vector<std::int64_t> null_rows_;
  mutable Workspace<Exec> workspace_;
};

}  // namespace blockspan::operators::cudss

namespace blockspan::operators {

template <class Scalar, class Exec>
std::unique_ptr<PencilFactors> cudss_pencil(Exec const& exec, HostHermitian k,
                                            std::optional<HostHermitian> m,
                                            LinearOperator<Scalar, Exec> const& K,
                                            LinearOperator<Scalar, Exec> const* M,
                                            PencilUse const& use, std::string& why) {
  auto const found = cudss::find();
  why = found.why;
  if (found.library == nullptr) return nullptr;
  try {
    static std::string const fault = cudss::self_test<Scalar>(exec, *found.library);
    if (!(why = fault).empty()) return nullptr;
    return std::make_unique<cudss::CudssPencil<Scalar, Exec>>(exec, *found.library, std::move(k),
                                                              std::move(m), K, M, use);
  } catch (Error const& error) {
    why = error.what();
    return nullptr;
  }
}

}  // namespace blockspan::operators
