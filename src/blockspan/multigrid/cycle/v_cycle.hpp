#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/entries.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/spmm.hpp>

namespace blockspan::levels {

/// The data of a level in a V cycle: its matrix and smoother and the transfers to the next level;
/// on the last one its solver.
template <class Scalar, class Exec, class Operator>
struct CycleLevel {
  using Matrix = CrsMatrix<Scalar, Exec>;
  using Plan = SpmmPlan<Exec, int, int>;
  using Smoother = ChebyshevPreconditioner<Scalar, Exec>;

  std::int64_t rows = 0;
  std::shared_ptr<Operator const> A;
  Matrix P, R;
  std::optional<Plan> p, r;
  std::shared_ptr<Smoother> smoother;
  std::shared_ptr<LinearOperator<Scalar, Exec> const> solver;  ///< null: not the last level
};

/// Plans of P and R, for blocks of about `columns` columns or fewer.
template <class Scalar, class Exec, class Operator>
void plan_transfers(Exec const& exec, CycleLevel<Scalar, Exec, Operator>& level, int columns) {
  SpmmPlanOptions const options{.columns = columns};
  level.p.emplace(exec, level.P, options);
  level.r.emplace(exec, level.R, options);
}

/// The V cycle. On each level r -> z:
///   1. z = S r                         2. z += P cycle(R (r - A z))         3. z += S (r - A z)
/// with the Chebyshev polynomial S = q(W A) W; on the last level its solver. So the cycle is
/// Hermitian, and positive definite since S is and I - S A is a contraction. Operator: the type of
/// the matrices of levels, on one rank or on several; prolongators have no couplings across ranks.
template <class Scalar, class Exec, class Operator>
class VCycle {
 public:
  using Real = real_t<Scalar>;
  using Level = CycleLevel<Scalar, Exec, Operator>;
  using Vectors = Block<Scalar, Exec>;

  explicit VCycle(int degree) : degree_(degree) {}

  std::vector<Level> levels;

  /// The smoother's interval [b / ratio, b].
  Real lower(Real upper) const {
    static constexpr Real ratio[] = {4, 8, 14, 20};
    return upper / ratio[degree_ - 1];
  }

  /// Y = M^-1 X; rows contiguous. Allocates if X is wider than before.
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const {
    if (X.extent(1) > static_cast<std::size_t>(widest_)) widen(exec, X.extent(1));
    bool const single = X.extent(1) == 1;
    // a cycle has at least two products with each matrix
    constexpr int many = LinearOperator<Scalar, Exec>::many_products / 2;
    if (runs_on_host_v<Exec> && single && ++singles_ == many) take_slices(exec);
    cycle(exec, single && !in_slices_.empty() ? in_slices_ : levels, 0, X, Y);
  }

  /// Must be called when the values of the levels change: drops copies of them.
  void forget_slices() {
    in_slices_.clear();
    singles_ = 0;
  }

 private:
  /// Blocks of a level: for its own residuals, and for the right-hand side and solution from the
  /// level above.
  struct Memory {
    Vectors residual, correction, rhs, solution;
  };

  void widen(Exec const& exec, std::size_t columns) const {
    exec.fence("Blockspan::multigrid grows");
    widest_ = 0;
    memory_.resize(levels.size());
    for (std::size_t l = 0; l < levels.size(); ++l) {
      auto& memory = memory_[l];
      auto const take = [&](Vectors& block) {
        block = {};
        block = allocate<Vectors>(exec, "Blockspan::multigrid", levels[l].rows, columns);
      };
      if (l + 1 < levels.size()) take(memory.residual), take(memory.correction);
      if (l > 0) take(memory.rhs), take(memory.solution);
    }
    widest_ = static_cast<int>(columns);
  }

  /// A block of k contiguous columns in the memory of a wider one.
  static Vectors narrow(Vectors const& block, std::size_t columns) {
    return Vectors(block.data(), block.extent(0), columns);
  }

  /// Copies the levels with values in slices, which makes cycles with one column faster.
  void take_slices(Exec const& exec) const {
    auto const hold = [&](std::optional<typename Level::Plan>& plan, auto const& matrix) {
      plan = plan->without_copies();
      plan->hold_slices(exec, matrix);
    };
    in_slices_ = levels;
    try {
      for (Level& level : in_slices_) {
        if (level.solver) continue;
        hold(level.p, level.P), hold(level.r, level.R);
        if constexpr (requires { level.A->in_slices(exec); })
          if (auto const A = level.A->in_slices(exec)) {
            auto const& s = *level.smoother;
            level.A = A;
            level.smoother = std::make_shared<typename Level::Smoother>(*A, s.factors(), s.lower(),
                                                                        s.upper(), s.degree());
          }
      }
    } catch (Error const&) {
      in_slices_.clear();  // out of memory
    }
  }

  void cycle(Exec const& exec, std::vector<Level> const& all, std::size_t l,
             ConstBlock<Scalar, Exec> const& R, Vectors const& Z) const {
    auto const& level = all[l];
    if (level.solver) return level.solver->apply(exec, R, Z);
    std::size_t const k = R.extent(1);
    auto const residual = narrow(memory_[l].residual, k),
               correction = narrow(memory_[l].correction, k), rhs = narrow(memory_[l + 1].rhs, k),
               solution = narrow(memory_[l + 1].solution, k);
    level.smoother->apply(exec, R, Z);
    subtract_product(exec, level, R, Z, residual);
    spmm(exec, *level.r, Op::none, Scalar(1), level.R, residual, Scalar(0), rhs);
    cycle(exec, all, l + 1, rhs, solution);
    spmm(exec, *level.p, Op::none, Scalar(1), level.P, solution, Scalar(1), Z);
    smooth(exec, level, R, Z, residual, correction);
  }

  /// Z += q(W A) W (R - A Z) with the polynomial of the smoother, as a recurrence that starts at Z:
  /// one product and one pass per degree, where the polynomial applied to the residual would cost
  /// another copy and addition.
  void smooth(Exec const& exec, Level const& level, ConstBlock<Scalar, Exec> const& R,
              Vectors const& Z, Vectors const& image, Vectors const& other) const {
    Real const middle = (level.smoother->upper() + level.smoother->lower()) / 2;
    Real const half = (level.smoother->upper() - level.smoother->lower()) / 2;
    Real const sigma = middle / half;
    Real rho = 1 / sigma;
    for (int i = 1; i <= degree_; ++i) {
      auto const& from = i % 2 == 1 ? Z : other;
      auto const& to = i % 2 == 1 ? other : Z;
      Real const next = 1 / (2 * sigma - rho);
      OperatorStep<Scalar, Exec> step{R, level.smoother->factors(), 1 / middle};
      if (i > 1) step = {R, level.smoother->factors(), 2 * next / half, next * rho, true, true};
      take_step<Exec, Scalar>(exec, *level.A, step, from, to, [&] { return image; });
      if (i > 1) rho = next;
    }
    if (degree_ % 2 == 1)
      copy_block<Exec, Scalar>(exec, block_ref<Exec>(ConstBlock<Scalar, Exec>(other)),
                               block_ref<Exec>(Z));
  }

  /// residual := R - A Z.
  static void subtract_product(Exec const& exec, Level const& level,
                               ConstBlock<Scalar, Exec> const& R, Vectors const& Z,
                               Vectors const& residual) {
    take_step<Exec, Scalar>(exec, *level.A, {.R = R, .add_z = false}, Z, residual,
                            [&] { return residual; });
  }

  int degree_;
  mutable std::vector<Memory> memory_;
  mutable int widest_ = 0;
  mutable int singles_ = 0;               ///< number of cycles with one column
  mutable std::vector<Level> in_slices_;  ///< for further cycles with one column; may be empty
};

}  // namespace blockspan::levels
