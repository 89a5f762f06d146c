#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include <blockspan/operators/cusparse_operator.hpp>
#include <blockspan/operators/kokkos_kernels_operator.hpp>
#include <blockspan/operators/peer_product.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/error.hpp>

#include "blockspan-spmm/blocks.hpp"
#include "blockspan-spmm/command.hpp"
#include "blockspan-spmm/launches.hpp"
#include "blockspan-spmm/result.hpp"
#include "common/machine/components.hpp"
#include "common/machine/dispatch.hpp"

namespace blockspan::apps {

/// op(A) and X, which every kernel of a width multiplies.
template <class Scalar, class Layout, class Exec>
struct Operands {
  using Block = BlockOf<Scalar, Layout, Exec>;

  Exec exec;
  CrsMatrix<Scalar, Exec> A;
  Op op;
  Block X;

  void fence() const { exec.fence("Blockspan::blockspan-spmm"); }
};

/// A kernel that is ready to multiply: queues Y = op(A) X.
template <class Block>
using Multiply = std::function<void(Block const& Y)>;

inline bool is_peer(std::string const& id) { return id == "cusparse" || id == "kokkos-kernels"; }

/// Why a peer cannot serve a run, whatever the matrix is; empty: it can.
template <class Scalar, class Exec>
std::string peer_refusal(std::string const& id, SpmmCommand const& command) {
  if (id == "cusparse" && backend_name<Exec>() != "cuda")
    return "cuSPARSE runs on the backend cuda only, and this run is on " + backend_name<Exec>();
  if (id == "cusparse" && !has_cusparse) return left_out("cusparse");
  if (id == "kokkos-kernels" && !has_kokkos_kernels) return left_out("kokkos_kernels");
  if (id == "kokkos-kernels" && !std::is_same_v<real_t<Scalar>, double>)
    return "Kokkos Kernels is compiled for f64 and c128 only, and this run is " +
           scalar_name<Scalar>();
  if (command.layout != "right")
    return "its product takes row-major blocks only, and this run has --layout " + command.layout;
  if (command.op != "none")
    return "its product multiplies by A itself only, and this run has --op " + command.op;
  return "";
}

namespace named_kernels {

/// Blockspan's product by the algorithm run.requested; fills in setup_ms.
template <class Operands>
auto plan_kernel(Operands const& with, SpmmRun& run, std::function<void(SpmmRun&)>& describe) {
  SpmmPlanOptions const options{.columns = run.columns, .algorithm = run.requested};
  SpmmPlan const warm_up(with.exec, with.A, options);  // the first one also loads its kernels
  with.fence();
  Kokkos::Timer const timer;
  SpmmPlan plan(with.exec, with.A, options);
  if (transposes(with.op)) plan.hold_transpose(with.exec, with.A);
  with.fence();
  run.setup_ms = 1e3 * timer.seconds();
  using Scalar = typename Operands::Block::value_type;
  describe = [plan](SpmmRun& of) {
    of.ran = plan.kernel(of.columns, sizeof(Scalar));
    of.explanation = plan.explain(of.columns, sizeof(Scalar));
  };
  return Multiply<typename Operands::Block>([plan, with](typename Operands::Block const& Y) {
    spmm(with.exec, plan, with.op, Scalar(1), with.A, with.X, Scalar(0), Y);
  });
}

/// A peer's product, of those that the program is linked with.
template <class Scalar, class Exec>
std::unique_ptr<PeerProduct<Scalar, Exec>> make_peer(Exec const& exec,
                                                     CrsMatrix<Scalar, Exec> const& A,
                                                     std::string const& id) {
  if constexpr (has_cusparse)
    if (id == "cusparse") return cusparse_product(exec, A);
  if constexpr (has_kokkos_kernels)
    if (id == "kokkos-kernels") return kokkos_kernels_product(exec, A);
  fail("blockspan-spmm", id, " is no peer of this build");
}

/// A peer's product, where peer_refusal has nothing against it. Throws Error where it cannot serve
/// the matrix.
template <class Scalar, class Layout, class Exec>
Multiply<BlockOf<Scalar, Layout, Exec>> peer_kernel(Operands<Scalar, Layout, Exec> const& with,
                                                    SpmmRun& run,
                                                    std::function<void(SpmmRun&)>& describe) {
  if constexpr (std::is_same_v<Layout, Kokkos::LayoutRight>) {
    std::shared_ptr<PeerProduct<Scalar, Exec>> const peer =
        make_peer(with.exec, with.A, run.requested);
    describe = [peer](SpmmRun& of) {
      of.ran = peer->name();
      of.setup_ms = 1e3 * peer->setup_seconds();
    };
    return [peer, with](auto const& Y) { peer->multiply(with.exec, with.X, Y); };
  } else {
    fail("blockspan-spmm", run.requested, " takes row-major blocks only");
  }
}

}  // namespace named_kernels

/// Makes the kernel run.requested ready, runs it once into Y, and fills in what is then known of
/// it: ran, explanation, setup_ms, first_ms. Throws Error if it cannot serve the operands.
template <class Scalar, class Layout, class Exec>
Multiply<BlockOf<Scalar, Layout, Exec>> prepare_kernel(Operands<Scalar, Layout, Exec> const& with,
                                                       BlockOf<Scalar, Layout, Exec> const& Y,
                                                       SpmmRun& run) {
  std::function<void(SpmmRun&)> describe;
  bool const peer = is_peer(run.requested);
  auto const multiply = peer ? named_kernels::peer_kernel(with, run, describe)
                             : named_kernels::plan_kernel(with, run, describe);
  Kokkos::Timer const timer;
  auto const launches = launches_of([&] {
    multiply(Y);
    with.fence();
  });
  run.first_ms = 1e3 * timer.seconds();
  describe(run);
  if (!peer) run.ran = kernel_that_ran(run.ran, launches);
  return multiply;
}

}  // namespace blockspan::apps
