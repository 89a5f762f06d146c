#include "common/problem/preconditioner_choice.hpp"

#include <charconv>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <blockspan/support/error.hpp>

#include "common/machine/components.hpp"

namespace blockspan::apps {

namespace {

constexpr char const* option = "--preconditioner";

std::vector<std::string> split(std::string const& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text + ":");
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  return parts;
}

/// The number that `text` is, all of it.
template <class Number>
Number number(std::string const& text, char const* what) {
  Number value{};
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  require(error == std::errc() && stop == end, option, what, " '", text, "' is not a number");
  return value;
}

template <class Number>
Number number_in(std::string const& text, char const* what, Number least, Number most) {
  Number const value = number<Number>(text, what);
  require(value >= least && value <= most, option, what, " ", text, " is not between ", least,
          " and ", most);
  return value;
}

/// Throws Error where the component behind a preconditioner was not linked.
void require_linked(PreconditionerChoice::Kind kind, std::string const& name) {
  using Kind = PreconditionerChoice::Kind;
  std::string const asked = option + (" " + name);
  require(has_direct || kind != Kind::direct, asked,
          left_out("direct", "apt-get install libmumps-seq-dev, then "));
  require(has_kokkos_kernels || kind != Kind::gauss_seidel, asked, left_out("kokkos_kernels"));
}

}  // namespace

std::vector<NamedFile> MultigridInputs::files() const {
  std::vector<NamedFile> found{{"--near-null", near_null}, {"--coordinates", coordinates}};
  std::error_code ignored;
  if (!hierarchy.empty())
    for (auto const& entry : std::filesystem::directory_iterator(hierarchy, ignored))
      found.push_back({"--hierarchy", entry.path().string()});
  return found;
}

PreconditionerChoice parse_preconditioner(std::string const& text, double ratio,
                                          MultigridInputs const& inputs) {
  using Kind = PreconditionerChoice::Kind;
  auto const parts = split(text);
  PreconditionerChoice choice;
  choice.asked = text;
  choice.ratio = ratio;
  choice.inputs = inputs;
  std::size_t most = 1;
  if (parts[0] == "none") {
    choice.kind = Kind::none;
  } else if (parts[0] == "jacobi") {
    choice.kind = Kind::jacobi;
  } else if (parts[0] == "block-jacobi") {
    choice.kind = Kind::block_jacobi;
    most = 2;
    if (parts.size() > 1) choice.block_size = number_in(parts[1], "block size", 2, 8);
  } else if (parts[0] == "chebyshev") {
    choice.kind = Kind::chebyshev;
    most = 3;
    if (parts.size() > 1) choice.degree = number_in(parts[1], "degree", 1, 100);
    if (parts.size() > 2) choice.ratio = number_in(parts[2], "ratio", 1.01, 1e6);
  } else if (parts[0] == "multigrid") {
    choice.kind = Kind::multigrid;
    choice.degree = 2;
    most = 2;
    if (parts.size() > 1) choice.degree = number_in(parts[1], "degree", 1, 4);
  } else if (parts[0] == "automatic") {
    choice.kind = Kind::automatic;
  } else if (parts[0] == "gauss-seidel") {
    choice.kind = Kind::gauss_seidel;
  } else if (parts[0] == "direct") {
    choice.kind = Kind::direct;
  } else {
    fail(option, "'", text, "' is not ", preconditioner_forms);
  }
  require(parts.size() <= most, option, "'", text, "' has too many parts: ", parts[0],
          most == 1   ? " takes none"
          : most == 2 ? (choice.kind == Kind::multigrid ? " takes DEGREE" : " takes ROWS")
                      : " takes DEGREE and RATIO");
  require_linked(choice.kind, parts[0]);
  require(choice.kind == Kind::multigrid || choice.kind == Kind::automatic || !inputs.given(),
          option,
          "--near-null, --coordinates, --block-size, --adaptive, --hierarchy and --levels go with "
          "multigrid or automatic only, not with ",
          text);
  return choice;
}

}  // namespace blockspan::apps
