#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>

#include <blockspan/blocks/overlap.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/symmetry.hpp>
#include <blockspan/sparse/validate.hpp>
#include <blockspan/spmm/sddmm.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/tuned_plan.hpp>

#include "interruption.hpp"
#include "operators.hpp"
#include "runtime.hpp"
#include <nanobind/stl/complex.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

namespace blockspan::python {

namespace {

/// A view of a contiguous vector of Value, in NumPy `type`.
template <class Value>
Kokkos::View<Value*, Exec> vector_view(ConstArray const& array, nb::dlpack::dtype type,
                                       char const* name, char const* where = "blockspan.matrix") {
  require(array.ndim() == 1 && array.dtype() == type, where, name, " is ", in_words(array),
          "; wanted is a vector of ", type_name(type));
  require(array.shape(0) < 2 || array.stride(0) == 1, where, name,
          " is not contiguous: its stride is ", array.stride(0), " elements");
  check_device(array, name);
  return Kokkos::View<Value*, Exec>(static_cast<Value*>(array.data()), array.shape(0));
}

template <class Scalar>
class PlanOf final : public Plan {
 public:
  PlanOf(std::shared_ptr<MatrixOf<Scalar> const> matrix, PlanRequest const& request)
      : matrix_(std::move(matrix)),
        plan_(make(matrix_->crs(), request)),
        plan_of_others_(plan_.without_copies()) {}

  void multiply(Op op, std::complex<double> alpha, ConstArray const& X, std::complex<double> beta,
                Array const& Y, Stream stream) override {
    auto const a = scalar_of<Scalar>(alpha, "alpha");
    auto const b = scalar_of<Scalar>(beta, "beta");
    multiply(matrix_->crs(), op, a, X, b, Y, stream, true);
  }

  void multiply_with(ConstArray const& values, Op op, ConstArray const& X, Array const& Y,
                     Stream stream) override {
    using Factor = computed_t<Scalar>;
    multiply(matrix_->with_values(values), op, Factor(1), X, Factor(0), Y, stream, false);
  }

  std::int64_t rows(Op op) const override {
    return transposes(op) ? matrix_->columns() : matrix_->rows();
  }
  std::string type() const override { return type_name<Scalar>(); }
  nb::dlpack::dtype dtype() const override { return dtype_of<Scalar>(); }
  bool unchanged() const override { return matrix_->unchanged(); }
  std::string algorithm() const override { return std::string(plan_.algorithm()); }
  std::string kernel(int columns) const override { return plan_.kernel(columns, sizeof(Scalar)); }
  std::string explain(int columns) const override { return plan_.explain(columns, sizeof(Scalar)); }

  void hold_transpose(Stream stream) override {
    WithoutGil const without_gil;
    std::scoped_lock const lock(mutex_);
    plan_.hold_transpose(instance_to_wait_for(stream), matrix_->crs());
  }

 private:
  void multiply(CrsMatrix<Scalar, Exec> const& A, Op op, computed_t<Scalar> alpha,
                ConstArray const& X, computed_t<Scalar> beta, Array const& Y, Stream stream,
                bool own_values) {
    matrix_->check_unchanged();
    auto const x = strided_block<Scalar const>(X, "X");
    auto const y = strided_block<Scalar>(Y, "out");
    require(blocks::has_distinct_elements(blocks::block_ref<Exec>(y)), "blockspan.spmm",
            "elements of out share memory: strides ", y.stride(0), ", ", y.stride(1));
    WithoutGil const without_gil;
    std::scoped_lock const lock(mutex_);
    calls_.queue(stream, {op, x.extent(1), own_values, order_of(x), order_of(y)},
                 [&](Exec const& exec) {
                   spmm(exec, own_values ? plan_ : plan_of_others_, op, alpha, A, x, beta, y);
                 });
  }

  static SpmmPlan<Exec> make(CrsMatrix<Scalar, Exec> const& A, PlanRequest const& request) {
    if constexpr (!is_sixteen_bit_v<Scalar>) {
      if (request.tune)
        return interruptible([&] {
          auto const exec = instance_to_wait_for(request.stream);
          return tuned_plan(exec, A, request.options, {.cache_file = request.cache});
        });
    } else {
      require(!request.tune, "blockspan.Plan", "values of type ", type_name<Scalar>(),
              " have no kernels to choose among: tune is not for them");
    }
    WithoutGil const without_gil;
    auto const exec = instance_to_wait_for(request.stream);
    return SpmmPlan<Exec>(exec, A, request.options);
  }

  std::shared_ptr<MatrixOf<Scalar> const> matrix_;
  SpmmPlan<Exec> plan_;
  SpmmPlan<Exec> plan_of_others_;  ///< holds no copies, which the matrix' own array would get
  Calls calls_;
  std::mutex mutex_;
};

/// An integer of 32 or 64 bits.
std::int64_t integer(ArrayView const& array, std::int64_t i) {
  auto const* const at =
      static_cast<char const*>(array.data()) + i * array.stride(0) * (array.dtype().bits / 8);
  if (array.dtype() == nb::dtype<int>()) return *reinterpret_cast<int const*>(at);
  return *reinterpret_cast<std::int64_t const*>(at);
}

std::shared_ptr<Matrix> make_matrix(std::int64_t rows, std::int64_t columns,
                                    ConstArray const& offsets, ConstArray const& indices,
                                    ConstArray const& values, ConstArray const& given_offsets,
                                    ConstArray const& given_indices, Stream stream) {
  start();
  Given const given{given_offsets, given_indices};
  return with_values(type_name(values.dtype()), [&]<class Scalar>() -> std::shared_ptr<Matrix> {
    return std::make_shared<MatrixOf<Scalar>>(rows, columns, offsets, indices, values, given,
                                              stream);
  });
}

}  // namespace

Watch::Watch(Given const& given) : given_(given) {
  auto const is_known = [](ArrayView const& array) {
    return array.ndim() == 1 &&
           (array.dtype() == nb::dtype<int>() || array.dtype() == nb::dtype<std::int64_t>());
  };
  known_ = is_known(given.offsets) && is_known(given.columns);
  auto const rows = known_ ? static_cast<std::int64_t>(given.offsets.shape(0)) - 1 : 0;
  for (std::int64_t i = 0; i < rows && descent_ < 0; ++i) {
    std::int64_t const last = integer(given.offsets, i + 1);
    for (std::int64_t k = integer(given.offsets, i) + 1; k < last && descent_ < 0; ++k)
      if (integer(given.columns, k) < integer(given.columns, k - 1)) descent_ = k;
  }
}

std::int64_t Watch::end() const {
  return integer(given_.offsets, static_cast<std::int64_t>(given_.offsets.shape(0)) - 1);
}

bool Watch::unchanged(std::int64_t entries) const {
  if (!known_) return true;
  return end() == entries && (descent_ < 0 || integer(given_.columns, descent_) <
                                                  integer(given_.columns, descent_ - 1));
}

template <class Scalar>
MatrixOf<Scalar>::MatrixOf(std::int64_t rows, std::int64_t columns, ConstArray const& offsets,
                           ConstArray const& indices, ConstArray const& values, Given const& given,
                           Stream stream)
    : owners_{keep(offsets.owner()), keep(indices.owner()), keep(values.owner()),
              keep(given.offsets.owner()), keep(given.columns.owner())} {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  require(rows >= 0 && columns >= 0 && rows < most && columns < most, "blockspan.matrix",
          "the shape ", rows, " x ", columns, " is not one of numbers from 0 to ", most - 1);
  auto const row_map = vector_view<int>(offsets, nb::dtype<int>(), "indptr");
  auto const entries = vector_view<int>(indices, nb::dtype<int>(), "indices");
  auto const numbers = vector_view<Scalar>(values, dtype_of<Scalar>(), "data");
  require(row_map.extent(0) == static_cast<std::size_t>(rows) + 1, "blockspan.matrix",
          "indptr has ", row_map.extent(0), " elements, and there are ", rows, " rows");
  require(entries.extent(0) == numbers.extent(0), "blockspan.matrix", "indices has ",
          entries.extent(0), " elements and data ", numbers.extent(0));
  WithoutGil const without_gil;
  crs_ = Crs("blockspan.matrix", static_cast<int>(rows), static_cast<int>(columns),
             static_cast<int>(entries.extent(0)), numbers, row_map, entries);
  auto const report = validate(instance_to_wait_for(stream), crs_);
  require(report.valid, "blockspan.matrix", report.fault);
  if constexpr (!on_device) watch_ = Watch(given);
}

template <class Scalar>
void MatrixOf<Scalar>::check_end() const {
  if (!watch_ || !watch_->knows()) return;
  require(watch_->end() == entries(), "blockspan",
          "the arrays that the matrix shares were changed in place: indptr ends at ", watch_->end(),
          ", and it was made with ", entries(), " entries: call blockspan.matrix again");
}

template <class Scalar>
void MatrixOf<Scalar>::check_unchanged() const {
  check_end();
  require(unchanged(), "blockspan",
          "rows of the arrays that the matrix shares were put in order in place: make plans, "
          "operators and preconditioners of it again");
}

template <class Scalar>
std::string MatrixOf<Scalar>::asymmetry(Stream stream) const {
  return with_scalar(type(), [&]<class Known>() -> std::string {
    if constexpr (std::is_same_v<Known, Scalar>) {
      check_unchanged();
      WithoutGil const without_gil;
      auto const exec = instance_to_wait_for(stream);
      if (find_asymmetry(exec, crs_)) return {};
      auto const found = find_scaled_asymmetry(exec, crs_);
      if (found.difference <= found.rounding_of_sums) return {};
      auto const apart = Kokkos::abs(found.entry - conjugate(found.mirror)) /
                         std::max(Kokkos::abs(found.entry), Kokkos::abs(found.mirror));
      auto const digits = std::clamp(3 - static_cast<int>(std::floor(std::log10(apart))), 6, 17);
      auto const in_words = [&](Scalar const& x) {
        std::ostringstream out;
        out << std::setprecision(digits);  // enough to see the difference
        if constexpr (is_complex_v<Scalar>)
          out << std_t<Scalar>(x.real(), x.imag());
        else
          out << x;
        return out.str();
      };
      auto const place = [](std::int64_t i, std::int64_t j) {
        return "(" + std::to_string(i) + ", " + std::to_string(j) + ")";
      };
      return std::string(is_complex_v<Scalar> ? "not Hermitian" : "not symmetric") + ": entry " +
             place(found.row, found.column) + " is " + in_words(found.entry) + ", but entry " +
             place(found.column, found.row) + " is " + in_words(found.mirror) + " (counted from 0)";
    }
    return {};
  });
}

template <class Scalar>
std::unique_ptr<Plan> MatrixOf<Scalar>::plan(PlanRequest const& request) const {
  return std::make_unique<PlanOf<Scalar>>(
      std::static_pointer_cast<MatrixOf const>(shared_from_this()), request);
}

template <class Scalar>
typename MatrixOf<Scalar>::Crs MatrixOf<Scalar>::with_values(ConstArray const& values) const {
  auto const numbers = vector_view<Scalar>(values, dtype_of<Scalar>(), "values", "blockspan");
  require(static_cast<std::int64_t>(numbers.extent(0)) == entries(), "blockspan", "there are ",
          numbers.extent(0), " values, and the pattern has ", entries(), " entries");
  return Crs("blockspan.matrix", crs_.numCols(), numbers, crs_.graph);
}

template <class Scalar>
void MatrixOf<Scalar>::sample(ConstArray const& X, ConstArray const& Y, bool conjugate_first,
                              std::complex<double> alpha, std::complex<double> beta,
                              Array const& values, Stream stream) const {
  auto const x = strided_block<Scalar const>(X, "X");
  auto const y = strided_block<Scalar const>(Y, "Y");
  auto const a = scalar_of<Scalar>(alpha, "alpha");
  auto const b = scalar_of<Scalar>(beta, "beta");
  auto const out = vector_view<Scalar>(values, dtype_of<Scalar>(), "out", "blockspan.sddmm");
  auto const conjugated = conjugate_first ? Conjugated::first : Conjugated::second;
  WithoutGil const without_gil;
  std::scoped_lock const lock(mutex_);
  samples_.queue(stream, {},
                 [&](Exec const& exec) { sddmm(exec, conjugated, a, crs_, x, y, b, out); });
}

template <class Scalar>
std::unique_ptr<Operator> MatrixOf<Scalar>::as_operator(int columns, Stream stream) const {
  return with_scalar(type(), [&]<class Known>() -> std::unique_ptr<Operator> {
    if constexpr (std::is_same_v<Known, Scalar>) {
      WithoutGil const without_gil;
      return std::make_unique<OperatorOf<Scalar>>(
          std::make_shared<MatrixOperator<Scalar, Exec>>(instance_to_wait_for(stream), crs_,
                                                         SpmmPlanOptions{.columns = columns}),
          shared_from_this(), shared_from_this());
    }
    return nullptr;
  });
}

Op op_of(char letter) {
  return letter == 't'   ? Op::transpose
         : letter == 'c' ? Op::conjugate
         : letter == 'h' ? Op::adjoint
                         : Op::none;
}

void bind_matrix(nb::module_& m) {
  auto plans = nb::class_<Plan>(m, "Plan");
  if constexpr (!on_device) bind_product(m, plans);
  plans
      .def(
          "multiply",
          [](Plan& plan, char op, std::complex<double> alpha, ConstArray const& X,
             std::complex<double> beta, Array const& Y,
             Stream stream) { plan.multiply(op_of(op), alpha, X, beta, Y, stream); },
          nb::arg("op"), nb::arg("alpha"), nb::arg("X").noconvert(), nb::arg("beta"),
          nb::arg("Y").noconvert(), nb::arg("stream"))
      .def(
          "multiply_with",
          [](Plan& plan, ConstArray const& values, char op, ConstArray const& X, Array const& Y,
             Stream stream) { plan.multiply_with(values, op_of(op), X, Y, stream); },
          nb::arg("values").noconvert(), nb::arg("op"), nb::arg("X").noconvert(),
          nb::arg("Y").noconvert(), nb::arg("stream"))
      .def_prop_ro("algorithm", &Plan::algorithm)
      .def("kernel", &Plan::kernel, nb::arg("columns"))
      .def("explain", &Plan::explain, nb::arg("columns"))
      .def("hold_transpose", &Plan::hold_transpose, nb::arg("stream"));
  nb::class_<Matrix>(m, "Matrix")
      .def_prop_ro("type", &Matrix::type)
      .def_prop_ro("rows", &Matrix::rows)
      .def_prop_ro("columns", &Matrix::columns)
      .def_prop_ro("entries", &Matrix::entries)
      .def_prop_ro("unchanged", &Matrix::unchanged)
      .def("check_end", &Matrix::check_end)
      .def(
          "plan",
          [](Matrix const& A, int columns, std::string algorithm, bool tune, std::string cache,
             Stream stream) {
            return A.plan({{.columns = columns, .algorithm = std::move(algorithm)},
                           tune,
                           std::move(cache),
                           stream});
          },
          nb::arg("columns"), nb::arg("algorithm"), nb::arg("tune"), nb::arg("cache"),
          nb::arg("stream"))
      .def("sample", &Matrix::sample, nb::arg("X").noconvert(), nb::arg("Y").noconvert(),
           nb::arg("conjugate_first"), nb::arg("alpha"), nb::arg("beta"),
           nb::arg("values").noconvert(), nb::arg("stream"))
      .def("asymmetry", &Matrix::asymmetry, nb::arg("stream"))
      .def("as_operator", &Matrix::as_operator, nb::arg("columns"), nb::arg("stream"));
  m.def("matrix", &make_matrix, nb::arg("rows"), nb::arg("columns"), nb::arg("offsets").noconvert(),
        nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
        nb::arg("given_offsets").noconvert(), nb::arg("given_indices").noconvert(),
        nb::arg("stream"));
}

}  // namespace blockspan::python
