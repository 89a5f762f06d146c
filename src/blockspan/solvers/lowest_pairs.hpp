#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/solvers/exact.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

/// The smallest pairs that are wanted.
struct LowestPairs {
  int pairs = 1;
  double tolerance = 1e-8;  ///< backward error
  int digits = 4;           ///< certain ones of every eigenvalue
};

namespace exact {

/// Whether the problem is large enough for its pairs: with fewer rows, or a larger part of all
/// pairs wanted, LAPACK is as fast.
bool may_take_factors(LowestPairs const& wanted, std::int64_t rows);

/// Why factors may be better than the iteration; empty: no reason. spread: the largest over the
/// smallest K_ii / M_ii (see spread_of_diagonal).
std::string reason_for_factors(LowestPairs const& wanted, double spread);

/// A sentence with the predicted seconds of factors and solves and of 150 steps of LOBPCG; empty
/// where factors take longer. Predicted from operation counts, never measured.
std::string cost_of_factors(LowestPairs const& wanted, operators::PencilFactors const& factors,
                            std::int64_t nonzeros);

/// Whether the pairs nearest the shift are the smallest, with the digits asked for; or a limit has
/// ended the run.
bool answers_lowest(LowestPairs const& wanted, ExactReport const& report);

/// The quotient of the largest and the smallest K_ii / M_ii that is not zero.
template <class Exec, class Matrix>
double spread_of_diagonal(Exec const& exec, Matrix const& K, Matrix const* M) {
  auto const k = real_diagonal(exec, K);
  std::vector<double> m;
  if (M != nullptr) m = real_diagonal(exec, *M);
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t i = 0; i < k.size(); ++i) {
    double const quotient = std::abs(k[i]) / (M != nullptr ? std::abs(m[i]) : 1);
    if (!(quotient > 0) || !std::isfinite(quotient)) continue;
    least = std::min(least, quotient), most = std::max(most, quotient);
  }
  Communicator const ranks = rows_of(K).communicator();
  least = ranks.least(least), most = ranks.largest(most);
  return most > 0 ? most / least : 1;
}

/// The rows of all ranks.
template <class Matrix>
std::int64_t order_of(Matrix const& A) {
  if constexpr (requires { A.row_space(); })
    return A.row_space().global_rows(A.local_rows());
  else
    return A.numRows();
}

}  // namespace exact

/// The report of an iteration whose pairs were found by factors: path "exact".
LobpcgReport<double> lobpcg_report_of(ExactReport const& report, std::string reason);

/// Pairs found by factors, and why factors were used. Without a report the caller has to iterate;
/// `note` may say why.
template <class Scalar, class Exec>
struct LowestByFactors {
  std::optional<ExactReport> report;
  Block<Scalar, Exec> X;  ///< n x pairs, as eigenpairs_near leaves it
  std::string reason, note;
};

/// Finds the smallest pairs of K x = lambda M x by factors of K, as eigenpairs_near does at zero,
/// where these are predicted to be better than LOBPCG: for a tolerance of 1e-11 and less, 40 pairs
/// and more, or a diagonal that spans eight decades, if K has more than 400 rows, and 10 for each
/// pair, and factors and solves are less work than 150 steps of LOBPCG. K, M: as there, M null for
/// the identity. options: limits, monitor and place of the factors; pairs and tolerance are those
/// wanted, the tolerance at most 1e-11. There is no report also where eigenvalues lie below zero,
/// digits are missing, or the factorization throws an Error. Link Blockspan::direct.
template <class Exec, class Matrix>
LowestByFactors<sparse::scalar_t<Matrix>, Exec> lowest_pairs_by_factors(
    Exec const& exec, Matrix const& K, std::type_identity_t<Matrix> const* M,
    LowestPairs const& wanted, ExactOptions options) {
  using Scalar = sparse::scalar_t<Matrix>;
  LowestByFactors<Scalar, Exec> found;
  RowSpace const rows = exact::rows_of(K);
  if (!exact::may_take_factors(wanted, exact::order_of(K))) return found;
  found.reason = exact::reason_for_factors(wanted, exact::spread_of_diagonal(exec, K, M));
  if (found.reason.empty()) return found;
  try {
    options.pairs = wanted.pairs;
    options.tolerance = std::min(wanted.tolerance, 1e-11);
    auto const pencil = exact::factored(exec, K, M, options);
    std::string const cost =
        exact::cost_of_factors(wanted, *pencil.factors, pencil.K->facts().work.value_or(0));
    if (cost.empty()) return found;
    found.X = rows.communicator().run_agreed([&] {
      return allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::eigenvectors", pencil.K->rows(),
                                                 wanted.pairs);
    });
    auto report = exact::near<Scalar, Exec>(exec, *pencil.K, pencil.M.get(), *pencil.factors, 0,
                                            found.X, options);
    exact::describe(pencil, report);
    found.reason += "; " + cost;
    if (exact::answers_lowest(wanted, report))
      found.report = std::move(report);
    else
      found.note = "factors did not answer for the smallest pairs: iterated";
  } catch (Error const& error) {
    if (!rows.communicator().all_threw(error)) throw;
    found.note = std::string("not by factors: ") + error.what();
  }
  return found;
}

}  // namespace blockspan
