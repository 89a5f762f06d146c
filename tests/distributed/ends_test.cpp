// How the programs end under mpirun: one line for what any rank refuses, all together where one is
// told to stop, and none left waiting.
#include <chrono>
#include <future>
#include <sstream>

#include <nlohmann/json.hpp>

#include "apps/backends.hpp"
#include "distributed/launch.hpp"
#include "support/files.hpp"

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

/// f() of several threads: launchers mostly wait.
class AtOnce {
 public:
  template <class Function>
  void add(Function const& f) {
    running_.push_back(std::async(std::launch::async, f));
    if (running_.size() == 4) wait();
  }
  ~AtOnce() { wait(); }

 private:
  void wait() {
    for (auto& each : running_) each.get();
    running_.clear();
  }
  std::vector<std::future<void>> running_;
};

TEST(ProgramsOnRanks, RefuseInOneLine) {
  TemporaryFolder const folder;
  std::string const skew = folder / "skew.mtx";
  write_text(skew, "%%MatrixMarket matrix coordinate real general\n20 20 2\n1 2 1\n2 1 -1\n");
  std::string const alone = folder / "alone.mtx";
  write_text(alone, "%%MatrixMarket matrix coordinate real general\n20 20 1\n2 1 1e-300\n");
  std::ostringstream file;  // rows are counted as in the file, on every rank
  file << "%%MatrixMarket matrix coordinate real symmetric\n3000 3000 3000\n";
  for (int i = 1; i <= 3000; ++i) file << i << ' ' << i << ' ' << (i == 2900 ? -1 : 2) << '\n';
  std::string const negative = folder / "negative.mtx";
  write_text(negative, file.str());
  AtOnce all;
  auto const refused = [&](std::string const& app, std::vector<std::string> const& arguments,
                           std::string const& line) {
    all.add([=] { expect_refused_on_ranks(app, arguments, line); });
  };
  refused("blockspan-eig", {"rmat:8:4:symmetric", "--partition", "bricks"}, "is no grid");
  refused("blockspan-eig", {"laplace7:6", "--partition", "rcm", "--preconditioner", "block-jacobi"},
          "needs the rows in their order");
  refused("blockspan-solve", {negative}, "the diagonal entry of row 2900 is -1");
  refused("blockspan-spmm", {"fixed:40x50:3"}, "must be square (40 x 50)");
  refused("blockspan-spmm", {"laplace7:9", "--op", "transpose"}, "--op transpose");
  refused("blockspan-eig", {"no-such-file.mtx"}, "no-such-file.mtx");
  refused("blockspan-solve", {"laplace7:x"}, "laplace7:x");
  refused("blockspan-eig", {"laplace7:9", "--no-such-option"}, "no-such-option");
  refused("blockspan-solve", {skew}, "not symmetric");
  refused("blockspan-eig", {alone}, "entry (2, 1) is 1e-300, but entry (1, 2) is 0; --symm");
  refused("blockspan-eig", {"laplace7:9", "--preconditioner", "multigrid", "--hierarchy", "."},
          "(--hierarchy) are taken on one rank only");
  refused("blockspan-solve", {"laplace7:9", "--preconditioner", "multigrid", "--adaptive", "17"},
          "adaptive");
  refused("blockspan-eig", {"laplace7:9", "--spmm", "kokkos-kernels"}, "one rank only");
  refused("blockspan-solve", {skew, "--report", skew}, "would overwrite the input");
}

/// Expects one line of `app`, which the first rank runs.
void expect_one_line(Outcome const& outcome, std::string const& app, std::string const& line) {
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr(app + ": " + line + "\n"));
  auto const first = outcome.err.find("blockspan-");
  EXPECT_EQ(outcome.err.find("blockspan-eig: ", first + 1), std::string::npos) << outcome.err;
}

TEST(ProgramsOnRanks, AreAllGivenTheSameCommand) {
  AtOnce all;
  auto const expect_told = [&](std::string const& app, std::vector<std::string> const& arguments,
                               std::string const& other, std::vector<std::string> const& others) {
    std::vector<std::string> words{app_path(app).string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    auto const more = and_one(other, others);
    words.insert(words.end(), more.begin(), more.end());
    auto const said = [](std::string command, std::vector<std::string> const& list) {
      for (auto const& word : list) command += " " + word;
      return "'" + command + "'";
    };
    std::string const line = "all ranks need the same command, but rank 0 was given " +
                             said(app, arguments) + " and rank 2 " + said(other, others);
    all.add([=] { expect_one_line(run_on_ranks(2, words), app, line); });
  };
  expect_told("blockspan-eig", {"laplace7:12"}, "blockspan-eig", {"laplace7:13"});
  expect_told("blockspan-solve", {"laplace7:9", "--quiet"}, "blockspan-solve", {"laplace7:9"});
  expect_told("blockspan-spmm", {"laplace7:9"}, "blockspan-spmm", {"--help"});
  expect_told("blockspan-eig", {"laplace7:9"}, "blockspan-solve", {"laplace7:9"});
}

/// One name, and other values, or lengths, behind it for every second rank.
TEST(ProgramsOnRanks, SeeTheSameFile) {
  TemporaryFolder const here;
  auto const write = [](TemporaryFolder const& folder, int row, char const* value) {
    std::ostringstream file;
    file << "%%MatrixMarket matrix coordinate real symmetric\n300 300 300\n";
    for (int i = 1; i <= 300; ++i) file << i << ' ' << i << ' ' << (i == row ? value : "2") << '\n';
    write_text(folder / "A.mtx", file.str());
  };
  write(here, 300, "2");
  AtOnce all;
  auto const differs = [&](int ranks, std::string const& app, int row, char const* value) {
    all.add([&here, write, ranks, app, row, value] {
      TemporaryFolder const there;
      write(there, row, value);
      std::string const enter = "if [ $((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % 2)) = 1 ]; then cd " +
                                there.path().string() + "; else cd " + here.path().string() +
                                "; fi; exec \"$@\"";
      auto const outcome =
          run_on_ranks(ranks, {"/bin/sh", "-c", enter, "sh", app_path(app).string(), "A.mtx"});
      expect_one_line(outcome, app, "A.mtx: ranks 0 and 1 see different files by this name");
    });
  };
  differs(2, "blockspan-eig", 290, "3");
  differs(4, "blockspan-eig", 5, "3");
  differs(2, "blockspan-spmm", 5, "31");
}

/// Some seconds of work for three ranks, of which the second gets a signal after two.
Outcome signalled(std::string const& signal, std::string const& app,
                  std::vector<std::string> const& arguments) {
  std::string const second = "case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 1) (sleep 2; kill -" +
                             signal + " $$) & esac; exec \"$@\"";
  std::vector<std::string> all = {"/bin/sh", "-c", second, "sh", app_path(app).string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  auto const begin = std::chrono::steady_clock::now();
  auto outcome = run_on_ranks(3, all);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  return outcome;
}

TEST(ProgramsOnRanks, EndWhenARankIsKilled) {
  EXPECT_NE(signalled("KILL", "blockspan-solve",
                      {"laplace7:70", "--columns", "32", "--method", "pseudo-block",
                       "--preconditioner", "none", "--tolerance", "1e-13"})
                .status,
            0);
}

TEST(ProgramsOnRanks, AllStopWithTheBestSoFarWhereOneIsInterrupted) {
  std::string const host = host_backend();
  if (host.empty()) GTEST_SKIP() << "a GPU is done or has not begun when the signal comes";
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  auto const expect_stopped = [&](std::string const& app, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--preconditioner", "none", "--tolerance", "1e-13",
                                       "--report", path, "--backend", host});
    auto const outcome = signalled("INT", app, arguments);
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("Interrupted"));
    auto const report = nlohmann::json::parse(read_text(path));
    EXPECT_EQ(report.at("stop_reason"), "stopped_by_monitor");
    EXPECT_EQ(report.at("ranks").at("rows").size(), 3u);
  };
  expect_stopped("blockspan-solve", {"laplace7:70", "--columns", "32", "--method", "pseudo-block"});
  expect_stopped("blockspan-eig", {"laplace7:70", "--pairs", "12"});
}

/// The launcher is told to end, and tells the ranks, whom it leaves a second (here: three).
TEST(ProgramsOnRanks, LeaveAReportWhereTheLauncherIsInterrupted) {
  std::string const host = host_backend(), launcher = BLOCKSPAN_MPIRUN;
  if (host.empty()) GTEST_SKIP() << "a GPU is done or has not begun when the signal comes";
  if (launcher.find("--allow-run-as-root") == launcher.npos)
    GTEST_SKIP() << "other launchers than Open MPI's pass signals on in other ways";
  AtOnce all;
  for (std::string const signal : {"INT", "TERM"})
    all.add([=] {
      TemporaryFolder const folder;
      std::string const path = folder / "report.json",
                        command = "\"$@\" & p=$!; sleep 3; kill -" + signal + " $p; wait $p";
      std::vector<std::string> words{"-c", command, "sh"};
      std::istringstream parts(launcher);
      for (std::string word; std::getline(parts, word, '|');) words.push_back(word);
      std::string const ranks = words.back();
      words.pop_back();
      std::vector<std::string> const rest{"--mca",       "odls_base_sigkill_timeout",
                                          "3",           ranks,
                                          "2",           app_path("blockspan-eig").string(),
                                          "laplace7:60", "--pairs",
                                          "12",          "--tolerance",
                                          "1e-13",       "--preconditioner",
                                          "none",        "--report",
                                          path,          "--backend",
                                          host};
      words.insert(words.end(), rest.begin(), rest.end());
      auto const outcome = run_program("/bin/sh", words);
      EXPECT_NE(outcome.status, 0);
      ASSERT_TRUE(std::filesystem::exists(path)) << outcome.err;
      EXPECT_EQ(nlohmann::json::parse(read_text(path)).at("stop_reason"), "stopped_by_monitor");
    });
}

/// What one cannot write is said once, and all the rest is there.
TEST(ProgramsOnRanks, LoseNoMoreThanTheFileThatCannotBeWritten) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json", vectors = folder / "v.mtx";
  auto const outcome = run_on_ranks(
      2, {"/bin/sh", "-c", "ulimit -f 40; exec \"$@\"", "sh", app_path("blockspan-eig").string(),
          "laplace7:9", "--pairs", "10", "--vectors", vectors, "--report", path});
  expect_one_line(outcome, "blockspan-eig",
                  "--vectors: cannot write " + vectors + ": File too large");
  EXPECT_THAT(outcome.out, HasSubstr("All 10 pairs converged"));
  EXPECT_EQ(nlohmann::json::parse(read_text(path)).at("converged"), true);
}

}  // namespace
}  // namespace blockspan::test
