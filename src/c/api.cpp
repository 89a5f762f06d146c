// The functions of blockspan.h: they check arguments, look up handles and translate exceptions.
#include <optional>
#include <utility>

#include "built.hpp"
#include "contexts.hpp"
#include "errors.hpp"
#include "handles.hpp"
#include "operator.hpp"
#include "values/statuses.hpp"
#include "values/structs.hpp"
#include <blockspan.h>
#if defined(BLOCKSPAN_HAS_MPI)
#include <blockspan/communication/mpi.hpp>
#endif

namespace capi = blockspan::capi;
using blockspan::require;
using capi::guarded;

namespace {

/// Never destroyed: callers may use handles in code that runs at the end of the process.
auto& contexts() {
  static auto* const all = new capi::Handles<blockspan_context, capi::Context>();
  return *all;
}
auto& operators() {
  static auto* const all = new capi::Handles<blockspan_operator, capi::Operator>();
  return *all;
}

template <class Handle>
void require_room(char const* where, char const* name, Handle const* out) {
  require(out != nullptr, where, name, " is NULL: there must be room for the handle");
}

/// A solve with its options, outputs and operators looked up.
template <class Options, class Solve>
void solve(char const* where, blockspan_operator A, Options const& options, capi::Results results,
           blockspan_summary* summary, Solve const& run) {
  auto const a = operators().find(where, "the operator", A);
  capi::require_summary(where, summary);
  run(*a, options, results);
  results.summary.size = sizeof results.summary;
  capi::give_summary(where, results.summary, summary);
}

/// solve() of eigenpairs by factors: run(matrix, mass or null, options, results).
template <class Solve>
blockspan_code solve_exactly(char const* where, blockspan_operator K, blockspan_operator M,
                             blockspan_exact_options const* options, capi::Results const& results,
                             blockspan_summary* summary, Solve const& run) {
  return guarded([&] {
    auto const taken = capi::taken(where, options, capi::exact_defaults());
    auto const mass = operators().find_or_null(where, "M", M);
    solve(where, K, taken, results, summary,
          [&](auto const& k, auto const& o, auto& filled) { run(k, mass.get(), o, filled); });
  });
}

blockspan_code csr(char const* where, blockspan_context context, std::int32_t scalar,
                   std::int32_t space, capi::CsrArrays const& arrays, blockspan_operator* matrix) {
  return guarded([&] {
    require_room(where, "matrix", matrix);
    auto const c = contexts().find(where, "the context", context);
    auto const& engine = capi::engine_of(*c, scalar);
    require(space == (c->device < 0 ? BLOCKSPAN_HOST : BLOCKSPAN_DEVICE), where, "space is ", space,
            ", and the context computes on ", c->device < 0 ? "the host" : "a device");
    *matrix = operators().add(engine.csr(c, arrays));
  });
}

#if defined(BLOCKSPAN_HAS_MPI)
bool mpi_runs() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}
#else
[[noreturn]] void no_mpi() {
  capi::not_built(
      "blockspan_context_create_mpi: the library was built without MPI "
      "(apt-get install libopenmpi-dev, then -DBlockspan_ENABLE_MPI=ON)");
}
#endif

}  // namespace

char const* blockspan_last_error(void) { return capi::last_error(); }

char const* blockspan_status_name(int32_t status) { return capi::name_of_status(status); }

blockspan_code blockspan_version(int32_t* major, int32_t* minor, int32_t* patch) {
  return guarded([&] {
    if (major) *major = capi::version[0];
    if (minor) *minor = capi::version[1];
    if (patch) *patch = capi::version[2];
  });
}

blockspan_code blockspan_configuration(char* json, size_t capacity, size_t* needed) {
  return guarded([&] { capi::give_text(capi::configuration(), json, capacity, needed); });
}

blockspan_code blockspan_sizes(int32_t* sizes, int32_t count) {
  return guarded([&] {
    constexpr std::size_t all[BLOCKSPAN_STRUCTS] = {sizeof(blockspan_block),
                                                    sizeof(blockspan_context_options),
                                                    sizeof(blockspan_preconditioner_options),
                                                    sizeof(blockspan_lobpcg_options),
                                                    sizeof(blockspan_cg_options),
                                                    sizeof(blockspan_exact_options),
                                                    sizeof(blockspan_summary),
                                                    sizeof(blockspan_progress)};
    require(sizes != nullptr && count >= 0 && count <= BLOCKSPAN_STRUCTS, "blockspan_sizes",
            "count is ", count, ", there are ", static_cast<int>(BLOCKSPAN_STRUCTS), " structs");
    for (int32_t i = 0; i < count; ++i) sizes[i] = static_cast<int32_t>(all[i]);
  });
}

blockspan_code blockspan_context_defaults(blockspan_context_options* options, size_t size) {
  return guarded([&] {
    capi::give_defaults("blockspan_context_defaults", options, size, capi::context_defaults());
  });
}

blockspan_code blockspan_context_create(blockspan_context_options const* options,
                                        blockspan_context* context) {
  return guarded([&] {
    constexpr auto where = "blockspan_context_create";
    require_room(where, "context", context);
    auto const taken = capi::taken(where, options, capi::context_defaults());
    *context = contexts().add(capi::make_context(taken, std::nullopt));
  });
}

blockspan_code blockspan_context_create_mpi(
    [[maybe_unused]] blockspan_context_options const* options, [[maybe_unused]] void const* comm,
    blockspan_context* context) {
  return guarded([&] {
    constexpr auto where = "blockspan_context_create_mpi";
    require_room(where, "context", context);
#if defined(BLOCKSPAN_HAS_MPI)
    require(comm != nullptr, where, "comm is NULL: it is the address of an MPI_Comm");
    require(mpi_runs(), where, "MPI is not initialized, or was finalized");
    MPI_Comm const given = *static_cast<MPI_Comm const*>(comm);
    require(given != MPI_COMM_NULL, where, "comm is MPI_COMM_NULL");
    auto const taken = capi::taken(where, options, capi::context_defaults());
    auto ranks = blockspan::mpi_communicator(given);
    *context = contexts().add(capi::make_context(taken, std::move(ranks)));
#else
    no_mpi();
#endif
  });
}

blockspan_code blockspan_context_create_mpi_fortran(
    [[maybe_unused]] blockspan_context_options const* options, [[maybe_unused]] int32_t comm,
    blockspan_context* context) {
#if defined(BLOCKSPAN_HAS_MPI)
  MPI_Comm const c = mpi_runs() ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
  return blockspan_context_create_mpi(options, &c, context);
#else
  return blockspan_context_create_mpi(options, nullptr, context);
#endif
}

blockspan_code blockspan_context_destroy(blockspan_context* context) {
  return guarded([&] {
    if (context == nullptr || *context == nullptr) return;
    contexts().remove("blockspan_context_destroy", "the context", *context);
    *context = nullptr;
  });
}

blockspan_code blockspan_report(blockspan_context context, char* json, size_t capacity,
                                size_t* needed) {
  return guarded([&] {
    constexpr auto where = "blockspan_report";
    auto const c = contexts().find(where, "the context", context);
    require(!c->report.empty(), where, "nothing was solved on this context");
    capi::give_text(c->report, json, capacity, needed);
  });
}

blockspan_code blockspan_matrix_csr(blockspan_context context, int32_t scalar, int64_t rows,
                                    int64_t columns, void const* offsets, int32_t offset_bits,
                                    int32_t const* column_indices, void const* values,
                                    int32_t space, blockspan_operator* matrix) {
  return csr("blockspan_matrix_csr", context, scalar, space,
             {rows, columns, offsets, offset_bits, column_indices, values, 0}, matrix);
}

blockspan_code blockspan_matrix_csr_from_one(blockspan_context context, int32_t scalar,
                                             int64_t rows, int64_t columns, void const* offsets,
                                             int32_t offset_bits, int32_t const* column_indices,
                                             void const* values, int32_t space,
                                             blockspan_operator* matrix) {
  return csr("blockspan_matrix_csr_from_one", context, scalar, space,
             {rows, columns, offsets, offset_bits, column_indices, values, 1}, matrix);
}

blockspan_code blockspan_matrix_distributed(blockspan_context context, int32_t scalar,
                                            int64_t const* cuts, int32_t const* own_offsets,
                                            int32_t const* own_columns, void const* own_values,
                                            int32_t const* other_offsets,
                                            int64_t const* other_columns, void const* other_values,
                                            blockspan_operator* matrix) {
  return guarded([&] {
    constexpr auto where = "blockspan_matrix_distributed";
    require_room(where, "matrix", matrix);
    auto const c = contexts().find(where, "the context", context);
    require(c->ranks.has_value(), where,
            "the context has no ranks (blockspan_context_create_mpi makes one)");
    *matrix =
        operators().add(capi::engine_of(*c, scalar)
                            .distributed(c, {cuts,
                                             {0, 0, own_offsets, 32, own_columns, own_values, 0},
                                             other_offsets,
                                             other_columns,
                                             other_values}));
  });
}

blockspan_code blockspan_operator_callback(blockspan_context context, int32_t scalar,
                                           int64_t const* cuts, int64_t local_rows,
                                           blockspan_apply apply, void* user, int32_t by_columns,
                                           char const* name, blockspan_operator* op) {
  return guarded([&] {
    constexpr auto where = "blockspan_operator_callback";
    require_room(where, "op", op);
    require(apply != nullptr, where, "apply is NULL");
    auto const c = contexts().find(where, "the context", context);
    *op = operators().add(capi::engine_of(*c, scalar)
                              .callback(c, {cuts, local_rows, apply, user, by_columns != 0,
                                            name ? name : "callback"}));
  });
}

blockspan_code blockspan_preconditioner_defaults(blockspan_preconditioner_options* options,
                                                 size_t size) {
  return guarded([&] {
    capi::give_defaults("blockspan_preconditioner_defaults", options, size,
                        capi::preconditioner_defaults());
  });
}

blockspan_code blockspan_preconditioner(blockspan_operator matrix, char const* words,
                                        blockspan_preconditioner_options const* options,
                                        blockspan_operator* preconditioner) {
  return guarded([&] {
    constexpr auto where = "blockspan_preconditioner";
    require_room(where, "preconditioner", preconditioner);
    require(words != nullptr, where, "words is NULL");
    auto const a = operators().find(where, "the matrix", matrix);
    auto const taken = capi::taken(where, options, capi::preconditioner_defaults());
    auto const mass = operators().find_or_null(where, "mass", taken.mass);
    auto made = a->preconditioner(a, words, taken, mass);
    *preconditioner = made ? operators().add(std::move(made)) : nullptr;
  });
}

blockspan_code blockspan_operator_refresh(blockspan_operator op, void const* other_values) {
  return guarded([&] {
    operators().find("blockspan_operator_refresh", "the operator", op)->refresh(other_values);
  });
}

blockspan_code blockspan_operator_describe(blockspan_operator op, char* text, size_t capacity,
                                           size_t* needed) {
  return guarded([&] {
    auto const o = operators().find("blockspan_operator_describe", "the operator", op);
    capi::give_text(o->describe(), text, capacity, needed);
  });
}

blockspan_code blockspan_operator_destroy(blockspan_operator* op) {
  return guarded([&] {
    if (op == nullptr || *op == nullptr) return;
    operators().remove("blockspan_operator_destroy", "the operator", *op);
    *op = nullptr;
  });
}

blockspan_code blockspan_multiply(blockspan_operator matrix, int32_t op, void const* alpha,
                                  blockspan_block const* X, void const* beta,
                                  blockspan_block const* Y) {
  return guarded([&] {
    operators().find("blockspan_multiply", "the matrix", matrix)->multiply(op, alpha, X, beta, Y);
  });
}

blockspan_code blockspan_apply_operator(blockspan_operator op, blockspan_block const* X,
                                        blockspan_block const* Y) {
  return guarded(
      [&] { operators().find("blockspan_apply_operator", "the operator", op)->apply(X, Y); });
}

blockspan_code blockspan_lobpcg_defaults(blockspan_lobpcg_options* options, size_t size) {
  return guarded([&] {
    capi::give_defaults("blockspan_lobpcg_defaults", options, size, capi::lobpcg_defaults());
  });
}

blockspan_code blockspan_lobpcg(blockspan_operator A, blockspan_operator mass,
                                blockspan_block const* X, blockspan_lobpcg_options const* options,
                                double* values, double* backward_errors, int32_t* statuses,
                                blockspan_summary* summary) {
  return guarded([&] {
    constexpr auto where = "blockspan_lobpcg";
    auto const taken = capi::taken(where, options, capi::lobpcg_defaults());
    auto const B = operators().find_or_null(where, "mass", mass);
    auto const M = operators().find_or_null(where, "preconditioner", taken.preconditioner);
    solve(where, A, taken, {values, backward_errors, statuses, nullptr, nullptr, {}}, summary,
          [&](auto const& a, auto const& o, auto& results) {
            a.lobpcg(B.get(), M.get(), X, o, results);
          });
  });
}

blockspan_code blockspan_cg_defaults(blockspan_cg_options* options, size_t size) {
  return guarded(
      [&] { capi::give_defaults("blockspan_cg_defaults", options, size, capi::cg_defaults()); });
}

blockspan_code blockspan_solve_spd(blockspan_operator A, blockspan_block const* B,
                                   blockspan_block const* X, blockspan_cg_options const* options,
                                   double* residuals, int32_t* statuses, int32_t* iterations,
                                   blockspan_summary* summary) {
  return guarded([&] {
    constexpr auto where = "blockspan_solve_spd";
    auto const taken = capi::taken(where, options, capi::cg_defaults());
    auto const M = operators().find_or_null(where, "preconditioner", taken.preconditioner);
    solve(where, A, taken, {nullptr, residuals, statuses, iterations, nullptr, {}}, summary,
          [&](auto const& a, auto const& o, auto& results) {
            a.solve_spd(M.get(), B, X, o, results);
          });
  });
}

blockspan_code blockspan_exact_defaults(blockspan_exact_options* options, size_t size) {
  return guarded([&] {
    capi::give_defaults("blockspan_exact_defaults", options, size, capi::exact_defaults());
  });
}

blockspan_code blockspan_eigenpairs_near(blockspan_operator K, blockspan_operator M, double sigma,
                                         blockspan_block const* X,
                                         blockspan_exact_options const* options, int64_t* found,
                                         double* values, double* backward_errors, int32_t* statuses,
                                         blockspan_summary* summary) {
  return solve_exactly("blockspan_eigenpairs_near", K, M, options,
                       {values, backward_errors, statuses, nullptr, found, {}}, summary,
                       [&](auto const& k, auto const* mass, auto const& o, auto& results) {
                         k.near(mass, sigma, X, o, results);
                       });
}

blockspan_code blockspan_eigenpairs_in(blockspan_operator K, blockspan_operator M, double from,
                                       double to, blockspan_block const* X,
                                       blockspan_exact_options const* options, int64_t* found,
                                       double* values, double* backward_errors, int32_t* statuses,
                                       blockspan_summary* summary) {
  return solve_exactly("blockspan_eigenpairs_in", K, M, options,
                       {values, backward_errors, statuses, nullptr, found, {}}, summary,
                       [&](auto const& k, auto const* mass, auto const& o, auto& results) {
                         k.inside(mass, from, to, X, o, results);
                       });
}

blockspan_code blockspan_count_eigenvalues(blockspan_operator K, blockspan_operator M, double from,
                                           double to, blockspan_exact_options const* options,
                                           int64_t* number, int32_t* trusted) {
  return guarded([&] {
    constexpr auto where = "blockspan_count_eigenvalues";
    auto const taken = capi::taken(where, options, capi::exact_defaults());
    auto const k = operators().find(where, "K", K);
    auto const mass = operators().find_or_null(where, "M", M);
    std::int64_t count = 0;
    bool const sure = k->count(mass.get(), from, to, taken, count);
    if (number) *number = count;
    if (trusted) *trusted = sure ? 1 : 0;
  });
}
