#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <unistd.h>

namespace blockspan::test {

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> counter = 0;
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("blockspan-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;

  std::string operator/(std::string const& name) const { return (path_ / name).string(); }
  std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string write_text(std::string const& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline std::string read_text(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace blockspan::test
