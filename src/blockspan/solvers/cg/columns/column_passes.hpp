#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/solvers/cg/columns/column_recurrence.hpp>
#include <blockspan/solvers/cg/columns/single_reduction.hpp>
#include <blockspan/solvers/cg/problem.hpp>
#include <blockspan/solvers/cg/thresholds.hpp>
#include <blockspan/solvers/common/column_kernels.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::krylov {

/// First step of a reduction whose second step is TakeRoots: nodes of Terms over the rows of this
/// rank, kept until the next call. Memory grows with the rows and the columns only, so that a
/// recorded step allocates nothing.
template <class Exec, class Real>
class KeptNodes {
 public:
  /// width: of the rows, in reals; `parts` of them are a column. Nothing waits.
  template <class Terms>
  void operator()(Exec const& exec, char const* label, Terms const& terms, RowChunks const& chunks,
                  std::int64_t width, int parts) {
    static_assert(Terms::count <= most_terms);
    nodes_ = sum_chunks(exec, label, terms, chunks, width, [&](std::int64_t) {
      return memory_.template device<Real>(
          exec, Workspace<Exec>::partials,
          most_nodes<Exec, Real>(chunks.rows) * most_terms * width);
    });
    nodes_.parts = parts;
  }

  Nodes<Real> const& nodes() const { return nodes_; }

 private:
  static constexpr int most_terms = 3;

  Workspace<Exec> memory_;
  Nodes<Real> nodes_{};
};

/// The host mirror of device values: the same memory on hosts; elsewhere page-locked memory, so
/// that a copy is asynchronous.
template <class Exec, class Real>
using HostMirror = Kokkos::View<Real*, std::conditional_t<runs_on_host_v<Exec>, Kokkos::HostSpace,
                                                          Kokkos::SharedHostPinnedSpace>>;

template <class Exec, class Numbers>
HostMirror<Exec, typename Numbers::value_type> host_mirror(Numbers const& numbers) {
  using Mirror = HostMirror<Exec, typename Numbers::value_type>;
  if constexpr (runs_on_host_v<Exec>)
    return numbers;
  else
    return allocate<Mirror>(Kokkos::DefaultHostExecutionSpace(), numbers.label(),
                            numbers.extent(0));
}

/// The scalars of the columns on the device, and a host mirror of those that the host reads: alpha
/// and beta for each part of a column, then a row for each `ColumnScalar`.
template <class Scalar, class Exec>
class ColumnValues {
 public:
  using Real = real_t<Scalar>;
  enum ColumnScalar { phi, state, gamma, curvature, square, goal, pending, count };

  ColumnValues(Exec const& exec, int columns)
      : exec_(exec),
        most_(columns),
        device_(allocate<decltype(device_)>(exec, "Blockspan::cg::scalars",
                                            columns * (2 * parts<Scalar> + count))),
        host_(host_mirror<Exec>(device_)) {}

  int width() const { return width_; }
  void set_width(int columns) { width_ = columns; }

  Real& operator()(ColumnScalar which, int c) { return host_(rest() + which * width_ + c); }

  ColumnScalars<Real> on_device() const {
    Real* const first = device_.data();
    auto const row = [&](ColumnScalar which) { return first + rest() + which * width_; };
    return {first,        first + parts<Scalar> * most_,
            row(phi),     row(state),
            row(gamma),   row(curvature),
            row(square),  row(goal),
            row(pending), parts<Scalar>};
  }

  void upload() {
    if constexpr (!on_host) Kokkos::deep_copy(exec_, shown(device_), shown(host_));
  }
  void download() {
    if constexpr (!on_host) Kokkos::deep_copy(exec_, shown(host_), shown(device_));
  }

  /// Leaves the columns `kept` only, on the host.
  void keep(std::vector<int> const& kept) {
    std::vector<Real> moved;
    for (int which = 0; which < count; ++which)
      for (int const c : kept) moved.push_back((*this)(static_cast<ColumnScalar>(which), c));
    width_ = static_cast<int>(kept.size());
    for (std::size_t i = 0; i < moved.size(); ++i)
      host_(static_cast<std::size_t>(rest()) + i) = moved[i];
  }

 private:
  static constexpr bool on_host = runs_on_host_v<Exec>;

  int rest() const { return 2 * parts<Scalar> * most_; }
  /// The scalars behind alpha and beta.
  template <class All>
  auto shown(All const& all) const {
    return Kokkos::subview(all, std::pair<int, int>(rest(), rest() + count * width_));
  }

  Exec exec_;
  int most_, width_ = 0;
  Kokkos::View<Real*, Kokkos::Device<Exec, typename Exec::memory_space>> device_;
  HostMirror<Exec, Real> host_;
};

/// The passes of the pseudo-block method over P, Q, R and E, and its scalars. A pass does all that
/// its blocks are read for; nothing waits. Words of a step: 2 for (p, q), 3 for R, 5 for E and P;
/// with one reduction 2 and 7; any M^-1 but row weights costs 2 more, and its own.
template <class Scalar, class Exec>
class ColumnPasses {
 public:
  using Real = real_t<Scalar>;
  using N = ColumnValues<Scalar, Exec>;

  ColumnPasses(CgProblem<Scalar, Exec>& problem, CgBlocks<Scalar, Exec>& blocks, int columns)
      : numbers(problem.exec, columns),
        problem_(problem),
        blocks_(blocks),
        dots_(problem.exec, columns),
        chunks_(local_chunks(problem.rows(), problem.workspace)),
        of_ranks_(problem.workspace.rows()) {}

  void set(int width, bool single_reduction) {
    numbers.set_width(width);
    single_ = single_reduction;
  }
  int width() const { return numbers.width(); }

  /// E = 0, P = M^-1 R.
  void start() {
    zero_block(problem_.exec, block_ref<Exec>(blocks_.correction(width())));
    auto const P = blocks_.direction(width()), R = blocks_.residual(width());
    if (problem_.preconditioned())
      problem_.apply_m(R, P);
    else
      copy_block<Exec, Scalar>(problem_.exec, block_ref<Exec>(R), block_ref<Exec>(P));
  }
  /// gamma = (r, p)
  void take_gamma() {
    reduce("Blockspan::cg::start", ProductTerms<Real>{r(), p()}, TakeStart<Real>{columns()});
  }

  /// Q = A P, with the sums of P and Q where the operator makes them in the same pass. These lack
  /// p.p, which only an operator without a bound of its norm needs in every step.
  void multiply() {
    auto const P = blocks_.direction(width()), Q = blocks_.spare(width());
    summed_ = problem_.knows_norm() && problem_.enqueue_a_dots(P, Q, dots_, single_);
    if (!summed_) problem_.enqueue_a(P, Q);
  }
  /// p.p is not among the sums of the last product.
  bool lacks_squares() const { return summed_; }

  /// alpha = gamma / (p, q)
  void take_alpha() {
    auto const timer = problem_.time(problem_.seconds.gram);
    TakeCurvature<Real> const take{columns()};
    if (summed_)
      take_sums_of<take.count>(dots_, sums_, take);
    else
      reduce("Blockspan::cg::curvature", CurvatureTerms<Real>{p(), q()}, take);
  }

  /// R -= Q alpha, and (r, r). Where M^-1 is a scaling of rows, beta comes from the same pass.
  void step_residual() {
    auto const timer = problem_.time(problem_.seconds.update);
    reduce("Blockspan::cg::residual",
           ResidualStepTerms<Real>{q(), r(), columns().alpha, problem_.weights()},
           TakeResidual<Real>{columns(), !problem_.general()});
  }

  /// Z = M^-1 R in the place of Q, beta = (r, z) / gamma. A scaling of rows is part of the passes
  /// before and after instead.
  void precondition() {
    if (!problem_.general()) return;
    problem_.enqueue_m(blocks_.residual(width()), blocks_.spare(width()));
    auto const timer = problem_.time(problem_.seconds.gram);
    reduce("Blockspan::cg::product", ProductTerms<Real>{r(), q()}, TakeProduct<Real>{columns()});
  }

  /// E += P alpha, P = Z + P beta.
  void step_direction() {
    auto const timer = problem_.time(problem_.seconds.update);
    for_each_row(problem_.exec, "Blockspan::cg::direction", problem_.rows(), parts_ * width(),
                 DirectionStep<Real>{e(), p(), problem_.general() ? q() : r(), columns().alpha,
                                     columns().beta, problem_.weights()});
  }

  // With one reduction a step.

  /// (r, w r) and (r, r) for the next predict().
  void measure_residual() {
    auto const timer = problem_.time(problem_.seconds.update);
    residual_sums_(problem_.exec, "Blockspan::cg::residual",
                   SizeTerms<Real>{r(), problem_.weights()}, chunks_, width() * parts_, parts_);
  }
  /// Q = A P; then alpha and beta of the next step, and the sizes of the residual.
  void predict() {
    using Terms = PredictionTerms<Real>;
    multiply();
    auto const timer = problem_.time(problem_.seconds.gram);
    PredictAlphaBeta<Real> const take{columns(), CgThresholds<Real>::cancelled};
    if (summed_) {
      take_sums_of<Terms::count>(dots_, residual_sums_, take);
    } else {
      sums_(problem_.exec, "Blockspan::cg::curvature", Terms{p(), q(), problem_.weights()}, chunks_,
            width() * parts_, parts_);
      take_sums_of<Terms::count>(sums_.nodes(), residual_sums_, take);
    }
    numbers.download();
  }
  /// R -= Q alpha, E += P alpha, P = Z + P beta; (r, w r) and (r, r).
  void update() {
    auto const timer = problem_.time(problem_.seconds.update);
    residual_sums_(
        problem_.exec, "Blockspan::cg::update",
        UpdateTerms<Real>{e(), p(), q(), r(), columns().alpha, columns().beta, problem_.weights()},
        chunks_, width() * parts_, parts_);
  }
  /// Whether beta of a column is pending: the true gamma has to be known, since the predicted one
  /// cancelled.
  bool any_pending() {
    for (int c = 0; c < width(); ++c)
      if (numbers(N::pending, c) != 0) return true;
    return false;
  }
  /// P = Z + P beta of these columns, after update().
  void correct_beta() {
    CorrectBeta<Real> const take{columns()};
    take_sums_of<take.count>(residual_sums_.nodes(), residual_sums_, take);
    step_direction();
  }

  N numbers;

 private:
  static constexpr int parts_ = parts<Scalar>;

  template <class Terms, class Take>
  void reduce(char const* label, Terms const& terms, Take const& take) {
    sums_(problem_.exec, label, terms, chunks_, width() * parts_, parts_);
    take_sums_of<Take::count>(sums_.nodes(), sums_, take);
  }
  /// `take` with the sums of each column over the rows of all ranks, which are one message: the
  /// first `count` from `first`, the others from `second`.
  template <int count, class First, class Take>
  void take_sums_of(First const& first, KeptNodes<Exec, Real> const& second, Take const& take) {
    if (!problem_.distributed()) return take_roots<count>(first, second.nodes(), take);
    auto const join = [&](auto const&... sums) {
      return sums_over_ranks<AddTerms, Real>(problem_.exec, chunks_, width(), of_ranks_, sums...);
    };
    SumsOfRank<First> const mine{first, count};
    constexpr int others = Take::count - count;
    auto const all = [&] {
      if constexpr (others > 0)
        return join(mine, SumsOfRank<Nodes<Real>>{second.nodes(), others});
      else
        return join(mine);
    }();
    auto rest = all;
    rest.data += count * width();
    take_roots<count>(all, rest, take);
  }
  template <int count, class First, class Take>
  void take_roots(First const& first, Nodes<Real> const& second, Take const& take) {
    TakeRoots<Exec, AddTerms, Real, count, First, Nodes<Real>, Take>{first, second, take}.launch(
        problem_.exec, "Blockspan::cg::columns", width());
  }

  ColumnScalars<Real> columns() const { return numbers.on_device(); }
  RowMajorRef<Real> e() const { return real_rows<Scalar, Exec>(blocks_.correction(width())); }
  RowMajorRef<Real> p() const { return real_rows<Scalar, Exec>(blocks_.direction(width())); }
  RowMajorRef<Real> q() const { return real_rows<Scalar, Exec>(blocks_.spare(width())); }
  RowMajorRef<Real> r() const { return real_rows<Scalar, Exec>(blocks_.residual(width())); }

  CgProblem<Scalar, Exec>& problem_;
  CgBlocks<Scalar, Exec>& blocks_;
  ProductDots<Scalar, Exec> dots_;  ///< of P and Q, where the product sums them
  bool summed_ = false;             ///< it did, last time
  bool single_ = false;
  RowChunks chunks_;
  Workspace<Exec> of_ranks_;  ///< for sums over ranks
  KeptNodes<Exec, Real> sums_;
  KeptNodes<Exec, Real> residual_sums_;  ///< (single reduction) read one product later
};

}  // namespace blockspan::krylov
