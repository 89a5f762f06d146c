// What goes wrong around a run costs what it must and no more: outputs that are inputs, full disks,
// signals, streams that are closed, memory that is short.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <sstream>

#include "apps/eig.hpp"
#include "common/run/interrupt.hpp"
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <unistd.h>

namespace blockspan::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int order = 300;

/// tridiag(-1, 2, -1)
std::string chain_matrix() {
  std::ostringstream file;
  file << "%%MatrixMarket matrix coordinate real symmetric\n"
       << order << ' ' << order << ' ' << 2 * order - 1 << '\n';
  for (int i = 1; i <= order; ++i) {
    file << i << ' ' << i << " 2\n";
    if (i > 1) file << i << ' ' << i - 1 << " -1\n";
  }
  return file.str();
}

std::string ones() {
  std::string text = "%%MatrixMarket matrix array real general\n300 1\n";
  for (int i = 0; i < order; ++i) text += "1\n";
  return text;
}

class Faults : public ::testing::Test {
 protected:
  Faults() { write_text(folder / "A.mtx", chain_matrix()); }

  Outcome run(std::string const& command) const { return run_shell(folder.path(), command); }

  /// One line, exit status 2, and the folder as it was.
  void expect_refused(std::string const& command, std::string const& message) const {
    auto const before = names();
    auto const outcome = run(command);
    EXPECT_EQ(outcome.status, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << command;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "") << command;
    EXPECT_EQ(read_text(folder / "A.mtx"), chain_matrix()) << command;
    EXPECT_EQ(names(), before) << command;
  }

  /// It ends with status 2 after all its work: the table is there, a whole report, and one line.
  void expect_lost(Outcome const& outcome, std::string const& line) const {
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, ::testing::ContainsRegex("^blockspan-[a-z]*: " + line + "\n$"));
    EXPECT_THAT(outcome.out, HasSubstr("seconds "));
    EXPECT_NO_THROW(read_report()) << outcome.err;
  }

  Json read_report() const { return Json::parse(read_text(folder / "r.json")); }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (auto const& entry : fs::directory_iterator(folder.path()))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

  TemporaryFolder folder;
};

TEST_F(Faults, AnOutputThatIsAnInputIsRefusedByAnyName) {
  write_text(folder / "B.mtx", ones());
  fs::create_symlink("A.mtx", folder / "link.mtx");
  fs::create_directory(folder / "here");
  fs::create_symlink("..", folder / "here/above");
  std::string const whole = folder / "A.mtx";
  for (std::string const& name :
       {std::string("./A.mtx"), whole, std::string("link.mtx"), std::string("here/above/A.mtx")}) {
    for (std::string const option : {"--report", "--vectors", "--checkpoint"})
      expect_refused("$eig A.mtx --pairs 1 " + option + " " + name,
                     "blockspan-eig: " + option + ": " + name + " would overwrite the input A.mtx");
    expect_refused("$solve A.mtx --solution " + name, " would overwrite the input A.mtx");
    expect_refused("$spmm A.mtx --report " + name, " would overwrite the input A.mtx");
  }
  expect_refused("$eig link.mtx --report A.mtx", "A.mtx would overwrite the input link.mtx");
  expect_refused("$solve A.mtx --rhs B.mtx --report ./B.mtx", "would overwrite the input B.mtx");
  expect_refused("$solve A.mtx --guess B.mtx --solution ./B.mtx", "overwrite the input B.mtx");
  expect_refused("$solve A.mtx --null-space B.mtx --report ./B.mtx", "overwrite the input B.mtx");
  expect_refused("$eig A.mtx --initial B.mtx --report ./B.mtx", "overwrite the input B.mtx");
  expect_refused("$eig A.mtx --resume B.mtx --vectors ./B.mtx", "overwrite the input B.mtx");
  expect_refused("$eig - --pairs 1 --report ./A.mtx < A.mtx", "would overwrite the input -");
  expect_refused("exec 5<> A.mtx; $eig A.mtx --report /dev/fd/5", "overwrite the input A.mtx");
  write_text(folder / "here/P0.mtx", ones());
  expect_refused("$eig A.mtx --preconditioner multigrid --hierarchy here --report here/P0.mtx",
                 "would overwrite the input here/P0.mtx");
}

TEST_F(Faults, TwoOutputsOfOneNameAreRefused) {
  fs::create_symlink("not-yet", folder / "S.json");
  expect_refused("$eig A.mtx --report o --vectors ./o", "--vectors: ./o is also the file of --rep");
  expect_refused("$eig A.mtx --report S.json --checkpoint not-yet", "not-yet is also the file of");
  expect_refused("$solve A.mtx --report ./o --solution $PWD/o", "is also the file of --report");
  EXPECT_EQ(run("$eig A.mtx --report o.json > o.json").status, 2);
  EXPECT_EQ(run("$eig A.mtx --vectors /dev/stdout > o.json").status, 2);
  EXPECT_TRUE(fs::is_symlink("/dev/stdout"));
}

TEST_F(Faults, APipeIsReadForOneInputOnly) {
  expect_refused("cat A.mtx | $solve - --rhs -", "--rhs: - is also MATRIX, and can be read only");
  expect_refused("cat A.mtx | $eig /dev/stdin --mass -", "--mass: - is also MATRIX, and can be");
  EXPECT_EQ(run("$eig A.mtx --mass A.mtx --pairs 1").status, 0) << "a file may be read twice";
}

/// ulimit -f counts blocks of 512 bytes in this shell: a report has 4 to 30 kB, vectors 60.
TEST_F(Faults, WhatCannotBeWrittenCostsThatFileOnly) {
  std::string const limit = "ulimit -f 80; ", rest = " --report r.json";
  expect_lost(run(limit + "$eig A.mtx --pairs 10 --vectors v.mtx" + rest),
              "--vectors: cannot write v.mtx: File too large");
  EXPECT_THAT(read_report()["notes"].dump(), HasSubstr("cannot write v.mtx"));
  EXPECT_EQ(read_report()["converged"], true);
  expect_lost(run(limit + "$solve A.mtx --columns 20 --max-iterations 9 --solution x.mtx" + rest),
              "--solution: cannot write x.mtx: File too large");
  std::string const ends = "--pairs 10 --path iterative --preconditioner none --max-iterations 5";
  expect_lost(run(limit + "$eig A.mtx --checkpoint c " + ends + rest),
              "--checkpoint: cannot write c: File too large");
  EXPECT_EQ(names(), (std::vector<std::string>{"A.mtx", "r.json"}));
  // the report itself, whose place the old one keeps
  auto const small = run("ulimit -f 1; $eig A.mtx --pairs 10 --vectors v.mtx" + rest);
  EXPECT_EQ(small.status, 2);
  EXPECT_THAT(small.out + small.err, HasSubstr("--report: cannot write r.json: File too large"));
  expect_lost(run("$eig A.mtx --vectors v.mtx --report /dev/full"),
              "--report: cannot write /dev/full: No space left on device");
  EXPECT_TRUE(fs::exists(folder / "v.mtx"));
}

TEST_F(Faults, AFullDiskIsOneOfThem) {
  fs::path const disk = folder / "disk";
  fs::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=40k") != 0)
    GTEST_SKIP() << "no file system can be mounted here (" << std::strerror(errno) << ")";
  expect_lost(run("$eig A.mtx --pairs 10 --vectors disk/v.mtx --report r.json"),
              "--vectors: cannot write disk/v.mtx: No space left on device");
  EXPECT_TRUE(fs::is_empty(disk));
  mount("none", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "");
  for (std::string const option : {"--report", "--vectors", "--checkpoint"})
    expect_refused("$eig A.mtx " + option + " disk/f",
                   "blockspan-eig: " + option + ": cannot write disk/f: Read-only file system");
  umount2(disk.c_str(), MNT_DETACH);
}

TEST_F(Faults, LinksAreFollowed) {
  fs::create_symlink("target", folder / "S.json");  // which is not there
  fs::create_symlink("v", folder / "S.mtx");
  write_text(folder / "v", "old");
  EXPECT_EQ(run("$eig A.mtx --pairs 1 --report S.json --vectors S.mtx").status, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "S.json") && fs::is_symlink(folder / "S.mtx"));
  EXPECT_THAT(read_text(folder / "target"), HasSubstr("blockspan-eig/1"));
  EXPECT_THAT(read_text(folder / "v"), StartsWith("%%MatrixMarket"));
  std::string const longest(255, 'n'), too_long(256, 'n');
  EXPECT_EQ(run("$eig A.mtx --pairs 1 --report " + longest).status, 0);
  EXPECT_TRUE(fs::exists(folder / longest));
  expect_refused("$eig A.mtx --pairs 1 --report " + too_long, "File name too long");
  EXPECT_EQ(run("$eig A.mtx --pairs 1 --report 'a b\n'").status, 0);
  EXPECT_TRUE(fs::exists(folder / "a b\n"));
}

TEST_F(Faults, AnOutputThatIsAnOpenStreamFollowsTheTable) {
  auto const outcome = run("$eig A.mtx --pairs 1 --report /dev/stdout");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("matrix "));
  EXPECT_EQ(Json::parse(outcome.out.substr(outcome.out.find('{')))["converged"], true);
}

TEST_F(Faults, AStandardOutputThatCannotBeWrittenIsSaid) {
  for (std::string const program : {"$eig A.mtx --pairs 1", "$solve A.mtx", "$eig --help",
                                    "$spmm A.mtx --repeat 1 --columns 1"}) {
    bool const reports = program != "$eig --help";
    std::string const command = program + (reports ? " --report r.json" : "");
    for (std::string const to : {" > /dev/full", " >&-"}) {
      auto const outcome = run(command + to);
      EXPECT_EQ(outcome.status, 2) << command << to;
      EXPECT_THAT(outcome.err, ::testing::ContainsRegex(
                                   "the standard output cannot be written: (No space|Bad file)"));
      if (reports) {
        EXPECT_NO_THROW(read_report()) << command << to;
      }
    }
  }
  // a reader that has gone: "| head -1"
  run("mkfifo p; : < p & exec 3> p; wait; $eig A.mtx --pairs 1 --report r.json >&3");
  EXPECT_EQ(read_report()["converged"], true);
  EXPECT_EQ(run("$eig A.mtx --pairs 1 <&- 2>&-").status, 0) << "neither of them is needed";
}

/// Some seconds of work that a signal ends sooner.
std::vector<std::string> long_work(std::vector<std::string> const& more) {
  std::vector<std::string> words{
      "laplace7:45x45x45", "--pairs", "20",        "--tolerance",  "1e-14",
      "--preconditioner",  "none",    "--backend", host_backend(), "--path",
      "iterative"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(Faults, SignalsLeaveTheBestSoFar) {
  if (host_backend().empty()) GTEST_SKIP() << "a GPU is done or has not begun when they come";
  std::vector<std::future<void>> all;
  for (int const signal : {SIGTERM, SIGHUP, SIGXCPU})
    all.push_back(std::async(std::launch::async, [signal] {
      TemporaryFolder const own;
      auto const outcome = run_app_and_signal(
          "blockspan-eig", long_work({"--checkpoint", own / "c", "--report", own / "r"}), signal,
          2);
      EXPECT_EQ(outcome.status, 1) << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr("Interrupted"));
      EXPECT_EQ(Json::parse(read_text(own / "r"))["stop_reason"], "stopped_by_monitor");
      EXPECT_GT(fs::file_size(own / "c"), 45u * 45 * 45 * 20 * 8);
      EXPECT_EQ(std::distance(fs::directory_iterator(own.path()), {}), 2);
    }));
  all.push_back(std::async(std::launch::async, [] {
    TemporaryFolder const own;
    auto const killed = run_app_and_signal(
        "blockspan-eig", long_work({"--checkpoint", own / "c", "--report", own / "r"}), SIGKILL, 1);
    EXPECT_EQ(killed.status, -SIGKILL);
    EXPECT_TRUE(fs::is_empty(own.path())) << "a temporary file";
  }));
  for (auto& each : all) each.get();
}

/// blockspan-spmm has no report of what it has: it ends like other bad runs.
TEST(InterruptGuardDeathTest, EndsALongSetupAsTheProgramSays) {
  EXPECT_EXIT(
      {
        apps::InterruptGuard const guard({"interrupted: nothing was written", apps::bad_input});
        std::raise(SIGTERM);
        sleep(30);
      },
      ::testing::ExitedWithCode(2), "^[^:]*: interrupted: nothing was written\n$");
}

TEST_F(Faults, ALongSetupIsNotWaitedFor) {
  if (host_backend().empty()) GTEST_SKIP() << "a GPU is done or has not begun when it comes";
  auto const begin = std::chrono::steady_clock::now();
  auto const outcome = run_app_and_signal(
      "blockspan-eig",
      {"laplace7:18", "--path", "dense", "--backend", host_backend(), "--report", folder / "r"},
      SIGTERM, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err,
            "blockspan-eig: interrupted before the first iteration: nothing has been found\n");
  EXPECT_EQ(names(), std::vector<std::string>{"A.mtx"});
}

TEST_F(Faults, AHangupThatIsIgnoredStaysSo) {
  if (host_backend().empty()) GTEST_SKIP() << "a GPU is done or has not begun when it comes";
  std::string command = "trap '' HUP; $eig";
  for (auto const& word : long_work({"--time-limit", "2", "--report", "r.json"}))
    command += " " + word;
  run(command + " & p=$!; sleep 1; kill -HUP $p; wait $p");
  EXPECT_EQ(read_report()["stop_reason"], "time_limit");
}

TEST_F(Faults, OpenBlasIsNotWaitedForWhereMemoryIsShort) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer ends programs whose memory is short";
#endif
  for (int const kilobytes : {120000, 180000, 210000, 240000, 300000}) {
    auto const outcome =
        run("ulimit -v " + std::to_string(kilobytes) +
            "; OMP_NUM_THREADS=1 exec timeout 20 $eig A.mtx --pairs 60 --path iterative");
    if (outcome.status == 127) GTEST_SKIP() << "the program does not even load: " << outcome.err;
    EXPECT_TRUE(outcome.status == 0 || outcome.status == 2) << outcome.status << kilobytes;
    if (outcome.status == 2) {
      EXPECT_THAT(outcome.err, HasSubstr("out of memory"));
    }
  }
}

// Kokkos has a table of 512.
TEST_F(Faults, MoreThreadsThanThereCanBeAreNoCrash) {
  for (char const* const name : {"OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"}) {
    auto const outcome = run(std::string(name) + "=1000 $eig A.mtx");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
}

}  // namespace
}  // namespace blockspan::test
