#include "apps/field.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/types.hpp"

namespace blockspan::test {

namespace fs = std::filesystem;

namespace {

/// The words of a command, with the folder in front of its files.
void add_words(FieldCase const& c, Json const& from, std::vector<std::string>& words) {
  for (std::string const word : from) {
    if (word == "{APP}")
      words.push_back(app_path(c.json["program"]).string());
    else if (!word.empty() && word[0] != '/' && fs::exists(fs::path(c.folder) / word))
      words.push_back(c.folder + "/" + word);
    else
      words.push_back(word);
  }
}

}  // namespace

bool FieldCase::has(std::string const& option) const {
  auto const& words = json["args"];
  return std::find(words.begin(), words.end(), option) != words.end();
}

std::string FieldCase::value_of(std::string const& option) const {
  auto const& words = json["args"];
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == option) return words[i + 1];
  return "";
}

std::vector<FieldCase> field_cases(std::string const& path) {
  char const* const folder = std::getenv("BLOCKSPAN_FIELD_DIR");
  if (folder == nullptr) return {};
  fs::path const list = fs::path(folder) / path;
  std::ifstream file(list);
  std::vector<FieldCase> cases;
  if (file)
    for (Json const& json : Json::parse(file)) cases.push_back({json, list.parent_path().string()});
  return cases;
}

FieldRun run_field_case(FieldCase const& c, TemporaryFolder const& folder) {
  FieldRun run;
  run.vectors = folder / "vectors.mtx";
  std::string const report = folder / "report.json";
  std::vector<std::string> words{"timeout", "120"};
  if (c.json.contains("launcher")) add_words(c, c.json["launcher"], words);
  words.push_back(app_path(c.json["program"]).string());
  add_words(c, c.json["args"], words);
  words.insert(words.end(), {"--report", report});
  if (!c.is("blockspan-spmm"))
    words.insert(words.end(), {c.is("blockspan-solve") ? "--solution" : "--vectors", run.vectors});
  auto const begin = std::chrono::steady_clock::now();
  std::string const input = c.expected().value("stdin", "");
  run.outcome = input.empty() ? run_program("/usr/bin/env", words)
                              : run_program_with_input("/usr/bin/env", words,
                                                       read_text(c.folder + "/" + input));
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (fs::exists(report)) run.report = Json::parse(read_text(report));
  return run;
}

bool lacks_component(FieldCase const& c, Outcome const& outcome) {
  if (outcome.status == 127) return true;
  std::string const kind = c.value_of("--preconditioner"), err = lowered(outcome.err);
  if (!has_scalar<Kokkos::complex<double>> && outcome.status == 2 &&
      err.find("is complex, and this build has") != err.npos)
    return true;
  return kind == "ilu0" ||  // gone
         ((kind == "gauss-seidel" || kind == "direct") && err.find("this build") != err.npos);
}

std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string field_test_name(::testing::TestParamInfo<FieldCase> const& tested) {
  std::string name = tested.param.name();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

void PrintTo(FieldCase const& c, std::ostream* out) { *out << c.name(); }

}  // namespace blockspan::test
