// Ranks that see other bytes by one name are told, however the files are dealt out among them.
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/distributed/reading/same_file.hpp>

#include "support/files.hpp"
#include "support/thread_ranks.hpp"
#include <sys/stat.h>
#include <unistd.h>

namespace blockspan::test {
namespace {

constexpr std::int64_t long_size = (std::int64_t{1} << 26) + (std::int64_t{1} << 24) + 5;

/// Zeros, which take no room on the disk, and one byte that is something else; -1: none.
std::string write_file(TemporaryFolder const& folder, std::string const& name, std::int64_t size,
                       std::int64_t other) {
  std::string const path = folder / name;
  write_text(path, "");
  EXPECT_EQ(::truncate(path.c_str(), size), 0);
  if (other < 0) return path;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(other);
  file.put('x');
  return path;
}

/// What the ranks are told, whose files are those of `paths`; all are told the same.
std::string told(std::vector<std::string> const& paths) {
  auto const ranks = static_cast<int>(paths.size());
  std::vector<std::string> said(paths.size());
  ThreadRanks::run(ranks, [&](Communicator const& world) {
    auto const me = static_cast<std::size_t>(world.rank());
    struct stat status {};
    ::stat(paths[me].c_str(), &status);
    std::int64_t const size = status.st_size;
    try {
      blockspan::distributed::require_same_file(world, paths[me], size,
                                                [&](int r) { return size / ranks * r; });
    } catch (AgreedError const& error) {
      said[me] = std::string(error.what()).substr(std::string(error.what()).find(": ") + 2);
    }
  });
  for (auto const& each : said) EXPECT_EQ(each, said[0]);
  return said[0];
}

TEST(SameFile, OneFileOrCopiesOfItAreTheSame) {
  TemporaryFolder const folder;
  for (std::int64_t const size : {std::int64_t{0}, std::int64_t{1001}, long_size}) {
    auto const a = write_file(folder, "a", size, size / 3),
               b = write_file(folder, "b", size, size / 3);
    if (size > 0) {
      EXPECT_EQ(told({a, a, a}), "");
      EXPECT_EQ(told({a, b, a, b}), "");
    }
  }
}

TEST(SameFile, AnyByteOfAShortFileAndAnyThatIsReadOfALongOneCount) {
  TemporaryFolder const folder;
  for (std::int64_t const size : {std::int64_t{1001}, long_size}) {
    auto const a = write_file(folder, "a", size, -1);
    for (int const owner : {0, 1, 3}) {
      auto const b = write_file(folder, "b", size, size / 4 * owner + size / 8 + 17);
      // the byte is read by its owner, whose file is that of the first rank or another
      for (auto const& paths : {std::vector{a, b, a, b}, std::vector{b, a, a, a}}) {
        bool const is_read = paths[static_cast<std::size_t>(owner)] != paths[0];
        auto const said = told(paths);
        if (is_read || size < long_size) {
          EXPECT_NE(said.find("see different files by this name"), said.npos) << owner << size;
        }
      }
    }
    auto const longer = write_file(folder, "c", size + 1, -1);
    EXPECT_EQ(told({a, a, longer}), "ranks 0 and 2 see different files by this name");
  }
}

/// Sums of plain products lose all but eight bits of a difference in the last bytes of words.
TEST(SameFile, DifferencesDoNotMakeUpForEachOther) {
  TemporaryFolder const folder;
  std::string text(1001, '\0');
  std::string const a = folder / "a", b = folder / "b";
  write_text(a, text);
  text[7] = text[15] = '@';
  write_text(b, text);
  EXPECT_NE(told({a, b}), "");
}

}  // namespace
}  // namespace blockspan::test
