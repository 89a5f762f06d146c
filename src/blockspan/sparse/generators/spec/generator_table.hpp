#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <blockspan/sparse/generator_spec.hpp>

namespace blockspan::sparse {

/// A positional value or a numeric option of a generator, and its valid range.
struct GeneratorNumber {
  std::string_view name;
  double least;
  double most;
  bool whole = false;        ///< an integer
  bool may_be_least = true;  ///< the interval is closed below
  double preset = 0;         ///< default of an option
};

/// The first part of a spec, AxB...; no sizes where most is 0.
struct GeneratorSizes {
  int most;
  bool may_repeat = false;  ///< one size stands for `most` equal sizes
  std::int64_t least_size = 0;
};

/// A generator as described to the parser.
struct GeneratorEntry {
  std::string_view name;
  std::string_view form;
  std::string_view summary;
  GeneratorSizes sizes;
  std::vector<GeneratorNumber> numbers = {};
  std::vector<GeneratorNumber> options = {};
  std::vector<std::string_view> flags =
      {};  ///< in addition to permute: seed, symmetric, values, free
  void (*complete)(GeneratorSpec&) = nullptr;  ///< completes and checks a spec; throws Error
};

std::span<GeneratorEntry const> generator_table();

}  // namespace blockspan::sparse
