#include "claims/inertia.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace blockspan::test {

namespace {

/// Congruences of a symmetric matrix with a right-hand side beside it.
class Elimination {
 public:
  Elimination(ExactMatrix M, std::vector<Exact> b) : m_(std::move(M)), b_(std::move(b)) {
    for (int i = 0; i < m_.n; ++i) {
      active_.push_back(i);
      scale_b_.push_back(b_[i].exponent());
      scales_.emplace_back();
      for (Exact const& entry : m_.rows[i]) scales_.back().push_back(entry.exponent());
    }
    while (step()) {
    }
  }

  Inertia signs() const {
    return {negative_ / m_.copies, static_cast<int>(active_.size()) / m_.copies,
            (m_.n - negative_ - static_cast<int>(active_.size())) / m_.copies};
  }
  bool consistent() const {
    return std::all_of(active_.begin(), active_.end(), [this](int i) { return b_[i].sign() == 0; });
  }

 private:
  static constexpr std::int64_t noise = 300;  // bits

  Exact& at(int i, int j) { return i >= j ? m_.rows[i][j] : m_.rows[j][i]; }

  /// entry -= term
  static void subtract(Exact& entry, std::int64_t& scale, Exact const& term) {
    if (term.sign() == 0) return;
    scale = std::max(scale, term.exponent());
    entry = entry - term;
    if (entry.exponent() < scale - noise) entry = Exact();
  }

  bool step() {
    int p = -1, r = -1, s = -1;
    for (int const i : active_) {
      if (p < 0 || compare_magnitudes(at(i, i), at(p, p)) > 0) p = i;
      for (int const j : active_) {
        if (j >= i) break;
        if (at(i, j).sign() != 0 && (r < 0 || compare_magnitudes(at(i, j), at(r, s)) > 0))
          r = i, s = j;
      }
    }
    if (p < 0 || (at(p, p).sign() == 0 && r < 0)) return false;
    if (r < 0 || compare_magnitudes(at(p, p), at(r, s) * Exact(0.64)) >= 0)
      eliminate(p);
    else
      eliminate(r, s);
    return true;
  }

  void eliminate(int p) {
    negative_ += at(p, p).sign() < 0 ? 1 : 0;
    std::erase(active_, p);
    Exact const inverse = at(p, p).inverse();
    std::vector<Exact> factors(m_.n);
    for (int const i : active_)
      if (at(i, p).sign() != 0) factors[i] = at(i, p) * inverse;
    for (int const i : active_) {
      if (factors[i].sign() == 0) continue;
      subtract(b_[i], scale_b_[i], factors[i] * b_[p]);
      for (int const j : active_) {
        if (j > i) break;
        subtract(at(i, j), scales_[i][j], factors[i] * at(j, p));
      }
    }
  }

  /// Rows r and s together, one pivot of each sign.
  void eliminate(int r, int s) {
    ++negative_;
    std::erase(active_, r), std::erase(active_, s);
    Exact const inverse = (at(r, r) * at(s, s) - at(r, s) * at(r, s)).inverse();
    Exact const rr = at(s, s) * inverse, ss = at(r, r) * inverse, rs = -(at(r, s) * inverse);
    std::vector<Exact> of_r(m_.n), of_s(m_.n);
    for (int const i : active_) {
      of_r[i] = at(i, r) * rr + at(i, s) * rs;
      of_s[i] = at(i, r) * rs + at(i, s) * ss;
    }
    for (int const i : active_) {
      subtract(b_[i], scale_b_[i], of_r[i] * b_[r]);
      subtract(b_[i], scale_b_[i], of_s[i] * b_[s]);
      for (int const j : active_) {
        if (j > i) break;
        subtract(at(i, j), scales_[i][j], of_r[i] * at(j, r));
        subtract(at(i, j), scales_[i][j], of_s[i] * at(j, s));
      }
    }
  }

  ExactMatrix m_;
  std::vector<Exact> b_;
  std::vector<std::vector<std::int64_t>> scales_;  // exponent of the largest term of each sum
  std::vector<std::int64_t> scale_b_;
  std::vector<int> active_;
  int negative_ = 0;
};

/// The largest exponent of an entry; the least possible one of a zero matrix.
std::int64_t largest_exponent(Dense const& A) {
  std::int64_t result = std::numeric_limits<int>::min();
  for (int i = 0; i < A.order(); ++i)
    for (int j = 0; j <= i; ++j)
      result =
          std::max({result, Exact(A(i, j).real()).exponent(), Exact(A(i, j).imag()).exponent()});
  return result;
}

/// Square root to double precision of a number that may be outside the range of double.
Exact root(Exact const& x) {
  if (x.sign() == 0) return {};
  std::int64_t const even = x.exponent() / 2 * 2;
  return Exact(std::sqrt(x.scaled(-even).to_double())).scaled(even / 2);
}

using Parts = std::vector<std::pair<Exact, Exact>>;

/// B c, real and imaginary parts.
Parts image(Dense const* B, std::vector<std::complex<double>> const& c) {
  Parts result;
  for (int i = 0; i < static_cast<int>(c.size()); ++i) {
    Exact re(B ? 0 : c[i].real()), im(B ? 0 : c[i].imag());
    for (int j = 0; B && j < B->order(); ++j) {
      Exact const br((*B)(i, j).real()), bi((*B)(i, j).imag()), cr(c[j].real()), ci(c[j].imag());
      re = re + br * cr - bi * ci;
      im = im + br * ci + bi * cr;
    }
    result.emplace_back(re, im);
  }
  return result;
}

/// The row v^H, two of a real matrix of twice the order.
void add_borders(Parts const& v, bool twice, std::vector<std::vector<Exact>>& borders) {
  std::vector<Exact> real, imaginary;
  for (auto const& [re, im] : v) real.push_back(re), imaginary.push_back(-im);
  if (twice) {
    for (auto const& [re, im] : v) real.push_back(im), imaginary.push_back(re);
    borders.push_back(imaginary);
  }
  borders.push_back(real);
}

}  // namespace

ExactMatrix shifted(Dense const& A, Dense const* B, Exact const& shift, bool twice) {
  int const n = A.order();
  ExactMatrix result{twice ? 2 * n : n, twice ? 2 : 1, {}};
  for (int i = 0; i < result.n; ++i) {
    result.rows.emplace_back(i + 1);
    for (int j = 0; j <= i; ++j) {
      bool const imaginary = i >= n && j < n;
      auto const part = [&](std::complex<double> z) {
        return Exact(imaginary ? z.imag() : z.real());
      };
      Exact const a = part(A(i % n, j % n));
      Exact const b = B ? part((*B)(i % n, j % n)) : Exact(i == j ? 1 : 0);
      result.rows[i][j] = b.sign() == 0 ? a : a - shift * b;
    }
  }
  return result;
}

Inertia inertia(ExactMatrix const& M) { return Elimination(M, std::vector<Exact>(M.n)).signs(); }

bool is_consistent(Dense const& A, std::vector<std::complex<double>> const& b) {
  bool twice = A.is_complex();
  for (auto const& z : b) twice = twice || z.imag() != 0;
  std::vector<Exact> rhs;
  for (auto const& z : b) rhs.emplace_back(z.real());
  for (auto const& z : b)
    if (twice) rhs.emplace_back(z.imag());
  return Elimination(shifted(A, nullptr, Exact(), twice), rhs).consistent();
}

bool is_nearly_singular(Dense const& A, double relative) {
  Dense W(A.order());
  for (int i = 0; i < A.order(); ++i) {
    double sum = 0;
    for (int j = 0; j < A.order(); ++j) sum += std::abs(A(i, j));
    W.set(i, i, sum > 0 ? sum : 1);
  }
  bool const twice = A.is_complex();
  return inertia(shifted(A, &W, Exact(relative), twice)).negative !=
         inertia(shifted(A, &W, Exact(-relative), twice)).negative;
}

ExactResidual exact_residual(Dense const& A, std::vector<std::complex<double>> const& x,
                             std::vector<std::complex<double>> const& b) {
  Exact residual, rhs;
  for (int i = 0; i < A.order(); ++i) {
    Exact re(b[i].real()), im(b[i].imag());
    rhs = rhs + re * re + im * im;
    for (int j = 0; j < A.order(); ++j) {
      if (A(i, j) == 0.0) continue;
      Exact const ar(A(i, j).real()), ai(A(i, j).imag()), xr(x[j].real()), xi(x[j].imag());
      re = re - ar * xr + ai * xi;
      im = im - ar * xi - ai * xr;
    }
    residual = residual + re * re + im * im;
  }
  Exact const r = root(residual), size = root(rhs);
  double const relative = size.sign() == 0 ? r.to_double() : (r * size.inverse()).to_double();
  return {r.to_double(), size.to_double(), relative};
}

Spectrum::Spectrum(Dense const& A, Dense const* B, bool singular_mass,
                   std::vector<std::vector<std::complex<double>>> const& constraints)
    : A_(A), B_(B), twice_(A.is_complex() || (B != nullptr && B->is_complex())) {
  for (auto const& c : constraints)
    for (auto const& z : c) twice_ = twice_ || z.imag() != 0;
  for (auto const& c : constraints) add_borders(image(B, c), twice_, borders_);
  // The bordered matrix has a negative pivot for each, wherever x is: Haynsworth's law.
  infinite_below_ = static_cast<int>(constraints.size());
  count_ = A.order() - infinite_below_;
  if (B == nullptr) return;
  auto const signs = inertia(shifted(*B, nullptr, Exact(), twice_));
  well_posed_ = signs.negative == 0 && (signs.zero == 0) != singular_mass;
  if (!well_posed_ || !singular_mass) return;
  // Towards both ends far beyond the finite eigenvalues, and farther: nothing may change.
  std::int64_t const far = largest_exponent(A) - largest_exponent(*B) + 110;
  auto const at = [&](int sign, std::int64_t exponent) {
    return inertia(shifted(A, B, Exact(sign).scaled(exponent), twice_));
  };
  auto const low = at(-1, far), lower = at(-1, far + 40), high = at(1, far),
             higher = at(1, far + 40);
  well_posed_ = low.negative == lower.negative && high.negative == higher.negative &&
                low.zero == 0 && high.zero == 0 && lower.zero == 0 && higher.zero == 0;
  infinite_below_ = low.negative;
  count_ = high.negative - low.negative;
}

std::pair<int, int> Spectrum::below(Exact const& x) const {
  auto M = shifted(A_, B_, x, twice_);
  for (auto const& border : borders_) {
    M.rows.push_back(border);
    M.rows.back().resize(++M.n);
  }
  auto const signs = inertia(M);
  int const less = signs.negative - infinite_below_;
  return {less, less + signs.zero};
}

std::pair<Exact, Exact> Spectrum::ends(double value, double radius) const {
  double const size = std::abs(value);
  Exact const ulp = Exact(std::nextafter(size, HUGE_VAL)) - Exact(size);
  Exact const half = Exact(radius) + ulp * Exact(0.5000001);
  return {Exact(value) - half, Exact(value) + half};
}

bool Spectrum::holds(int j, double value, double radius) const {
  if (!std::isfinite(radius)) return true;
  auto const [low, high] = ends(value, radius);
  return below(low).first <= j && below(high).second > j;
}

bool Spectrum::holds_any(double value, double radius) const {
  if (!std::isfinite(radius)) return true;
  auto const [low, high] = ends(value, radius);
  return below(high).second > below(low).first;
}

double Spectrum::value(int j) const {
  // Whole numbers in the order of the doubles that they number.
  auto const number = [](std::int64_t k) {
    auto const bits = static_cast<std::uint64_t>(k < 0 ? -(k + 1) : k);
    return k < 0 ? -std::bit_cast<double>(bits) : std::bit_cast<double>(bits);
  };
  auto const largest = std::bit_cast<std::int64_t>(std::numeric_limits<double>::max());
  std::int64_t low = -largest - 1, high = largest;
  while (low + 1 < high) {
    std::int64_t const middle = std::midpoint(low, high);
    (below(Exact(number(middle))).second > j ? high : low) = middle;
  }
  return number(below(Exact(number(high))).first > j ? low : high);
}

}  // namespace blockspan::test
