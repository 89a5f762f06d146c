#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "studies/study.hpp"

namespace blockspan::perf {

/// The results of one study in a file, replaced as a whole after every change, so that a reader
/// sees a whole one, and a run that was interrupted can go on.
class ResultsFile {
 public:
  /// header: what the file says before its cases. A file that is there is gone on with where it is
  /// of the same study, machine, versions and settings; else Error says what differs. fresh: it is
  /// replaced whatever it is.
  ResultsFile(std::string path, Json header, std::vector<Case> const& cases, bool fresh);

  std::string const& path() const { return path_; }
  Json const& document() const { return document_; }
  /// Whether a case has its results, or ended two runs.
  bool done(std::size_t number) const;
  int left() const;

  /// Notes in the file that the case runs: should it end the run, it is tried once more.
  void begin(std::size_t number);
  /// Puts the members of `result` into the entry of the case.
  void finish(std::size_t number, Json const& result);
  /// As if the case had not begun.
  void forget(std::size_t number);
  /// Adds to a list of the header.
  void append(std::string const& list, Json const& entry);

 private:
  void write() const;
  void go_on_from(Json const& old);

  std::string path_;
  Json document_;
  std::vector<Json> identities_;
};

/// The results in a file. Throws Error where it cannot be read or is none.
Json read_results(std::string const& path);

}  // namespace blockspan::perf
