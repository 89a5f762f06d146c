#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/spmm/tuned_plan.hpp>
#include <blockspan/support/error.hpp>

#include "spmm/battery.hpp"
#include "spmm/launches.hpp"
#include "spmm/product_case.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

template <class Exec>
class TuneCache : public ::testing::Test {};
TYPED_TEST_SUITE(TuneCache, Backends, ConfigNames);

std::string const header = "blockspan tuned plans 1\n";

std::int64_t lines(std::string const& text) { return std::count(text.begin(), text.end(), '\n'); }

/// The entry of `text` with another id.
std::string with_id(std::string const& text, std::string const& id) {
  return text.substr(0, text.rfind('\t') + 1) + id + '\n';
}

TYPED_TEST(TuneCache, IsWrittenOnAMissAndReadOnAHit) {
  TypeParam const exec;
  TemporaryFolder const folder;
  auto const file = folder / "cache.txt";
  auto const host = band<double>(300);
  auto const A = to_device(exec, host);
  auto const first = tuned_plan(exec, A, {.columns = 4}, {file});
  EXPECT_THAT(first.explain(4),
              AllOf(HasSubstr("measured with 4 columns: "), Not(HasSubstr(file))));
  auto const text = read_text(file);
  EXPECT_EQ(text.substr(0, header.size()), header);
  EXPECT_EQ(lines(text), 2);
  EXPECT_THAT(text, HasSubstr('\t' + std::string(first.algorithm()) + '\n'));

  // whatever the entry says is taken, and nothing is measured
  for (auto const* id : {"segments", "segments_sorted", "single_columns"}) {
    write_text(file, with_id(text, id));
    std::string algorithm, words;
    auto const seen = launches_of([&] {
      auto const plan = tuned_plan(exec, A, {.columns = 4}, {file});
      algorithm = plan.algorithm();
      words = plan.explain(4);
    });
    EXPECT_EQ(algorithm, id);
    EXPECT_THAT(words, AllOf(HasSubstr("measured before with 4 columns"), HasSubstr(file)));
    for (auto const& launch : seen)
      EXPECT_THAT(launch.label, Not(HasSubstr("Blockspan::spmm::"))) << "a product was made";
    EXPECT_EQ(read_text(file), with_id(text, id));
  }
  auto const plan = tuned_plan(exec, A, {.columns = 4}, {file});
  ProductCase<double> const c{host, Op::none, 3, 1.5, -1.0};
  expect_spmm(exec, plan, A, c, Storages{right, left});
}

/// As another build may have left it on the same device: with tensor cores, with large teams.
TYPED_TEST(TuneCache, IsMeasuredAgainWhereNothingRunsItsChoice) {
  TypeParam const exec;
  TemporaryFolder const folder;
  auto const file = folder / "cache.txt";
  auto const host = band<double>(300);
  auto const A = to_device(exec, host);
  tuned_plan(exec, A, {.columns = 4}, {file});
  auto const text = read_text(file);
  for (std::string const id : {"windows", "shared_tiles", "merge"}) {
    bool const runs_anyway =
        id == "windows" && products::is_offered<TypeParam, double>(*find_spmm_variant(id));
    if (runs_anyway) continue;
    write_text(file, with_id(text, id));
    auto const plan = tuned_plan(exec, A, {.columns = 4}, {file});
    EXPECT_NE(plan.algorithm(), id);
    EXPECT_THAT(plan.explain(4), HasSubstr("measured with 4 columns: "));
    EXPECT_THAT(read_text(file), HasSubstr('\t' + std::string(plan.algorithm()) + '\n'));
    EXPECT_EQ(lines(read_text(file)), 2);
  }
}

TYPED_TEST(TuneCache, KnowsWidthsRowsScalarsAndOptionsApart) {
  TypeParam const exec;
  TemporaryFolder const folder;
  auto const file = folder / "cache.txt";
  auto const A = to_device(exec, band<double>(100));
  auto const expect_lines = [&](std::int64_t wanted, auto const& matrix, auto const& options) {
    for (int repetition = 0; repetition < 2; ++repetition) {
      auto const plan = tuned_plan(exec, matrix, options, {file});
      EXPECT_THAT(plan.explain(4), HasSubstr(repetition == 0 ? "measured with" : file));
    }
    EXPECT_EQ(lines(read_text(file)), wanted + 1);
  };
  SpmmPlanOptions const four{.columns = 4};
  expect_lines(1, A, four);
  expect_lines(2, A, SpmmPlanOptions{.columns = 8});
  expect_lines(3, to_device(exec, band<double>(101)), four);
  expect_lines(4, to_device<std::size_t>(exec, band<double>(100)), four);
  expect_lines(5, A, SpmmPlanOptions{.columns = 4, .segment_length = 3});
  if constexpr (has_scalar<Kokkos::complex<double>>)
    expect_lines(6, to_device(exec, band<Kokkos::complex<double>>(100)), four);
  // the same statistics are the same entry, in other arrays too
  EXPECT_THAT(tuned_plan(exec, to_device(exec, band<double>(100)), four, {file}).explain(4),
              HasSubstr(file));
}

TYPED_TEST(TuneCache, SaysWhichLineOfWhichFileIsBad) {
  TypeParam const exec;
  TemporaryFolder const folder;
  auto const file = folder / "cache.txt";
  auto const A = to_device(exec, band<double>(50));
  tuned_plan(exec, A, {.columns = 2}, {file});
  auto const good = read_text(file);
  auto const message = [&](std::string const& text) {
    write_text(file, text);
    auto const result = message_of([&] { tuned_plan(exec, A, {.columns = 3}, {file}); });
    EXPECT_EQ(read_text(file), text) << "a file that is not understood must stay as it is";
    return result;
  };
  EXPECT_THAT(message(good + "garbage\n"),
              HasSubstr("blockspan::tuned_plan: " + file +
                        ", line 3: an entry has 15 fields, separated by tabs, not 1"));
  EXPECT_THAT(message(""), HasSubstr(file + ", line 1: this is not a cache of tuned plans"));
  EXPECT_THAT(message("%%MatrixMarket matrix\n"), HasSubstr(file + ", line 1: this is not"));
  EXPECT_THAT(message("blockspan tuned plans 2\n"), HasSubstr(file + ", line 1: this is not"));
  EXPECT_THAT(message(with_id(good, "abracadabra")),
              AllOf(HasSubstr(file + ", line 2: unknown variant \"abracadabra\"; there are"),
                    HasSubstr("segments_sorted")));
  auto wrong_number = good;
  wrong_number.replace(good.find("\t50\t"), 4, "\t-5\t");
  EXPECT_THAT(message(wrong_number), HasSubstr(file + ", line 2: field 4 is not a number (-5)"));
  write_text(file, header);  // a cache without entries is one
  tuned_plan(exec, A, {.columns = 3}, {file});
  EXPECT_EQ(lines(read_text(file)), 2);
}

TYPED_TEST(TuneCache, SaysWhenItCannotBeWrittenBeforeMeasuring) {
  TypeParam const exec;
  TemporaryFolder const folder;
  auto const A = to_device(exec, band<double>(50));
  auto const nowhere = folder / "no such folder/cache.txt";
  std::string message;
  auto const seen = launches_of(
      [&] { message = message_of([&] { tuned_plan(exec, A, {.columns = 2}, {nowhere}); }); });
  EXPECT_THAT(message, HasSubstr("blockspan::tuned_plan: cannot write " + nowhere + ": No such"));
  for (auto const& launch : seen) EXPECT_THAT(launch.label, Not(HasSubstr("Blockspan::spmm::")));
  EXPECT_THAT(message_of([&] { tuned_plan(exec, A, {}, {folder.path().string()}); }),
              HasSubstr("not a regular file"));
  EXPECT_THAT(message_of([&] { tuned_plan(exec, A, {}, {folder / "cache.gz"}); }),
              HasSubstr("cannot be a compressed file"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing is left behind";
}

}  // namespace
}  // namespace blockspan::test
