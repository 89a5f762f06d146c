// The house is as src/README.md says: which room includes which, what is private, whose names are
// whose; and the pages of the rooms name files and functions that exist.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace fs = std::filesystem;

namespace {

using Words = std::set<std::string>;

struct Room {
  Words namespaces, folders, below;
};

fs::path const house = fs::path(BLOCKSPAN_SOURCE_DIR) / "src";

std::string text_of(fs::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The words in backquotes, without a slash at their end.
Words words_in(std::string const& cell) {
  Words words;
  static std::regex const word("`([\\w/]+?)/?`");
  for (std::sregex_iterator at(cell.begin(), cell.end(), word), end; at != end; ++at)
    words.insert((*at)[1]);
  return words;
}

/// The table of the page: a line a room.
std::map<std::string, Room> rooms_of_page() {
  std::map<std::string, Room> rooms;
  std::istringstream page(text_of(house / "README.md"));
  for (std::string line; std::getline(page, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    if (cells.size() < 6 || words_in(cells[1]).size() != 1) continue;
    rooms[*words_in(cells[1]).begin()] = {words_in(cells[2]), words_in(cells[4]),
                                          words_in(cells[5])};
  }
  return rooms;
}

bool is_code(fs::path const& path) {
  auto const kind = path.extension();
  return kind == ".hpp" || kind == ".cpp" || kind == ".in";
}

/// All sources of a room, with their folder in it ("" at the top).
std::vector<std::pair<fs::path, std::string>> sources(std::string const& room) {
  std::vector<std::pair<fs::path, std::string>> found;
  fs::path const root = house / "blockspan" / room;
  for (auto const& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file() && is_code(entry.path())) {
      std::string const folder =
          entry.path().parent_path().lexically_relative(root).generic_string();
      found.emplace_back(entry.path(), folder == "." ? "" : folder);
    }
  return found;
}

/// What is wrong with one include of a source of `room`; empty: nothing.
std::string fault_of(std::string const& include, std::string const& room,
                     std::map<std::string, Room> const& rooms) {
  auto const slash = include.find('/');
  if (slash == std::string::npos) return room + " includes all rooms";
  std::string const other = include.substr(0, slash);
  if (other == room) return "";
  if (!rooms.at(room).below.contains(other)) return room + " may not include " + other;
  auto const last = include.rfind('/');
  if (last == slash) return "";
  std::string const folder = include.substr(slash + 1, last - slash - 1);
  return rooms.at(other).folders.contains(folder) ? "" : folder + " is private to " + other;
}

/// The headers of ours that a text includes, below blockspan/.
std::vector<std::string> includes(std::string const& text) {
  static std::regex const include("#\\s*include <blockspan/([^>]+)>");
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

}  // namespace

TEST(Rooms, AreAllOnThePage) {
  auto const rooms = rooms_of_page();
  for (auto const& entry : fs::directory_iterator(house / "blockspan"))
    if (entry.is_directory()) {
      EXPECT_TRUE(rooms.contains(entry.path().filename().string())) << entry.path();
    }
  EXPECT_GE(rooms.size(), 10u);
}

// Whoever stands on rooms that are built is built next: a circle of any length would remain.
TEST(Rooms, HaveAnOrder) {
  auto const rooms = rooms_of_page();
  for (auto const& [name, room] : rooms)
    for (auto const& below : room.below)
      EXPECT_TRUE(rooms.contains(below)) << name << ": " << below;
  Words built;
  std::size_t before;
  do {
    before = built.size();
    for (auto const& [name, room] : rooms)
      if (std::ranges::includes(built, room.below)) built.insert(name);
  } while (built.size() > before);
  EXPECT_EQ(built.size(), rooms.size()) << testing::PrintToString(built) << " stand";
}

TEST(Rooms, IncludeWhatThePageAllows) {
  auto const rooms = rooms_of_page();
  std::map<std::string, Words> needed, shared;
  for (auto const& [name, room] : rooms)
    for (auto const& [path, folder] : sources(name))
      for (auto const& include : includes(text_of(path))) {
        EXPECT_EQ(fault_of(include, name, rooms), "") << path << ": " << include;
        std::string const other = include.substr(0, include.find('/'));
        if (other == name) continue;
        needed[name].insert(other);
        auto const parent = fs::path(include).parent_path().lexically_relative(other);
        if (parent != ".") shared[other].insert(parent.generic_string());
      }
  for (auto const& [name, room] : rooms) {
    EXPECT_THAT(needed[name], testing::ContainerEq(room.below)) << name << " may include";
    EXPECT_THAT(shared[name], testing::ContainerEq(room.folders)) << name << " is asked for";
  }
}

TEST(Rooms, SeeIncludesThatAreNotAllowed) {
  auto const rooms = rooms_of_page();
  EXPECT_NE(fault_of("solvers/lobpcg.hpp", "spmm", rooms), "");
  EXPECT_NE(fault_of("spmm/kernels/groups/groups.hpp", "operators", rooms), "");
  EXPECT_NE(fault_of("blockspan.hpp", "operators", rooms), "");
  EXPECT_EQ(fault_of("spmm/plan.hpp", "operators", rooms), "");
}

// Names of two rooms never meet: each has its namespace, and nothing is in one of another room.
TEST(Rooms, KeepTheirNamespaces) {
  static std::regex const opened("(?:^|\\n)\\s*namespace (?:blockspan::)?(\\w+)[\\w:]* \\{");
  auto const rooms = rooms_of_page();
  std::map<std::string, std::string> room_of;
  for (auto const& [name, room] : rooms)
    for (auto const& space : room.namespaces) {
      EXPECT_TRUE(room_of.emplace(space, name).second) << space << " is of two rooms";
    }
  for (auto const& [name, room] : rooms)
    for (auto const& [path, folder] : sources(name)) {
      if (path.filename() == "rooms.hpp") continue;
      std::string const text = text_of(path);
      for (std::sregex_iterator at(text.begin(), text.end(), opened), end; at != end; ++at) {
        auto const owner = room_of.find((*at)[1]);
        EXPECT_TRUE(owner == room_of.end() || owner->second == name)
            << path << " opens " << (*at)[1];
      }
    }
}

// A namespace says whose names are in it, in programs and tests too.
TEST(Rooms, OpenNoNamespaceDetail) {
  std::string const opened = "detail {";
  for (auto const* part : {"src", "apps", "perf", "tests"})
    for (auto const& entry :
         fs::recursive_directory_iterator(fs::path(BLOCKSPAN_SOURCE_DIR) / part)) {
      if (!is_code(entry.path())) continue;
      std::string const text = text_of(entry.path());
      EXPECT_EQ(text.find("namespace " + opened), text.npos) << entry.path();
      EXPECT_EQ(text.find("::" + opened), text.npos) << entry.path();
    }
}

TEST(Rooms, HaveFoldersThatCanBeRead) {
  constexpr std::size_t most = 15;
  Words const kinds{".hpp", ".cpp", ".in", ".h", ".c", ".py", ".f90"};
  std::map<std::string, std::size_t> count;
  for (auto const& entry : fs::recursive_directory_iterator(house))
    if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()))
      ++count[entry.path().parent_path().lexically_relative(house).generic_string()];
  EXPECT_EQ(count.erase("python/blockspan"), 1u);  // its modules are what users import
  EXPECT_GE(count.size(), 50u);
  for (auto const& [folder, files] : count) EXPECT_LE(files, most) << folder;
}

// In code spans and drawings: names with an underscore or a call's parentheses, and files.
TEST(Rooms, HavePagesThatNameWhatExists) {
  static std::regex const code("```[a-z]*\\n[^`]*```|`[^`\\n]+`"), identifier("[A-Za-z_]\\w*"),
      name("\\b([a-z]\\w*\\.(?:hpp|cpp\\.in|cpp|py|cmake))\\b|\\b([a-z]\\w*(?:_\\w+|(?=\\(\\))))");
  using Matches = std::sregex_iterator;
  Words known;
  for (auto const* part : {"src", "apps", "tests"})
    for (auto const& entry :
         fs::recursive_directory_iterator(fs::path(BLOCKSPAN_SOURCE_DIR) / part)) {
      known.insert(entry.path().filename().string());
      auto const kind = entry.path().extension();
      if (!is_code(entry.path()) && kind != ".py" && kind != ".txt") continue;
      std::string const text = text_of(entry.path());
      for (Matches at(text.begin(), text.end(), identifier), end; at != end; ++at)
        known.insert(at->str());
    }
  std::vector<fs::path> pages = {house / "README.md"};
  for (auto const& [room, about] : rooms_of_page())
    pages.push_back(house / "blockspan" / room / "README.md");
  for (auto const& page : pages) {
    ASSERT_TRUE(fs::exists(page)) << page;
    std::string const text = text_of(page);
    for (Matches at(text.begin(), text.end(), code), end; at != end; ++at) {
      std::string const span = at->str();
      for (Matches in(span.begin(), span.end(), name); in != end; ++in) {
        std::string const found = (*in)[1].matched ? (*in)[1] : (*in)[2];
        EXPECT_TRUE(known.contains(found)) << page << " names " << found << " in\n" << span;
      }
    }
  }
}
