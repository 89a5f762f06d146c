#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include <blockspan/sparse/generators/spec/generator_table.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {
namespace {

using sparse::GeneratorEntry;
using sparse::GeneratorNumber;

constexpr std::string_view where = "generator";

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    std::size_t const end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// `token` as a number if all of it is one, else nothing.
template <class Number>
std::optional<Number> number(std::string_view token) {
  Number value{};
  auto const [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc{} || end != token.data() + token.size()) return std::nullopt;
  return value;
}

GeneratorEntry const* find_entry(std::string_view name) {
  for (GeneratorEntry const& entry : sparse::generator_table())
    if (entry.name == name) return &entry;
  return nullptr;
}

GeneratorEntry const& known_entry(std::string_view name, std::string_view spec) {
  if (GeneratorEntry const* entry = find_entry(name)) return *entry;
  std::ostringstream known;
  for (GeneratorEntry const& entry : sparse::generator_table()) known << ' ' << entry.name;
  fail(where, "unknown generator '", name, "' in '", spec, "'; known are:", known.str());
}

void read_sizes(GeneratorSpec& spec, GeneratorEntry const& entry, std::string_view token) {
  for (std::string_view part : split(token, "x")) {
    auto const size = number<std::int64_t>(part);
    require(size.has_value(), where, "'", part, "' is not a size in '", spec.text, "' (",
            entry.form, ")");
    require(*size >= entry.sizes.least_size && *size <= 2147483647, where, "size ", *size, " in '",
            spec.text, "' is not between ", entry.sizes.least_size, " and 2147483647");
    spec.sizes.push_back(*size);
  }
  auto const count = static_cast<int>(spec.sizes.size());
  if (entry.sizes.may_repeat && count == 1)
    spec.sizes.assign(std::size_t(entry.sizes.most), spec.sizes[0]);
  else
    require(count == entry.sizes.most, where, "'", token, "' gives ", count, " sizes where ",
            entry.name, " takes ", entry.sizes.most, entry.sizes.may_repeat ? " or 1" : "", " (",
            entry.form, ")");
}

double read_number(GeneratorSpec const& spec, GeneratorNumber const& rule, std::string_view token) {
  auto const value = number<double>(token);
  require(value && std::isfinite(*value), where, rule.name, " is '", token, "' in '", spec.text,
          "', a number is needed");
  require(
      *value <= rule.most && (*value > rule.least || (rule.may_be_least && *value == rule.least)),
      where, rule.name, " is ", token, " in '", spec.text, "', not ",
      rule.may_be_least ? "between " : "above ", rule.least,
      rule.may_be_least ? " and " : " and at most ", rule.most);
  require(!rule.whole || *value == std::floor(*value), where, rule.name, " is ", token, " in '",
          spec.text, "', a whole number is needed");
  return *value;
}

std::uint64_t read_seed(GeneratorSpec const& spec, std::string_view key, std::string_view token) {
  auto const value = number<std::uint64_t>(token);
  require(value.has_value(), where, key, " is '", token, "' in '", spec.text,
          "', a whole number from 0 to 2^64 - 1 is needed");
  return *value;
}

void read_values(GeneratorSpec& spec, std::string_view token) {
  if (token == "signed")
    spec.values = GeneratorValues::in_minus_one_one;
  else if (token == "positive")
    spec.values = GeneratorValues::in_zero_one;
  else if (token == "ones")
    spec.values = GeneratorValues::ones;
  else
    fail(where, "values is '", token, "' in '", spec.text, "', not signed, positive or ones");
}

void read_permute(GeneratorSpec& spec, std::optional<std::string_view> seed) {
  require(!spec.permuted, where, "'", spec.text, "' is permuted twice");
  spec.permuted = true;
  if (seed) spec.permutation_seed = read_seed(spec, "permute", *seed);
}

void read_option(GeneratorSpec& spec, GeneratorEntry const& entry, std::string_view token) {
  std::size_t const equal = token.find('=');
  std::string_view const key = token.substr(0, equal);
  std::optional<std::string_view> value;
  if (equal != std::string_view::npos) value = token.substr(equal + 1);
  for (GeneratorNumber const& rule : entry.options) {
    if (key != rule.name) continue;
    require(value.has_value(), where, key, " needs a value in '", spec.text, "'");
    spec.options[std::string(key)] = read_number(spec, rule, *value);
    return;
  }
  bool const taken = key == "permute" ||
                     std::find(entry.flags.begin(), entry.flags.end(), key) != entry.flags.end();
  require(taken, where, "'", token, "' in '", spec.text, "' is not an option of ", entry.name, " (",
          entry.form, ")");
  bool const needs_value = key == "seed" || key == "values";
  require(needs_value == value.has_value() || key == "permute", where, key,
          needs_value ? " needs a value in '" : " takes no value in '", spec.text, "'");
  if (key == "permute") read_permute(spec, value);
  if (key == "seed") spec.seed = read_seed(spec, key, *value);
  if (key == "values") read_values(spec, *value);
  if (key == "symmetric") spec.symmetric = true;
  if (key == "free") spec.clamped = false;
}

bool looks_numeric(std::string_view token) {
  return token.empty() ||
         std::string_view("+-.0123456789").find(token[0]) != std::string_view::npos;
}

void read_numbers(GeneratorSpec& spec, GeneratorEntry const& entry, std::string_view token) {
  for (std::string_view part : split(token, ",")) {
    std::size_t const index = spec.numbers.size();
    require(index<entry.numbers.size(), where, "'", part, "' in '", spec.text,
                  "' is one number too many: ", entry.name, " takes ", entry.numbers.size(),
                  entry.sizes.most> 0
                ? " after the size ("
                : " (",
            entry.form, ")");
    spec.numbers.push_back(read_number(spec, entry.numbers[index], part));
  }
}

/// Removes a leading `permute[:seed=N]:`.
std::string_view read_permute_prefix(GeneratorSpec& spec, std::string_view rest) {
  constexpr std::string_view prefix = "permute:", key = "seed=";
  if (!rest.starts_with(prefix)) return rest;
  rest.remove_prefix(prefix.size());
  if (!rest.starts_with(key)) {
    read_permute(spec, std::nullopt);
    return rest;
  }
  std::size_t const end = rest.find(':');
  read_permute(spec, rest.substr(key.size(), end - key.size()));
  require(end != std::string_view::npos, where, "'", spec.text, "' does not say what to permute");
  return rest.substr(end + 1);
}

}  // namespace

GeneratorSpec parse_generator_spec(std::string_view text) {
  GeneratorSpec spec;
  spec.text = text;
  auto tokens = split(read_permute_prefix(spec, text), ":");
  GeneratorEntry const& entry = known_entry(tokens[0], text);
  spec.name = entry.name;
  for (GeneratorNumber const& rule : entry.options)
    spec.options[std::string(rule.name)] = rule.preset;
  std::size_t next = 1;
  if (entry.sizes.most > 0) {
    require(tokens.size() > 1, where, "'", text, "' has no size (", entry.form, ")");
    read_sizes(spec, entry, tokens[next++]);
  }
  for (; next < tokens.size(); ++next) {
    if (looks_numeric(tokens[next]))
      read_numbers(spec, entry, tokens[next]);
    else
      read_option(spec, entry, tokens[next]);
  }
  require(spec.numbers.size() == entry.numbers.size(), where, "'", text, "' lacks ",
          spec.numbers.size() < entry.numbers.size() ? entry.numbers[spec.numbers.size()].name : "",
          " (", entry.form, ")");
  entry.complete(spec);
  require(!spec.symmetric || spec.rows == spec.columns, where, "'", text, "' is ", spec.rows, " x ",
          spec.columns, ": only a square matrix can be symmetric");
  return spec;
}

bool is_generator_spec(std::string_view text) {
  std::size_t const colon = text.find(':');
  std::string_view const head = text.substr(0, colon);
  if (find_entry(head) != nullptr) return true;
  auto const is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return colon != std::string_view::npos && head.size() >= 3 &&
         std::all_of(head.begin(), head.end(), is_word);
}

std::string generator_help() {
  std::ostringstream help;
  for (GeneratorEntry const& entry : sparse::generator_table()) {
    std::string form(entry.form);
    form.resize(std::max<std::size_t>(form.size(), 45), ' ');
    help << form << "  " << entry.summary << '\n';
  }
  help << "Options: SPEC:permute or permute:seed=3:SPEC permutes any of them; jump7 and the random "
          "ones take seed=N;\nthe random ones (rmat and below) take symmetric (Hermitian; "
          "attachment and "
          "saddle are) and\nvalues=signed|positive|ones.\n";
  return help.str();
}

}  // namespace blockspan
