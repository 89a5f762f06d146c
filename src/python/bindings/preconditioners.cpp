#include "preconditioners.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/preconditioner.hpp>
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

/// Calls make(matrix of its scalar) without the GIL, interruptibly.
template <class Make>
Made of_matrix(Matrix const& A, Make const& make) {
  return interruptible([&] {
    return with_scalar(A.type(), [&]<class Scalar>() -> Made {
      return make(static_cast<MatrixOf<Scalar> const&>(A));
    });
  });
}

template <class Scalar, class Linear>
Made as_operator(Linear linear) {
  return std::make_unique<OperatorOf<Scalar>>(std::make_shared<Linear>(std::move(linear)));
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

/// The preconditioner of the given words, except `none`. Keeps `more` alive, to which the multigrid
/// options refer. where: the prefix of errors.
template <class Scalar>
Made of_words(MatrixOf<Scalar> const& matrix, PreconditionerWords const& words, SolveKind kind,
              std::string const& where, Stream stream,
              MultigridOptions<Scalar, Exec> const& levels = {},
              std::shared_ptr<void const> more = {}) {
  struct Kept {
    std::shared_ptr<Matrix const> arrays;
    std::shared_ptr<void const> more;
    MatrixOperator<Scalar, Exec> product;
  };
  auto const exec = instance_to_wait_for(stream);
  auto const owner = std::make_shared<Kept>(
      Kept{matrix.shared_from_this(), std::move(more), matrix_operator(exec, matrix.crs())});
  auto made =
      make_preconditioner(PreconditionerInput<Scalar, Exec>{.exec = exec,
                                                            .A = on_one_rank(exec, matrix.crs()),
                                                            .product = &owner->product,
                                                            .kind = kind,
                                                            .refuse_diagonal = false,
                                                            .where = where},
                          words, levels);
  require(made.op != nullptr, where, made.fault);
  return std::make_unique<OperatorOf<Scalar>>(
      std::shared_ptr<LinearOperator<Scalar, Exec> const>(std::move(made.op)), owner, owner->arrays,
      made.levels ? made.levels->describe() : "");
}

Made chebyshev_of(Matrix const& A, int degree, double ratio, Stream stream) {
  PreconditionerWords const words{
      .kind = PreconditionerKind::chebyshev, .name = "chebyshev", .degree = degree, .ratio = ratio};
  return of_matrix(A, [&]<class Scalar>(MatrixOf<Scalar> const& matrix) {
    return of_words(matrix, words, SolveKind::eigenpairs, "blockspan.precond.chebyshev", stream);
  });
}

Made multigrid_of(Matrix const& A, std::optional<ConstArray> const& near_null,
                  std::optional<ConstArray> const& coordinates, int block_size, int adaptive,
                  Stream stream) {
  auto const owner_of = [](auto const& array) { return array ? keep(array->owner()) : Owner(); };
  auto const kept = std::make_shared<std::array<Owner, 2> const>(
      std::array{owner_of(near_null), owner_of(coordinates)});
  PreconditionerWords const words{
      .kind = PreconditionerKind::multigrid, .name = "multigrid", .degree = 2};
  return of_matrix(A, [&]<class Scalar>(MatrixOf<Scalar> const& matrix) {
    MultigridOptions<Scalar, Exec> options;
    options.block_size = block_size;
    options.adaptive = adaptive;
    if (near_null) options.near_null = row_major_block<Scalar const>(*near_null, "near_null");
    if (coordinates)
      options.coordinates = row_major_block<real_t<Scalar> const>(*coordinates, "coordinates");
    return of_words(matrix, words, SolveKind::eigenpairs, "blockspan.precond.multigrid", stream,
                    options, kept);
  });
}

/// The preconditioner named by the M argument of a solver.
Made words_of(Matrix const& A, std::string const& text, bool eigenpairs, Stream stream) {
  auto const words = parse_preconditioner_words("blockspan: M", text);
  return of_matrix(A, [&]<class Scalar>(MatrixOf<Scalar> const& matrix) {
    return of_words(matrix, words, eigenpairs ? SolveKind::eigenpairs : SolveKind::system,
                    "blockspan: M = '" + text + "'", stream);
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
  m.def("preconditioner", &words_of, nb::arg("A"), nb::arg("words"), nb::arg("eigenpairs"),
        nb::arg("stream"));
}

}  // namespace blockspan::python
