// blockspan-eig by factors under mpirun: what one rank finds, on hosts bit by bit, and what it
// refuses.
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/backends.hpp"
#include "apps/eig.hpp"
#include "distributed/launch.hpp"
#include "support/files.hpp"

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

using Words = std::vector<std::string>;

Words joined(Words words, Words const& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// On the backend of hosts where there is one.
Words on_host(Words const& words) {
  return host_backend().empty() ? words : joined(words, {"--backend", host_backend()});
}

/// A chain of n masses and springs; every fourth row has no mass.
Words massless_chain(TemporaryFolder const& folder, int n) {
  std::ostringstream k, m;
  k << "%%MatrixMarket matrix coordinate real symmetric\n" << n << ' ' << n << ' ' << 2 * n - 1;
  m << "%%MatrixMarket matrix coordinate real symmetric\n" << n << ' ' << n << ' ' << 3 * n / 4;
  for (int i = 1; i <= n; ++i) {
    k << '\n' << i << ' ' << i << " 2.5";
    if (i < n) k << '\n' << i + 1 << ' ' << i << " -1";
    if (i % 4 != 0) m << '\n' << i << ' ' << i << ' ' << 1 + i % 3;
  }
  write_text(folder / "k.mtx", k.str() + "\n"), write_text(folder / "m.mtx", m.str() + "\n");
  return {folder / "k.mtx", "--mass", folder / "m.mtx"};
}

/// The same bits on hosts, which sum whole rows; eigenvalues within their bounds on devices.
void expect_the_same(Json const& all, Json const& one) {
  for (char const* const key : {"proof", "number", "counted"})
    EXPECT_EQ(all["exact"].value(key, Json()), one["exact"].value(key, Json())) << key;
  EXPECT_EQ(all.at("path"), one.at("path"));
  if (!host_backend().empty()) {
    for (char const* const key : {"eigenvalues", "backward_errors", "error_bounds"})
      EXPECT_EQ(all.value(key, Json()), one.value(key, Json())) << key;
    for (char const* const key : {"counts", "to", "steps"})
      EXPECT_EQ(all["exact"].value(key, Json()), one["exact"].value(key, Json())) << key;
    return;
  }
  auto const values = numbers(one.value("eigenvalues", Json::array()));
  auto const found = numbers(all.value("eigenvalues", Json::array()));
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t j = 0; j < found.size(); ++j)
    EXPECT_LE(std::abs(found[j] - values[j]),
              all["error_bounds"][j].get<double>() + one["error_bounds"][j].get<double>())
        << j;
}

TEST(ExactProgramsOnRanks, HaveTheBitsOfOneRank) {
  TemporaryFolder const folder;
  Words const grid{"laplace7:12x11x10"};
  auto const chain = massless_chain(folder, 2000);
  for (auto const& command :
       {joined(grid, {"--near", "1.3", "--pairs", "5"}), joined(chain, {"--interval", "0.9,0.91"}),
        joined(grid, {"--count", "-inf,2"}), joined(grid, {"--pairs", "41"})}) {
    std::string const path = folder / "report.json";
    auto const with = on_host(joined(command, {"--report", path}));
    SCOPED_TRACE(command.back());
    auto const alone = run_app("blockspan-eig", with);
    ASSERT_EQ(alone.status, 0) << alone.err;
    auto const one = Json::parse(read_text(path));
    auto const together = run_on_ranks(3, "blockspan-eig", with);
    ASSERT_EQ(together.status, 0) << together.err;
    auto const all = Json::parse(read_text(path));
    ASSERT_TRUE(one.at("exact").is_object());
    expect_the_same(all, one);
  }
}

TEST(ExactProgramsOnRanks, CountForACertificate) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  auto const outcome = run_on_ranks(
      2, "blockspan-eig", {"laplace7:12x11x10", "--pairs", "2", "--certify", "--report", path});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("none is missing"));
  auto const count = Json::parse(read_text(path)).at("exact");
  EXPECT_EQ(count.at("number"), 2);
  EXPECT_EQ(count.at("trusted"), true);
}

TEST(ExactProgramsOnRanks, GoOnFromACheckpointAndWriteVectorsInTheOrderOfTheFile) {
  TemporaryFolder const folder;
  auto const with = [&](std::string const& vectors, Words const& more) {
    return on_host(joined(
        {"laplace7:9x8x7", "--interval", "1.1,2.9", "--slice", "10", "--vectors", folder / vectors},
        more));
  };
  std::string const state = folder / "state";
  ASSERT_EQ(run_app("blockspan-eig", with("one.mtx", {})).status, 0);
  EXPECT_EQ(run_on_ranks(2, "blockspan-eig",
                         with("none.mtx", {"--max-iterations", "20", "--checkpoint", state}))
                .status,
            1);
  auto const outcome = run_on_ranks(3, "blockspan-eig", with("three.mtx", {"--resume", state}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  if (!host_backend().empty()) {
    EXPECT_EQ(read_text(folder / "three.mtx"), read_text(folder / "one.mtx"));
  }
  expect_refused_on_ranks("blockspan-eig",
                          {"laplace7:9x8x7", "--interval", "1.1,2", "--resume", state},
                          "the checkpoint is of another problem");
}

/// Of rank 0's device where cuDSS is there, which three ranks say, and find what one does.
TEST(ExactProgramsOnRanks, HaveFactorsOnTheDeviceOfRankZero) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  auto const run = [&](int ranks, std::string const& place) {
    auto const outcome = run_on_ranks(ranks, "blockspan-eig",
                                      {"laplace7:12x11x10", "--near", "1.3", "--pairs", "5",
                                       "--factors", place, "--report", path});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return Json::parse(read_text(path));
  };
  auto const spectrum = run(1, "host");
  if (host_backend().empty() && std::getenv("BLOCKSPAN_CUDSS_LIBRARY") != nullptr) {
    auto const all = run(3, "device");
    std::string const library = all["exact"]["library"];
    EXPECT_EQ(library.rfind("cuDSS 1.", 0), 0u) << library;
    EXPECT_THAT(library, HasSubstr("of rank 0"));
    expect_the_same(all, spectrum);
    return;
  }
  expect_refused_on_ranks("blockspan-eig",
                          on_host({"laplace7:9", "--near", "1", "--factors", "device"}),
                          host_backend().empty() ? "nvidia-cudss-cu13" : "need the backend CUDA");
}

/// A plate, thirteen points: couplings of both signs in a narrow graph.
std::string plate(int n) {
  std::ostringstream file;
  int entries = 0;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x)
      for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx) {
          int const far = std::abs(dx) + std::abs(dy), X = x + dx, Y = y + dy;
          if (far > 2 || X < 0 || X >= n || Y < 0 || Y >= n || Y * n + X > y * n + x) continue;
          // the square of the five points is smaller at the border, where this stays definite
          int const value = far == 0 ? 20 : far == 1 ? -8 : dx * dy != 0 ? 2 : 1;
          file << y * n + x + 1 << ' ' << Y * n + X + 1 << ' ' << value << '\n';
          ++entries;
        }
  return "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(n * n) + ' ' +
         std::to_string(n * n) + ' ' + std::to_string(entries) + '\n' + file.str();
}

/// On the way, and from 10,000 rows on before the first iteration.
TEST(ProgramsOnRanks, ChangeOverToFactorsAsOneRankDoes) {
  if (host_backend().empty()) GTEST_SKIP() << "devices go by their pace, and round otherwise";
  struct Row {
    int side;
    Words more;
    std::string expected;  // among the notes
  };
  TemporaryFolder const folder;
  for (auto const& [side, more, expected] :
       {Row{80, {}, "direct took over after "},
        Row{104, {}, "direct took over before the first iteration: three eigenvalues"},
        Row{80, {"--preconditioner", "direct"}, ""}}) {
    std::string const A = folder / "plate.mtx", report = folder / "report.json",
                      path = folder / "x.mtx";
    write_text(A, plate(side));
    std::string notes, solution;
    for (int const ranks : {1, 2, 3}) {
      Words arguments = {A, "--columns", "3", "--report", report, "--solution", path};
      arguments.insert(arguments.end(), more.begin(), more.end());
      auto const outcome = run_on_ranks(ranks, "blockspan-solve", on_host(arguments));
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      auto const said = Json::parse(read_text(report)).at("notes").dump();
      if (ranks == 1) notes = said, solution = read_text(path);
      EXPECT_EQ(said, notes) << ranks;
      EXPECT_EQ(read_text(path), solution) << ranks;
    }
    EXPECT_NE(notes.find(expected), std::string::npos) << notes;
    EXPECT_EQ(notes.find("took over") != std::string::npos, more.empty()) << notes;
  }
}

}  // namespace
}  // namespace blockspan::test
