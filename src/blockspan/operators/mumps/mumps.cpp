#include "mumps.h"

#include <algorithm>
#include <mutex>
#include <new>

#include <dmumps_c.h>

// OpenBLAS only: absent, and then null, with any other BLAS.
extern "C" {
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) void openblas_set_num_threads(int);
}

struct blockspan_mumps {
  DMUMPS_STRUC_C state;
};

namespace {

// MUMPS keeps global state apart from the instances.
std::mutex one_call;

enum Job { create = -1, destroy = -2, analyse = 1, factor = 2, solve = 3 };

int& control(DMUMPS_STRUC_C& state, int number) { return state.icntl[number - 1]; }

/// A count of MUMPS, which writes those that are too large for an int as negative millions.
std::int64_t count(int number) {
  return number < 0 ? -std::int64_t(number) * 1000000 : std::int64_t(number);
}

blockspan_mumps_report call(DMUMPS_STRUC_C& state, Job job) {
  std::lock_guard const lock(one_call);
  state.job = job;
  dmumps_c(&state);
  auto const* const info = state.infog;
  bool const factored = job != analyse;
  return {info[0],
          info[1],
          factored ? info[20] : info[15],
          count(factored ? info[28] : info[19]),
          info[11],
          info[27],
          info[24],
          state.rinfog[factored ? 2 : 0]};
}

/// Solves are many small products, which threads only delay.
class OneThread {
 public:
  OneThread() {
    if (openblas_get_num_threads && openblas_set_num_threads) {
      threads_ = openblas_get_num_threads();
      if (threads_ > 1) openblas_set_num_threads(1);
    }
  }
  ~OneThread() {
    if (threads_ > 1) openblas_set_num_threads(threads_);
  }
  OneThread(OneThread const&) = delete;
  OneThread& operator=(OneThread const&) = delete;

 private:
  int threads_ = 1;
};

}  // namespace

blockspan_mumps* blockspan_mumps_create(int definite) {
  auto* const handle = new (std::nothrow) blockspan_mumps();
  if (handle == nullptr) return nullptr;
  auto& state = handle->state;
  state.par = 1;
  state.sym = definite ? 1 : 2;
  state.comm_fortran = -987654;  // MUMPS' name for all processes
  if (call(state, create).code < 0) {
    delete handle;
    return nullptr;
  }
  for (int const stream : {1, 2, 3}) control(state, stream) = -1;
  control(state, 4) = 0;                  // silent
  control(state, 6) = 0;                  // no matching: the analysis serves all values
  control(state, 8) = 0;                  // the caller has scaled
  control(state, 24) = definite ? 0 : 1;  // null pivots
  return handle;
}

void blockspan_mumps_destroy(blockspan_mumps* handle) {
  if (handle == nullptr) return;
  call(handle->state, destroy);
  delete handle;
}

blockspan_mumps_report blockspan_mumps_analyse(blockspan_mumps* handle, int order,
                                               std::int64_t entries, int* rows, int* columns,
                                               int block) {
  auto& state = handle->state;
  state.n = order;
  state.nnz = entries;
  state.irn = rows;
  state.jcn = columns;
  enum Ordering { minimum_degree = 0, minimum_fill = 2, pord = 4 };
  // PORD ends the program where all rows have the same neighbours; approximate minimum degree
  // serves small and full matrices as well
  bool const is_large = order / block > 1000 && entries < std::int64_t(order) * order / 8;
  control(state, 15) = block > 1 ? -block : 0;
  control(state, 7) = is_large ? minimum_fill : minimum_degree;
  // KEEP(1), not in its guide: fronts of fewer pivots join their parents. Of grids, most have one
  // pivot, and a solve costs more for a front than for its entries
  int& least_pivots = state.keep[0];
  int const preset = least_pivots;
  least_pivots = std::max(preset, 12);
  auto const report = call(state, analyse);
  // little is gained by a better ordering where there is little fill, and it takes ten times as
  // long
  if (!is_large || report.code < 0 || report.factor_entries <= 60 * std::int64_t(order))
    return report;
  control(state, 7) = pord;
  // where many unknowns have the same neighbours, fronts are large as it is
  if (order > 20 * std::int64_t(state.infog[5])) least_pivots = preset;
  return call(state, analyse);
}

blockspan_mumps_report blockspan_mumps_factor(blockspan_mumps* handle, double* values) {
  auto& state = handle->state;
  state.a = values;
  auto report = call(state, factor);
  // the work space was predicted too small, as happens where pivots are delayed: more of it
  for (int const percent : {100, 400, 1600}) {
    if (report.code != -8 && report.code != -9) break;
    control(state, 14) = percent;
    report = call(state, factor);
  }
  state.a = nullptr;
  return report;
}

int blockspan_mumps_null_rows(blockspan_mumps* handle, int* rows, int most) {
  auto& state = handle->state;
  int const count = state.pivnul_list == nullptr ? 0 : std::min(most, state.infog[27]);
  std::copy_n(state.pivnul_list, count, rows);
  return count;
}

blockspan_mumps_report blockspan_mumps_solve(blockspan_mumps* handle, double* B, int columns) {
  OneThread const one_thread;
  auto& state = handle->state;
  state.rhs = B;
  state.nrhs = columns;
  state.lrhs = state.n;
  control(state, 27) = std::clamp(columns, 1, 64);  // columns at a time
  return call(state, solve);
}
