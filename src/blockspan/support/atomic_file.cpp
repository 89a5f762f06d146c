#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include <blockspan/support/atomic_file.hpp>
#include <blockspan/support/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace blockspan::support {

namespace fs = std::filesystem;

namespace {

/// A path by which linkat can name the unnamed file of a descriptor.
std::string name_of_descriptor(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

std::string folder_of(std::string const& target) {
  fs::path const folder = fs::path(target).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

std::string link_target(std::string const& path) {
  constexpr int most_links = 40;  // as in Linux
  fs::path target = path;
  std::error_code error;
  for (int i = 0; i < most_links && fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    fs::path const next = fs::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;  // an absolute path replaces all
  }
  return target.string();
}

AtomicFile::AtomicFile(std::string_view where, std::string const& path)
    : where_(where), path_(path), target_(link_target(path)) {
  struct stat found {};
  bool const exists = ::stat(path.c_str(), &found) == 0;
  if (path.empty() || (!exists && errno != ENOENT)) system_error();
  require(!exists || S_ISREG(found.st_mode), where_, "cannot write ", path_,
          ": not a regular file");
  open_temporary();
  if (exists) ::fchmod(descriptor_, found.st_mode & 07777);
  // T: no compression. zlib closes the descriptor it is given, so it gets a duplicate.
  file_ = ::gzdopen(::dup(descriptor_), path.ends_with(".gz") ? "wb" : "wbT");
  if (file_ != nullptr) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  throw std::bad_alloc();
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) ::gzclose(file_);
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

/// Opens an unnamed file if the file system can and /proc can name it later; else a named one.
void AtomicFile::open_temporary() {
  descriptor_ = ::open(folder_of(target_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) {
    if (::access(name_of_descriptor(descriptor_).c_str(), F_OK) == 0) return;
    ::close(descriptor_);
  }
  std::string name;
  do {
    name = unused_name();
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) system_error();
  temporary_ = std::move(name);
}

void AtomicFile::name_temporary() {
  if (!temporary_.empty()) return;
  std::string const descriptor = name_of_descriptor(descriptor_);
  std::string name;
  int failed = 0;
  do {
    name = unused_name();
    failed = ::linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  } while (failed != 0 && errno == EEXIST);
  if (failed != 0) system_error();
  temporary_ = std::move(name);
}

/// A free name in the folder of the target. Short, since the length of names is limited.
std::string AtomicFile::unused_name() const {
  static std::atomic<int> counter = 0;
  return folder_of(target_) + "/.blockspan-" + std::to_string(::getpid()) + "-" +
         std::to_string(counter++);
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
  name_temporary();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) system_error();
  temporary_.clear();
}

void AtomicFile::system_error() const {
  fail(where_, "cannot write ", path_, ": ",
       errno != 0 ? std::strerror(errno) : "the compression failed");
}

}  // namespace blockspan::support
