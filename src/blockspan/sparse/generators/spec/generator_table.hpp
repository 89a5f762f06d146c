#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <blockspan/sparse/generator_spec.hpp>

namespace blockspan::sparse {

/// A positional number or a numeric option of a generator, and what it may be.
struct GeneratorNumber {
  std::string_view name;
  double least;
  double most;
  bool whole = false;        ///< an integer
  bool may_be_least = true;  ///< the interval is closed below
  double preset = 0;         ///< of an option
};

/// The first part of a spec, AxB...: none where most is 0.
struct GeneratorSizes {
  int most;
  bool may_repeat = false;  ///< one size means `most` equal ones
  std::int64_t least_size = 0;
};

/// A generator as the parser sees it.
struct GeneratorEntry {
  std::string_view name;
  std::string_view form;
  std::string_view summary;
  GeneratorSizes sizes;
  std::vector<GeneratorNumber> numbers = {};
  std::vector<GeneratorNumber> options = {};
  std::vector<std::string_view> flags =
      {};  ///< in addition to permute: seed, symmetric, values, free
  void (*complete)(GeneratorSpec&) = nullptr;  ///< what follows; throws Error
};

std::span<GeneratorEntry const> generator_table();

}  // namespace blockspan::sparse
