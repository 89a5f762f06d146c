// How spmm_dots is launched, and what it refuses.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

#include "spmm/battery.hpp"
#include "spmm/launches.hpp"
#include "support/blocks.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Exec>
class DotsCalls : public ::testing::Test {};
TYPED_TEST_SUITE(DotsCalls, Backends, ConfigNames);

/// The labels a call launches, and what the query says of it.
template <class Exec>
struct Seen {
  std::vector<std::string> labels;

  Seen(Exec const& exec, HostMatrix<double> const& host, SpmmPlanOptions const& options, int width,
       double beta = 0, Storage storage = Storage::right) {
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, options);
    auto const X = make_block(exec, storage, random_block<double>(host.rows, width, 1));
    auto const Y = make_block(exec, storage, random_block<double>(host.rows, width, 2));
    Kokkos::View<double*, typename Exec::memory_space> const xy("Blockspan::test", width);
    Kokkos::View<double*, typename Exec::memory_space> const squares("Blockspan::test", width);
    spmm_dots(exec, plan, 1.0, A, X.view, beta, Y.view, xy, squares);  // scratch is made here
    for (auto const& launch :
         launches_of([&] { spmm_dots(exec, plan, 1.0, A, X.view, beta, Y.view, xy, squares); })) {
      labels.push_back(launch.label);
      EXPECT_EQ(launch.instance, Kokkos::Tools::Experimental::device_id(exec));
    }
  }
};

using LabelList = std::vector<std::string>;

/// What a product by this variant launches for its sums: on CUDA its own kernel makes them.
template <class Exec>
LabelList labels_with_sums(std::string const& variant) {
  std::string const label = "Blockspan::spmm::" + variant;
  if (blockspan::support::on_cuda_v<Exec>) return {label + "::dots", label + "::dots::add"};
  return {label, "Blockspan::spmm_dots::separate", "Blockspan::spmm_dots::add"};
}

TYPED_TEST(DotsCalls, AContiguousBlockComeFromTheKernelThatMultiplies) {
  using Exec = TypeParam;
  auto const exec = halves(Exec())[1];
  for (int const width : {2, 8, 64}) {
    Seen const seen(exec, band<double>(40), {}, width, 0.5);
    LabelList const wanted = labels_with_sums<Exec>("rows");
    EXPECT_EQ(seen.labels, wanted);
  }
  Seen const cut(exec, arrow<double>(40), {.algorithm = "segments", .segment_length = 9}, 8);
  EXPECT_EQ(cut.labels, labels_with_sums<Exec>("segments"));
  Seen const groups(exec, band<double>(40), {.algorithm = "groups"}, 8);
  EXPECT_EQ(groups.labels, labels_with_sums<Exec>("groups"));
  Seen const rows(exec, band<double>(40), {.algorithm = "nonempty_rows"}, 8);
  LabelList listed = labels_with_sums<Exec>("nonempty_rows");
  listed.insert(listed.begin(), "Blockspan::spmm::nonempty_rows::empty_rows");
  EXPECT_EQ(rows.labels, listed);
}

TYPED_TEST(DotsCalls, WhatCannotBeFusedComeFromAPassOfTheirOwn) {
  TypeParam const exec;
  std::string const separate = "Blockspan::spmm_dots::separate", add = "Blockspan::spmm_dots::add";
  Seen const naive(exec, band<double>(40), {.algorithm = "thread_per_row"}, 8);
  EXPECT_EQ(naive.labels, (LabelList{"Blockspan::spmm::thread_per_row", separate, add}));
  Seen const wide(exec, band<double>(40), {}, 2600);
  EXPECT_EQ(wide.labels, (LabelList{"Blockspan::spmm::rows", separate, add}));
  Seen const beta(exec, band<double>(40), {.algorithm = "nonempty_rows"}, 8, 0.5);
  EXPECT_THAT(beta.labels, ::testing::Contains(separate));
}

TYPED_TEST(DotsCalls, BadShapesThrow) {
  using Exec = TypeParam;
  Exec const exec;
  auto const random = [](std::int64_t) { return 3; };
  auto const tall = to_device(exec, random_matrix<double>("tall", 9, 7, random));
  auto const A = to_device(exec, band<double>(9));
  auto const X = make_block(exec, Storage::right, random_block<double>(7, 4, 1));
  auto const Y = make_block(exec, Storage::right, random_block<double>(9, 4, 2));
  auto const Z = make_block(exec, Storage::right, random_block<double>(9, 4, 3));
  using View = Kokkos::View<double*, typename Exec::memory_space>;
  View const four("Blockspan::test", 4), also_four("Blockspan::test", 4),
      three("Blockspan::test", 3);
  EXPECT_THAT(message_of([&] {
                spmm_dots(exec, SpmmPlan(exec, tall), 1.0, tall, X.view, 0.0, Y.view, four,
                          also_four);
              }),
              HasSubstr("blockspan::spmm_dots: A must be square, because x_dot_y pairs the rows of "
                        "X with those of Y (A: 9 x 7)"));
  SpmmPlan const plan(exec, A);
  for (bool const first : {true, false})
    EXPECT_THAT(message_of([&] {
                  spmm_dots(exec, plan, 1.0, A, Z.view, 0.0, Y.view, first ? three : four,
                            first ? four : three);
                }),
                HasSubstr("an entry for each column (x_dot_y: "));
  EXPECT_THAT(
      message_of([&] { spmm_dots(exec, plan, 1.0, A, X.view, 0.0, Y.view, four, also_four); }),
      HasSubstr("X must have as many rows as op(A) has columns"));
  EXPECT_THAT(
      message_of([&] { spmm_dots(exec, plan, 1.0, A, Y.view, 0.0, Y.view, four, also_four); }),
      HasSubstr("must not overlap"));
  View const weights("Blockspan::test", 8);
  EXPECT_THAT(
      message_of(
          [&] { spmm_dots(exec, plan, 1.0, A, Z.view, 0.0, Y.view, four, also_four, weights); }),
      HasSubstr("weights must be contiguous and have an entry for each row (8 with stride 1, "
                "rows: 9)"));
  auto const other = to_device(exec, band<double>(9));
  EXPECT_THAT(
      message_of([&] { spmm_dots(exec, plan, 1.0, other, Z.view, 0.0, Y.view, four, also_four); }),
      HasSubstr("in other arrays"));
}

}  // namespace
}  // namespace blockspan::test
