#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace blockspan {

/// How the values of the random generators are drawn: multiples of 2^-23 in [-1, 1), multiples of
/// 2^-24 in (0, 1], or all one. So the float and the double matrix of one spec hold equal values.
enum class GeneratorValues { in_minus_one_one, in_zero_one, ones };

/// A one-line spec, checked and with defaults filled in: NAME:SIZE[:NUMBER]...[:OPTION]...
///
/// SIZE is N or AxB or AxBxC; numbers are separated by ':' or ','; an option is `key=value` or a
/// flag. `permute:seed=3:SPEC` and `SPEC:permute=3` say the same. generator_help() lists them all.
struct GeneratorSpec {
  std::string text;                       ///< as given
  std::string name;                       ///< "laplace7", "rmat", ...
  std::vector<std::int64_t> sizes;        ///< the size, a cube's edge repeated: {100, 100, 100}
  std::vector<double> numbers;            ///< the positional numbers, defaults filled in
  std::map<std::string, double> options;  ///< numeric options particular to the generator
  std::uint64_t seed = 1;
  bool symmetric = false;  ///< asked for by a flag: Hermitian when the scalar is complex
  bool clamped = true;     ///< elasticity: the degrees of freedom of x = 0 are removed
  GeneratorValues values = GeneratorValues::in_minus_one_one;
  bool permuted = false;
  std::uint64_t permutation_seed = 1;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = -1;         ///< -1: known only once the rows are drawn
  bool is_symmetric = false;          ///< Hermitian to the bit
  bool is_positive_definite = false;  ///< known to be; false for random values
};

/// Reads a spec. Throws Error on an unknown generator (naming the known ones), a bad number, too
/// few or too many numbers, an option the generator does not have, a number out of its range, and
/// rows or columns beyond a 32-bit ordinal. Allocates nothing of the matrix's size.
GeneratorSpec parse_generator_spec(std::string_view spec);

/// Whether the text is a spec rather than a file name: a generator's name, or a word of
/// lower-case letters, digits and '-' (three characters or more) before a ':'. A misspelt generator
/// is therefore a spec, and parse_generator_spec says what is wrong; a file of such a name is
/// reached as ./NAME.
bool is_generator_spec(std::string_view text);

/// All generators, a line each: form and meaning; then the options. For --help.
std::string generator_help();

}  // namespace blockspan
