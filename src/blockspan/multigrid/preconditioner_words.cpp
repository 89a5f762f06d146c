#include <charconv>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <blockspan/multigrid/preconditioner_words.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace {

std::vector<std::string> split(std::string const& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text + ":");
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  return parts;
}

/// `text` as a number; throws Error unless all of it is one.
template <class Number>
Number number(std::string_view option, std::string const& text, char const* what) {
  Number value{};
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  require(error == std::errc() && stop == end, option, what, " '", text, "' is not a number");
  return value;
}

template <class Number>
Number number_in(std::string_view option, std::string const& text, char const* what, Number least,
                 Number most) {
  Number const value = number<Number>(option, text, what);
  require(value >= least && value <= most, option, what, " ", text, " is not between ", least,
          " and ", most);
  return value;
}

}  // namespace

PreconditionerWords parse_preconditioner_words(std::string_view option, std::string const& text,
                                               double ratio) {
  using Kind = PreconditionerKind;
  auto const parts = split(text);
  PreconditionerWords words;
  words.name = parts[0];
  words.ratio = ratio;
  std::size_t most = 1;
  if (parts[0] == "none") {
    words.kind = Kind::none;
  } else if (parts[0] == "jacobi") {
    words.kind = Kind::jacobi;
  } else if (parts[0] == "block-jacobi") {
    words.kind = Kind::block_jacobi;
    most = 2;
    if (parts.size() > 1) words.block_size = number_in(option, parts[1], "block size", 2, 8);
  } else if (parts[0] == "chebyshev") {
    words.kind = Kind::chebyshev;
    most = 3;
    if (parts.size() > 1) words.degree = number_in(option, parts[1], "degree", 1, 100);
    if (parts.size() > 2) words.ratio = number_in(option, parts[2], "ratio", 1.01, 1e6);
  } else if (parts[0] == "multigrid") {
    words.kind = Kind::multigrid;
    words.degree = 2;
    most = 2;
    if (parts.size() > 1) words.degree = number_in(option, parts[1], "degree", 1, 4);
  } else if (parts[0] == "automatic") {
    words.kind = Kind::automatic;
  } else if (parts[0] == "gauss-seidel") {
    words.kind = Kind::gauss_seidel;
  } else if (parts[0] == "direct") {
    words.kind = Kind::direct;
  } else {
    fail(option, "'", text, "' is not ", preconditioner_forms);
  }
  require(parts.size() <= most, option, "'", text, "' has too many parts: ", parts[0],
          most == 1   ? " takes none"
          : most == 2 ? (words.kind == Kind::multigrid ? " takes DEGREE" : " takes ROWS")
                      : " takes DEGREE and RATIO");
  return words;
}

}  // namespace blockspan
