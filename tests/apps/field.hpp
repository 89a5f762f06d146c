#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/report_run.hpp"
#include "support/files.hpp"

namespace blockspan::test {

/// A case of a list in the folder BLOCKSPAN_FIELD_DIR, rebuilt from a report of people who do this
/// job, with the right answer.
struct FieldCase {
  Json json;
  std::string folder;

  std::string name() const { return json["name"]; }
  std::string kind() const { return json["expected"]["kind"]; }
  Json const& expected() const { return json["expected"]; }
  bool is(std::string const& program) const { return json["program"] == program; }
  bool has(std::string const& option) const;
  /// The word after an option; empty: it is not given.
  std::string value_of(std::string const& option) const;
};

/// What a run of a case left.
struct FieldRun {
  Outcome outcome;
  Json report;          ///< null: none was written
  std::string vectors;  ///< its file of vectors or of the solution; may not be there
  double seconds = 0;

  std::string text() const { return outcome.out + outcome.err; }
};

/// All cases of the list `path` beneath BLOCKSPAN_FIELD_DIR; none where it is not there.
std::vector<FieldCase> field_cases(std::string const& path);

/// Runs a case, with outputs in `folder`, for two minutes at most: the status is 124 then.
FieldRun run_field_case(FieldCase const& c, TemporaryFolder const& folder);

/// Whether the build lacks what the case needs: Kokkos Kernels' preconditioners, complex numbers,
/// a launcher.
bool lacks_component(FieldCase const& c, Outcome const& outcome);

std::string lowered(std::string text);

/// The name of a case as tests may be called.
std::string field_test_name(::testing::TestParamInfo<FieldCase> const& tested);

/// For messages.
void PrintTo(FieldCase const& c, std::ostream* out);

}  // namespace blockspan::test
