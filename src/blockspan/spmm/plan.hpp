#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {

namespace products {

// What a plan does, on a state that users do not see (row_panels.hpp). Defined in plan_impl.hpp and
// explain_impl.hpp, compiled once per backend; the hold functions in cached_values_impl.hpp, with
// the products.

/// Cuts the matrix into panels of at most `most_entries` entries, inspects and prepares them.
/// Waits for the instance.
template <class Exec, class Offset, class Ordinal>
std::shared_ptr<PlanPanels<Exec, Ordinal>> make_plan_panels(Exec const& exec,
                                                            PatternRef<Offset, Ordinal> const& A,
                                                            SpmmPlanOptions const& options,
                                                            ScalarKind const& scalar,
                                                            std::shared_ptr<void const> owner,
                                                            std::int64_t most_entries = INT32_MAX);

template <class Exec, class Offset, class Ordinal>
bool has_pattern(Exec const& exec, PlanPanels<Exec, Ordinal> const& plan,
                 PatternRef<Offset, Ordinal> const& A);

/// array: keeps A's values alive.
template <class Exec, class Scalar, class Ordinal>
void hold_transpose(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                    MatrixRef<Scalar, void, Ordinal> const& A,
                    std::shared_ptr<void const> const& array);

template <class Exec, class Scalar, class Ordinal>
bool hold_slices(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                 MatrixRef<Scalar, void, Ordinal> const& A,
                 std::shared_ptr<void const> const& array);

/// The same plan, sharing what depends on the pattern, without copies of values.
template <class Exec, class Ordinal>
std::shared_ptr<PlanPanels<Exec, Ordinal>> without_copies(PlanPanels<Exec, Ordinal> const& plan);

template <class Exec, class Ordinal>
RowStatistics const& statistics_of(PlanPanels<Exec, Ordinal> const& plan);
template <class Exec, class Ordinal>
std::string_view algorithm_of(PlanPanels<Exec, Ordinal> const& plan);
template <class Exec, class Ordinal>
std::string kernel_of(PlanPanels<Exec, Ordinal> const& plan, int columns, std::size_t scalar_bytes);
template <class Exec, class Ordinal>
std::string explain_plan(PlanPanels<Exec, Ordinal>& plan, int columns, std::size_t scalar_bytes);

}  // namespace products

/// Inspects the pattern of a sparse matrix once, chooses how to multiply with it, prepares what
/// that needs, and says in words what it chose, why, and what it rejected.
///
/// The plan depends on the pattern and the type of the values: these may change between products.
/// Every product checks in O(1) that it is given the arrays the plan has seen; `verify` compares
/// their contents. The plan keeps these arrays alive. Copies share one state. Several
/// execution space instances may use one plan at once (each has its own scratch), but not two
/// threads the same instance.
///
/// Kernels count entries with 32 bits: of offsets that are not int the plan keeps a copy as int
/// (rows + 1 ints), and a matrix of more than 2^31 - 1 entries is multiplied in panels of rows,
/// each with a choice of its own (`algorithm`, `kernel` and `explain` speak of the first).
///
/// Setup: two passes over the row offsets and one over the columns, four more passes over the rows
/// to see which have the same columns (and over the columns of those), three more over the row
/// offsets if long rows are cut; on devices two merges of the rows of each window where windows of
/// rows are chosen, and where whole rows are, two more passes over the columns of large matrices
/// and two bytes a nonzero if these are near their rows. The first transposed product builds the
/// transposed pattern, two offsets or so and an ordinal a nonzero, and keeps it (hold_transpose
/// keeps the values as well). Both wait for the instance. Products do not, except where scratch
/// grows (the first product on an instance, or a wider one): the sums of cut rows, and row-major
/// copies of an X (on devices also of a Y) whose rows are not contiguous, where that pays.
template <class Exec, class Offset = int, class Ordinal = int>
class SpmmPlan {
 public:
  /// A: any KokkosSparse::CrsMatrix that `exec` can access, or any BsrMatrix: with blocks larger
  /// than 1 x 1 which only groups multiply. Throws Error if an option is bad, if another
  /// algorithm is asked for with such blocks, if the ordinals cannot count their rows and columns,
  /// on devices with 2^31 rows or 2^32 columns, or where memory is short.
  template <class Matrix>
  SpmmPlan(Exec const& exec, Matrix const& A, SpmmPlanOptions const& options = {}) {
    products::require_compiled_pattern<Exec, Offset, Ordinal>();
    options.validate();
    panels_ = products::make_plan_panels<Exec, Offset, Ordinal>(
        exec, sparse::product_pattern_ref<Exec>(A), options,
        products::scalar_kind<sparse::scalar_t<Matrix>>(),
        std::make_shared<std::pair<decltype(A.graph.row_map), decltype(A.graph.entries)>>(
            A.graph.row_map, A.graph.entries));
  }

  /// Implementation: a plan of panels that are made already.
  explicit SpmmPlan(std::shared_ptr<products::PlanPanels<Exec, Ordinal>> panels)
      : panels_(std::move(panels)) {}

  RowStatistics const& statistics() const { return products::statistics_of(*panels_); }

  /// Id of the variant chosen for A itself.
  std::string_view algorithm() const { return products::algorithm_of(*panels_); }

  /// Label of the kernel, as Kokkos Tools sees it, that multiplies A with a row-major, 16-byte
  /// aligned block of `columns` columns of scalars of `scalar_bytes` bytes (at least 8: of double
  /// precision). Throws Error where columns < 1.
  std::string kernel(int columns, std::size_t scalar_bytes = sizeof(double)) const {
    return products::kernel_of(*panels_, columns, scalar_bytes);
  }

  /// What was seen, what is run at this width, why, and what was rejected; what a product reads,
  /// and what another order of the rows might bring. Counts the columns that lie far from their
  /// row: one pass over the pattern, in the default instance. Throws Error where columns < 1.
  std::string explain(int columns, std::size_t scalar_bytes = sizeof(double)) const {
    return products::explain_plan(*panels_, columns, scalar_bytes);
  }

  /// True if A has the pattern this plan was made for, by a fingerprint of all offsets and columns.
  /// Waits for the instance. O(rows + nonzeros).
  template <class Matrix>
  bool verify(Exec const& exec, Matrix const& A) const {
    return products::has_pattern(exec, *panels_, sparse::product_pattern_ref<Exec>(A));
  }

  // What follows keeps a copy of A's values. It is for products with the same array of values and
  // scalar, and one matrix at a time. After values have changed call it again: until then the
  // products that read the copy use those of the last call; products with other arrays of values
  // are right in any case. The array stays alive with the copy, unless it is the caller's own
  // memory (an unmanaged view): then no other array may take its place. Not while products of this
  // plan run on other instances. Waits for the instance. Throws Error if A has another pattern, or
  // where memory is short: then the copy that was asked for is not stored, and the plan works as
  // without it.

  /// Keeps the values of A's transpose, so that products with Op::transpose and Op::adjoint read
  /// them in the order in which they are needed, and cost what a plain product of the transposed
  /// matrix costs; without this they look each value up. Where A is symmetric or Hermitian (its
  /// rows sorted, each value equal to its counterpart), nothing is kept: those products run as
  /// plain ones, with conjugated values where that is the difference. A first call builds the
  /// transposed pattern, O(nonzeros log nonzeros) on devices; the next ones are O(nonzeros) (of a
  /// symmetric matrix like the first). Takes a scalar a nonzero.
  template <class Matrix>
  void hold_transpose(Exec const& exec, Matrix const& A) {
    products::require_compiled_values<Exec, sparse::scalar_t<Matrix>, Offset, Ordinal>();
    products::hold_transpose(exec, *panels_, sparse::planned_matrix_ref<Exec>(A), array_of(A));
  }

  /// Keeps the entries of A in slices of rows, for products with one column of real scalars where
  /// the plan has them by whole rows, to the same bits: on hosts 1.2 to 3 times as fast where the
  /// matrix is in the caches, on devices 0.94 to 1.5 times. Takes an index and a scalar a nonzero
  /// (on devices also for gaps, a quarter of them at most) and two indices a row, and the time of 5
  /// products, on devices of 10 to 50. False, and nothing is kept, where there are no such
  /// products: complex scalars, float on hosts, a BsrMatrix, rows cut or grouped; on devices also
  /// few rows, short ones, lengths that differ much, and columns too far from their rows for 16
  /// bits. Source: SELL-C-sigma, Kreutzer et al. 2014, doi:10.1137/130930352, on hosts without its
  /// padding, on devices without its sorting.
  template <class Matrix>
  bool hold_slices(Exec const& exec, Matrix const& A) {
    products::require_compiled_values<Exec, sparse::scalar_t<Matrix>, Offset, Ordinal>();
    return products::hold_slices(exec, *panels_, sparse::planned_matrix_ref<Exec>(A), array_of(A));
  }

  /// A plan that shares all but copies of values with this one: it may hold those of other values.
  SpmmPlan without_copies() const { return SpmmPlan(products::without_copies(*panels_)); }

  /// Implementation: what the products read.
  products::PlanPanels<Exec, Ordinal>& panels() const { return *panels_; }

 private:
  template <class Matrix>
  static std::shared_ptr<void const> array_of(Matrix const& A) {
    return std::make_shared<decltype(A.values)>(A.values);
  }

  std::shared_ptr<products::PlanPanels<Exec, Ordinal>> panels_;
};

template <class Exec, class Matrix>
SpmmPlan(Exec const&, Matrix const&, SpmmPlanOptions const& = {})
    -> SpmmPlan<Exec, sparse::offset_t<Matrix>, sparse::ordinal_t<Matrix>>;

}  // namespace blockspan
