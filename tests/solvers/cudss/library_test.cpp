// Loading cuDSS, with stand-ins for it: what users read where it cannot be had.
#include <string>

#include <gtest/gtest.h>

#include <blockspan/operators/cudss/library.hpp>

#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string message_for(std::string const& file) {
  return message_of([&] { operators::cudss::load({file}); });
}

TEST(CudssLibrary, IsTakenWhereItIsComplete) {
  auto const library = operators::cudss::load({"/nowhere/libcudss.so.1", STAND_IN});
  EXPECT_EQ(library.version, "1.2.3");
  EXPECT_NE(library.cudssExecute, nullptr);
}

TEST(CudssLibrary, WhereItIsNotSaysHowToGetIt) {
  auto const message = message_for("/nowhere/libcudss.so.1");
  EXPECT_THAT(message, AllOf(HasSubstr("/nowhere/libcudss.so.1"), HasSubstr("nvidia-cudss-cu13"),
                             HasSubstr("BLOCKSPAN_CUDSS_LIBRARY"), Not(HasSubstr("\n"))));
}

TEST(CudssLibrary, OfAnotherVersionIsRefused) {
  EXPECT_THAT(message_for(STAND_IN_0), AllOf(HasSubstr("0.2.3"), HasSubstr("too old")));
  EXPECT_THAT(message_for(STAND_IN_2), AllOf(HasSubstr("2.2.3"), HasSubstr("only 1.x")));
}

TEST(CudssLibrary, WithoutAFunctionIsRefused) {
  EXPECT_THAT(message_for(STAND_IN_INCOMPLETE), HasSubstr("has no function cudssExecute"));
}

TEST(CudssLibrary, OfAnotherKindIsRefused) {
  EXPECT_THAT(message_for("libm.so.6"), HasSubstr("libm.so.6 has no function cudssGetProperty"));
}

}  // namespace
}  // namespace blockspan::test
