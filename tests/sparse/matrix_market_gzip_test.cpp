#include <gtest/gtest.h>

#include <blockspan/sparse/matrix_market.hpp>

#include "sparse/dense.hpp"
#include "support/files.hpp"
#include <zlib.h>

namespace blockspan::test {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

std::string const text =
    "%%MatrixMarket matrix coordinate real general\n% a comment\n2 2 2\n1 2 1.5\n2 1 -0.25\n";
Entries const expected{{{0, 1}, 1.5}, {{1, 0}, -0.25}};

class MatrixMarketGzip : public ::testing::Test {
 protected:
  std::string compressed(std::string const& plain) {
    auto const path = folder / "scratch.gz";
    gzFile const file = ::gzopen(path.c_str(), "wb9");
    ::gzwrite(file, plain.data(), static_cast<unsigned>(plain.size()));
    ::gzclose(file);
    return read_text(path);
  }

  Entries read(std::string const& bytes, std::string const& name = "a.mtx.gz") {
    return entries_of(read_matrix_market<double>(Host(), write_text(folder / name, bytes)));
  }

  MatrixMarketError error(std::string const& bytes) {
    try {
      read(bytes);
    } catch (MatrixMarketError const& caught) {
      return caught;
    }
    return {"accepted", 0, 0, "", ""};
  }

  TemporaryFolder folder;
};

TEST_F(MatrixMarketGzip, ContentNotNameTellsWhatIsCompressed) {
  EXPECT_EQ(read(compressed(text)), expected);
  EXPECT_EQ(read(compressed(text), "a.mtx"), expected);
  EXPECT_EQ(read(text, "b.mtx.gz"), expected);
}

TEST_F(MatrixMarketGzip, SeveralMembersAndPaddingAreOneText) {
  auto const split = compressed(text.substr(0, 70)) + compressed(text.substr(70));
  EXPECT_EQ(read(split), expected);
  EXPECT_EQ(read(split + std::string(512, '\0')), expected);
}

TEST_F(MatrixMarketGzip, DamageIsNamed) {
  auto const good = compressed(text);
  auto broken_checksum = good;
  broken_checksum[good.size() - 6] ^= 1;
  EXPECT_EQ(error(broken_checksum).token, "incorrect data check");
  EXPECT_EQ(error(broken_checksum).line, 6);
  auto broken_length = good;
  broken_length[good.size() - 2] ^= 1;
  EXPECT_EQ(error(broken_length).token, "incorrect length check");
  EXPECT_EQ(error(good + "tail").token, "bytes after the gzip stream");
  auto broken_method = good;
  broken_method[2] = 7;
  EXPECT_EQ(error(broken_method).token, "unknown compression method");
  for (std::size_t length = 2; length < good.size(); ++length)
    EXPECT_EQ(error(good.substr(0, length)).token, "truncated gzip stream") << length;
}

TEST_F(MatrixMarketGzip, TextErrorsKeepTheirPlace) {
  auto const caught = error(compressed(text + "3 1 1\n"));
  EXPECT_EQ(caught.line, 6);
  EXPECT_EQ(caught.column, 1);
  EXPECT_EQ(caught.token, "3");
}

TEST_F(MatrixMarketGzip, NoChangedByteBreaksTheReader) {
  auto const good = compressed(text);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int const flip : {1, 0x80, 0xff}) {
      auto bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      try {
        EXPECT_EQ(read(bytes), expected) << i;  // the name or time in gzip's header may change
      } catch (Error const&) {
      }
    }
  }
}

}  // namespace
}  // namespace blockspan::test
