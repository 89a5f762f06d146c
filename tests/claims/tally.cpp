#include "claims/tally.hpp"

#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

namespace blockspan::test {

Seeds Seeds::of_test(std::uint64_t count) {
  char const* const chosen = std::getenv("BLOCKSPAN_FUZZ_SEED");
  if (chosen == nullptr) return {0, count - 1};
  char* end = nullptr;
  std::uint64_t const first = std::strtoull(chosen, &end, 10);
  return {first, *end == ':' ? std::strtoull(end + 1, nullptr, 10) : first, true};
}

std::string fuzz_folder() {
  char const* const folder = std::getenv("BLOCKSPAN_FUZZ_FOLDER");
  return folder == nullptr ? "" : folder;
}

void Tally::add(std::uint64_t seed, Outcome const& outcome) {
  Line& line = lines_[outcome.generator];
  ++line.runs;
  line.unposed += outcome.posed ? 0 : 1;
  line.pairs += outcome.pairs;
  line.solved += outcome.solved;
  line.wrong += outcome.wrong.empty() ? 0 : 1;
  if (seeds_.chosen)
    std::printf("seed %llu: %s, %s: %d of %d solved%s\n", static_cast<unsigned long long>(seed),
                outcome.generator.c_str(), outcome.name.c_str(), outcome.solved, outcome.pairs,
                outcome.posed ? "" : " (no truth is defined)");
  if (!outcome.wrong.empty())
    ADD_FAILURE() << "seed " << seed << ", " << outcome.generator << ", " << outcome.name << ": "
                  << outcome.wrong[0] << " (" << outcome.wrong.size() << " claims)";
  for (std::size_t k = 1; seeds_.chosen && k < outcome.wrong.size(); ++k)
    std::printf("  %s\n", outcome.wrong[k].c_str());
}

void Tally::print() const {
  std::printf("%-30s %6s %7s %7s %7s %8s %6s\n", title_.c_str(), "runs", "asked", "solved", "open",
              "no truth", "wrong");
  Line all;
  auto const print_line = [](char const* name, Line const& line) {
    std::printf("%-30s %6d %7d %6.1f%% %7d %8d %6d\n", name, line.runs, line.pairs,
                line.pairs == 0 ? 0.0 : 100.0 * line.solved / line.pairs, line.pairs - line.solved,
                line.unposed, line.wrong);
  };
  for (auto const& [name, line] : lines_) {
    print_line(name.c_str(), line);
    all.runs += line.runs, all.pairs += line.pairs, all.solved += line.solved;
    all.unposed += line.unposed, all.wrong += line.wrong;
  }
  print_line("all", all);
}

void Tally::expect_solved(double least) const {
  if (seeds_.chosen) return;
  double pairs = 0, solved = 0;
  for (auto const& [name, line] : lines_) pairs += line.pairs, solved += line.solved;
  EXPECT_GE(solved, least * pairs);
}

}  // namespace blockspan::test
