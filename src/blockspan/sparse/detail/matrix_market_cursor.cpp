#include <algorithm>
#include <cmath>

#include <blockspan/sparse/detail/matrix_market_cursor.hpp>
#include <blockspan/sparse/matrix_market.hpp>

namespace blockspan::detail {

namespace {

/// Whether a decimal number too far from 1 for its type is too large, rather than too small.
bool is_large(std::string_view digits) {
  std::int64_t magnitude = 0;  // of the leading digit that is not zero
  bool found = false;
  bool in_fraction = false;
  std::size_t i = 0;
  for (; i < digits.size() && (is_digit(digits[i]) || digits[i] == '.'); ++i) {
    found = found || (digits[i] >= '1' && digits[i] <= '9');
    if (digits[i] == '.')
      in_fraction = true;
    else if (found && !in_fraction)
      ++magnitude;
    else if (!found && in_fraction)
      --magnitude;
  }
  if (!found || i == digits.size()) return magnitude > 0;
  ++i;  // the exponent's letter
  bool const negative = i < digits.size() && digits[i] == '-';
  if (i < digits.size() && (negative || digits[i] == '+')) ++i;
  std::int64_t exponent = 0;
  constexpr std::int64_t far = std::int64_t(1) << 40;  // beyond any magnitude that a line can hold
  for (; i < digits.size() && is_digit(digits[i]); ++i)
    exponent = std::min(far, 10 * exponent + (digits[i] - '0'));
  return magnitude + (negative ? -exponent : exponent) > 0;
}

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
  if (whole && !std::all_of(text.begin() + static_cast<std::ptrdiff_t>(sign), text.end(), is_digit))
    fail_number(token, whole);
  Real value = 0;
  auto const [stop, status] = std::from_chars(text.data(), last, value);
  if (stop != last) fail_number(token, whole);
  if (status == std::errc()) return value;
  if (is_large(std::string_view(text).substr(sign)))
    fail(token, sizeof(Real) == sizeof(float) ? "a number within the range of float"
                                              : "a number within the range of double");
  return sign == 1 ? -Real(0) : Real(0);
}

template float TextCursor::unusual_number<float>(char const*, bool);
template double TextCursor::unusual_number<double>(char const*, bool);

}  // namespace blockspan::detail
