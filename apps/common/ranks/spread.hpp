#pragma once

#include <memory>
#include <string>
#include <vector>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/read_distributed.hpp>
#include <blockspan/sparse/generators.hpp>

#include "common/files/input_file.hpp"
#include "common/problem/problem.hpp"
#include "common/problem/symmetry.hpp"

// How the matrix of a command comes to its ranks. All ranks call these together; like: the rows of
// each, null: balanced. Errors are thrown on all.

namespace blockspan::apps {

/// What load() gives, which only rank 0 calls.
template <class Scalar, class Exec, class Load>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> spread_from_first(Exec const& exec,
                                                                         Communicator const& ranks,
                                                                         RowPartition const* like,
                                                                         Load const& load) {
  CrsMatrix<Scalar, Exec> A;
  ranks.run_agreed([&] {
    if (ranks.rank() == 0) A = load();
  });
  return distribute(exec, ranks, A, like);
}

/// The matrix of `source` as it is written: of a spec that suits(spec) each rank makes its rows,
/// files of one triangle are read by all; else what load() gives.
template <class Scalar, class Exec, class Suits, class Load>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> spread(
    Exec const& exec, Communicator const& ranks, std::string const& source,
    RowPartition const* like, Suits const& suits, Load const& load) {
  if (is_generator_spec(source)) {
    bool const alone = ranks.run_agreed([&] {
      auto const spec = parse_generator_spec(source);
      return knows_rows(spec) && suits(spec);
    });
    if (alone) return generate_distributed<Scalar>(exec, ranks, source, like);
  } else if (stores_hermitian(ranks, source)) {
    return read_distributed<Scalar>(exec, ranks, source, like);
  }
  return spread_from_first<Scalar>(exec, ranks, like, load);
}

/// The Hermitian matrix of `source`: where there are several ranks, of a spec each makes its rows,
/// and files of one triangle are read by all; else rank 0 looks at the symmetry or takes the mean.
/// like: the rows of each rank; null: balanced. notes: of rank 0, and mend, see take_hermitian.
/// Throws Error, on all ranks, where it is not Hermitian.
template <class Scalar, class Exec, class Mend = decltype(not_mended)>
std::shared_ptr<DistributedMatrix<Scalar, Exec> const> load_hermitian(
    Exec const& exec, Communicator const& ranks, std::string const& source, bool symmetrize,
    std::vector<std::string>& notes, std::string const& kind, RowPartition const* like = nullptr,
    Mend const& mend = not_mended) {
  auto const load = [&] {
    return take_hermitian(exec, source, load_operator<Scalar>(exec, source, kind, notes),
                          symmetrize, notes, mend);
  };
  if (ranks.size() == 1 || kind != "matrix" || symmetrize)
    return spread_from_first<Scalar>(exec, ranks, like, load);
  return spread<Scalar>(
      exec, ranks, source, like, [](GeneratorSpec const& spec) { return spec.is_symmetric; }, load);
}

}  // namespace blockspan::apps
