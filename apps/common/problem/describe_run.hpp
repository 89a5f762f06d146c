#pragma once

#include <string>

#include "common/machine/dispatch.hpp"
#include "common/problem/preconditioner.hpp"
#include "common/problem/products.hpp"
#include "common/ranks/ranks.hpp"
#include "common/run/run_result.hpp"

namespace blockspan::apps {

/// What was solved, by whom. columns: of the block; partition: as asked for. All ranks together.
template <class Scalar, class Exec>
void describe_run(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                  Product<Scalar, Exec> const& product,
                  Preconditioner<Scalar, Exec> const& preconditioner, int columns,
                  std::string const& partition, RunResult& result) {
  result.device = describe(exec);
  result.scalar = is_complex_v<Scalar> ? "complex<double>" : "double";
  result.rows = A.partition().global_rows();
  result.nonzeros = A.nonzeros();
  result.product = product.name;
  result.product_reason = product.reason;
  if (preconditioner.op) result.preconditioner = preconditioner.op->name();
  if (A.partition().ranks() > 1) result.ranks = report_of_ranks(exec, A, columns, partition);
}

}  // namespace blockspan::apps
