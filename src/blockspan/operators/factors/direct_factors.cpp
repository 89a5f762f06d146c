#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include <blockspan/operators/factors/direct_factors.hpp>
#include <blockspan/operators/factors/direct_scaling.hpp>
#include <blockspan/operators/factors/symmetric_factors.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace operators {

namespace {

constexpr char const* where = "blockspan::direct";

/// A scaled matrix has a diagonal of about one. An inverse beyond this norm is that of a matrix
/// that is singular to working precision, with some room for the rounding of a factorization; for
/// conjugate gradients with more, since they see the rounding of a solve as a matrix that is not
/// Hermitian.
double largest_inverse(DirectUse use) { return use == DirectUse::definite ? 0x1p36 : 0x1p44; }

/// ||F^-1|| from below, by three steps of inverse iteration. NaN where a solve is not finite.
double inverse_norm(SymmetricFactors const& factors, std::size_t order) {
  std::vector<double> x(order);
  std::uint64_t bits = 1;
  for (double& entry : x) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;  // Knuth's generator
    entry = bits >> 63 ? 1 : -1;
  }
  double norm = 0;
  for (int step = 0; step < 3; ++step) {
    double sum = 0;
    for (double const entry : x) sum += entry * entry;
    if (step > 0 && (sum == 0 || !std::isfinite(sum))) return std::nan("");
    for (double& entry : x) entry /= std::sqrt(sum);
    factors.solve(x.data(), 1);
    sum = 0;
    for (double const entry : x) sum += entry * entry;
    norm = std::sqrt(sum);
  }
  return norm;
}

}  // namespace

class DirectFactors::Work {
 public:
  Work(HostHermitian const& A, HostHermitian const* M, DirectOptions const& options)
      : rows_(A.rows), parts_(A.parts), options_(options) {
    require(std::isfinite(options.shift), where, "the shift is ", options.shift);
    require(std::int64_t(rows_) * parts_ <= std::numeric_limits<int>::max(), where, "a matrix of ",
            rows_, " rows is too large");
    require(M == nullptr || M->rows == rows_, where, "the mass matrix has ", M ? M->rows : 0,
            " rows, the matrix ", rows_);
    require_finite(where, "the matrix", A);
    if (M != nullptr) mass_ = *M;
    if (mass_) require_finite(where, "the mass matrix", *mass_);
    if (rows_ == 0) return;
    auto places = places_of(A);
    factors_.emplace(rows_ * parts_, std::move(places.rows), std::move(places.columns),
                     options.use != DirectUse::solve, parts_, options.memory_limit);
    take(A);
  }

  void refresh(HostHermitian const& A) {
    require(A.rows == rows_, where, "made for ", rows_, " rows, the matrix has ", A.rows);
    require_finite(where, "the matrix", A);
    if (rows_ == 0) return;
    auto const places = places_of(A);
    require(factors_->are_at(places.rows, places.columns), where,
            "the matrix has another pattern than the one this was made from");
    take(A);
  }

  void solve(double* B, std::int64_t columns) const {
    if (rows_ == 0 || columns == 0) return;
    scale(B, columns);
    factors_->solve(B, columns);
    scale(B, columns);
  }

  int rows() const { return rows_; }
  DirectReport const& report() const { return report_; }

 private:
  /// The values of A, and factors of them.
  void take(HostHermitian const& A) {
    report_ = {};
    scaling_ = symmetric_scaling(A);
    a_ = scaled_triangle(A, scaling_);
    m_ = mass_ ? scaled_triangle(*mass_, scaling_) : squares(scaling_, parts_);
    values_.resize(factors_->places());
    if (options_.use == DirectUse::solve)
      factor(0, 0);
    else
      make_definite(A);
    if (!a_.empty())
      report_.fill = static_cast<double>(counts_.entries) / static_cast<double>(a_.size());
    report_.factor_entries = counts_.entries;
    if (options_.use == DirectUse::solve)
      report_.negative_pivots = counts_.negative_pivots / parts_;
    report_.bytes = counts_.bytes;
    report_.null_pivots = counts_.null_pivots / parts_;
  }

  /// Of the values of A, of the mass and of the diagonal, which is the mass where there is none.
  Places places_of(HostHermitian const& A) const {
    Places places;
    places.add(A);
    if (mass_) places.add(*mass_);
    places.add_diagonal(rows_ * parts_);
    return places;
  }

  void scale(double* B, std::int64_t columns) const {
    auto const height = static_cast<std::int64_t>(rows_) * parts_;
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < height; ++i)
        B[i + j * height] *= scaling_[static_cast<std::size_t>(i / parts_)];
  }

  /// Factors A + (shift + sigma) M + delta D; D is the identity once it is scaled.
  void factor(double sigma, double delta) {
    double const shift = options_.shift + sigma;
    auto value = std::copy(a_.begin(), a_.end(), values_.begin());
    for (double const entry : m_) *value++ = shift * entry + (mass_ ? 0 : delta);
    std::fill(value, values_.end(), delta);
    counts_ = factors_->factor(values_);
    report_.mass_shift = sigma;
    report_.diagonal_shift = delta;
    ++report_.factorizations;
  }

  bool is_definite(double sigma, double delta) {
    factor(sigma, delta);
    if (counts_.singular || counts_.negative_pivots > 0) return false;
    inverse_ = inverse_norm(*factors_, static_cast<std::size_t>(rows_ * parts_));
    return inverse_ <= (delta > 0 ? 4 / delta : largest_inverse(options_.use));
  }

  void make_definite(HostHermitian const& A) {
    // a null part of a residual, which is rounding, comes back 1 / delta times larger: with 2^-44
    // it hides the rest
    for (double const delta : {0.0, 0x1p-35, 0x1p-26})
      if (is_definite(0, delta)) {
        if (options_.use == DirectUse::preconditioner && inverse_ < 16) approach_spectrum(A);
        return;
      }
    report_.negative_pivots = counts_.negative_pivots / parts_;
    if (options_.use != DirectUse::preconditioner)
      fail(ErrorKind::not_definite, where, "the matrix is not positive definite: it has ",
           report_.negative_pivots,
           report_.negative_pivots == 1 ? " negative eigenvalue" : " negative eigenvalues");
    if (!shift_until_definite(A))
      fail(ErrorKind::not_definite, where,
           "no multiple of the mass matrix makes the matrix positive definite: it has ",
           report_.negative_pivots, " negative pivots, ", counts_.negative_pivots / parts_,
           " with ", report_.mass_shift, " times the mass matrix");
  }

  /// The least eigenvalues of a matrix that is well conditioned once it is scaled (a mass matrix,
  /// say) may be far from zero beside their distances, so that its inverse hardly separates them.
  /// Subtracts a multiple of M, until by inertia few of them are on the other side.
  void approach_spectrum(HostHermitian const& A) {
    double const top = least_quotient(A, mass_ ? &*mass_ : nullptr) + options_.shift;
    if (!std::isfinite(top)) return;
    double good = top, bad = 0;  // distances from `top`, which is above the least eigenvalue
    std::int64_t within = rows_;
    for (int tries = 0; tries < 8 && within > few && good > 0x1p-12 * top; ++tries) {
      double const middle = bad > 0 ? (good + bad) / 2 : good / 8;
      if (is_definite(middle - top, 0)) {
        good = middle;
      } else {
        bad = middle;
        within = counts_.negative_pivots / parts_;
      }
    }
    factor(good - top, 0);
  }

  /// Brackets the least sigma by factors of 16 and halves the bracket's logarithm: the nearer it is
  /// to the eigenvalues that are wanted, the fewer iterations these take. Where many eigenvalues
  /// are clustered at the end of the spectrum, 3 % of sigma may exceed their distances: their
  /// number within the bracket, by inertia, has to be small.
  bool shift_until_definite(HostHermitian const& A) {
    double const bound = std::max(definite_shift(A, mass_ ? &*mass_ : nullptr) - options_.shift,
                                  0x1p-10 * std::abs(options_.shift));
    double good = bound, bad = 0;
    auto const holds = [&](double sigma) { return std::isfinite(sigma) && is_definite(sigma, 0); };
    for (int tries = 0; !holds(good); ++tries) {
      if (tries == 4 || good == 0) return false;
      bad = good;
      good *= 16;
    }
    double last = good;
    for (double step = 16; bad == 0 && good > 0x1p-40 * bound; step *= step) {
      last = good / step;
      if (holds(last))
        good = last;
      else
        bad = last;
    }
    for (std::int64_t within = few + 1;
         bad > 0 && (good > 1.03 * bad || (within > few && good > (1 + 0x1p-14) * bad));) {
      last = std::sqrt(bad) * std::sqrt(good);
      if (holds(last)) {
        good = last;
      } else {
        bad = last;
        within = counts_.negative_pivots / parts_;
      }
    }
    return last == good || holds(good);
  }

  static constexpr std::int64_t few = 8;  ///< eigenvalues between zero and a shift beyond the least

  int rows_;
  int parts_;
  double inverse_ = 0;  ///< an estimate of the norm of the inverse, once scaled
  DirectOptions options_;
  std::optional<HostHermitian> mass_;
  std::optional<SymmetricFactors> factors_;
  std::vector<double> scaling_;  // powers of two, one a row
  std::vector<double> a_, m_;    // what is scaled, in the order of the places
  std::vector<double> values_;
  FactorCounts counts_;
  DirectReport report_;
};

DirectFactors::DirectFactors(HostHermitian const& A, HostHermitian const* M,
                             DirectOptions const& options)
    : work_(std::make_unique<Work>(A, M, options)) {}
DirectFactors::~DirectFactors() = default;
void DirectFactors::refresh(HostHermitian const& A) { work_->refresh(A); }
void DirectFactors::solve(double* B, std::int64_t columns) const { work_->solve(B, columns); }
int DirectFactors::rows() const { return work_->rows(); }
DirectReport const& DirectFactors::report() const { return work_->report(); }

}  // namespace operators

std::string DirectReport::size() const {
  std::ostringstream out;
  out << "fill " << std::round(10 * fill) / 10 << ", " << bytes / 1000000 << " MB";
  return out.str();
}

std::vector<std::string> DirectReport::notes() const {
  std::vector<std::string> notes;
  auto const say = [&](auto const&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    notes.push_back(out.str());
  };
  if (diagonal_shift > 0)
    say("direct: the matrix is singular to working precision, so its diagonal was raised by ",
        diagonal_shift, " of itself");
  if (mass_shift < 0)
    say("direct: the least eigenvalues are far from zero beside their distances, so ", -mass_shift,
        " times the mass matrix (without one, the identity) was taken away");
  if (mass_shift > 0)
    say("direct: the matrix has ", negative_pivots,
        negative_pivots == 1 ? " negative eigenvalue" : " negative eigenvalues", ", so ",
        mass_shift, " times the mass matrix (without one, the identity) was added");
  if (null_pivots > 0)
    say("direct: the matrix is singular, and ", null_pivots, " of its unknowns are pinned");
  return notes;
}

}  // namespace blockspan
