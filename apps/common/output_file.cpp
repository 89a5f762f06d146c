#include "common/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <blockspan/support/error.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace blockspan::apps {

namespace fs = std::filesystem;

namespace {

/// Of what failed last; streams may fail without one.
std::string reason() { return errno != 0 ? std::strerror(errno) : "for no reason that is known"; }

}  // namespace

OutputFile::OutputFile(std::string const& option, fs::path path, bool device_is_good)
    : option_(option + " " + path.string()), path_(std::move(path)), temporary_(path_) {
  std::error_code ignored;
  fs::file_status const status = fs::status(path_, ignored);
  require(!fs::is_directory(status), option_, "is a directory");
  bool const exists = fs::exists(status);
  bool const may_write = !exists || ::access(path_.c_str(), W_OK) == 0;
  require(may_write, option_, "cannot be written (", reason(), ")");
  bool const is_device = exists && !fs::is_regular_file(status);
  require(!is_device || device_is_good, option_, "is not a regular file");
  if (is_device) return;
  fs::path const folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  require(fs::is_directory(folder, ignored), option_, "there is no directory ", folder.string());
  std::string name(1, '.');
  name += std::to_string(getpid()) + "-" + path_.filename().string();
  temporary_ = folder / name;
  int const file = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  require(file >= 0, option_, "cannot be written (", reason(), ")");
  ::close(file);
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (temporary_ != path_) fs::remove(temporary_, ignored);
}

void OutputFile::write(std::string const& text) {
  errno = 0;
  std::ofstream file(temporary_, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  require(file.good(), option_, "writing failed (", reason(), ")");
  file.close();
  commit();
}

void OutputFile::commit() {
  if (temporary_ == path_) return;
  std::error_code error;
  fs::rename(temporary_, path_, error);
  require(!error, option_, "writing failed (", error.message(), ")");
  temporary_ = path_;
}

std::unique_ptr<OutputFile> claim_output(std::string const& option, std::string const& path,
                                         bool device_is_good) {
  if (path.empty()) return nullptr;
  return std::make_unique<OutputFile>(option, path, device_is_good);
}

}  // namespace blockspan::apps
