#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include <blockspan/spmm/prepared/tune_cache.hpp>
#include <blockspan/support/atomic_file.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::products {

namespace {

constexpr char const* where = "blockspan::tuned_plan";
constexpr char const* header = "blockspan tuned plans 1";
constexpr std::size_t text_fields = 2, number_fields = 12;  // of a key

struct Entry {
  std::string key;  ///< as in the file
  SpmmVariant const* variant;
};

std::string line_of(TuneKey const& key) {
  std::ostringstream line;
  std::string device = key.device;
  std::replace(device.begin(), device.end(), '\t', ' ');
  std::replace(device.begin(), device.end(), '\n', ' ');
  line << device << '\t' << key.scalar;
  auto const& rows = key.rows;
  auto const& options = key.options;
  for (std::int64_t const number :
       {std::int64_t{key.offset_bytes}, rows.rows, rows.columns, rows.nonzeros, rows.longest,
        rows.empty_rows, rows.group_work, std::int64_t{options.columns}, options.segment_length,
        std::int64_t{options.lanes.columns}, std::int64_t{options.lanes.entries},
        std::int64_t{options.lanes.vectors}})
    line << '\t' << number;
  return line.str();
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    auto const tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

bool is_number(std::string_view text) {
  constexpr std::size_t most_digits = 19;
  return !text.empty() && text.size() <= most_digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Entry parse(std::string const& file, std::int64_t number, std::string const& line) {
  constexpr std::size_t count = text_fields + number_fields + 1;
  auto const fields = fields_of(line);
  auto const check = [&](bool good, auto const&... what) {
    require(good, where, file, ", line ", number, ": ", what...);
  };
  check(fields.size() == count, "an entry has ", count, " fields, separated by tabs, not ",
        fields.size());
  for (std::size_t f = text_fields; f < text_fields + number_fields; ++f)
    check(is_number(fields[f]), "field ", f + 1, " is not a number (", fields[f], ")");
  auto const* const variant = find_spmm_variant(fields.back());
  check(variant != nullptr, "unknown variant \"", fields.back(), "\"; there are", spmm_menu());
  return {line.substr(0, line.size() - fields.back().size() - 1), variant};
}

/// Nothing where there is no file.
std::vector<Entry> read_entries(std::string const& file) {
  std::error_code error;
  auto const status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  require(std::filesystem::is_regular_file(status), where, "cannot read ", file,
          ": not a regular file");
  std::ifstream in(file);
  require(in.is_open(), where, "cannot read ", file, ": ", std::strerror(errno));
  std::string line;
  std::getline(in, line);
  require(line == header, where, file,
          ", line 1: this is not a cache of tuned plans, which begins ", "with \"", header, "\"");
  std::vector<Entry> entries;
  for (std::int64_t number = 2; std::getline(in, line); ++number)
    entries.push_back(parse(file, number, line));
  require(!in.bad(), where, "cannot read ", file, ": ", std::strerror(errno));
  return entries;
}

}  // namespace

SpmmVariant const* find_tuned(std::string const& file, TuneKey const& key) {
  require(!file.ends_with(".gz"), where, "the cache ", file, " cannot be a compressed file");
  auto const wanted = line_of(key);
  for (auto const& entry : read_entries(file))
    if (entry.key == wanted) return entry.variant;
  return nullptr;
}

void check_tuned_writable(std::string const& file) {
  AtomicFile const never_committed(where, file);
}

void add_tuned(std::string const& file, TuneKey const& key, SpmmVariant const& variant) {
  auto const wanted = line_of(key);
  auto entries = read_entries(file);
  std::erase_if(entries, [&](Entry const& entry) { return entry.key == wanted; });
  entries.push_back({wanted, &variant});
  AtomicFile out(where, file);
  std::string text(header);
  text += '\n';
  for (auto const& entry : entries)
    text += entry.key + '\t' + std::string(entry.variant->id) + '\n';
  out.write(text);
  out.commit();
}

}  // namespace blockspan::products
