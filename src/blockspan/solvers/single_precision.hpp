#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <blockspan/multivector/convert.hpp>
#include <blockspan/solvers/correction_solver.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

/// Conjugate gradients in single precision, for CgOptions::inner of a solve in double precision:
///
///   auto const single = single_precision_rows(exec, *on_one_rank(exec, A));
///   auto const single_op = distributed_operator(exec, single.matrix);
///   auto const M = jacobi(exec, single.matrix->whole());
///   SinglePrecision<double, Exec> const inner(single_op, &M, single.factor);
///   auto const report = solve_spd(exec, op, B, X, {.preconditioner = &M_double, .inner = &inner});
///
/// An iteration moves half the bytes. Memory: 6 n x k in single precision, allocated anew in each
/// cycle. Iterations for 1e-8 against those of double precision, with Jacobi and 8 columns: 1.2
/// times for a 7-point Laplacian, 1.5 times for nos3 and bcsstk09, 1.3 (pseudo-block) and 2.5
/// (block) for bcsstk26, 2.5 and 6 for 1138_bus: for ill-conditioned matrices a block loses its
/// conjugacy in single precision.
template <class Scalar, class Exec>
class SinglePrecision final : public CorrectionSolver<Scalar, Exec> {
 public:
  using Real = real_t<Scalar>;
  using Single = single_t<Scalar>;
  using Operator = LinearOperator<Single, Exec>;
  static_assert(!std::is_same_v<Scalar, Single>, "the working precision is double");

  /// A: `factor` times the operator of the solve, in single precision. preconditioner: of it, or of
  /// any positive multiple; null: none. factor: a power of two. Both operators are kept by
  /// reference. reduction: of the residual in one cycle, in (0, 1/2]; single precision rarely
  /// reaches less than 1e-6. Throws Error if an argument is out of range or the orders differ.
  explicit SinglePrecision(Operator const& A, Operator const* preconditioner = nullptr,
                           Real factor = 1, Real reduction = Real(1e-4))
      : a_(A), m_(preconditioner), factor_(factor), reduction_(reduction) {
    constexpr auto where = "blockspan::SinglePrecision";
    require(factor > 0 && std::isfinite(factor), where, "factor is ", factor,
            ", not positive and finite");
    require(reduction > 0 && reduction <= Real(0.5), where, "reduction is ", reduction,
            ", not in (0, 1/2]");
    require(!m_ || m_->rows() == A.rows(), where, "the preconditioner has order ",
            m_ ? m_->rows() : 0, ", A has order ", A.rows());
  }

  std::int64_t rows() const override { return a_.rows(); }
  std::string name() const override { return "single precision"; }
  Real reduction() const override { return reduction_; }

  CorrectionReport<Real> solve(Exec const& exec, ConstBlock<Scalar, Exec> const& R,
                               Block<Scalar, Exec> const& E,
                               CorrectionRequest<Real> const& request) const override {
    Block<Single, Exec> const r = block(exec, R), e = block(exec, R);
    convert_block(exec, R, r);
    CgOptions<Single, Exec> options;
    options.method = request.method;
    options.preconditioner = m_;
    options.max_iterations = request.max_iterations;
    options.time_limit = request.time_limit;
    options.max_cycles = 1;
    options.single_reduction = request.single_reduction;
    options.keep_history = false;
    for (Real const wanted : request.reductions)
      options.tolerances.push_back(static_cast<float>(wanted));
    std::vector<Real> residuals;
    options.monitor = [&](CgProgress<float> const& now) {
      residuals.assign(now.residuals.begin(), now.residuals.end());
      return request.step(residuals, now.directions);
    };
    auto const report = solve_spd(exec, a_, r, e, options);
    convert_block(exec, e, E, factor_);  // factor A e = r
    exec.fence("Blockspan::cg: end of single precision");
    return {trouble_of(report), static_cast<Real>(report.norm_a) / factor_, report.counters};
  }

 private:
  static Block<Single, Exec> block(Exec const& exec, ConstBlock<Scalar, Exec> const& shape) {
    return allocate<Block<Single, Exec>>(exec, "Blockspan::cg::single", shape.extent(0),
                                         shape.extent(1));
  }

  /// Why a solve failed; empty also if it was stopped or missed its goal.
  static std::string trouble_of(CgReport<float> const& report) {
    for (Status const expected :
         {Status::converged, Status::max_iterations, Status::attainable_limit, Status::time_limit,
          Status::stopped_by_monitor})
      if (report.status == expected) return "";
    return report.trouble.empty() ? std::string(to_string(report.status)) : report.trouble;
  }

  Operator const& a_;
  Operator const* m_;
  Real factor_, reduction_;
};

}  // namespace blockspan
