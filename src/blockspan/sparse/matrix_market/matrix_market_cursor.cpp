#include <algorithm>

#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/matrix_market/matrix_market_cursor.hpp>

namespace blockspan::sparse {

namespace {

/// The powers of ten of the first and the last digit of a decimal number that are not zero.
struct DecimalPlaces {
  std::int64_t first = -1;
  std::int64_t last = 0;  ///< 0 where all digits are zero

  /// `digits`: without a sign.
  explicit DecimalPlaces(std::string_view digits) {
    bool found = false;
    std::int64_t place = -1;  // of the digit before the point
    auto const point = std::min(digits.find_first_not_of("0123456789"), digits.size());
    place += static_cast<std::int64_t>(point);
    std::size_t i = 0;
    for (; i < digits.size() && (is_digit(digits[i]) || digits[i] == '.'); ++i) {
      if (digits[i] == '.') continue;
      if (digits[i] != '0') {
        if (!found) first = place;
        last = place;
        found = true;
      }
      --place;
    }
    if (!found || i == digits.size()) return;
    std::int64_t const exponent = exponent_of(digits.substr(i + 1));  // behind its letter
    first += exponent;
    last += exponent;
  }

 private:
  static std::int64_t exponent_of(std::string_view digits) {
    bool const negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    constexpr std::int64_t far = std::int64_t(1) << 40;  // beyond any digit that a line can hold
    std::int64_t exponent = 0;
    for (char const c : digits)
      if (is_digit(c)) exponent = std::min(far, 10 * exponent + (c - '0'));
    return negative ? -exponent : exponent;
  }
};

}  // namespace

std::string shown(std::string_view token) {
  constexpr std::size_t longest = 60;
  constexpr char const* hex = "0123456789abcdef";
  std::string text;
  for (char const c : token.substr(0, longest)) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      text += c;
    else
      text.append("\\x").append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
  }
  return token.size() > longest ? text + "..." : text;
}

void TextCursor::fail(char const* token, std::string const& expected) const {
  char const* stop = token;
  while (!is_token_end(*stop)) ++stop;
  std::string_view const found(token, static_cast<std::size_t>(stop - token));
  throw MatrixMarketError(path_, line_, column(token), expected,
                          found.empty() ? "end of line" : shown(found));
}

void TextCursor::fail_range(char const* token, std::int64_t first, std::int64_t last,
                            char const* what) const {
  if (last >= too_large - 1) fail(token, what);
  fail(token, std::string(what) + " from " + std::to_string(first) + " to " + std::to_string(last));
}

void TextCursor::fail_number(char const* token, bool whole) const {
  fail(token, whole ? "an integer" : "a finite number");
}

/// Everything off the fast path: Fortran exponents, the range's ends, integers.
template <class Real>
Real TextCursor::unusual_number(char const* token, bool whole) {
  at_ = token;
  std::string text(word());
  if (text.front() == '+') text.erase(0, 1);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  char const* const last = text.data() + text.size();
  std::size_t const sign = text.front() == '-' ? 1 : 0;
  auto const digits = std::string_view(text).substr(sign);
  Real value = 0;
  auto const [stop, status] = std::from_chars(text.data(), last, value);
  if (stop != last) fail_number(token, whole);
  if (whole && !std::all_of(digits.begin(), digits.end(), is_digit) &&
      DecimalPlaces(digits).last < 0)
    fail_number(token, whole);
  if (status == std::errc()) return value;
  if (DecimalPlaces(digits).first >= 0)
    fail(token, sizeof(Real) == sizeof(float) ? "a number within the range of float"
                                              : "a number within the range of double");
  return sign == 1 ? -Real(0) : Real(0);
}

template float TextCursor::unusual_number<float>(char const*, bool);
template double TextCursor::unusual_number<double>(char const*, bool);

}  // namespace blockspan::sparse
