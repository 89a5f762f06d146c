#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/pencil_factors.hpp>
#include <blockspan/solvers/common/agreement.hpp>
#include <blockspan/solvers/common/phase_timer.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/exact.hpp>
#include <blockspan/solvers/exact/counting.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::exact {

/// Columns of a block and their products with M, the same memory where M is the identity.
template <class Scalar, class Exec>
struct WithMass {
  Block<Scalar, Exec> x, mx;
};

/// K x = lambda M x as the methods compute with it: products, solves and counts, on the meter.
/// Blocks have the local rows of K's row space; what is decided is decided alike on all ranks.
template <class Scalar, class Exec>
class Pencil {
 public:
  using Columns = Block<Scalar, Exec>;
  using Operator = LinearOperator<Scalar, Exec>;

  Pencil(Exec const& instance, Operator const& stiffness, Operator const* mass,
         operators::PencilFactors& shifted, ExactOptions const& chosen, ExactReport& result)
      : exec(instance),
        options(chosen),
        report(result),
        workspace(stiffness.row_space()),
        k_(stiffness),
        m_(mass),
        factors_(shifted),
        agreement_(ranks(), chosen.monitor || std::isfinite(chosen.time_limit) ||
                                !chosen.checkpoint.empty()) {
    report.norm_k = factors_.norm_k(), report.norm_m = factors_.norm_m();
    report.library = factors_.library();
  }
  ~Pencil() { report.seconds.total = solvers::seconds_since(start_); }
  Pencil(Pencil const&) = delete;
  Pencil& operator=(Pencil const&) = delete;

  std::int64_t rows() const { return factors_.rows(); }  ///< of all ranks
  RowSpace const& row_space() const { return workspace.rows(); }
  Communicator ranks() const { return row_space().communicator(); }
  bool generalized() const { return m_ != nullptr; }
  operators::PencilFactors& factors() { return factors_; }
  /// What rounding may do to a Rayleigh quotient, over its energies.
  double rounding_of_rows() const {
    auto const terms = [&](Operator const& A) {
      return static_cast<double>(A.facts().terms_per_row.value_or(rows()));
    };
    double const sum = terms(k_) + (m_ != nullptr ? terms(*m_) : 1);
    return (2 * sum + 8) * unit_roundoff<double>;
  }
  double seconds() const { return solvers::seconds_since(start_); }

  Columns new_block(std::string const& label, std::int64_t columns) const {
    return allocate<Columns>(exec, "Blockspan::exact::" + label, k_.rows(), columns);
  }
  WithMass<Scalar, Exec> new_pair(std::string const& label, std::int64_t columns) const {
    auto const x = new_block(label, columns);
    return {x, m_ != nullptr ? new_block("M " + label, columns) : x};
  }

  void multiply(Columns const& X, Columns const& Y) const { k_.apply(exec, X, Y); }

  /// Y = M X; nothing to do where M is the identity, and Y is X.
  void mass(Columns const& X, Columns const& Y) {
    if (m_ == nullptr || X.extent(1) == 0) return;
    solvers::PhaseTimer const timer(&exec, report.seconds.mass);
    m_->apply(exec, X, Y);
  }
  void mass(WithMass<Scalar, Exec> const& V) { mass(V.x, V.mx); }
  /// X and M X, which without a mass is X.
  WithMass<Scalar, Exec> with_mass(Columns const& X) {
    WithMass<Scalar, Exec> const V{
        X, generalized() ? new_block("MX", static_cast<std::int64_t>(X.extent(1))) : X};
    mass(V);
    return V;
  }

  /// What the methods see is mu = 1 / lambda, with K and M exchanged. Places in words, and those of
  /// a monitor, are the caller's.
  bool exchanged() const { return options.form == Spectral::buckling; }
  double shown(double place) const { return exchanged() ? 1 / place : place; }
  std::string shown(double from, double to) const {
    return in_words_interval(from, to, exchanged());
  }
  std::string words_uncountable(ShiftCount const& at) const {
    return in_words_uncountable(at, factors_.scaled_size(), exchanged());
  }
  /// Says why ends are not trusted.
  void refuse(CountedEnds const& ends) {
    report.proof = ends.falls() ? Proof::none : Proof::uncountable;
    report.trouble = in_words_untrusted(ends, factors_.scaled_size(), exchanged());
    if (ends.falls()) report.status = Status::mass_not_positive_definite;
  }

  /// Y = (K - sigma M)^-1 X, by copies where the factors are on the host.
  void solve(Columns const& X, Columns const& Y) {
    if (X.extent(1) == 0) return;
    solvers::PhaseTimer const timer(&exec, report.seconds.solve);
    auto const columns = static_cast<std::int64_t>(X.extent(1));
    auto const left = by_columns(X);
    if (factors_.on_device()) {
      factors_.solve(reinterpret_cast<double*>(left.data()), columns);
    } else {
      auto const host = on_host(left);
      factors_.solve(reinterpret_cast<double*>(host.data()), columns);
      Kokkos::deep_copy(exec, left, host);
    }
    convert_block(exec, left, Y);
    exec.fence("Blockspan::exact::solve");
    report.solved_columns += columns;
  }

  /// |x|^T (|K| + |lambda| |M|) |x| of the columns.
  std::vector<double> energies(Columns const& X, std::vector<double> const& values) const {
    auto const host = on_host(by_columns(X));
    return factors_.energies(reinterpret_cast<double const*>(host.data()), values);
  }

  /// |r^H (K - sigma M)^-1 r| of the columns of R, which is about what a residual does to a
  /// Rayleigh quotient; no more than a bound of it where that is below `least` for all of them.
  std::vector<double> second_order(Columns const& R, std::vector<double> const& least) {
    auto const k = static_cast<std::int64_t>(R.extent(1));
    auto const host = on_host(by_columns(R));
    auto result = factors_.scaled_squares(reinterpret_cast<double const*>(host.data()), k);
    bool seen = false;
    for (std::int64_t j = 0; j < k; ++j) {
      result[j] *= report.counts.back().inverse;
      seen = seen || !(result[j] <= least[j]);
    }
    if (!seen) return result;
    auto const Z = new_block("inverse", k);
    solve(R, Z);
    Kokkos::View<Scalar*, Kokkos::HostSpace> const dots("dots", static_cast<std::size_t>(k));
    column_dots(exec, R, Z, dots, workspace);
    for (std::int64_t j = 0; j < k; ++j) result[j] = Kokkos::abs(dots(j));
    return result;
  }

  /// Factors at a place near the shift where the count is certain.
  PlacedCount place(double shift, Move move, double scale) {
    solvers::PhaseTimer const timer(&exec, report.seconds.factorization);
    auto const placed = trusted_count(factors_, shift, move, scale);
    note(placed.at, placed.factorizations);
    return placed;
  }

  CountedEnds ends(double a, double b) {
    solvers::PhaseTimer const timer(&exec, report.seconds.factorization);
    auto const found = count_ends(factors_, a, b);
    note(found.from, 0), note(found.to, found.factorizations);
    return found;
  }

  /// Whether to go on, after a step.
  bool proceed(ExactProgress now) {
    enum { goes_on, is_late, is_stopped };
    now.steps = report.steps, now.factorizations = report.factorizations;
    now.shift = shown(now.shift);
    now.seconds = seconds();
    bool const last = report.steps >= options.max_steps;
    int mine = now.seconds > options.time_limit ? is_late : goes_on;
    if (mine == goes_on && !last && options.monitor && !options.monitor(now)) mine = is_stopped;
    int const all = agreement_.largest(mine);
    if (all == is_stopped)
      report.status = Status::stopped_by_monitor;
    else if (all == is_late)
      report.status = Status::time_limit;
    else if (last)
      report.status = Status::max_iterations;
    return all == goes_on && !last;
  }

  /// Whether a rank has been at work for so long.
  bool is_past(double limit) const { return agreement_.any(seconds() > limit); }

  Exec exec;
  ExactOptions const& options;
  ExactReport& report;
  Workspace<Exec> workspace;

 private:
  auto by_columns(Columns const& X) const {
    using Left = Kokkos::View<Scalar**, Kokkos::LayoutLeft, typename Exec::memory_space>;
    auto const left = allocate<Left>(exec, "Blockspan::exact::columns", X.extent(0), X.extent(1));
    convert_block(exec, X, left);
    return left;
  }

  /// A copy, or the same memory on hosts. Waits.
  template <class View>
  auto on_host(View const& X) const {
    auto const host = allocate_mirror(X);
    Kokkos::deep_copy(exec, host, X);
    exec.fence("Blockspan::exact::columns");
    return host;
  }

  void note(ShiftCount const& at, int factorizations) {
    report.counts.push_back(at);
    report.factorizations += factorizations;
    report.factor_entries = factors_.factor_entries();
    report.factor_bytes = factors_.bytes();
  }

  Operator const& k_;
  Operator const* m_;
  operators::PencilFactors& factors_;
  solvers::Agreement agreement_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace blockspan::exact
