// The programs under mpirun: one output, rank 0's.
#include <cmath>
#include <numbers>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <blockspan/sparse/coordinates.hpp>
#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/support/backend.hpp>

#include "apps/backends.hpp"
#include "distributed/launch.hpp"
#include "support/files.hpp"

namespace blockspan::test {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProgramsOnRanks, FindTheEigenvaluesAndPrintOnce) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  auto const outcome =
      run_on_ranks(3, "blockspan-eig", {"laplace7:20x16x14", "--pairs", "3", "--report", path});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::StartsWith("matrix   laplace7:20x16x14  (4,480 rows"));
  EXPECT_EQ(outcome.out.find("matrix "), outcome.out.rfind("matrix "));
  EXPECT_THAT(outcome.out,
              ::testing::ContainsRegex("\nranks    3 by (GPU-aware )?mpi, rows in their order;"));
  auto const report = Json::parse(read_text(path));
  auto const& ranks = report.at("ranks");
  EXPECT_THAT(ranks.at("transport").get<std::string>(), ::testing::EndsWith("mpi"));
  EXPECT_EQ(ranks.at("devices").size(), ranks.at("rows").size());
  auto const sum = [&](char const* what) {
    auto const counts = ranks.at(what).get<std::vector<std::int64_t>>();
    EXPECT_EQ(counts.size(), 3u);
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  EXPECT_EQ(sum("rows"), 4480);
  EXPECT_EQ(sum("nonzeros"), report.at("problem").at("nonzeros"));
  EXPECT_EQ(sum("neighbours"), 4);
  EXPECT_EQ(sum("halo_rows"), 4 * 20 * 16);  // a plane on each side of two cuts
  auto const block = report.at("options").at("block").get<std::int64_t>();
  EXPECT_EQ(sum("sent_bytes"), 8 * block * sum("halo_rows"));
  EXPECT_EQ(sum("received_bytes"), sum("sent_bytes"));
  EXPECT_GE(ranks.at("row_imbalance").get<double>(), 1);
  auto const axis = [](int k, int n) { return 2 - 2 * std::cos(k * std::numbers::pi / (n + 1)); };
  double const least = axis(1, 20) + axis(1, 16) + axis(1, 14);
  EXPECT_NEAR(report.at("eigenvalues").at(0).get<double>(), least, 1e-7);
}

/// On hosts all memory is theirs.
TEST(ProgramsOnRanks, TakeTheUsersWordThatMpiIsGpuAware) {
  if (!blockspan::support::runs_on_host_v<Kokkos::DefaultExecutionSpace>)
    GTEST_SKIP() << "an MPI that is not GPU-aware would be given the memory of devices";
  auto const outcome = [](char const* word) {
    return run_on_ranks(2, {"/usr/bin/env", std::string("BLOCKSPAN_GPU_AWARE_MPI=") + word,
                            app_path("blockspan-solve").string(), "laplace7:9"});
  };
  auto const aware = outcome("1"), unaware = outcome("0"), unclear = outcome("yes");
  EXPECT_EQ(aware.status, 0) << aware.err;
  EXPECT_THAT(aware.out, HasSubstr("ranks    2 by GPU-aware mpi,"));
  EXPECT_EQ(unaware.status, 0) << unaware.err;
  EXPECT_THAT(unaware.out, HasSubstr("ranks    2 by mpi,"));
  EXPECT_EQ(unclear.status, 2);
  EXPECT_THAT(unclear.err, HasSubstr("BLOCKSPAN_GPU_AWARE_MPI: \"yes\" is neither 0 nor 1"));
}

TEST(ProgramsOnRanks, SolveWithFilesAsOneDoes) {
  TemporaryFolder const folder;
  auto const X = [&](std::string const& name) { return folder / name; };
  std::ostringstream rhs;
  rhs << "%%MatrixMarket matrix array real general\n3375 2\n";
  for (int i = 0; i < 2 * 3375; ++i) rhs << std::sin(i) << "\n";
  std::string const B = X("b.mtx");
  write_text(B, rhs.str());
  std::vector<std::string> const arguments{"laplace7:15", "--rhs", B, "--tolerance", "1e-11"};
  auto const with = [&](std::string const& solution) {
    auto all = arguments;
    all.insert(all.end(), {"--solution", solution});
    return all;
  };
  ASSERT_EQ(run_app("blockspan-solve", with(X("one.mtx"))).status, 0);
  auto const outcome = run_on_ranks(4, "blockspan-solve", with(X("four.mtx")));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("All 2 columns solved"));
  auto const one = read_block<double>(X("one.mtx")), four = read_block<double>(X("four.mtx"));
  ASSERT_EQ(four.extent(0), one.extent(0));
  for (std::size_t i = 0; i < one.extent(0); ++i)
    for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(four(i, j), one(i, j), 1e-7);
}

TEST(ProgramsOnRanks, GiveVectorsInTheOrderOfTheFilesWhateverThePartition) {
  TemporaryFolder const folder;
  std::ostringstream rhs;
  rhs << "%%MatrixMarket matrix array real general\n1144 1\n";
  for (int i = 0; i < 1144; ++i) rhs << std::sin(i) << "\n";
  std::string const B = folder / "b.mtx", path = folder / "report.json";
  write_text(B, rhs.str());
  auto const solve = [&](std::string const& file) {
    return std::vector<std::string>{"laplace7:13x11x8", "--rhs", B, "--tolerance", "1e-11",
                                    "--solution",       file};
  };
  auto const pairs = [&](std::string const& file) {
    return std::vector<std::string>{"laplace7:13x11x8", "--pairs", "2", "--tolerance", "1e-11",
                                    "--vectors",        file};
  };
  std::string const x1 = folder / "x1.mtx", v1 = folder / "v1.mtx", x3 = folder / "x3.mtx",
                    v3 = folder / "v3.mtx";
  ASSERT_EQ(run_app("blockspan-solve", solve(x1)).status, 0);
  ASSERT_EQ(run_app("blockspan-eig", pairs(v1)).status, 0);
  auto const x = read_block<double>(x1), v = read_block<double>(v1);
  for (std::string const partition : {"rcm", "bricks", "metis", "scotch"}) {
    auto const by = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), {"--partition", partition, "--report", path});
      return arguments;
    };
    auto const outcome = run_on_ranks(3, "blockspan-solve", by(solve(x3)));
    if (outcome.err.find("this build is without the component " + partition) != std::string::npos)
      continue;
    ASSERT_EQ(outcome.status, 0) << partition << outcome.err;
    EXPECT_EQ(Json::parse(read_text(path)).at("ranks").at("partition"), partition);
    auto const again = read_block<double>(x3);
    ASSERT_EQ(again.extent(0), x.extent(0));
    for (std::size_t i = 0; i < x.extent(0); ++i) EXPECT_NEAR(again(i, 0), x(i, 0), 1e-8);
    ASSERT_EQ(run_on_ranks(3, "blockspan-eig", by(pairs(v3))).status, 0) << partition;
    auto const vectors = read_block<double>(v3);
    for (std::size_t j = 0; j < 2; ++j) {
      double dot = 0;
      for (std::size_t i = 0; i < v.extent(0); ++i) dot += vectors(i, j) * v(i, j);
      EXPECT_NEAR(std::abs(dot), 1, 1e-8) << partition;
    }
    auto const product = run_on_ranks(3, "blockspan-spmm",
                                      by({"laplace7:13x11x8", "--columns", "3", "--repeat", "2"}));
    EXPECT_THAT(product.out, HasSubstr("right")) << partition << product.out;
  }
}

/// Hosts by the graph, which rank 0 looks at; devices at once.
TEST(ProgramsOnRanks, ChooseMultigridWhereItSuits) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  auto const notes_of = [&](int ranks, std::string const& spec) {
    auto const outcome =
        run_on_ranks(ranks, "blockspan-eig",
                     {spec, "--pairs", "4", "--preconditioner", "automatic", "--backend",
                      host_backend().empty() ? "auto" : host_backend(), "--report", path});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return Json::parse(read_text(path)).at("notes").dump();
  };
  for (int const ranks : {1, 2})
    EXPECT_THAT(notes_of(ranks, "laplace5:200"),
                HasSubstr("multigrid took over before the first iteration"));
  EXPECT_THAT(notes_of(2, "laplace7:14"), Not(HasSubstr("took over")));
}

/// By the graph, which rank 0 looks at; the hierarchy is that of the ranks.
TEST(ProgramsOnRanks, ChangeOverBeforeTheFirstIterationAsOneRankDoes) {
  if (host_backend().empty()) GTEST_SKIP() << "only graphs in host memory are looked at";
  TemporaryFolder const folder;
  std::string const path = folder / "report.json", x = folder / "x.mtx";
  auto const solve = [&](int ranks, std::vector<std::string> const& more) {
    std::vector<std::string> words{
        "laplace5:200", "--columns",    "3",
        "--backend",    host_backend(), "--report",
        path,           "--solution",   more.empty() ? x : folder / "other.mtx"};
    words.insert(words.end(), more.begin(), more.end());
    auto const outcome = run_on_ranks(ranks, "blockspan-solve", words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return Json::parse(read_text(path));
  };
  auto const one = solve(1, {});
  EXPECT_THAT(one.at("notes").dump(), HasSubstr("multigrid took over before the first iteration"));
  for (int const ranks : {2, 3}) EXPECT_EQ(solve(ranks, {}).at("notes"), one.at("notes")) << ranks;
  // a guess may be good, and what is small enough may come soon
  for (std::vector<std::string> const& more :
       {std::vector<std::string>{"--guess", x}, {"--absolute-tolerance", "1e3"}})
    EXPECT_THAT(solve(1, more).at("notes").dump(), Not(HasSubstr("before the first iteration")));
}

TEST(ProgramsOnRanks, SolveStiffProblemsDensely) {
  TemporaryFolder const folder;
  // springs in a row, every fifth 1e8 times as stiff
  std::ostringstream file;
  file << "%%MatrixMarket matrix coordinate real symmetric\n60 60 119\n";
  auto const stiffness = [](int i) { return i % 5 == 0 ? 1e8 : 1.0; };
  for (int i = 0; i < 60; ++i) {
    file << i + 1 << ' ' << i + 1 << ' ' << stiffness(i) + stiffness(i + 1) << '\n';
    if (i < 59) file << i + 2 << ' ' << i + 1 << ' ' << -stiffness(i + 1) << '\n';
  }
  std::string const K = folder / "k.mtx", one = folder / "one.json", three = folder / "three.json";
  write_text(K, file.str());
  auto const with = [&](std::string const& report) {
    return std::vector<std::string>{K, "--pairs", "3", "--report", report};
  };
  ASSERT_EQ(run_app("blockspan-eig", with(one)).status, 0);
  ASSERT_EQ(run_on_ranks(3, "blockspan-eig", with(three)).status, 0);
  auto const a = Json::parse(read_text(one)), b = Json::parse(read_text(three));
  EXPECT_EQ(b.at("path"), "dense");
  EXPECT_EQ(a.at("eigenvalues"), b.at("eigenvalues"));
}

TEST(ProgramsOnRanks, TimeTheProductAndItsExchange) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json", general = folder / "general.mtx";
  std::ostringstream file;
  file << "%%MatrixMarket matrix coordinate real general\n200 200 600\n";
  for (int i = 0; i < 200; ++i)
    for (int k : {0, 7, 90})
      file << i + 1 << ' ' << (i + k) % 200 + 1 << ' ' << std::cos(i + k) << '\n';
  write_text(general, file.str());
  for (std::string const source : {"laplace7:20x16x14", general.c_str()})
    for (std::string const layout : {"right", "left"}) {
      auto const outcome = run_on_ranks(
          3, "blockspan-spmm",
          {source, "--columns", "1,8", "--layout", layout, "--repeat", "3", "--report", path});
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr("\nAll 2 results right"));
      EXPECT_EQ(outcome.out.find("matrix "), outcome.out.rfind("matrix "));
      auto const report = Json::parse(read_text(path));
      EXPECT_EQ(report.at("schema"), "blockspan-spmm-ranks/1");
      EXPECT_EQ(report.at("ranks").at("rows").size(), 3u);
      for (auto const& run : report.at("runs")) {
        EXPECT_TRUE(run.at("right").get<bool>() && run.at("deterministic").get<bool>());
        EXPECT_LE(run.at("error"), run.at("error_bound"));
        EXPECT_GT(run.at("checked").get<int>(), 2);
        EXPECT_GT(run.at("ms").at("product").get<double>(), 0);
        EXPECT_GT(run.at("ms").at("exchange").get<double>(), 0);
        double const hidden = run.at("hidden").get<double>();
        EXPECT_TRUE(hidden >= 0 && hidden <= 1) << hidden;
      }
    }
}

// Coordinates are dealt out by nodes, of which cuts of rows may be in the middle.
TEST(ProgramsOnRanks, TakeMultigridWithCoordinates) {
  TemporaryFolder const folder;
  std::string const coordinates = folder / "nodes.mtx", path = folder / "report.json";
  auto const where = generate_coordinates<double>(Kokkos::DefaultHostExecutionSpace(),
                                                  parse_generator_spec("elasticity:9"));
  std::ostringstream nodes;
  nodes << "%%MatrixMarket matrix array real general\n" << where.extent(0) << " 3\n";
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t node = 0; node < where.extent(0); ++node) nodes << where(node, axis) << "\n";
  write_text(coordinates, nodes.str());
  auto const outcome = run_on_ranks(3, "blockspan-solve",
                                    {"elasticity:9", "--preconditioner", "multigrid",
                                     "--coordinates", coordinates, "--levels", "--report", path});
  ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("multigrid of "));
  auto const report = Json::parse(read_text(path));
  EXPECT_EQ(report.at("multigrid").at("near_null"), 6);
  expect_refused_on_ranks(
      "blockspan-solve",
      {"laplace7:9", "--preconditioner", "multigrid", "--coordinates", coordinates},
      "the matrix has 729 rows");
}

TEST(ProgramsOnRanks, MakeNearNullVectors) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  auto const outcome = run_on_ranks(
      3, "blockspan-solve",
      {"elasticity:9", "--preconditioner", "multigrid", "--adaptive", "4", "--report", path});
  ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  EXPECT_EQ(Json::parse(read_text(path)).at("multigrid").at("near_null"), 4);
}

TEST(ProgramsOnRanks, KeepAwayFromConstraintsAndGoOnFromACheckpoint) {
  TemporaryFolder const folder;
  auto const file = [&](std::string const& name) { return folder / name; };
  auto const values = [&](std::string const& report) {
    return Json::parse(read_text(report)).at("eigenvalues").get<std::vector<double>>();
  };
  std::vector<std::string> const common{"laplace7:20x16x14", "--path", "iterative", "--tolerance",
                                        "1e-9"};
  auto const with = [&](std::vector<std::string> const& more) {
    auto all = common;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  // the two lowest vectors as constraints: what follows are the third and fourth pair
  ASSERT_EQ(run_app("blockspan-eig", with({"--pairs", "4", "--vectors", file("v.mtx"), "--report",
                                           file("one.json")}))
                .status,
            0);
  auto const V = read_block<double>(file("v.mtx"));
  write_block(file("y.mtx"), Kokkos::subview(V, Kokkos::ALL, std::pair(0, 2)));
  auto const wanted = with({"--pairs", "2", "--constraints", file("y.mtx"), "--checkpoint",
                            file("state"), "--report", file("all.json")});
  auto stopped = wanted, resumed = wanted;
  stopped.insert(stopped.end(), {"--max-iterations", "5"});
  resumed.insert(resumed.end(), {"--resume", file("state")});
  EXPECT_EQ(run_on_ranks(2, "blockspan-eig", stopped).status, 1);
  auto const outcome = run_on_ranks(3, "blockspan-eig", resumed);
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  auto const one = values(file("one.json")), all = values(file("all.json"));
  for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(all[j], one[j + 2], 1e-8);
}

TEST(ProgramsOnRanks, SolveInTwoPrecisionsWithANullSpace) {
  TemporaryFolder const folder;
  std::ostringstream text;  // a chain with free ends
  text << "%%MatrixMarket matrix coordinate real symmetric\n3000 3000 5999\n";
  for (int i = 1; i <= 3000; ++i) {
    text << i << " " << i << " " << (i == 1 || i == 3000 ? 1 : 2) << "\n";
    if (i > 1) text << i << " " << i - 1 << " -1\n";
  }
  auto const chain = write_text(folder / "chain.mtx", text.str());
  auto const outcome = run_on_ranks(3, "blockspan-solve",
                                    {chain, "--null-space", "constant", "--precision", "mixed",
                                     "--columns", "3", "--tolerance", "1e-6"});
  bool const refused = outcome.err.find("no single precision") != std::string::npos;
  EXPECT_EQ(outcome.status, refused ? 2 : 0) << outcome.out << outcome.err;
}

TEST(ProgramsOnRanks, OneRankGivesTheBitsOfNoLauncher) {
  TemporaryFolder const folder;
  auto const history = [](Json report) {
    report = report.at("history");
    for (auto& iteration : report) iteration.erase("seconds");
    return report;
  };
  for (std::string const app : {"blockspan-eig", "blockspan-solve"})
    for (std::string const preconditioner : {"jacobi", "multigrid"}) {
      std::string const result = app == "blockspan-eig" ? "--vectors" : "--solution";
      auto const with = [&](std::string const& name) {
        return std::vector<std::string>{
            "laplace7:17x15x13",      "--preconditioner", preconditioner, result,
            folder / (name + ".mtx"), "--report",         folder / name};
      };
      auto const alone = run_app(app, with("alone")), one = run_on_ranks(1, app, with("one"));
      for (auto const& outcome : {alone, one}) {
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("\nranks ")));
      }
      EXPECT_EQ(read_text(folder / "one.mtx"), read_text(folder / "alone.mtx"));
      EXPECT_EQ(history(Json::parse(read_text(folder / "one"))),
                history(Json::parse(read_text(folder / "alone"))));
    }
}

TEST(ProgramsOnRanks, TheExampleRunsOnAnyNumberOfRanks) {
  auto const axis = [](int k) { return 2 - 2 * std::cos(k * std::numbers::pi / 61); };
  for (int const ranks : {1, 3}) {
    auto const outcome = run_on_ranks(ranks, "quickstart-distributed", {});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    auto const expect_pairs = [&] {
      for (double const expected : {2 * axis(1), axis(1) + axis(2), axis(1) + axis(2)}) {
        double value = 0;
        ASSERT_TRUE(lines >> value) << outcome.out;
        EXPECT_NEAR(value, expected, 1e-8);
      }
    };
    expect_pairs();
    std::string words;
    for (int word = 0; word < 4; ++word) lines >> words;
    EXPECT_EQ(words, "ranks");
    expect_pairs();  // by an exchange of its own
    EXPECT_THAT(outcome.out, HasSubstr("solved on " + std::to_string(ranks) + " ranks"));
  }
}

}  // namespace
}  // namespace blockspan::test
