#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/distributed/factored_pencil.hpp>
#include <blockspan/distributed/levels/early_shape.hpp>
#include <blockspan/distributed/levels/made_of_levels.hpp>
#include <blockspan/distributed/rank_zero.hpp>
#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/multigrid/preconditioner_words.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/direct.hpp>
#include <blockspan/operators/gauss_seidel.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/support/error.hpp>

// Preconditioners by name (PreconditionerWords), for the programs, C and Python. A template that is
// compiled where it is used, with the components that are linked there.
namespace blockspan {

/// Arguments of make_preconditioner. On one rank, on_one_rank() creates A from a CrsMatrix.
template <class Scalar, class Exec>
struct PreconditionerInput {
  Exec exec = {};
  std::shared_ptr<DistributedMatrix<Scalar, Exec> const> A = {};
  LinearOperator<Scalar, Exec> const* product = nullptr;  ///< A, which chebyshev keeps by reference
  /// system: throws Error if A is proven not to be positive definite (by its diagonal only if
  /// refuse_diagonal is set). eigenpairs: preconditioners are positive definite for any A.
  SolveKind kind = SolveKind::system;
  bool refuse_diagonal = true;
  DistributedMatrix<Scalar, Exec> const* mass = nullptr;  ///< of a pencil: `direct` shifts by it
  int columns = 8;                                        ///< expected width of blocks
  /// automatic: the tolerance of pairs, or of a system solved from zero, which allows a first
  /// preconditioner that change_over creates; 0: not allowed.
  double tolerance = 0;
  std::string where = "preconditioner";  ///< prefix of messages
  int first_row = 1;                     ///< index of the first row in messages
};

/// A preconditioner, with notes for the user.
template <class Scalar, class Exec>
struct Preconditioner {
  using Matrix = std::shared_ptr<DistributedMatrix<Scalar, Exec> const>;

  std::unique_ptr<LinearOperator<Scalar, Exec>> op = {};  ///< null: none
  std::vector<std::string> notes = {};
  std::optional<MultigridReport> levels = {};
  std::string fault = {};  ///< without op: why the method does not apply to A
  ErrorKind fault_kind = ErrorKind::not_definite;  ///< input: A is not Hermitian
  bool automatic = false;   ///< may be replaced during the solve, see change_over.hpp
  bool polynomial = false;  ///< automatic: begins with chebyshev, else with Jacobi
  /// automatic: of the graph, if computed; without op change_over comes before any iteration.
  std::optional<GraphShape> shape = {};
  /// Replaces one found not to be positive definite; empty, or returning false: not possible.
  std::function<bool(Preconditioner&)> mend = {};
  /// Updates it for other values of the same pattern; empty: create a new one. Throws as the setup.
  std::function<void(Preconditioner&, Matrix const&)> refresh = {};
};

/// The optional components that some preconditioners need: those that the including target links.
/// Programs pass a type of their own.
struct LinkedComponents {
#ifdef BLOCKSPAN_HAS_DIRECT
  static constexpr bool direct = true;
#else
  static constexpr bool direct = false;
#endif
#ifdef BLOCKSPAN_HAS_KOKKOS_KERNELS
  static constexpr bool gauss_seidel = true;
#else
  static constexpr bool gauss_seidel = false;
#endif
};

namespace distributed {

/// One function per PreconditionerKind.
template <class Linked, class Scalar, class Exec>
class PreconditionerMaker {
 public:
  using Input = PreconditionerInput<Scalar, Exec>;
  using Made = Preconditioner<Scalar, Exec>;
  using Options = MultigridOptions<Scalar, Exec>;

  explicit PreconditionerMaker(Input const& in) : in_(in) {}

  bool on_one_rank() const { return in_.A->partition().ranks() == 1; }
  bool positive() const { return in_.kind == SolveKind::system; }

  Made jacobi() const {
    if (positive()) require_diagonal();
    return jacobi(jacobi_factors());
  }

  Made block_jacobi(int block_size) const {
    auto const block = run_agreed([&] { return in_.A->diagonal_block(in_.exec); });
    auto T = std::make_unique<BlockJacobiPreconditioner<Scalar, Exec>>(
        in_.exec, block, BlockJacobiOptions{block_size, !positive()}, ranks());
    Made made;
    if (T->block_size() == 1)
      made.notes.push_back(
          "block-jacobi found no dense tiles in the pattern, so that its blocks are single rows; "
          "block-jacobi:ROWS gives the size");
    if (T->indefinite_blocks() > 0)
      made.notes.push_back(std::to_string(T->indefinite_blocks()) +
                           " of the blocks of block-jacobi are not positive definite; their "
                           "modulus is used instead");
    made.op = std::move(T);
    return made;
  }

  Made chebyshev(ChebyshevOptions const& options) const {
    auto const setup = chebyshev_setup(options);
    Made made;
    made.fault = setup.fault;
    if (setup.usable()) made.op = polynomial(setup, options);
    return made;
  }

  Made gauss_seidel() const {
    if constexpr (Linked::gauss_seidel) {
      Made made;
      made.op = blockspan::gauss_seidel<Scalar, Exec>(in_.exec, in_.A->whole());
      return made;
    }
    fail(in_.where, "gauss-seidel is not linked: it is of the component kokkos_kernels");
  }

  /// memory_limit: in bytes, 0: none.
  Made direct([[maybe_unused]] std::int64_t memory_limit = 0) const {
    if constexpr (Linked::direct) {
      DirectOptions const options{
          .use = positive() ? DirectUse::definite : DirectUse::preconditioner,
          .memory_limit = memory_limit};
      if (on_one_rank()) {
        auto T = std::make_unique<DirectSolver<Scalar, Exec>>(blockspan::direct(
            in_.exec, in_.A->whole(), options, in_.mass != nullptr ? &in_.mass->whole() : nullptr));
        return of_factors(
            std::move(T), [](auto const& A) -> auto const& { return A->whole(); });
      }
      return of_factors(
          std::make_unique<DirectOnRankZero<Scalar, Exec>>(in_.exec, *in_.A, in_.mass, options),
          [](auto const& A) -> auto const& { return *A; });
    }
    fail(in_.where, "direct is not linked: it is a component");
  }

  Made multigrid(Options options) const {
    options.columns = in_.columns;
    if (on_one_rank()) {
      auto M = std::make_unique<Multigrid<Scalar, Exec>>(in_.exec, in_.A->whole(), options);
      auto const mend = [exec = in_.exec, &levels = *M](Made& self) {
        if (!levels.use_working_precision(exec)) return false;
        self.levels = levels.report();
        self.notes.push_back(self.levels->notes.back());
        return true;
      };
      auto const refresh = [exec = in_.exec, &levels = *M](Made& self, auto const& A) {
        levels.refresh(exec, A->whole());
        self.levels = levels.report();
      };
      return made_of_levels<Made>(std::move(M), mend, refresh);
    }
    if (positive()) require_diagonal();
    if constexpr (std::is_same_v<real_t<Scalar>, double>) {
      auto M = std::make_unique<DistributedMultigrid<Scalar, Exec>>(in_.exec, in_.A, options);
      auto const refresh = [exec = in_.exec, &levels = *M](Made& self, auto const& A) {
        levels.refresh(exec, A);
        self.levels = levels.report();
      };
      return made_of_levels<Made>(std::move(M), nullptr, refresh);
    }
    fail(in_.where, "multigrid on several ranks is in double precision only");
  }

  /// The first preconditioner of `automatic`; no op where the graph or, on devices, the rows say
  /// that it takes many iterations.
  Made first_of_automatic() const {
    std::optional<GraphShape> shape;
    bool early = false;
    if (positive()) require_diagonal();
    auto const W = jacobi_factors();
    std::optional<ChebyshevSetup<Scalar, Exec>> polynomial;  // at most one: 12 products
    auto const setup = [&]() -> auto const& {
      if (!polynomial) polynomial = chebyshev_setup(W, ChebyshevOptions{});
      return *polynomial;
    };
    if (in_.tolerance > 0) {
      if constexpr (support::runs_on_host_v<Exec>) {
        shape = early_shape(in_.kind, in_.exec, *in_.A, *in_.product, W);
        early = shape && early_work(in_.kind, *shape, in_.columns, in_.tolerance) > 0;
      } else
        early = levels_at_once(in_.kind, in_.exec, *in_.A, *in_.product, W, in_.tolerance);
    }
    // what suits indefinite pairs is Jacobi
    early = early && (positive() || setup().usable());
    auto made = early ? Made{.automatic = true, .polynomial = true} : first_to_iterate(W, setup);
    made.shape = shape;
    return made;
  }

  /// Jacobi for few rows and where the polynomial does not apply, else the polynomial.
  Made first_to_iterate() const {
    if (positive()) require_diagonal();
    auto const W = jacobi_factors();
    return first_to_iterate(W, [&] { return chebyshev_setup(W, ChebyshevOptions{}); });
  }

  /// Factors, if they are linked and cost less than `left` iterations of the current method
  /// (infinite: at any cost); else no op, with the reason in the notes.
  Made late_factors([[maybe_unused]] double left) const {
    if constexpr (Linked::direct) {
      try {
        return direct(
            factors_worth(in_.A->partition().global_rows(), in_.A->nonzeros(), in_.columns, left));
      } catch (Error const& error) {
        if (!ranks().all_threw(error)) throw;
        return only_note(error.what());
      }
    }
    return {};
  }

  /// Multigrid, whatever its probe reports; no op, with the reason in the notes, if it does not
  /// apply.
  Made late_levels(Options const& options) const {
    try {
      auto made = multigrid(options);
      return made.op ? std::move(made) : only_note("multigrid does not suit: " + made.fault);
    } catch (Error const& error) {
      if (!ranks().all_threw(error)) throw;
      return only_note(std::string("multigrid does not suit: ") + error.what());
    }
  }

  /// A hierarchy of one level, on one rank.
  Made inverse() const {
    if (!on_one_rank()) return {};
    Options options;
    options.coarse_rows = static_cast<int>(std::max<std::int64_t>(in_.A->local_rows(), 1));
    return late_levels(options);
  }

 private:
  using Factors = typename JacobiPreconditioner<Scalar, Exec>::Factors;

  static Made jacobi(Factors const& W) {
    Made made;
    made.op = std::make_unique<JacobiPreconditioner<Scalar, Exec>>(W);
    return made;
  }

  /// The same with Jacobi's factors, and the setup of the polynomial, for a diagonal that suits.
  template <class Setup>
  Made first_to_iterate(Factors const& W, Setup const& polynomial_setup) const {
    bool may_change = true;
    if (in_.A->partition().global_rows() >= automatic_least_rows) {
      auto const& setup = polynomial_setup();
      if (begins_with_polynomial(in_.kind, setup)) return first_polynomial(setup);
      may_change = positive() || setup.usable();
    }
    auto made = jacobi(W);
    made.automatic = may_change;
    return made;
  }

  Communicator ranks() const { return in_.A->row_space().communicator(); }
  template <class Function>
  auto run_agreed(Function const& f) const {
    return ranks().run_agreed(f);
  }

  /// Throws Error, on all ranks, with the first row whose diagonal entry is negative or not finite:
  /// A is then not positive semidefinite, and Jacobi does not apply. Zeros are left to the solver:
  /// an empty row (an isolated vertex of a graph) is harmless.
  void require_diagonal() const {
    if (!in_.refuse_diagonal) return;
    run_agreed([&] {
      auto const d = in_.A->diagonal(in_.exec);
      std::int64_t row = in_.A->row_space().first_row() + in_.first_row;
      for (std::size_t i = 0; i < d.size(); ++i, ++row)
        if (!(d[i] >= 0 && std::isfinite(d[i])))
          fail(ErrorKind::not_definite, in_.where, "the diagonal entry of row ", row,
               in_.first_row == 0 ? " (from 0)" : "", " is ", d[i],
               ", so the matrix is not positive definite");
    });
  }

  auto jacobi_factors() const {
    auto const block = run_agreed([&] { return in_.A->diagonal_block(in_.exec); });
    return blockspan::jacobi(in_.exec, block, in_.A->row_space().communicator()).factors();
  }

  ChebyshevSetup<Scalar, Exec> chebyshev_setup(ChebyshevOptions const& options) const {
    if (positive()) require_diagonal();
    return chebyshev_setup(jacobi_factors(), options);
  }
  ChebyshevSetup<Scalar, Exec> chebyshev_setup(Factors const& W,
                                               ChebyshevOptions const& options) const {
    return operators::bounded_by_rows(
        blockspan::chebyshev_setup<Scalar, Exec>(in_.exec, *in_.product, W, options),
        in_.A->measure_rows(in_.exec, W.data()));
  }

  auto polynomial(ChebyshevSetup<Scalar, Exec> const& setup,
                  ChebyshevOptions const& options) const {
    return std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(
        blockspan::chebyshev(*in_.product, setup, options));
  }

  Made first_polynomial(ChebyshevSetup<Scalar, Exec> const& setup) const {
    Made made;
    made.automatic = made.polynomial = true;
    made.op = polynomial(setup, ChebyshevOptions{});
    // its bound is an estimate by a few Lanczos steps, and may be too low
    made.mend = [in = in_](Made& self) {
      if (!std::exchange(self.polynomial, false)) return false;
      self.op = PreconditionerMaker(in).jacobi().op;
      self.notes.push_back("jacobi took over: the polynomial was not positive definite");
      return true;
    };
    return made;
  }

  /// of(A): the argument for refreshing the factors T.
  template <class Factors, class Of>
  Made of_factors(std::unique_ptr<Factors> T, Of const& of) const {
    Made made;
    made.notes = T->report().notes();
    made.refresh = [exec = in_.exec, &factors = *T, of](Made&, auto const& A) {
      factors.refresh(exec, of(A));
    };
    made.op = std::move(T);
    return made;
  }

  static Made only_note(std::string note) {
    Made made;
    made.notes.push_back(std::move(note));
    return made;
  }

  Input const& in_;
};

}  // namespace distributed

/// Creates the preconditioner of `words`. levels: options of multigrid, on several ranks with
/// blocks of the local rows; its degree and columns are those of `words` and `in`. No op for
/// `none`, and, with `fault`, if the method does not apply to A: chebyshev for an indefinite A, a
/// hierarchy whose report is not usable. Called by all ranks; fences the instance. Throws Error, on
/// all ranks, if A is not as definite as in.kind requires, for a component that is not linked, for
/// methods that are not available on several ranks (gauss-seidel; multigrid in single precision),
/// and as the setups do.
template <class Linked = LinkedComponents, class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_preconditioner(PreconditionerInput<Scalar, Exec> const& in,
                                                 PreconditionerWords const& words,
                                                 MultigridOptions<Scalar, Exec> levels = {}) {
  distributed::PreconditionerMaker<Linked, Scalar, Exec> const make(in);
  switch (words.kind) {
    case PreconditionerKind::none:
      break;
    case PreconditionerKind::jacobi:
      return make.jacobi();
    case PreconditionerKind::block_jacobi:
      return make.block_jacobi(words.block_size);
    case PreconditionerKind::chebyshev:
      return make.chebyshev({.degree = words.degree, .ratio = words.ratio});
    case PreconditionerKind::gauss_seidel:
      return make.gauss_seidel();
    case PreconditionerKind::direct:
      return make.direct();
    case PreconditionerKind::multigrid:
      levels.degree = words.degree;
      return make.multigrid(levels);
    case PreconditionerKind::automatic:
      return make.first_of_automatic();
  }
  return {};
}

}  // namespace blockspan
