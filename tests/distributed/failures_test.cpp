// What fails on one rank is an Error on all of them, soon.
#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include <blockspan/distributed/distributed_multigrid.hpp>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace blockspan::test {
namespace {

/// Refuses this process more memory than it has and `more` bytes, while it lives.
class ShortMemory {
 public:
  explicit ShortMemory(std::size_t more) {
    getrlimit(RLIMIT_AS, &before_);
#ifdef __GLIBC__
    malloc_trim(0);  // what earlier tests left at the end of the heap, up to 64 MB, would serve
#endif
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit now = before_;
    now.rlim_cur = pages * static_cast<std::size_t>(getpagesize()) + more;
    setrlimit(RLIMIT_AS, &now);
  }
  ~ShortMemory() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

/// The rank that has nearly all rows of a matrix finds no room for them.
TEST(FailuresOfARank, MemoryThatIsShortOnOneIsAnErrorOnAll) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer ends programs whose memory is short";
#endif
  int const size = world().size(), bad = size / 2;
  if (size == 1) GTEST_SKIP() << "for several ranks";
  Exec const exec;
  auto const make = [&](std::string const& spec) {
    std::int64_t const rows = parse_generator_spec(spec).rows;
    std::vector<std::int64_t> cuts;
    for (int r = 0; r <= size; ++r) cuts.push_back(r <= bad ? r : rows - (size - r));
    RowPartition const like(cuts);
    return generate_distributed<double>(exec, world(), spec, &like);
  };
  make("laplace7:10");  // what libraries keep from their first calls is there
  std::optional<ShortMemory> limit;
  if (world().rank() == bad) limit.emplace(std::size_t{1} << 22);
  world().sum(0);
  auto const begin = std::chrono::steady_clock::now();
  std::string const said = message_of([&] { make("laplace7:100x100x160"); });  // 90 MB of values
  auto const end = std::chrono::steady_clock::now();
  limit.reset();
  EXPECT_THAT(said, ::testing::HasSubstr("rank " + std::to_string(bad)));
  EXPECT_LT(end - begin, std::chrono::seconds(1));
  EXPECT_EQ(make("laplace7:10")->partition().global_rows(), 1000);  // and all go on
}

/// Wherever in its setup a rank's memory ends, all hear of it, and none waits for another.
TEST(FailuresOfARank, MultigridSaysOnAllThatMemoryIsShortOnOne) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer ends programs whose memory is short";
#endif
  using ::testing::AnyOf, ::testing::HasSubstr;
  int const size = world().size(), bad = size - 1;
  if (size == 1) GTEST_SKIP() << "for several ranks";
  Exec const exec;
  auto const small = generate_distributed<double>(exec, world(), "laplace7:20");
  auto const A = generate_distributed<double>(exec, world(), "laplace7:64");
  MultigridOptions<double, Exec> const options{.probe = false};
  auto const make_of = [&](auto const& matrix) {
    DistributedMultigrid<double, Exec> const M(exec, matrix, options, {2000});
    EXPECT_TRUE(M.report().usable());
  };
  auto const make = [&] { make_of(A); };
  make_of(small);  // what libraries keep from their first calls is there
  int refused = 0;
  for (std::size_t more = std::size_t{1} << 18; more <= std::size_t{1} << 26; more *= 4) {
    std::optional<ShortMemory> limit;
    if (world().rank() == bad) limit.emplace(more);
    std::string const said = message_of(make);
    limit.reset();
    bool const enough = said == "nothing was thrown";
    EXPECT_EQ(world().any(enough), enough) << more;
    if (enough) break;
    ++refused;
    EXPECT_THAT(said, HasSubstr("rank " + std::to_string(bad))) << more;
    EXPECT_THAT(said, AnyOf(HasSubstr("out of memory"), HasSubstr("failed to allocate"))) << more;
  }
  make_of(small);  // and all go on
  if (refused == 0) GTEST_SKIP() << "earlier tests left enough memory to this process";
}

}  // namespace
}  // namespace blockspan::test
