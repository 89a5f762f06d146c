#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/kernels/columns.hpp>
#include <blockspan/spmm/kernels/list.hpp>
#include <blockspan/spmm/kernels/rows/rows.hpp>
#include <blockspan/spmm/kernels/rows/rows_host.hpp>
#include <blockspan/spmm/kernels/rows/sparse_rows.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/launch/check.hpp>
#include <blockspan/spmm/launch/copies.hpp>
#include <blockspan/spmm/launch/kernel_table.hpp>
#include <blockspan/spmm/launch/scale.hpp>
#include <blockspan/spmm/run/multiply.hpp>
#include <blockspan/spmm/run/run.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// Defined in kernels/sixteen_bit_rows.hpp, compiled on its own.
template <class Call>
void launch_sixteen_bit(Call const& call);

/// Handles products that do not need A; true if nothing is left to do.
template <class Exec, class Scalar, class Storage>
bool finished_without_matrix(Exec const& exec, Product<Scalar, Storage> const& product) {
  if (product.Y.rows == 0 || product.Y.columns == 0) return true;
  if (product.alpha != Scalar(0)) return false;
  scale_block(exec, product.alpha, product.beta, product.Y);
  return true;
}

/// A transposed product of several panels whose alpha or beta is NaN or infinite. Times such an
/// alpha, the sums of panels do not add up to alpha times the whole sum (a panel without entries of
/// a row gives NaN); and what such a beta makes of a complex y, the next panel, multiplying it by 1
/// + 0 i, would make NaN. So multiply(with alpha 1) adds the sums in memory of its own, and both
/// come last. Any other product is multiplied as it is. Fences where it allocates.
template <class Exec, class Scalar, class Storage, class Multiply>
void scale_last_if_not_finite(Exec const& exec, std::size_t panels,
                              Product<Scalar, Storage> const& product, Multiply const& multiply) {
  bool const finite = is_finite(product.alpha) && is_finite(product.beta);
  if (panels < 2 || !transposes(product.op) || finite) return multiply(product);
  auto const& Y = product.Y;
  using Memory = Kokkos::View<Storage*, typename Exec::memory_space>;
  auto const memory = allocate<Memory>(exec, "Blockspan::spmm::sums", Y.rows * Y.columns);
  auto sums = product;
  sums.alpha = Scalar(1), sums.beta = Scalar(0);
  sums.Y = {memory.data(), Y.rows, Y.columns, Y.columns, 1};
  multiply(sums);
  scale_sums<Exec, Storage>(exec, sums.Y, product.alpha, product.beta, Y);
  exec.fence("Blockspan::spmm, transposed in panels, with factors that are not finite");
}

/// A variant that was asked for by its id runs, or the call throws.
template <class Scalar, class Storage>
[[noreturn]] void refuse(SpmmVariant const& asked, Product<Scalar, Storage> const& product) {
  auto const& [op, alpha, X, beta, Y] = product;
  if constexpr (!std::is_same_v<Scalar, Storage>)
    fail("blockspan::spmm", asked.id,
         " has no kernel for 16-bit scalars; rows, segments and segments_sorted have");
  fail("blockspan::spmm", asked.id, " cannot serve this input; it needs ", asked.needs,
       " (columns: ", Y.columns, " of ", sizeof(Scalar), " bytes, strides of X: ", X.row_stride,
       ", ", X.column_stride, ", of Y: ", Y.row_stride, ", ", Y.column_stride, ")");
}

template <class Exec, class Scalar, class Ordinal>
Factor<Exec, Scalar, Ordinal> factor_of(Exec const& exec, PlanState<Exec, Ordinal>& plan, Op op,
                                        Scalar const* values) {
  auto const& cached = plan.cached;
  void const* const slices = slices_of(plan, values);
  if (!transposes(op)) return {plan.plain, values, op, slices};
  if (!cached.are_of(values) || !cached.has_transpose)
    return {transposed_of(exec, plan), values, op};
  if (cached.symmetry != Symmetry::none)
    return {plan.plain, values, without_transposing(op, cached.symmetry), slices};
  return {cached.prepared, cached.transposed.template as<Scalar>(), op};
}

/// The product with the copies that were decided in place of X and Y, in the plan's memory.
template <class Exec, class Scalar, class Ordinal>
Product<Scalar> with_copies(Exec const& exec, PlanState<Exec, Ordinal>& plan,
                            Decision const& decision, char const* label, Product<Scalar> product) {
  std::int64_t const columns =
      ceil_div(product.Y.columns, std::int64_t{device_vector_v<Scalar>}) * device_vector_v<Scalar>;
  if (decision.x == BlockCopy::row_major)
    product.X = row_major_copy(exec, plan.x_copy, product.X, std::string(label) + "::pack");
  if constexpr (!runs_on_host_v<Exec>) {
    if (decision.x == BlockCopy::whole_vectors) {
      auto const X = row_major_scratch<Scalar>(exec, plan.x_copy, product.X.rows, columns);
      relayout_block(exec, product.X, Scalar(0), X, std::string(label) + "::pack");
      product.X = X;
    }
    if (decision.y_by_copy) {
      product.Y = row_major_scratch<Scalar>(exec, plan.y_copy, product.Y.rows, columns);
      product.beta = Scalar(0);
    }
  }
  return product;
}

template <class Call>
void launch_by_rows(Call const& call) {
  with_entries<!runs_on_host_v<typename Call::Exec>, true>(
      call, [&](auto const& entries) { launch_rows(call, entries); });
}

template <class Kernel, class Call>
bool launched(Call const& call) {
  if (call.launch.kernel() != Kernel::row.kernel) return false;
  Kernel::launch(call);
  return true;
}
/// The one loop over the kernels.
template <class Call, class... Kernels>
void launch_one_of(KernelList<Kernels...>, Call const& call) {
  (void)(launched<Kernels>(call) || ...);
}

/// plan: not null for kernels of other libraries, which only run where they were asked for.
template <class Exec, class Scalar, class Ordinal>
void launch_kernel_of(SpmmCall<Exec, Scalar, Ordinal> const& call, PlanState<Exec, Ordinal>* plan) {
  auto const& launch = call.launch;
  if (!launch.is_registered()) return launch_one_of(CoreKernels{}, call);
  registered<Exec>("blockspan::spmm", kernel_table<Exec, Scalar, Ordinal>(), *launch.variant)(
      call, *plan);
}

/// The same for values and blocks of 16 bits.
template <class Exec, class Scalar, class Ordinal, class Storage>
void launch_kernel_of(SpmmCall<Exec, Scalar, Ordinal, Storage> const& call,
                      PlanState<Exec, Ordinal>*) {
  launch_sixteen_bit(call);
}

/// The one place where decided launches become types. Without a plan there are no copies, and no
/// rows are cut.
template <class Exec, class Scalar, class Storage, class Ordinal>
void run(Exec const& exec, PlanState<Exec, Ordinal>* plan, Decision const& decision,
         Factor<Exec, Storage, Ordinal> const& A, Product<Scalar, Storage> const& product) {
  auto operands = product;
  char const* const label = A.prepared.choice.variant->label;
  if constexpr (std::is_same_v<Scalar, Storage>)
    if (plan) operands = with_copies(exec, *plan, decision, label, product);
  for_each_launch(exec, plan, decision, A, operands,
                  [&](auto const& call, std::int64_t) { launch_kernel_of(call, plan); });
  if constexpr (std::is_same_v<Scalar, Storage> && !runs_on_host_v<Exec>)
    if (decision.y_by_copy)
      relayout_block<Exec, Scalar>(exec, operands.Y, product.beta, product.Y,
                                   std::string(label) + "::unpack");
}

template <class Exec, class Scalar, class Storage, class Ordinal>
void multiply_panels(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                     MatrixRef<Storage, void, Ordinal> const& A,
                     Product<Scalar, Storage> const& product) {
  constexpr bool sixteen_bits = !std::is_same_v<Scalar, Storage>;
  for (std::size_t p = 0; p < plan.states.size(); ++p) {
    auto const& panel = plan.rows.panels[p];
    auto& state = *plan.states[p];
    auto part = product_of_panel(product, panel);
    auto const factor = factor_of(exec, state, part.op, values_of(A, panel));
    part.op = factor.op;
    auto const& choice = factor.prepared.choice;
    bool const asked = sixteen_bits ? choice.asked : state.options.must_run();
    Decision const& decision = factor.prepared.decision_for(block_facts(part, asked));
    if (decision.launches.empty()) refuse(*choice.variant, part);
    run(exec, &state, decision, factor, part);
  }
}

template <class Exec, class Scalar, class Storage, class Ordinal>
void multiply(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
              MatrixRef<Storage, void, Ordinal> const& A, Product<Scalar, Storage> const& product) {
  constexpr bool sixteen_bits = !std::is_same_v<Scalar, Storage>;
  check_product("blockspan::spmm", A.pattern, product);
  check_plan("blockspan::spmm", plan, A.pattern);
  require(!sixteen_bits || A.pattern.block == 1, "blockspan::spmm", "blocks of ", A.pattern.block,
          " x ", A.pattern.block, " have no kernel for 16-bit scalars");
  if (finished_without_matrix(exec, product)) return;
  scale_last_if_not_finite(exec, plan.states.size(), product,
                           [&](auto const& some) { multiply_panels(exec, plan, A, some); });
}

template <class Exec, class Scalar, class Ordinal>
void multiply_unplanned(Exec const& exec, PatternRef<int, Ordinal> const& pattern,
                        Scalar const* values, Product<Scalar> const& product) {
  PreparedPattern<Exec, Ordinal> prepared;
  TransposedPattern<Exec, Ordinal> transposed;
  std::int64_t const block = pattern.block;
  prepared.choice.variant = &spmm_variant(block > 1 ? SpmmKernelId::groups : SpmmKernelId::rows);
  prepared.pattern = pattern;
  if (transposes(product.op)) {
    auto const entries = summarize(exec, pattern).rows.nonzeros;
    transposed = transpose_pattern(exec, pattern, entries);
    prepared.pattern = transposed.ref();
    prepared.pattern.block = block;
    prepared.permutation = transposed.permutation.data();
  }
  check_rows("blockspan::spmm", prepared.pattern, prepared.device->is_host);
  prepared.statistics.rows = prepared.pattern.rows;
  prepared.statistics.nonzeros = prepared.pattern.entries;
  if (block > 1) {
    prepared.statistics = statistics_of_blocks(prepared.statistics, block);
    prepared.groups = groups_of_blocks<Exec>(prepared.pattern, prepared.pattern.entries);
  }
  auto blocks = block_facts(product, false);
  blocks.may_copy = false;
  auto const decision = decide(prepared.facts(), prepared.choice, blocks, *prepared.device);
  PlanState<Exec, Ordinal>* const no_plan = nullptr;
  run(exec, no_plan, decision, Factor<Exec, Scalar, Ordinal>{prepared, values, product.op},
      product);
  // the transposed pattern is given back when this returns
  if (transposes(product.op)) exec.fence("Blockspan::spmm without a plan, transposed");
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
              Product<Scalar> const& product) {
  MatrixRef<Scalar, void, Ordinal> const all{without_offset_type(A.pattern), A.values};
  check_product("blockspan::spmm", all.pattern, product);
  if (finished_without_matrix(exec, product)) return;
  auto const rows = cut_into_panels(exec, A.pattern);
  scale_last_if_not_finite(exec, rows.panels.size(), product, [&](Product<Scalar> const& some) {
    for (auto const& panel : rows.panels)
      multiply_unplanned(exec, panel.pattern, values_of(all, panel), product_of_panel(some, panel));
  });
  // the narrowed offsets are given back on return
  if (rows.offsets.extent(0) > 0) exec.fence("Blockspan::spmm without a plan, narrowed offsets");
}

}  // namespace blockspan::products
