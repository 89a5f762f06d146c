#pragma once

#include <complex>
#include <optional>
#include <span>
#include <vector>

#include "claims/dense.hpp"
#include "support/random.hpp"

namespace blockspan::test {

/// Vectors that eigenvectors are to be B-orthogonal to.
using Constraints = std::vector<std::vector<std::complex<double>>>;

/// A generated eigenproblem A x = lambda B x; the doubles stored are the problem.
struct EigenProblem {
  Dense A;
  std::optional<Dense> B = {};   ///< none: the identity
  bool singular_mass = false;    ///< B has null vectors, exactly
  bool exact = false;            ///< rounding its entries would spoil what is special about it
  Constraints constraints = {};  ///< independent; B is then regular
};

/// A generated system A x = b with several right-hand sides.
struct SystemProblem {
  Dense A;
  std::vector<std::vector<std::complex<double>>> rhs = {};
  bool solvable = false;  ///< b = A y to rounding with a y of ordinary size, for all columns
  bool exact = false;     ///< as above
};

template <class Problem>
struct Generator {
  char const* name;
  Problem (*make)(Random& random);
};
using EigenGenerator = Generator<EigenProblem>;
using SystemGenerator = Generator<SystemProblem>;

std::span<EigenGenerator const> graded_problems();
std::span<EigenGenerator const> pencils();
std::span<EigenGenerator const> singular_pencils();
std::span<EigenGenerator const> graphs();
std::span<EigenGenerator const> spectra();
std::span<EigenGenerator const> constrained_problems();
std::span<SystemGenerator const> systems();

// What generators are made of; all of it the same on every machine.

/// A whole number in [low, high].
inline int pick(Random& random, int low, int high) {
  return low + static_cast<int>(random.below(high - low + 1));
}
/// While it lives, pick_order() gives `low` to `high` rows, where `most` allows: enough for blocks
/// of vectors to iterate in.
class LargerOrders {
 public:
  LargerOrders(int low, int high);
  ~LargerOrders();
};
/// Mostly 3 to 12 rows, one time in eight 13 to `most`.
int pick_order(Random& random, int most = 40);
double ten_to(int exponent);
/// 10^e, e whole, in [-spread, spread].
std::vector<double> random_scales(Random& random, int n, int spread);

Dense diagonal(std::vector<double> const& values);
/// tridiag(-1, 2, -1)
Dense second_differences(int n);
/// G G^T of whole numbers in [-3, 3], G n x rank: exact.
Dense random_gram(Random& random, int n, int rank);
Dense random_symmetric(Random& random, int n);
/// Q diag(values) Q^T by reflectors of random vectors.
Dense rotated(Random& random, std::vector<double> const& values);
/// D A D
Dense scaled_by(Dense const& A, std::vector<double> const& d);
Dense times(Dense const& A, double factor);
Dense sum(Dense const& A, Dense const& B);
Dense permuted(Dense const& A, std::vector<int> const& order);
std::vector<int> random_order(Random& random, int n);
/// Diagonal blocks A and B.
Dense beside(Dense const& A, Dense const& B);
/// A spring or edge of weight w between i and j.
void couple(Dense& A, int i, int j, double w);

/// U A U^H, U diagonal with entries of modulus one: quarter turns (exact), or any where `exact` is
/// false. The entries are rounded, the same for A and B of a pencil.
Dense with_phases(Dense const& A, std::vector<std::complex<double>> const& phases);
std::vector<std::complex<double>> random_phases(Random& random, int n, bool exact);

}  // namespace blockspan::test
