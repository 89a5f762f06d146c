#pragma once

#include <utility>
#include <vector>

#include "claims/big_float.hpp"
#include "claims/dense.hpp"

namespace blockspan::test {

/// The numbers of truth: 384 bits, of which elimination with diagonal pivots of the largest size
/// loses few; the exponents of gradings cost none.
using Exact = BigFloat<6>;

/// Signs of the eigenvalues of a Hermitian matrix.
struct Inertia {
  int negative = 0, zero = 0, positive = 0;
};

/// The lower triangle of a real symmetric matrix of exact numbers; complex Hermitian ones are real
/// ones of twice the order (Re -Im; Im Re), where every eigenvalue counts twice.
struct ExactMatrix {
  int n = 0, copies = 1;
  std::vector<std::vector<Exact>> rows;  ///< row i has i + 1 entries
};
/// A - shift B; B null: the identity. `twice`: as a real matrix of twice the order.
ExactMatrix shifted(Dense const& A, Dense const* B, Exact const& shift, bool twice);

/// Sylvester's law of inertia: signs of the pivots, of one or two rows, chosen as Bunch and Parlett
/// (1971, doi:10.1137/0708060) do. An entry below 2^-300 of the largest term of its sum is zero:
/// the entries of problems are doubles, and their singular matrices are exactly so.
Inertia inertia(ExactMatrix const& M);

/// Whether A x = b has a solution, by the same elimination with b beside it.
bool is_consistent(Dense const& A, std::vector<std::complex<double>> const& b);

/// Whether changes of the entries of A by a part `relative` of each may make it singular: else the
/// pencil (A, W), W the diagonal matrix of the row sums of |a_ij|, has no eigenvalue that small,
/// since |z^H E z| <= relative z^H W z for |E| <= relative |A|.
bool is_nearly_singular(Dense const& A, double relative);

/// ||b - A x|| and ||b||, exact but for the last rounding.
struct ExactResidual {
  double residual, rhs, relative;
};
ExactResidual exact_residual(Dense const& A, std::vector<std::complex<double>> const& x,
                             std::vector<std::complex<double>> const& b);

/// How many eigenvalues of A x = lambda B x are below a number (B null: the identity). Of a
/// positive semidefinite B only the finite ones count: the negative pivots of A - x B less those
/// that are left for x towards minus infinity.
class Spectrum {
 public:
  /// singular_mass: B has null vectors. constraints: with them, the eigenvalues of the problem
  /// projected onto what is B-orthogonal to these independent vectors (B regular).
  Spectrum(Dense const& A, Dense const* B, bool singular_mass,
           std::vector<std::vector<std::complex<double>>> const& constraints = {});

  bool well_posed() const { return well_posed_; }
  int count() const { return count_; }  ///< finite eigenvalues
  /// How many are less than x, and how many are not more, as far as 2^-300 of the entries tells.
  std::pair<int, int> below(Exact const& x) const;

  /// Whether the j-th eigenvalue (from 0, ascending) is in [value - radius, value + radius], half a
  /// unit in the last place of the value added.
  bool holds(int j, double value, double radius) const;
  /// Whether any eigenvalue is.
  bool holds_any(double value, double radius) const;
  /// The j-th eigenvalue, rounded down to a double, by bisection of their bits: 65 counts.
  double value(int j) const;

 private:
  std::pair<Exact, Exact> ends(double value, double radius) const;
  Dense const& A_;
  Dense const* B_;
  std::vector<std::vector<Exact>> borders_;  ///< rows of (B C)^H below A - x B, one a constraint
  bool twice_, well_posed_ = true;
  int infinite_below_ = 0, count_ = 0;
};

}  // namespace blockspan::test
