#pragma once

#include <memory>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {

/// A DistributedMatrix in single precision, times a power of two, in the form that SinglePrecision
/// and lobpcg_mixed accept.
template <class Scalar, class Exec>
struct SinglePrecisionRows {
  std::shared_ptr<DistributedMatrix<single_t<Scalar>, Exec> const> matrix;  ///< factor A
  real_t<Scalar> factor;
};

/// A rounded to single precision. The factor brings the inf-norm of A into [1/2, 1), so that no
/// entry overflows and only those below 1e-38 of the norm vanish. Called by all ranks; sets up its
/// own halo exchange; on one rank it shares the pattern. Fences the instance. O(nonzeros) a rank.
/// Throws Error, on all ranks, for an entry beyond the range of single precision, and where memory
/// is short.
template <class Scalar, class Exec>
SinglePrecisionRows<Scalar, Exec> single_precision_rows(Exec const& exec,
                                                        DistributedMatrix<Scalar, Exec> const& A) {
  using Single = single_t<Scalar>;
  auto const factor = sparse::factor_below_one(A.norm_bound());
  Communicator const ranks = A.row_space().communicator();
  if (ranks.size() == 1)
    return {std::make_shared<DistributedMatrix<Single, Exec> const>(
                exec, ranks, A.partition(), convert_values<Single>(exec, A.whole(), factor)),
            factor};
  auto const rows = ranks.run_agreed([&] {
    auto const from = A.global_rows(exec);
    LocalRows<Single> to{from.offsets, from.columns, {}};
    to.values.reserve(from.values.size());
    for (auto const& value : from.values) {
      to.values.push_back(convert_scalar<Single>(Scalar(value * factor)));
      require(!is_finite(value) || is_finite(to.values.back()), "single_precision_rows",
              "an entry is ", value, " (times ", factor, "), beyond the range of single precision");
    }
    return to;
  });
  return {std::make_shared<DistributedMatrix<Single, Exec> const>(exec, ranks, A.partition(), rows),
          factor};
}

}  // namespace blockspan
