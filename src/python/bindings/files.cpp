#include "files.hpp"

#include <string>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/matrix_market.hpp>

#include "arrays/arrays.hpp"
#include "interruption.hpp"
#include "runtime.hpp"
#include <nanobind/stl/string.h>

namespace blockspan::python {

namespace {

/// A NumPy array that owns the memory of the view.
template <class Value, class View>
nb::object to_numpy(View const& view) {
  auto* const kept = new View(view);
  nb::capsule const owner(kept, [](void* data) noexcept { delete static_cast<View*>(data); });
  using Result = nb::ndarray<nb::numpy, Value, nb::ndim<1>>;
  return nb::cast(
      Result(const_cast<void*>(static_cast<void const*>(view.data())), {view.extent(0)}, owner));
}

/// Calls make() and returns the arrays of its matrix.
template <class Scalar, class Make>
nb::tuple arrays_of(Make const& make) {
  auto const A = interruptible([&] {
    auto made = make();
    Exec().fence("Blockspan::python::arrays_of");
    return made;
  });
  return nb::make_tuple(to_numpy<int>(A.graph.row_map), to_numpy<int>(A.graph.entries),
                        to_numpy<std_t<Scalar>>(A.values),
                        nb::make_tuple(A.numRows(), A.numCols()));
}

/// (indptr, indices, data, shape).
using CsrArrays =
    nb::typed<nb::tuple, HostArray, HostArray, HostArray, nb::typed<nb::tuple, int, int>>;

CsrArrays generate_of(std::string const& spec, std::string const& type) {
  start();
  return with_scalar(type, [&]<class Scalar>() {
    return arrays_of<Scalar>([&] { return generate<Scalar>(Exec(), spec); });
  });
}

CsrArrays read_of(std::string const& path, std::string type) {
  start();
  if (type.empty())
    type = read_matrix_market_header(path).field == MatrixMarketField::complex ? "complex128"
                                                                               : "float64";
  return with_scalar(type, [&]<class Scalar>() {
    return arrays_of<Scalar>([&] { return read_matrix_market<Scalar>(Exec(), path); });
  });
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def("generate", &generate_of, nb::arg("spec"), nb::arg("type"));
  m.def("read_matrix_market", &read_of, nb::arg("path"), nb::arg("type"));
}

}  // namespace blockspan::python
