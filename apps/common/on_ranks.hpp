#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/convert.hpp>
#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/distributed_multigrid.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/support/error.hpp>

#include "common/input_file.hpp"
#include "common/output_file.hpp"
#include "common/preconditioner.hpp"
#include "common/problem.hpp"
#include "common/row_orders.hpp"
#include "common/spread.hpp"
#include "common/symmetry.hpp"

// What the programs do where their rows are spread over ranks. All ranks call these together.

namespace blockspan::apps {

/// The Hermitian matrix of `source`: of a spec each rank makes its rows, files of one triangle are
/// read by all, others by rank 0, which looks at their symmetry or takes the mean. like: the rows
/// of each rank; null: balanced. notes: of rank 0, see take_hermitian. Throws Error, on all ranks,
/// where it is not Hermitian.
template <class Scalar, class Exec>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> load_on_ranks(
    Exec const& exec, Communicator const& ranks, std::string const& source, bool symmetrize,
    std::vector<std::string>& notes, std::string const& kind = "matrix",
    RowPartition const* like = nullptr) {
  auto const load = [&] {
    return take_hermitian(exec, source, load_operator<Scalar>(exec, source, kind, notes),
                          symmetrize, notes);
  };
  if (kind != "matrix" || symmetrize) return spread_from_first<Scalar>(exec, ranks, like, load);
  return spread<Scalar>(
      exec, ranks, source, like, [](GeneratorSpec const& spec) { return spec.is_symmetric; }, load);
}

/// The rows of all ranks, and how the caller numbers them.
struct SpreadRows {
  RowSpace space;
  std::shared_ptr<RowOrder const> order;  ///< null: as `space` does

  std::int64_t local() const { return here(space); }
  /// In the caller's order.
  RowSpace callers() const {
    return order ? RowSpace(space.communicator(), order->from().cuts(), 0) : space;
  }
  static std::int64_t here(RowSpace const& space) {
    auto const [first, last] = space.range(space.communicator().rank(), 0);
    return last - first;
  }
};

/// The local rows of a block of the caller's rows.
template <class Scalar, class Exec>
Block<Scalar, Exec> in_order(Exec const& exec, SpreadRows const& rows,
                             Block<Scalar, Exec> const& given) {
  if (!rows.order) return given;
  auto const block = allocate<Block<Scalar, Exec>>(exec, "Blockspan::rows", rows.local(),
                                                   static_cast<std::int64_t>(given.extent(1)));
  auto const host = Kokkos::create_mirror_view(block);
  reorder_rows(*rows.order, true, Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), given),
               host);
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::in_order");
  return block;
}

/// The local rows of the block of a file, which rank 0 reads; none without a name.
template <class Scalar, class Exec>
Block<Scalar, Exec> load_rows(Exec const& exec, SpreadRows const& rows, std::string const& file) {
  if (file.empty()) return {};
  auto const callers = rows.callers();
  auto const& ranks = callers.communicator();
  HostBlock<Scalar> whole;
  ranks.together([&] {
    if (ranks.rank() == 0) whole = read_block<Scalar>(input_file(file));
  });
  auto columns = static_cast<std::int64_t>(whole.extent(1));
  ranks.broadcast(std::span(&columns, 1), 0);
  auto const block =
      allocate<Block<Scalar, Exec>>(exec, "Blockspan::" + file, SpreadRows::here(callers), columns);
  auto const host = Kokkos::create_mirror_view(block);
  scatter_block(callers, whole, host);
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::load_rows");
  return in_order<Scalar, Exec>(exec, rows, block);
}

/// All rows of a block, on rank 0, in the caller's order.
template <class Scalar, class Exec>
HostBlock<Scalar> gather_rows(SpreadRows const& rows, Block<Scalar, Exec> const& local) {
  auto const callers = rows.callers();
  auto const& ranks = callers.communicator();
  auto const room = [&](std::int64_t n) {
    return ranks.together([&] {
      return allocate<HostBlock<Scalar>>(Kokkos::DefaultHostExecutionSpace(), "Blockspan::rows", n,
                                         static_cast<std::int64_t>(local.extent(1)));
    });
  };
  auto const copy = ranks.together(
      [&] { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), local); });
  auto host = copy;
  if (rows.order) {
    auto const given = room(SpreadRows::here(callers));
    reorder_rows(*rows.order, false, host, given);
    host = given;
  }
  auto const n = callers.global_rows(static_cast<std::int64_t>(host.extent(0)));
  auto const whole = room(ranks.rank() == 0 ? n : 0);
  gather_block(callers, host, whole);
  return whole;
}

/// Writes all rows of the leading columns of a block to the file that rank 0 has claimed. Returns,
/// on rank 0, what went wrong, if anything did.
template <class Scalar, class Exec>
std::optional<std::string> write_rows(SpreadRows const& rows, Block<Scalar, Exec> const& local,
                                      int columns, OutputFile const* file) {
  HostBlock<Scalar> whole;
  std::optional<std::string> fault;
  try {
    whole = gather_rows<Scalar, Exec>(rows, local);
  } catch (AgreedError const& error) {  // no room for all rows, say
    fault = error.what();
  }
  if (file == nullptr) return std::nullopt;
  return file->write_by([&](std::string const& path) {
    if (fault) throw Error("cannot write " + path + ": " + *fault);
    write_block(path, Kokkos::subview(whole, Kokkos::ALL, std::pair(0, columns)));
  });
}

/// Refuses what is kept by consecutive rows where --partition takes them apart.
inline void require_consecutive_rows(std::string const& partition, bool needed,
                                     std::string const& option) {
  require(partition == "contiguous" || !needed, "--partition " + partition,
          option + " needs the rows in their order: --partition contiguous");
}
inline void require_order(std::string const& partition, PreconditionerChoice const& choice) {
  auto const& inputs = choice.inputs;
  require_consecutive_rows(partition, choice.kind == PreconditionerChoice::Kind::block_jacobi,
                           "--preconditioner block-jacobi");
  require_consecutive_rows(
      partition, !inputs.near_null.empty() || !inputs.coordinates.empty() || inputs.block_size > 1,
      "multigrid of nodes");
}

/// The plan of --spmm. Throws Error where that is the product of another library.
inline SpmmPlanOptions plan_on_ranks(std::string const& spmm) {
  require(spmm != "cusparse" && spmm != "kokkos-kernels", "--spmm " + spmm,
          "runs on one rank only");
  SpmmPlanOptions plan;
  if (spmm != "blockspan") plan.algorithm = spmm;
  return plan;
}

/// A in single precision, for --precision mixed.
template <class Scalar, class Exec>
struct SingleOnRanks {
  SingleOnRanks(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                SpmmPlanOptions const& plan)
      : SingleOnRanks(exec, single_precision_rows(exec, A), plan) {}

  DistributedOperator<single_t<Scalar>, Exec> op;  ///< factor A
  real_t<Scalar> factor;

 private:
  SingleOnRanks(Exec const& exec, SinglePrecisionRows<Scalar, Exec> const& A,
                SpmmPlanOptions const& plan)
      : op(exec, A.matrix, plan), factor(A.factor) {}
};

/// The nodes of a file that have local rows: rank 0 reads it. None without a name.
template <class Real, class Exec>
Block<Real, Exec> load_nodes(Exec const& exec, RowPartition const& rows, Communicator const& ranks,
                             std::string const& file) {
  if (file.empty()) return {};
  HostBlock<Real> whole;
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    whole = read_block<Real>(input_file(file));
    auto const nodes = static_cast<std::int64_t>(whole.extent(0)),
               d = static_cast<std::int64_t>(whole.extent(1));
    require((d == 2 || d == 3) && nodes * d == rows.global_rows(), "--coordinates", file, " is ",
            nodes, " x ", d, ", the matrix has ", rows.global_rows(), " rows");
  });
  auto d = static_cast<std::int64_t>(whole.extent(1));
  ranks.broadcast(std::span(&d, 1), 0);
  auto const nodes = [&](int rank) {
    auto const first = rows.first(rank), last = rows.last(rank);
    return std::pair(first / d, last > first ? (last - 1) / d + 1 : first / d);
  };
  auto const [first, last] = nodes(ranks.rank());
  auto const mine = blockspan::detail::deal<Real>(ranks, 0, (last - first) * d, [&](int rank) {
    auto const [from, to] = nodes(rank);
    return std::vector<Real>(whole.data() + from * d, whole.data() + to * d);
  });
  auto const block = allocate<Block<Real, Exec>>(exec, "Blockspan::" + file, last - first, d);
  auto const host = Kokkos::create_mirror_view(block);
  for (std::size_t k = 0; k < mine.size(); ++k)
    host(k / static_cast<std::size_t>(d), k % static_cast<std::size_t>(d)) = mine[k];
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::load_nodes");
  return block;
}

/// `instead` where multigrid does not suit.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_multigrid_on_ranks(
    Exec const& exec, PreconditionerChoice const& choice,
    DistributedOperator<Scalar, Exec> const& product, Preconditioner<Scalar, Exec> instead) {
  auto const& A = product.matrix();
  auto const rows = A.row_space();
  auto const& inputs = choice.inputs;
  MultigridOptions<Scalar, Exec> options;
  options.near_null = load_rows<Scalar>(exec, SpreadRows{rows, nullptr}, inputs.near_null);
  options.coordinates =
      load_nodes<real_t<Scalar>>(exec, A.partition(), rows.communicator(), inputs.coordinates);
  options.block_size = inputs.block_size;
  options.adaptive = inputs.adaptive;
  options.degree = choice.degree;
  options.columns = choice.columns;
  auto M =
      std::make_unique<DistributedMultigrid<Scalar, Exec>>(exec, product.shared_matrix(), options);
  auto report = M->report();
  report.message = without_cpp_names(report.message);
  if (!report.usable()) {
    instead.notes.push_back("jacobi instead of multigrid: " + report.message);
    return instead;
  }
  Preconditioner<Scalar, Exec> result;
  result.notes = report.notes;
  if (!report.message.empty()) result.notes.push_back("multigrid: " + report.message);
  result.levels = report;
  result.op = std::move(M);
  return result;
}

/// The same, if it finds itself good; otherwise none, and the reason among the notes.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_good_multigrid_on_ranks(
    Exec const& exec, PreconditionerChoice choice,
    DistributedOperator<Scalar, Exec> const& product) {
  choice.degree = 2;
  return detail::only_if_good(
      make_multigrid_on_ranks<Scalar>(exec, choice, product, Preconditioner<Scalar, Exec>()));
}

/// Multigrid in place of `instead` where it is advised at once and good; what is said of it is
/// noted in both cases, and when it may follow.
template <class Scalar, class Exec>
void prefer_multigrid_on_ranks(Exec const& exec, PreconditionerChoice const& choice,
                               DistributedOperator<Scalar, Exec> const& product,
                               SpectrumEstimate<real_t<Scalar>> const& spectrum, SolveKind kind,
                               Preconditioner<Scalar, Exec>& instead) {
  using When = MultigridAdvice::When;
  auto const& A = product.matrix();
  double const condition = spectrum.smallest > 0 ? spectrum.largest / spectrum.smallest
                                                 : std::numeric_limits<double>::infinity();
  auto const advice = advise_multigrid(A.partition().global_rows(), kind, condition);
  if (advice.when == When::at_once) {
    auto multigrid = make_good_multigrid_on_ranks<Scalar>(exec, choice, product);
    if (multigrid.op) {
      multigrid.notes.insert(multigrid.notes.begin(), "multigrid: " + advice.reason);
      instead = std::move(multigrid);
    } else {
      instead.notes = multigrid.notes;
    }
    return;
  }
  instead.notes.push_back((kind == SolveKind::system ? "jacobi: " : "chebyshev: ") + advice.reason);
  if (advice.when == When::late)
    instead.late_setup = A.row_space().communicator().largest(
        multigrid_setup_products * detail::seconds_of_product(exec, product));
}

/// Preconditioners that couple nothing across ranks, Chebyshev, and multigrid. Throws Error for
/// others, and where A is not as definite as it must be.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_preconditioner_on_ranks(
    Exec const& exec, PreconditionerChoice const& choice, std::string const& asked,
    DistributedOperator<Scalar, Exec> const& product, Definiteness definiteness) {
  using Kind = PreconditionerChoice::Kind;
  auto const& A = product.matrix();
  Communicator const ranks = A.row_space().communicator();
  auto const kind = choice.kind;
  constexpr bool wide = sizeof(real_t<Scalar>) == sizeof(double);
  ranks.together([&] {
    auto const where = "--preconditioner " + asked;
    bool const levels = kind == Kind::multigrid || kind == Kind::automatic;
    require(levels || kind == Kind::none || kind == Kind::jacobi || kind == Kind::block_jacobi ||
                kind == Kind::chebyshev,
            where,
            "on several ranks there are none, jacobi, block-jacobi, chebyshev, multigrid and "
            "automatic");
    require(!levels || wide, where, "with --precision mixed it runs on one rank only");
    require(choice.inputs.hierarchy.empty(), where,
            "levels made elsewhere (--hierarchy) are taken on one rank only");
  });
  if (kind == Kind::none) return {};
  auto const block = A.diagonal_block(exec);
  if (kind == Kind::block_jacobi)
    return ranks.together([&] {
      return detail::make_block_jacobi<Scalar>(exec, block, choice.block_size, definiteness);
    });
  auto result = ranks.together([&] {
    if (definiteness == Definiteness::positive)
      detail::require_diagonal(A.diagonal(exec), A.row_space().first_row());
    return detail::make_jacobi<Scalar>(exec, block, Definiteness::any);
  });
  if (kind == Kind::jacobi) return result;
  if constexpr (wide)
    if (kind == Kind::multigrid)
      return make_multigrid_on_ranks<Scalar>(exec, choice, product, std::move(result));
  ChebyshevOptions const options{.degree = choice.degree, .ratio = choice.ratio};
  auto const factors = static_cast<JacobiPreconditioner<Scalar, Exec> const&>(*result.op).factors();
  auto const setup = chebyshev_setup<Scalar, Exec>(exec, product, factors, options);
  bool const system = definiteness == Definiteness::positive;
  if (setup.usable() && (kind != Kind::automatic || !system))
    result.op = std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(
        chebyshev<Scalar, Exec>(product, setup, options));
  else if (!setup.usable())
    result.notes.push_back("jacobi instead of chebyshev: " + setup.fault);
  if constexpr (wide)
    if (kind == Kind::automatic && setup.usable())
      prefer_multigrid_on_ranks<Scalar, Exec>(exec, choice, product, setup.estimate,
                                              system ? SolveKind::system : SolveKind::eigenpairs,
                                              result);
  return result;
}

}  // namespace blockspan::apps
