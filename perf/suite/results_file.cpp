#include "suite/results_file.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include <blockspan/support/error.hpp>

#include "common/files/output_file.hpp"

namespace blockspan::perf {

namespace {

constexpr char const* not_yet = "did not run";
constexpr char const* running = "did not finish";
constexpr int most_attempts = 2;

/// Members that must be equal in a run and in the one it goes on from.
constexpr char const* settings[] = {"schema",   "study", "commit", "linked", "backend", "device",
                                    "versions", "clock", "quick",  "flush",  "fault"};

/// Whether the entry has all members of the identity, and none of those that an identity may lack.
bool is_entry_of(Json const& identity, Json const& entry) {
  for (auto const& [key, value] : identity.items())
    if (!entry.contains(key) || entry[key] != value) return false;
  return identity.contains("task") == entry.contains("task") &&
         identity.contains("alpha") == entry.contains("alpha");
}

}  // namespace

Json read_results(std::string const& path) {
  std::ifstream file(path);
  require(file.good(), path, "cannot be read");
  try {
    Json document = Json::parse(file);
    require(document.contains("cases") && document["cases"].is_array(), path, "has no cases");
    return document;
  } catch (Json::exception const& error) {
    fail(path, "is no file of results: ", error.what());
  }
}

ResultsFile::ResultsFile(std::string path, Json header, std::vector<Case> const& cases, bool fresh)
    : path_(std::move(path)), document_(std::move(header)) {
  Json& entries = document_["cases"] = Json::array();
  for (Case const& one : cases) {
    identities_.push_back(identity(one));
    Json entry = identities_.back();
    entry["error"] = not_yet;
    entries.push_back(std::move(entry));
  }
  if (!fresh && std::filesystem::exists(path_)) go_on_from(read_results(path_));
  write();
}

void ResultsFile::go_on_from(Json const& old) {
  for (char const* const key : settings)
    require(old.contains(key) && old[key] == document_[key], path_, "holds results of another ",
            key, " (", old.contains(key) ? old[key].dump() : "none", ", now ",
            document_[key].dump(), "): choose another --out, or --fresh");
  for (auto const& [key, value] : old.items())
    if (key != "cases") document_[key] = value;  // the speeds its cases were measured against
  Json& entries = document_["cases"];
  for (std::size_t i = 0; i < identities_.size(); ++i)
    for (Json const& entry : old["cases"])
      if (is_entry_of(identities_[i], entry)) entries[i] = entry;
}

bool ResultsFile::done(std::size_t number) const {
  Json const& entry = document_["cases"][number];
  if (!entry.contains("error")) return true;
  std::string const error = entry["error"].get<std::string>();
  if (error == running) return entry.value("attempts", 0) >= most_attempts;
  return error != not_yet;
}

int ResultsFile::left() const {
  int count = 0;
  for (std::size_t i = 0; i < identities_.size(); ++i) count += done(i) ? 0 : 1;
  return count;
}

void ResultsFile::begin(std::size_t number) {
  Json& entry = document_["cases"][number];
  entry["error"] = running;
  entry["attempts"] = entry.value("attempts", 0) + 1;
  write();
}

void ResultsFile::forget(std::size_t number) {
  Json& entry = document_["cases"][number];
  entry = identities_[number];
  entry["error"] = not_yet;
  write();
}

void ResultsFile::finish(std::size_t number, Json const& result) {
  Json& entry = document_["cases"][number];
  entry = identities_[number];
  entry.update(result);
  write();
}

void ResultsFile::append(std::string const& list, Json const& entry) {
  if (!document_.contains(list)) document_[list] = Json::array();
  document_[list].push_back(entry);
  write();
}

void ResultsFile::write() const {
  apps::OutputFile("--out", path_, true).write_or_fail(apps::to_text(document_));
}

}  // namespace blockspan::perf
