#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace blockspan {

/// Distribution of the values of the random generators: multiples of 2^-23 in [-1, 1), multiples of
/// 2^-24 in (0, 1], or all one. So the float and the double matrix of one spec have equal values.
enum class GeneratorValues { in_minus_one_one, in_zero_one, ones };

/// A parsed one-line spec with defaults filled in: NAME:SIZE[:NUMBER]...[:OPTION]...
///
/// SIZE is N or AxB or AxBxC; numbers are separated by ':' or ','; an option is `key=value` or a
/// flag. `permute:seed=3:SPEC` and `SPEC:permute=3` are equivalent. generator_help() lists them
/// all.
struct GeneratorSpec {
  std::string text;                 ///< as given
  std::string name;                 ///< "laplace7", "rmat", ...
  std::vector<std::int64_t> sizes;  ///< dimensions; a cube's edge is repeated: {100, 100, 100}
  std::vector<double> numbers;      ///< the positional values, defaults filled in
  std::map<std::string, double> options;  ///< numeric options specific to the generator
  std::uint64_t seed = 1;
  bool symmetric = false;  ///< requested by a flag: Hermitian when the scalar is complex
  bool clamped = true;     ///< elasticity: the degrees of freedom of x = 0 are removed
  GeneratorValues values = GeneratorValues::in_minus_one_one;
  bool permuted = false;
  std::uint64_t permutation_seed = 1;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = -1;         ///< -1: known only after the rows are generated
  bool is_symmetric = false;          ///< exactly Hermitian
  bool is_positive_definite = false;  ///< known to be; false for random values
};

/// Parses a spec. Throws Error on an unknown generator (listing the known ones), a malformed value,
/// too few or too many values, an option the generator does not have, a value out of range, and
/// rows or columns beyond a 32-bit ordinal. Allocates nothing of the size of the matrix.
GeneratorSpec parse_generator_spec(std::string_view spec);

/// Whether the text is a spec rather than a file name: the name of a generator, or a word of
/// lower-case letters, digits and '-' (three characters or more) before a ':'. A misspelt generator
/// is therefore a spec, and parse_generator_spec reports the error; a file of such a name is
/// accessed as ./NAME.
bool is_generator_spec(std::string_view text);

/// Help text: all generators, one per line with form and meaning; then the options.
std::string generator_help();

}  // namespace blockspan
