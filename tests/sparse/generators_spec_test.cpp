#include <gtest/gtest.h>

#include <blockspan/sparse/generator_spec.hpp>
#include <blockspan/support/error.hpp>

#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string message_of(std::string_view spec) {
  try {
    parse_generator_spec(spec);
  } catch (Error const& error) {
    return error.what();
  }
  return "no error";
}

TEST(GeneratorSpec, ReadsSizesNumbersAndOptions) {
  auto const grid = parse_generator_spec("laplace7:3x4x5");
  EXPECT_EQ(grid.name, "laplace7");
  EXPECT_EQ(grid.sizes, (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(grid.rows, 60);
  EXPECT_EQ(grid.columns, 60);
  EXPECT_EQ(grid.nonzeros, 60 + 2 * (40 + 45 + 48));
  EXPECT_TRUE(grid.is_symmetric);
  EXPECT_TRUE(grid.is_positive_definite);
  EXPECT_EQ(parse_generator_spec("laplace7:6").sizes, (std::vector<std::int64_t>{6, 6, 6}));
  EXPECT_EQ(parse_generator_spec("aniso7:9:1,2.5,1e-3").numbers,
            (std::vector<double>{1, 2.5, 1e-3}));
  EXPECT_EQ(parse_generator_spec("aniso7:9:1:2.5:1e-3").numbers,
            (std::vector<double>{1, 2.5, 1e-3}));
  auto const graph = parse_generator_spec("rmat:20:16:a=0.5:seed=7:symmetric");
  EXPECT_EQ(graph.rows, 1048576);
  EXPECT_EQ(graph.seed, 7u);
  EXPECT_EQ(graph.options.at("a"), 0.5);
  EXPECT_EQ(graph.options.at("b"), 0.19);
  EXPECT_TRUE(graph.symmetric);
  EXPECT_EQ(graph.nonzeros, -1);
  EXPECT_EQ(parse_generator_spec("rmat:4:4:seed=18446744073709551615").seed, ~std::uint64_t(0));
}

TEST(GeneratorSpec, CountsTheUnknownsOfAnElasticBody) {
  EXPECT_EQ(parse_generator_spec("elasticity:44").rows, 43 * 44 * 44 * 3);
  EXPECT_EQ(parse_generator_spec("elasticity:44:free").rows, 44 * 44 * 44 * 3);
  EXPECT_FALSE(parse_generator_spec("elasticity:44:free").is_positive_definite);
  EXPECT_TRUE(parse_generator_spec("elasticity-mass:44:free").is_positive_definite);
}

TEST(GeneratorSpec, PermutesBeforeOrAfter) {
  for (std::string_view const spec : {"permute:seed=3:laplace7:4", "laplace7:4:permute=3"}) {
    auto const parsed = parse_generator_spec(spec);
    EXPECT_TRUE(parsed.permuted) << spec;
    EXPECT_EQ(parsed.permutation_seed, 3u) << spec;
    EXPECT_EQ(parsed.name, "laplace7") << spec;
  }
  EXPECT_EQ(parse_generator_spec("permute:laplace7:4").permutation_seed, 1u);
  EXPECT_EQ(parse_generator_spec("laplace7:4:permute").permutation_seed, 1u);
}

TEST(GeneratorSpec, TakesAPercentageAsItIsWritten) {
  // 0.7 is not a binary fraction; 0.7 % of 1000 columns is 7 all the same.
  EXPECT_EQ(parse_generator_spec("uniform:5x1:100").nonzeros, 5);
  EXPECT_EQ(parse_generator_spec("uniform:5x1000:0.1").nonzeros, 5);
}

TEST(GeneratorSpec, IsToldFromAFile) {
  for (std::string_view const spec : {"laplace7:10", "rmat:20:16:seed=7", "laplace7",
                                      "elasticity-mass:4", "laplce7:10", "permute:laplace7:3"})
    EXPECT_TRUE(is_generator_spec(spec)) << spec;
  for (std::string_view const file : {"matrix.mtx", "dir/laplace7:10", "./laplace7", "a:b", "",
                                      "C:/matrix.mtx", "Matrix:1", "x.mtx:1", ":", "../rmat:1:2"})
    EXPECT_FALSE(is_generator_spec(file)) << file;
}

TEST(GeneratorSpec, NamesTheKnownGeneratorsInHelpAndError) {
  std::string const help = generator_help();
  std::string const error = message_of("laplce7:10");
  EXPECT_THAT(error, HasSubstr("unknown generator 'laplce7' in 'laplce7:10'"));
  for (char const* name : {"laplace5",   "laplace7",        "laplace27",   "aniso7",    "jump7",
                           "elasticity", "elasticity-mass", "p1",          "p1-mass",   "star",
                           "spins",      "queues",          "rmat",        "lognormal", "wells",
                           "circuit",    "attachment",      "saddle",      "uniform",   "fixed",
                           "patches",    "powerlaw",        "hypersparse", "wide",      "banded"}) {
    EXPECT_THAT(help, HasSubstr(name));
    EXPECT_THAT(error, HasSubstr(name));
  }
}

struct BadSpec {
  std::string_view spec;
  std::vector<char const*> expected;
};

std::vector<BadSpec> const bad_specs{
    {"", {"unknown generator ''"}},
    {":3", {"unknown generator ''"}},
    {"Laplace7:3", {"unknown generator 'Laplace7'"}},
    {"laplace7", {"'laplace7' has no size", "laplace7:NXxNYxNZ"}},
    {"laplace7:", {"'' is not a size"}},
    {"laplace7:ten", {"'ten' is not a size", "'laplace7:ten'"}},
    {"laplace7:3x", {"'' is not a size"}},
    {"laplace7:3.5", {"'3.5' is not a size"}},
    {"laplace7: 3", {"' 3' is not a size"}},
    {"laplace7:-3", {"size -3", "not between 0"}},
    {"laplace7:3x4", {"gives 2 sizes", "takes 3 or 1"}},
    {"laplace7:1x2x3x4", {"gives 4 sizes"}},
    {"laplace7:3:4", {"'4' in 'laplace7:3:4' is one number too many", "takes 0"}},
    {"laplace7:99999999999999999999", {"'99999999999999999999' is not a size"}},
    {"laplace7:3000000000", {"size 3000000000", "2147483647"}},
    {"laplace7:2000", {"more than 2147483647 rows"}},
    {"laplace7:2147483647", {"more than 2147483647 rows"}},
    {"laplace5:3:seed=1", {"'seed=1'", "is not an option of laplace5"}},
    {"laplace5:3:symmetric", {"is not an option of laplace5"}},
    {"laplace7:3:", {"one number too many"}},
    {"elasticity:1", {"size 1", "not between 2"}},
    {"elasticity:900", {"more than 2147483647 rows"}},
    {"elasticity:4:free=1", {"free takes no value"}},
    {"aniso7:3:1,2", {"lacks EZ", "aniso7:NXxNYxNZ:EX,EY,EZ"}},
    {"aniso7:3:1,2,3,4", {"one number too many"}},
    {"aniso7:3:1,0,1", {"EY is 0", "above 0"}},
    {"aniso7:3:1,nan,1", {"EY is 'nan'", "a number is needed"}},
    {"aniso7:3:1,2x,1", {"EY is '2x'"}},
    {"aniso7:3:1,1e999,1", {"EY is '1e999'"}},
    {"jump7:3", {"lacks CONTRAST"}},
    {"jump7:3:0", {"CONTRAST is 0"}},
    {"jump7:3:10:width=0", {"width is 0", "between 1"}},
    {"jump7:3:10:width=1.5", {"width is 1.5", "a whole number"}},
    {"jump7:3:10:width", {"width needs a value"}},
    {"rmat:31:16", {"SCALE is 31", "between 0 and 30"}},
    {"rmat:10.5:16", {"SCALE is 10.5", "a whole number"}},
    {"rmat:30:100000", {"more than 2^40"}},
    {"rmat:4", {"lacks EDGEFACTOR"}},
    {"rmat:4:-1", {"EDGEFACTOR is -1"}},
    {"rmat:4:4:a=0.9:b=0.2", {"a + b + c", "at most 1"}},
    {"rmat:4:4:seed=-1", {"seed is '-1'", "2^64 - 1"}},
    {"rmat:4:4:seed=", {"seed is ''"}},
    {"rmat:4:4:seed", {"seed needs a value"}},
    {"rmat:4:4:seed=18446744073709551616", {"seed is '18446744073709551616'"}},
    {"rmat:4:4:values=large", {"values is 'large'", "signed, positive or ones"}},
    {"uniform:10x10:101", {"percentage is 101", "between 0 and 100"}},
    {"uniform:10x10:-1", {"percentage is -1"}},
    {"uniform:10x10:1", {"no whole number", "0.05", "hypersparse"}},
    {"uniform:10:50", {"gives 1 sizes", "takes 2"}},
    {"uniform:10x20:50:symmetric", {"10 x 20", "only a square matrix"}},
    {"fixed:10x20:21", {"21 nonzeros", "only 20 columns"}},
    {"hypersparse:10x2:2.5", {"only 2 columns"}},
    {"wide:4x10:9", {"only 10 columns"}},
    {"powerlaw:9x9:0.5:2", {"MEAN is 0.5"}},
    {"powerlaw:9x9:2:1", {"ALPHA is 1", "above 1"}},
    {"powerlaw:9x9:5:2:max=4", {"average of 5", "longest row, 4"}},
    {"powerlaw:9x9:5:2:max=40", {"40 nonzeros", "only 9 columns"}},
    {"star:5:0", {"REACH is 0", "between 1 and 8"}},
    {"star:5:9", {"REACH is 9"}},
    {"star:5", {"lacks REACH", "star:NXxNYxNZ:REACH"}},
    {"star:5:2:seed=1", {"is not an option of star"}},
    {"spins:2", {"size 2", "not between 3"}},
    {"spins:31", {"SITES is 31", "between 3 and 30"}},
    {"spins:5:symmetric", {"is not an option of spins"}},
    {"queues:216", {"more than 2147483647 rows"}},
    {"queues:4:1", {"one number too many"}},
    {"lognormal:9x9:0.5:1", {"MEAN is 0.5"}},
    {"lognormal:9x9:2:0", {"SIGMA is 0", "above 0"}},
    {"lognormal:9x9:2:5", {"SIGMA is 5", "at most 4"}},
    {"lognormal:9x9:10:1", {"average of 10", "longest row, 9"}},
    {"wells:5:0,1,1", {"UNKNOWNS is 0", "between 1 and 64"}},
    {"wells:5:2,1", {"lacks LENGTH"}},
    {"wells:5:2,251,1", {"LONG is 251", "only 250 rows"}},
    {"wells:5:2,1,251", {"LENGTH is 251", "only 250 columns"}},
    {"wells:900:3,0,0", {"more than 2147483647 rows"}},
    {"circuit:9:17,0,0", {"MEAN is 17", "between 0 and 16"}},
    {"circuit:9:1,10,1", {"LONG is 10", "only 9 rows"}},
    {"patches:9:10", {"PARTS is 10", "only 9 rows"}},
    {"circuit:9:1,1,2.5", {"LENGTH is 2.5", "a whole number"}},
    {"attachment:9:0", {"M is 0", "between 1 and 32"}},
    {"attachment:2000000000:2", {"draws 4000000000 edges", "2147483647"}},
    {"attachment:9:2:symmetric", {"is not an option of attachment"}},
    {"saddle:5:1", {"size 5", "not between 6"}},
    {"saddle:2147483647:1", {"more than 2147483647 rows"}},
    {"banded:9:0.5", {"H is 0.5"}},
    {"permute:seed=x:laplace7:3", {"permute is 'x'"}},
    {"permute:seed=3", {"does not say what to permute"}},
    {"permute:laplace7:3:permute", {"permuted twice"}},
    {"permute:", {"unknown generator ''"}}};

TEST(GeneratorSpec, SaysWhatIsWrong) {
  for (auto const& [spec, expected] : bad_specs) {
    std::string const message = message_of(spec);
    EXPECT_THAT(message, HasSubstr("generator: ")) << spec;
    for (char const* part : expected) EXPECT_THAT(message, HasSubstr(part)) << spec;
  }
}

}  // namespace
}  // namespace blockspan::test
