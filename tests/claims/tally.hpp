#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace blockspan::test {

/// What became of one generated problem.
struct Outcome {
  std::string generator;
  std::string name;                ///< order and options, in words
  bool posed = true;               ///< its truth is defined
  int pairs = 0, solved = 0;       ///< pairs or columns, and those with success
  std::vector<std::string> wrong;  ///< claims that do not hold
};

/// First and last seed to run again, from BLOCKSPAN_FUZZ_SEED=first:last (or one number); those of
/// the test where it is not set.
struct Seeds {
  std::uint64_t first, last;
  bool chosen = false;  ///< by the environment: print all that is known of each
  /// `count` from 0.
  static Seeds of_test(std::uint64_t count);
};

/// The folder that BLOCKSPAN_FUZZ_FOLDER names for files of the problems; empty: none.
std::string fuzz_folder();

/// Outcomes by generator. Prints a line for each and one for every wrong claim, which is a failure
/// of the test.
class Tally {
 public:
  Tally(std::string title, Seeds const& seeds) : title_(std::move(title)), seeds_(seeds) {}
  void add(std::uint64_t seed, Outcome const& outcome);
  void print() const;
  /// Fails the test if a smaller part is solved: who claims nothing is never wrong.
  void expect_solved(double least) const;

 private:
  struct Line {
    int runs = 0, pairs = 0, solved = 0, unposed = 0, wrong = 0;
  };
  std::string title_;
  Seeds seeds_;
  std::map<std::string, Line> lines_;
};

}  // namespace blockspan::test
