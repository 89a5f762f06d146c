#include "arrays/arrays.hpp"
#include "matrix.hpp"

namespace blockspan::python {

namespace {

nb::handle new_array;  // numpy.empty

/// op(A) X as a new NumPy array: a vector if X is one, column-major if X is; None if X, an array or
/// a tensor, cannot be read in place. The fast path of `A @ X`: it repeats the package's checks in
/// less time.
nb::object product(Plan& plan, char letter, nb::object const& block) {
  HostArray X;
  bool const readable = X.read(block), is_vector = X.ndim() == 1;
  X.take_as_column();
  if (!readable || X.ndim() != 2 || X.stride(0) < 0 || X.stride(1) < 0 ||
      X.dtype() != plan.dtype() || !plan.unchanged()) {
    PyErr_Clear();
    return nb::none();
  }
  auto const is_packed = [&](std::size_t along, std::size_t across) {
    return (X.shape(along) < 2 || X.stride(along) == 1) &&
           (X.shape(across) < 2 || X.stride(across) == static_cast<std::int64_t>(X.shape(along)));
  };
  bool const by_columns = is_packed(0, 1) && !is_packed(1, 0);
  Op const op = op_of(letter);
  nb::object const type = PyObject_CheckBuffer(block.ptr())
                              ? nb::getattr(block, "dtype")
                              : nb::object(nb::str(plan.type().c_str()));
  nb::tuple const shape =
      is_vector ? nb::make_tuple(plan.rows(op)) : nb::make_tuple(plan.rows(op), X.shape(1));
  nb::object result = new_array(shape, type, by_columns ? "F" : "C");
  WritableHostArray Y;
  require(Y.read(result), "blockspan.spmm", "numpy.empty has made another array");
  Y.take_as_column();
  plan.multiply(op, 1.0, X, 0.0, Y, 0);
  return result;
}

}  // namespace

void bind_product(nb::module_& m, nb::class_<Plan>& plans) {
  new_array = nb::getattr(nb::module_::import_("numpy"), "empty").release();
  plans.def("product", &product, nb::arg("op"), nb::arg("X"));
  m.def(
      "reads",
      [](nb::type_object const& type) {
        bool const known =
            TensorExchange::of(reinterpret_cast<PyTypeObject*>(type.ptr()), false) != nullptr;
        PyErr_Clear();
        return known;
      },
      nb::arg("type"));
}

}  // namespace blockspan::python
