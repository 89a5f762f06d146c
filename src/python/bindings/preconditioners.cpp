#include "preconditioners.hpp"

#include <optional>

#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>

#include "interruption.hpp"
#include "matrix.hpp"
#include "operators.hpp"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

namespace blockspan::python {

namespace {

using Made = std::unique_ptr<Operator>;

/// make(matrix of its scalar), without the GIL and interruptible.
template <class Make>
Made of_matrix(Matrix const& A, Make const& make) {
  return interruptible([&] {
    return with_scalar(A.type(), [&]<class Scalar>() -> Made {
      return make(static_cast<MatrixOf<Scalar> const&>(A));
    });
  });
}

template <class Scalar, class Linear>
Made as_operator(Linear linear, std::shared_ptr<void const> owner = {},
                 std::shared_ptr<Origin const> origin = {}, std::string report = {}) {
  return std::make_unique<OperatorOf<Scalar>>(std::make_shared<Linear>(std::move(linear)),
                                              std::move(owner), std::move(origin),
                                              std::move(report));
}

Made jacobi_of(Matrix const& A, Stream stream) {
  return of_matrix(A, [&]<class Scalar>(MatrixOf<Scalar> const& matrix) {
    return as_operator<Scalar>(jacobi(instance_to_wait_for(stream), matrix.crs()));
  });
}

Made block_jacobi_of(Matrix const& A, int block_size, bool absolute, Stream stream) {
  return of_matrix(A, [&]<class Scalar>(MatrixOf<Scalar> const& matrix) {
    return as_operator<Scalar>(
        block_jacobi(instance_to_wait_for(stream), matrix.crs(), {block_size, absolute}));
  });
}

Made chebyshev_of(Matrix const& A, int degree, double ratio, Stream stream) {
  return of_matrix(A, [&]<class Scalar>(MatrixOf<Scalar> const& matrix) {
    struct Owner {
      std::shared_ptr<Matrix const> arrays;
      MatrixOperator<Scalar, Exec> product;
    };
    auto const exec = instance_to_wait_for(stream);
    auto const owner = std::make_shared<Owner>(
        Owner{matrix.shared_from_this(), matrix_operator(exec, matrix.crs())});
    return as_operator<Scalar>(chebyshev<Scalar, Exec>(exec, owner->product, matrix.crs(),
                                                       {.degree = degree, .ratio = ratio}),
                               owner, owner->arrays);
  });
}

Made multigrid_of(Matrix const& A, std::optional<ConstArray> const& near_null,
                  std::optional<ConstArray> const& coordinates, int block_size, int adaptive,
                  Stream stream) {
  struct Kept {  // with the hierarchy
    std::shared_ptr<Matrix const> matrix;
    Owner near_null, coordinates;
  };
  auto const owner_of = [](auto const& array) { return array ? keep(array->owner()) : Owner(); };
  auto const kept = std::make_shared<Kept>(
      Kept{A.shared_from_this(), owner_of(near_null), owner_of(coordinates)});
  return of_matrix(A, [&]<class Scalar>(MatrixOf<Scalar> const& matrix) {
    MultigridOptions<Scalar, Exec> options;
    options.block_size = block_size;
    options.adaptive = adaptive;
    if (near_null) options.near_null = row_major_block<Scalar const>(*near_null, "near_null");
    if (coordinates)
      options.coordinates = row_major_block<real_t<Scalar> const>(*coordinates, "coordinates");
    auto made = multigrid(instance_to_wait_for(stream), matrix.crs(), options);
    auto const& report = made.report();
    require(report.usable(), "blockspan.precond.multigrid", report.message);
    std::string words = report.describe();
    return as_operator<Scalar>(std::move(made), kept, kept->matrix, std::move(words));
  });
}

}  // namespace

void bind_preconditioners(nb::module_& m) {
  m.def("jacobi", &jacobi_of, nb::arg("A"), nb::arg("stream"));
  m.def("block_jacobi", &block_jacobi_of, nb::arg("A"), nb::arg("block_size"), nb::arg("absolute"),
        nb::arg("stream"));
  m.def("chebyshev", &chebyshev_of, nb::arg("A"), nb::arg("degree"), nb::arg("ratio"),
        nb::arg("stream"));
  m.def("multigrid", &multigrid_of, nb::arg("A"), nb::arg("near_null").none(),
        nb::arg("coordinates").none(), nb::arg("block_size"), nb::arg("adaptive"),
        nb::arg("stream"));
}

}  // namespace blockspan::python
