#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include <blockspan/sparse/detail/atomic_file.hpp>
#include <blockspan/support/error.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace blockspan::detail {

namespace {

std::string unused_name(std::string const& target) {
  static std::atomic<int> counter = 0;
  return target + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

}  // namespace

AtomicFile::AtomicFile(std::string_view where, std::string const& path)
    : where_(where), path_(path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path const target = fs::weakly_canonical(path, error);
  target_ = error || target.empty() ? path : target.string();
  auto const status = fs::status(target_, error);
  require(!fs::exists(status) || fs::is_regular_file(status), where_, "cannot write ", path_,
          ": not a regular file");
  temporary_ = unused_name(target_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) system_error();
  // T: as it is. zlib closes the descriptor that it is given.
  file_ = ::gzdopen(::dup(descriptor_), path.ends_with(".gz") ? "wb" : "wbT");
  if (file_ != nullptr) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
  throw std::bad_alloc();
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) ::gzclose(file_);
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view text) {
  auto const size = static_cast<unsigned>(text.size());
  errno = 0;
  if (size > 0 && ::gzwrite(file_, text.data(), size) == 0) system_error();
}

void AtomicFile::commit() {
  errno = 0;
  if (::gzclose(std::exchange(file_, nullptr)) != Z_OK) system_error();
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) system_error();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) system_error();
  temporary_.clear();
}

void AtomicFile::system_error() const {
  fail(where_, "cannot write ", path_, ": ",
       errno != 0 ? std::strerror(errno) : "the compression failed");
}

}  // namespace blockspan::detail
