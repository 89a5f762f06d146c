// Matrix Market files read by all ranks: the rows and the errors of the reader of one process.
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>

#include <blockspan/distributed/read_distributed.hpp>
#include <blockspan/support/atomic_file.hpp>

#include "distributed/ranks.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

/// A file that rank 0 writes and all ranks see.
class SharedFile {
 public:
  SharedFile(std::string const& name, std::string const& text) {
    if (world().rank() == 0) {
      folder_.emplace();
      path_ = *folder_ / name;
      blockspan::support::AtomicFile file("test", path_);
      file.write(text);
      file.commit();
    }
    std::vector<char> letters(path_.begin(), path_.end());
    world().broadcast(letters, 0);
    path_.assign(letters.begin(), letters.end());
  }
  ~SharedFile() { world().sum(0); }  // all have read it

  std::string const& path() const { return path_; }

 private:
  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

template <class Config>
class ReadDistributed : public ::testing::Test {};
TYPED_TEST_SUITE(ReadDistributed, Configs, ConfigNames);

/// Entries of both triangles in no order, some of them twice or more, with all that the reader
/// takes beside them: comments, blank lines, CRLF.
std::string scattered(char const* symmetry, int rows, bool one_triangle) {
  std::ostringstream text, body;
  int count = 0;
  auto const add = [&](int i, int j, double value) {
    body << i << (count % 3 ? " " : "   ") << j << " " << value << (count % 5 ? "\n" : "\r\n");
    if (count % 7 == 0) body << "% note\n\n";
    ++count;
  };
  for (std::int64_t k = 0; k < 9 * rows; ++k) {
    auto const i = static_cast<int>(1 + k * 37 % rows),
               j = static_cast<int>(1 + (k * k + 11 * k) % rows);
    if (one_triangle && j > i) continue;
    add(i, j, static_cast<double>(k % 13) - 6.5);
    if (k % 31 == 0) add(i, j, 1e17), add(i, j, 1);
  }
  text << "%%MatrixMarket matrix coordinate real " << symmetry << "\n% c\n"
       << rows << " " << rows << " " << count << "\n"
       << body.str();
  return text.str();
}

template <class Scalar>
void expect_rows_of_one_process(std::string const& path, RowPartition const* like = nullptr) {
  Exec const exec;
  auto const whole = read_matrix_market<Scalar>(exec, path);
  auto const matrix = read_distributed<Scalar>(exec, world(), path, like);
  auto const& partition = matrix->partition();
  ASSERT_EQ(partition.global_rows(), whole.numRows());
  auto const mine = matrix->global_rows(exec);
  auto const expected =
      rows_of(whole, partition.first(world().rank()), partition.last(world().rank()));
  EXPECT_EQ(mine.offsets, expected.offsets);
  EXPECT_EQ(mine.columns, expected.columns);
  EXPECT_EQ(mine.values, expected.values);
  if (like) {
    EXPECT_EQ(partition.cuts(), like->cuts());
  }
}

TYPED_TEST(ReadDistributed, GivesTheRowsOfOneProcess) {
  using S = typename TypeParam::Scalar;
  for (char const* name : {"a.mtx", "a.mtx.gz"}) {
    SharedFile const general(name, scattered("general", 5000, false)),
        symmetric(name, scattered("symmetric", 3000, true)),
        tiny(name, "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3"),
        none(name, "%%MatrixMarket matrix coordinate real general\n2000 2000 0\n");
    for (auto const* file : {&general, &symmetric, &tiny, &none})
      expect_rows_of_one_process<S>(file->path());
    RowPartition const odd(odd_cuts(5000));
    expect_rows_of_one_process<S>(general.path(), &odd);
  }
  SharedFile const array("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"),
      skew("s.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n4 4 2\n2 1 5\n4 3 6\n");
  expect_rows_of_one_process<S>(array.path());
  expect_rows_of_one_process<S>(skew.path());
  if constexpr (is_complex_v<S>) {
    SharedFile const hermitian("h.mtx",
                               "%%MatrixMarket matrix coordinate complex hermitian\n"
                               "3 3 4\n1 1 2 0\n2 1 1 -1\n3 2 0 4\n3 2 1 1\n");
    expect_rows_of_one_process<S>(hermitian.path());
  }
}

TYPED_TEST(ReadDistributed, CutsPlainFilesAtEveryByte) {
  using S = typename TypeParam::Scalar;
  // lines of all lengths around the cuts, also more ranks than lines
  for (int padding = 0; padding < 25; ++padding) {
    std::string const blanks(static_cast<std::size_t>(padding), ' ');
    SharedFile const file("p.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 1\n" +
                                       blanks + "2 1 2\n\n3 3 3" + blanks + "\n4 1 4\n4 4 5");
    expect_rows_of_one_process<S>(file.path());
  }
}

TYPED_TEST(ReadDistributed, RefusesWhatOneProcessDoesInTheSameWords) {
  using S = typename TypeParam::Scalar;
  Exec const exec;
  std::string const good = scattered("general", 400, false);
  auto const last = good.rfind('\n', good.size() - 2) + 1;
  std::string const twice =
      "%%MatrixMarket matrix coordinate real symmetric\n9 9 3\n7 2 1\n1 1 1\n2 7 1\n";
  std::string const infinite =
      "%%MatrixMarket matrix coordinate real general\n9 9 3\n7 2 1e308\n1 1 1\n7 2 1e308\n";
  for (std::string const& text :
       {good.substr(0, last) + "3 x 1\n", good.substr(0, last), good + "1 1 1\n",
        good.substr(0, last) + "3 401 1\n", good.substr(0, good.size() / 2) + "?" + good, twice,
        infinite, std::string("%%MatrixMarket matrix coordinate real general\n3 4 0\n"),
        std::string("nothing")})
    for (char const* name : {"bad.mtx", "bad.mtx.gz"}) {
      SharedFile const file(name, text);
      std::string said = message_of([&] { read_matrix_market<S>(exec, file.path()); });
      if (said == "nothing was thrown") said = "must be square";
      auto const begin = std::chrono::steady_clock::now();
      EXPECT_THAT(message_of([&] { read_distributed<S>(exec, world(), file.path()); }),
                  ::testing::HasSubstr(said));
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    }
  EXPECT_THAT(message_of([&] { read_distributed<S>(exec, world(), "/no/such/file.mtx"); }),
              ::testing::HasSubstr("/no/such/file.mtx"));
}

TYPED_TEST(ReadDistributed, RefusesBrokenGzip) {
  using S = typename TypeParam::Scalar;
  Exec const exec;
  SharedFile const file("cut.mtx.gz", scattered("general", 9000, false));
  if (world().rank() == 0)
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) - 3000);
  world().sum(0);
  EXPECT_THAT(message_of([&] { read_distributed<S>(exec, world(), file.path()); }),
              ::testing::HasSubstr("truncated gzip stream"));
}

}  // namespace
}  // namespace blockspan::test
