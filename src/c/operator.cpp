#include "operator.hpp"

#include <blockspan/support/error.hpp>

namespace blockspan::capi {

namespace {

[[noreturn]] void not_a_matrix(char const* where, std::string const& name) {
  fail(where, "'", name, "' is not a matrix");
}

}  // namespace

void Operator::multiply(std::int32_t, void const*, blockspan_block const*, void const*,
                        blockspan_block const*) const {
  fail("blockspan_multiply", "'", describe(), "' is not a matrix of one process");
}

void Operator::refresh(void const*) {
  fail("blockspan_operator_refresh", "'", describe(), "' has no values of a matrix");
}

std::shared_ptr<Operator> Operator::preconditioner(std::shared_ptr<Operator> const&,
                                                   std::string const&,
                                                   blockspan_preconditioner_options const&,
                                                   std::shared_ptr<Operator> const&) const {
  not_a_matrix("blockspan_preconditioner", describe());
}

void Operator::near(Operator const*, double, blockspan_block const*, blockspan_exact_options const&,
                    Results&) const {
  not_a_matrix("blockspan_eigenpairs_near", describe());
}

void Operator::inside(Operator const*, double, double, blockspan_block const*,
                      blockspan_exact_options const&, Results&) const {
  not_a_matrix("blockspan_eigenpairs_in", describe());
}

bool Operator::count(Operator const*, double, double, blockspan_exact_options const&,
                     std::int64_t&) const {
  not_a_matrix("blockspan_count_eigenvalues", describe());
}

std::string scalar_name(std::int32_t scalar) {
  switch (scalar) {
    case BLOCKSPAN_FLOAT:
      return "float";
    case BLOCKSPAN_DOUBLE:
      return "double";
    case BLOCKSPAN_COMPLEX_FLOAT:
      return "complex_float";
    case BLOCKSPAN_COMPLEX_DOUBLE:
      return "complex_double";
    default:
      return "number " + std::to_string(scalar) + ", which is none";
  }
}

}  // namespace blockspan::capi
