#include "common/run/command_line.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

#include "common/machine/versions.hpp"

namespace blockspan::apps {

namespace {

std::string without_blanks(std::string const& text) {
  auto const first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Reads all of `text` as a number; the error of std::from_chars, invalid_argument for a rest.
template <class Number>
std::errc read_number(std::string const& text, Number& value) {
  char const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value);
  return stop != end ? std::errc::invalid_argument : error;
}

std::string without_plus(std::string const& text) {
  return text.front() == '+' && text.size() > 1 && text[1] != '-' ? text.substr(1) : text;
}

/// Leaves a decimal number in `text`, or returns why it is none.
std::string tidy_real(std::string& text) {
  std::string const given = without_blanks(text);
  if (given.empty()) return "a number is missing";
  text = without_plus(given);
  double value = 0;
  auto const error = read_number(text, value);
  if (error == std::errc::result_out_of_range) return given + " is out of range";
  return error == std::errc() ? "" : "'" + given + "' is not a number";
}

/// The same for the whole numbers of Number, in plain digits.
template <class Number>
std::string tidy_whole(std::string& text) {
  std::string const given = without_blanks(text);
  if (given.empty()) return "a number is missing";
  text = without_plus(given);
  Number whole = 0;
  double real = 0;
  auto error = read_number(text, whole);
  constexpr double exact = 0x1p53;
  if (error == std::errc::invalid_argument && read_number(text, real) == std::errc() &&
      real == std::floor(real) && std::abs(real) < exact) {  // 1e6
    text = std::to_string(static_cast<long long>(real));
    error = read_number(text, whole);
  }
  if (text.front() == '-' && std::is_unsigned_v<Number> && error != std::errc() &&
      read_number(text, real) == std::errc())
    return given + " is negative";
  if (error == std::errc::result_out_of_range)
    return given + " is not between " + std::to_string(std::numeric_limits<Number>::min()) +
           " and " + std::to_string(std::numeric_limits<Number>::max());
  if (error != std::errc()) return "'" + given + "' is not a whole number";
  text = std::to_string(whole);
  return {};
}

/// CLI11 would accept octal and hexadecimal numbers, negative ones for unsigned options and nothing
/// for zero.
void tidy_numbers(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    std::string const type = option->get_type_name();
    if (type.rfind("UINT", 0) == 0)
      option->transform(CLI::Validator(tidy_whole<std::uint64_t>, ""));
    else if (type.rfind("INT", 0) == 0)
      option->transform(CLI::Validator(tidy_whole<int>, ""));
    else if (type.rfind("FLOAT", 0) == 0)
      option->transform(CLI::Validator(tidy_real, ""));
  }
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option const* const option : app.get_options())
    for (std::string const& value : option->results())
      require(!without_blanks(value).empty(), option->get_name(),
              "the value is empty (see --help)");
}

}  // namespace

CLI::Validator at_least_one() {
  return CLI::Validator(
      [](std::string& text) {
        bool const is_positive = text.front() != '-' && text != "0";
        return is_positive ? std::string() : text + " is less than 1";
      },
      "");
}

double parse_real(std::string const& option, std::string text, std::string const& of) {
  std::string const fault = tidy_real(text);
  require(fault.empty(), option, fault, of);
  double value = 0;
  read_number(text, value);
  return value;
}

void set_up(CLI::App& app, std::string const& name, std::string const& summary) {
  Versions const built = versions();
  app.name(name);
  app.description(summary);
  app.set_version_flag("--version", name + " " + built.blockspan + " (Kokkos " + built.kokkos +
                                        ", Kokkos Kernels " + built.kokkos_kernels + ")");
  app.option_defaults()->always_capture_default();
}

void add_matrix_argument(CLI::App& app, std::string& matrix) {
  app.add_option("MATRIX", matrix,
                 "A Matrix Market file (.mtx, .mtx.gz; - is the standard input) or a generator "
                 "spec, see below")
      ->required();
}

void add_symmetrize_option(CLI::App& app, bool& symmetrize) {
  app.add_flag(
      "--symmetrize", symmetrize,
      "Replace a matrix that is not Hermitian to rounding by its Hermitian part, (A + A^H) / 2, "
      "with a note; otherwise such a matrix is refused");
}

void add_partition_option(CLI::App& app, std::string& partition) {
  app.add_option(
         "--partition", partition,
         "Under mpirun, the rows of each rank: consecutive rows with about equal counts of "
         "nonzeros, the same in reverse Cuthill-McKee order (rcm), bricks of a grid, or parts by "
         "METIS or PT-Scotch; vectors in files keep the order of the matrix")
      ->check(CLI::IsMember({"contiguous", "rcm", "bricks", "metis", "scotch"}));
}

void add_machine_options(CLI::App& app, MachineOptions& options) {
  app.add_option("--backend", options.backend, "Backend; auto: the fastest of this build")
      ->check(CLI::IsMember({"auto", "cuda", "openmp", "serial"}));
  std::vector<std::string> products{"blockspan", "kokkos-kernels", "cusparse"};
  for (auto const* const variant : spmm_variants()) products.emplace_back(variant->id);
  app.add_option(
         "--spmm", options.spmm,
         "The library of the sparse product, or a kernel of Blockspan in place of the plan's "
         "choice")
      ->check(CLI::IsMember(products));
  add_partition_option(app, options.partition);
  app.add_option("--report", options.report, "Write a JSON report to this file");
  app.add_flag("--quiet", options.quiet, "Print nothing but errors");
}

void add_multigrid_options(CLI::App& app, MultigridInputs& inputs) {
  app.add_option("--near-null", inputs.near_null,
                 "For multigrid: near-null vectors of the matrix, a Matrix Market file");
  app.add_option(
      "--coordinates", inputs.coordinates,
      "For multigrid of a structure: a Matrix Market file with the 2 or 3 coordinates of "
      "each node in a row; a node has as many unknowns, in consecutive rows");
  app.add_option("--block-size", inputs.block_size,
                 "For multigrid: unknowns of a node, in consecutive rows (default: found in the "
                 "pattern)")
      ->check(CLI::Range(1, 16));
  app.add_option(
         "--adaptive", inputs.adaptive,
         "For multigrid of a structure without coordinates: near-null vectors to compute by "
         "a few steps of an eigensolver, usually 6")
      ->check(CLI::Range(0, 16));
  app.add_option("--hierarchy", inputs.hierarchy,
                 "For multigrid: a folder with given prolongators P0.mtx, P1.mtx, ...; coarse "
                 "matrices A1.mtx, ... are compared if present");
  app.add_flag("--levels", inputs.levels, "Print the levels of multigrid");
}

bool parse(CLI::App& app, int argc, char** argv) {
  tidy_numbers(app);
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& request) {
    app.exit(request, std::cout, std::cerr);
    return false;
  } catch (CLI::ParseError const& error) {
    throw Error(std::string(error.what()) + " (see --help)");
  }
  refuse_empty_values(app);
  return true;
}

}  // namespace blockspan::apps
