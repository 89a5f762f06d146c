#include "operators.hpp"

#include "interruption.hpp"
#include "runtime.hpp"
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

namespace blockspan::python {

namespace {

template <class View>
nb::object as_numpy(View const& X) {
  using Value = typename View::non_const_value_type;
  using Lent = std::conditional_t<std::is_const_v<typename View::value_type>,
                                  nb::ndarray<nb::numpy, std_t<Value> const, nb::ndim<2>>,
                                  nb::ndarray<nb::numpy, std_t<Value>, nb::ndim<2>>>;
  std::int64_t const strides[2] = {static_cast<std::int64_t>(X.stride(0)),
                                   static_cast<std::int64_t>(X.stride(1))};
  auto* const data = const_cast<Value*>(X.data());
  return nb::cast(Lent(data, {X.extent(0), X.extent(1)}, nb::handle(), {strides[0], strides[1]}),
                  nb::rv_policy::reference);
}

/// A block of the solver, valid during the call: a NumPy array, on devices a tuple as in
/// array_views.hpp.
template <class View>
nb::object lend(View const& X) {
  if constexpr (on_device)
    return nb::make_tuple(nb::none(), reinterpret_cast<std::uintptr_t>(X.data()),
                          nb::make_tuple(X.extent(0), X.extent(1)),
                          nb::make_tuple(X.stride(0), X.stride(1)),
                          sizeof(typename View::value_type),
                          type_name<typename View::non_const_value_type>(), device_of_library());
  else
    return as_numpy(X);
}
/// Y = f(X) by Python code: function(X, Y) writes Y.
template <class Scalar>
class FunctionOfPython final : public LinearOperator<Scalar, Exec> {
 public:
  FunctionOfPython(std::int64_t rows, nb::callable function, std::string name)
      : rows_(rows), function_(std::move(function)), name_(std::move(name)) {}

  std::int64_t rows() const override { return rows_; }
  OperatorFacts<Scalar, Exec> facts() const override { return {.name = name_}; }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    finish(exec);  // on devices the function works on the same stream
    WithGil const with_gil;
    try {
      function_(lend(X), lend(Y));
    } catch (nb::python_error const& error) {
      auto* const solve = Interruption::of_this_thread();
      if (solve == nullptr || solve->pending() || !error.matches(PyExc_KeyboardInterrupt)) throw;
      // The solver stops after this iteration, which still needs a correct Y.
      solve->keep(std::current_exception());
      function_(lend(X), lend(Y));
    }
  }

 private:
  std::int64_t rows_;
  nb::callable function_;
  std::string name_;
};

/// function(X, Y) writes Y.
using FunctionOfBlocks = nb::typed<nb::callable, nb::object(ConstArray, Array)>;

std::unique_ptr<Operator> function_operator_of(std::string const& type, std::int64_t rows,
                                               FunctionOfBlocks const& function,
                                               std::string const& name) {
  start();
  return with_scalar(type, [&]<class Scalar>() -> std::unique_ptr<Operator> {
    return std::make_unique<OperatorOf<Scalar>>(
        std::make_shared<FunctionOfPython<Scalar>>(rows, function, name));
  });
}

}  // namespace

void bind_operators(nb::module_& m) {
  nb::class_<Operator>(m, "Operator")
      .def_prop_ro("type", &Operator::type)
      .def_prop_ro("rows", &Operator::rows)
      .def_prop_ro("name", &Operator::name)
      .def_prop_ro("report", &Operator::report)
      .def("apply", &Operator::apply, nb::arg("X").noconvert(), nb::arg("Y").noconvert(),
           nb::arg("stream"));
  m.def("function_operator", &function_operator_of, nb::arg("type"), nb::arg("rows"),
        nb::arg("function"), nb::arg("name"));
}

}  // namespace blockspan::python
