#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace blockspan::test {

/// A binary floating-point number of 64 `limbs` bits and an exponent that never overflows here:
/// every double is one exactly, and + - * round towards zero with an error of two units in the last
/// place at most. No infinities, no NaN.
template <int limbs>
class BigFloat {
 public:
  static constexpr std::int64_t bits = 64 * limbs;

  BigFloat() = default;
  BigFloat(double x) {  // NOLINT: numbers of tests are written as they are
    if (x == 0) return;
    int exponent = 0;
    double const fraction = std::frexp(std::abs(x), &exponent);
    mantissa_[limbs - 1] = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
    exponent_ = exponent;
    sign_ = x < 0 ? -1 : 1;
  }

  int sign() const { return sign_; }
  /// 2^(exponent - 1) <= |x| < 2^exponent; of zero less than any other.
  std::int64_t exponent() const { return sign_ == 0 ? INT64_MIN / 2 : exponent_; }

  double to_double() const {
    if (sign_ == 0) return 0;
    std::int64_t const e = std::min<std::int64_t>(std::max<std::int64_t>(exponent_, -1100), 1100);
    return sign_ * std::ldexp(static_cast<double>(mantissa_[limbs - 1]), static_cast<int>(e) - 64);
  }

  BigFloat scaled(std::int64_t power) const {
    BigFloat result = *this;
    result.exponent_ += power;
    return result;
  }

  BigFloat operator-() const {
    BigFloat result = *this;
    result.sign_ = -sign_;
    return result;
  }

  friend BigFloat operator+(BigFloat const& a, BigFloat const& b) {
    if (a.sign_ == 0) return b;
    if (b.sign_ == 0) return a;
    bool const ordered = compare_magnitudes(a, b) >= 0;
    BigFloat const &large = ordered ? a : b, &small = ordered ? b : a;
    std::int64_t const shift = large.exponent_ - small.exponent_;
    if (shift >= bits) return large;
    auto const shifted = right(small.mantissa_, static_cast<int>(shift));
    BigFloat result = large;
    if (a.sign_ == b.sign_) {
      std::uint64_t carry = 0;
      for (int i = 0; i < limbs; ++i) {
        std::uint64_t const sum = result.mantissa_[i] + shifted[i], all = sum + carry;
        carry = (sum < shifted[i]) + (all < carry);
        result.mantissa_[i] = all;
      }
      if (carry != 0) {
        result.mantissa_ = right(result.mantissa_, 1);
        result.mantissa_[limbs - 1] |= top;
        ++result.exponent_;
      }
      return result;
    }
    std::uint64_t borrow = 0;
    for (int i = 0; i < limbs; ++i) {
      std::uint64_t const minuend = result.mantissa_[i], rest = minuend - shifted[i];
      result.mantissa_[i] = rest - borrow;
      borrow = (minuend < shifted[i]) + (rest < borrow);
    }
    result.normalize();
    return result;
  }
  friend BigFloat operator-(BigFloat const& a, BigFloat const& b) { return a + -b; }

  friend BigFloat operator*(BigFloat const& a, BigFloat const& b) {
    if (a.sign_ == 0 || b.sign_ == 0) return {};
    std::array<std::uint64_t, 2 * limbs> product{};
    for (int i = 0; i < limbs; ++i) {
      if (a.mantissa_[i] == 0) continue;
      std::uint64_t carry = 0;
      for (int j = 0; j < limbs; ++j) {
        Wide const sum =
            static_cast<Wide>(a.mantissa_[i]) * b.mantissa_[j] + product[i + j] + carry;
        product[i + j] = static_cast<std::uint64_t>(sum);
        carry = static_cast<std::uint64_t>(sum >> 64);
      }
      product[i + limbs] = carry;
    }
    BigFloat result;
    bool const high = (product[2 * limbs - 1] & top) != 0;
    for (int i = 0; i < limbs; ++i)
      result.mantissa_[i] =
          high ? product[i + limbs] : product[i + limbs] << 1 | product[i + limbs - 1] >> 63;
    result.exponent_ = a.exponent_ + b.exponent_ - (high ? 0 : 1);
    result.sign_ = a.sign_ * b.sign_;
    return result;
  }

  /// 1 / x of x != 0 by Newton's iteration, which doubles the digits of the quotient in double.
  BigFloat inverse() const {
    BigFloat x = scaled(-exponent_), y(1 / x.to_double());
    for (int digits = 50; digits < 2 * bits; digits *= 2) y = y + y * (BigFloat(1) - x * y);
    return y.scaled(-exponent_);
  }

  friend int compare_magnitudes(BigFloat const& a, BigFloat const& b) {
    if (a.exponent() != b.exponent()) return a.exponent() < b.exponent() ? -1 : 1;
    for (int i = limbs - 1; i >= 0; --i)
      if (a.mantissa_[i] != b.mantissa_[i]) return a.mantissa_[i] < b.mantissa_[i] ? -1 : 1;
    return 0;
  }

 private:
  __extension__ typedef unsigned __int128 Wide;
  using Mantissa = std::array<std::uint64_t, limbs>;  // least limb first; the top bit is set
  static constexpr std::uint64_t top = std::uint64_t(1) << 63;

  static Mantissa right(Mantissa const& from, int shift) {
    Mantissa to{};
    int const whole = shift / 64, part = shift % 64;
    for (int i = 0; i + whole < limbs; ++i) {
      to[i] = from[i + whole] >> part;
      if (part > 0 && i + whole + 1 < limbs) to[i] |= from[i + whole + 1] << (64 - part);
    }
    return to;
  }

  void normalize() {
    int lead = limbs - 1;
    while (lead >= 0 && mantissa_[lead] == 0) --lead;
    if (lead < 0) {
      *this = BigFloat();
      return;
    }
    int const part = __builtin_clzll(mantissa_[lead]), whole = limbs - 1 - lead;
    for (int i = limbs - 1; i >= 0; --i) {
      std::uint64_t const here = i >= whole ? mantissa_[i - whole] : 0,
                          below = i > whole ? mantissa_[i - whole - 1] : 0;
      mantissa_[i] = part > 0 ? here << part | below >> (64 - part) : here;
    }
    exponent_ -= 64 * whole + part;
  }

  Mantissa mantissa_{};
  std::int64_t exponent_ = 0;
  int sign_ = 0;
};

}  // namespace blockspan::test
