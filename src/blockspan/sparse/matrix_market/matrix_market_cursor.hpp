#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include <blockspan/sparse/matrix_market/matrix_market_text.hpp>

namespace blockspan::sparse {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
inline bool is_token_end(char c) { return is_blank(c) || c == '\n'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Walks through the tokens of a chunk, line by line, and knows its line and column.
///
/// Every chunk ends with a newline, and no token crosses one: it is the sentinel that saves bounds
/// checks. Failures throw MatrixMarketError at the token.
class TextCursor {
 public:
  TextCursor(std::string const& path, TextChunk const& chunk)
      : path_(path),
        at_(chunk.begin),
        line_begin_(chunk.begin),
        end_(chunk.end),
        line_(chunk.line) {}

  /// Moves to the first token of the next line that is neither blank nor a comment.
  bool next_data_line() {
    while (at_ != end_) {
      line_begin_ = at_;
      skip_blanks();
      if (*at_ != '\n' && *at_ != '%') return true;
      skip_line();
    }
    return false;
  }

  void skip_line() {
    at_ =
        static_cast<char const*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_))) + 1;
    line_begin_ = at_;
    ++line_;
  }

  void finish_line() {
    skip_blanks();
    if (*at_ != '\n') fail(at_, "the end of the line");
    line_begin_ = ++at_;
    ++line_;
  }

  /// A whole number in [first, last].
  std::int64_t integer(std::int64_t first, std::int64_t last, char const* what) {
    skip_blanks();
    char const* const token = at_;
    if (*at_ == '+') ++at_;
    char const* const digits = at_;
    std::int64_t value = 0;
    constexpr std::int64_t limit = (std::numeric_limits<std::int64_t>::max() - 9) / 10;
    for (; is_digit(*at_); ++at_) value = value <= limit ? 10 * value + (*at_ - '0') : too_large;
    if (at_ == digits || !is_token_end(*at_) || value < first || value > last)
      fail_range(token, first, last, what);
    return value;
  }

  /// A finite number, correctly rounded to Real; `whole`: an integer, as 12 or 1.2e+1.
  template <class Real>
  Real number(bool whole) {
    skip_blanks();
    char const* const token = at_;
    char const* const first = *token == '+' ? token + 1 : token;
    char const* const digits = *first == '-' && first == token ? first + 1 : first;
    if (!is_digit(*digits) && !(*digits == '.' && is_digit(digits[1]))) fail_number(token, whole);
    Real value = 0;
    auto const [stop, status] = std::from_chars(first, end_, value);
    at_ = stop;
    if (status == std::errc() && is_token_end(*stop) && !whole) return value;
    return unusual_number<Real>(token, whole);
  }

  std::string_view word() {
    skip_blanks();
    char const* const token = at_;
    while (!is_token_end(*at_)) ++at_;
    return {token, static_cast<std::size_t>(at_ - token)};
  }

  [[noreturn]] void fail(char const* token, std::string const& expected) const;

  char const* position() const { return at_; }
  std::int64_t line() const { return line_; }
  std::int64_t column(char const* token) const { return token - line_begin_ + 1; }

  void skip_blanks() {
    while (is_blank(*at_)) ++at_;
  }

 private:
  static constexpr std::int64_t too_large = std::numeric_limits<std::int64_t>::max();

  template <class Real>
  Real unusual_number(char const* token, bool whole);
  [[noreturn]] void fail_range(char const* token, std::int64_t first, std::int64_t last,
                               char const* what) const;
  [[noreturn]] void fail_number(char const* token, bool whole) const;

  std::string const& path_;
  char const* at_;
  char const* line_begin_;
  char const* end_;
  std::int64_t line_;
};

/// A token as errors show it: unprintable bytes as \xNN, long ones cut.
std::string shown(std::string_view token);

}  // namespace blockspan::sparse
