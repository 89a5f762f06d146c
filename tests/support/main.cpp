// One main for every test program. Besides running the tests it can write what it ran to a JSON
// file (environment variable BLOCKSPAN_TEST_SUMMARY): perf/record_tests.py joins those files into
// the record of a run on a GPU.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/support/host_settings.hpp>

#include "support/counters.hpp"

namespace {

namespace tools = Kokkos::Tools::Experimental;

constexpr std::size_t device_types = 16;
std::array<std::atomic<std::uint64_t>, device_types> kernels_launched{};

void count_kernel(char const*, std::uint32_t device, std::uint64_t* kernel) {
  auto const type = static_cast<std::size_t>(tools::identifier_from_devid(device).type);
  ++kernels_launched[type < device_types ? type : 0];
  *kernel = 0;
}

/// Tests may install callbacks of their own and take them away; counting resumes with the next
/// test.
class KernelCounter : public ::testing::EmptyTestEventListener {
  void OnTestStart(::testing::TestInfo const&) override {
    tools::set_begin_parallel_for_callback(count_kernel);
    tools::set_begin_parallel_reduce_callback(count_kernel);
    tools::set_begin_parallel_scan_callback(count_kernel);
  }
};

std::uint64_t launched(tools::DeviceType type) {
  return kernels_launched[static_cast<std::size_t>(type)];
}

std::string quoted(std::string const& text) {
  std::string result = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

/// Names of the tests for which `wanted` holds, as a JSON list.
template <class Wanted>
std::string names_of_tests(Wanted const& wanted) {
  auto const& run = *::testing::UnitTest::GetInstance();
  std::string names;
  for (int s = 0; s < run.total_test_suite_count(); ++s) {
    auto const& suite = *run.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      auto const& test = *suite.GetTestInfo(t);
      if (test.should_run() && wanted(*test.result()))
        names +=
            (names.empty() ? "" : ", ") + quoted(std::string(suite.name()) + "." + test.name());
    }
  }
  return "[" + names + "]";
}

/// Of each suite that ran, the tests that passed, as a JSON object.
std::string passed_by_suite() {
  auto const& run = *::testing::UnitTest::GetInstance();
  std::string counts;
  for (int s = 0; s < run.total_test_suite_count(); ++s) {
    auto const& suite = *run.GetTestSuite(s);
    if (suite.test_to_run_count() > 0)
      counts += (counts.empty() ? "" : ", ") + quoted(suite.name()) + ": " +
                std::to_string(suite.successful_test_count());
  }
  return "{" + counts + "}";
}

void write_summary(char const* path) {
  auto const& run = *::testing::UnitTest::GetInstance();
  std::ofstream file(path);
  file << "{\"tests\": " << run.test_to_run_count()
       << ", \"passed\": " << run.successful_test_count()
       << ", \"failed\": " << run.failed_test_count()
       << ", \"skipped\": " << run.skipped_test_count()
       << ", \"seconds\": " << static_cast<double>(run.elapsed_time()) / 1000
       << ", \"matrices_read\": " << blockspan::test::matrices_read()
       << ", \"kernels_launched\": {\"serial\": " << launched(tools::DeviceType::Serial)
       << ", \"openmp\": " << launched(tools::DeviceType::OpenMP)
       << ", \"cuda\": " << launched(tools::DeviceType::Cuda)
       << "}, \"failures\": " << names_of_tests([](auto const& result) { return result.Failed(); })
       << ", \"skipped_tests\": "
       << names_of_tests([](auto const& result) { return result.Skipped(); })
       << ", \"passed_by_suite\": " << passed_by_suite();
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration);
  file << ", \"kokkos\": " << quoted(configuration.str()) << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  // Listing the tests must not start Kokkos: a CUDA build is made on machines without a GPU.
  if (::testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  Kokkos::initialize(blockspan::host_settings());
  ::testing::UnitTest::GetInstance()->listeners().Append(new KernelCounter);
  int const result = RUN_ALL_TESTS();
  if (char const* path = std::getenv("BLOCKSPAN_TEST_SUMMARY")) write_summary(path);
  Kokkos::finalize();
  return result;
}
