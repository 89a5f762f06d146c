#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/multivector/multivector.hpp>

#include "support/observed.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {

using Exec = AnyBackend;

Block<double, Exec> block(int rows, int columns) {
  return Block<double, Exec>("Blockspan::test", rows, columns);
}
Kokkos::View<double*, Kokkos::HostSpace> host_vector(int entries) {
  return Kokkos::View<double*, Kokkos::HostSpace>("Blockspan::test", entries);
}

/// The message of the Error that `call` throws; empty if it throws none.
template <class Call>
std::string error_of(Call const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  return {};
}

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(MultivectorErrors, GramNamesTheBlocksWhoseRowsDiffer) {
  Exec const exec;
  EXPECT_THAT(error_of([&] { gram(exec, block(10, 3), block(11, 4), block(3, 4)); }),
              AllOf(StartsWith("gram: "), HasSubstr("X is 10 x 3"), HasSubstr("Y is 11 x 4")));
  EXPECT_THAT(error_of([&] { gram(exec, block(10, 3), block(10, 4), block(4, 3)); }),
              AllOf(StartsWith("gram: "), HasSubstr("G is 4 x 3"), HasSubstr("3 and 4 columns")));
}

TEST(MultivectorErrors, CombineNamesAllThreeShapes) {
  Exec const exec;
  EXPECT_THAT(error_of([&] { combine(exec, 1.0, block(9, 3), block(2, 4), 0.0, block(9, 4)); }),
              AllOf(StartsWith("combine: "), HasSubstr("X is 9 x 3"), HasSubstr("C is 2 x 4"),
                    HasSubstr("Y is 9 x 4")));
  EXPECT_THAT(error_of([&] { combine_in_place(exec, block(9, 3), block(3, 4)); }),
              AllOf(StartsWith("combine_in_place: "), HasSubstr("9 x 3"), HasSubstr("3 x 4")));
}

TEST(MultivectorErrors, MemoryThatIsShortLeavesAWorkspaceThatGrows) {
  Exec const exec;
  Workspace<Exec> workspace;
  using W = Workspace<Exec>;
  auto const many = std::int64_t{1} << 57;
  EXPECT_THAT(error_of([&] { workspace.device<double>(exec, W::product, many); }),
              StartsWith("Blockspan::workspace: out of memory: cannot allocate 1152921504606846976 "
                         "bytes"));
  EXPECT_NE(workspace.device<double>(exec, W::product, 10), nullptr);
  EXPECT_THAT(error_of([&] { workspace.host<double>(exec, W::product, many); }),
              HasSubstr("in the memory space Host"));
  EXPECT_THAT(error_of([&] { workspace.device<double>(exec, W::product, many); }),
              HasSubstr("out of memory"));
  auto const again = observed([&] { workspace.device<double>(exec, W::product, 10); });
  EXPECT_EQ(again.allocations.size(), 1u);  // the memory of before was given back
  gram(exec, block(10, 3), block(10, 4), block(3, 4), workspace);
  exec.fence("Blockspan::test");
}

TEST(MultivectorErrors, ColumnFunctionsNameTheLengthsThatClash) {
  Exec const exec;
  EXPECT_THAT(error_of([&] { column_norms(exec, block(9, 3), host_vector(2)); }),
              AllOf(StartsWith("column_norms: "), HasSubstr("9 x 3"), HasSubstr("2 entries")));
  EXPECT_THAT(error_of([&] { column_dots(exec, block(9, 3), block(9, 2), host_vector(3)); }),
              AllOf(StartsWith("column_dots: "), HasSubstr("9 x 3"), HasSubstr("9 x 2")));
  EXPECT_THAT(error_of([&] { scale_columns(exec, host_vector(4), block(9, 3)); }),
              AllOf(StartsWith("scale_columns: "), HasSubstr("9 x 3"), HasSubstr("4 factors")));
}

TEST(MultivectorErrors, CopyColumnsNamesTheColumnThatDoesNotExist) {
  Exec const exec;
  EXPECT_THAT(error_of([&] {
                copy_columns(exec, block(9, 3), {0, 3}, block(9, 2));
              }),
              AllOf(StartsWith("copy_columns: "), HasSubstr("no column 3"), HasSubstr("9 x 3")));
  EXPECT_THAT(error_of([&] { copy_columns(exec, block(9, 3), {-1}, block(9, 1)); }),
              HasSubstr("no column -1"));
  EXPECT_THAT(error_of([&] { copy_columns(exec, block(9, 3), {0}, block(9, 2)); }),
              HasSubstr("1 columns are asked for"));
}

TEST(MultivectorErrors, OrthonormalizeAndProjectOutNameBothBlocks) {
  Exec const exec;
  EXPECT_THAT(error_of([&] { orthonormalize(exec, block(9, 3), block(9, 2)); }),
              AllOf(StartsWith("orthonormalize: "), HasSubstr("9 x 3"), HasSubstr("9 x 2")));
  EXPECT_THAT(error_of([&] { project_out(exec, block(9, 3), block(9, 2), block(9, 1)); }),
              AllOf(StartsWith("project_out: "), HasSubstr("9 x 3"), HasSubstr("9 x 2")));
}

}  // namespace blockspan::test
