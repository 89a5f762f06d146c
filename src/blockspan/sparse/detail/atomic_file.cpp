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

constexpr std::size_t output_bytes = std::size_t(1) << 18;

std::string unused_name(std::string const& target) {
  static std::atomic<int> counter = 0;
  return target + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

}  // namespace

AtomicFile::AtomicFile(std::string_view where, std::string const& path)
    : where_(where), path_(path), gzip_(path.ends_with(".gz")) {
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
  if (!gzip_) return;
  constexpr int gzip_wrapper = 16;
  constexpr int memory_level = 8;
  int const started = ::deflateInit2(&deflater_, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                     MAX_WBITS + gzip_wrapper, memory_level, Z_DEFAULT_STRATEGY);
  if (started != Z_OK) {
    gzip_ = false;
    close();
    ::unlink(temporary_.c_str());
    throw std::bad_alloc();
  }
  output_ = std::make_unique_for_overwrite<char[]>(output_bytes);
}

AtomicFile::~AtomicFile() {
  if (gzip_) ::deflateEnd(&deflater_);
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view text) {
  gzip_ ? deflate_bytes(text, Z_NO_FLUSH) : write_bytes(text.data(), text.size());
}

void AtomicFile::commit() {
  if (gzip_) deflate_bytes({}, Z_FINISH);
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) system_error();
  close();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) system_error();
  temporary_.clear();
}

void AtomicFile::system_error() const {
  fail(where_, "cannot write ", path_, ": ", std::strerror(errno));
}

void AtomicFile::write_bytes(char const* bytes, std::size_t size) {
  while (size > 0) {
    auto const written = ::write(descriptor_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) system_error();
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::deflate_bytes(std::string_view text, int flush) {
  deflater_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  deflater_.avail_in = static_cast<uInt>(text.size());  // pieces are far below 4 GiB
  do {
    deflater_.next_out = reinterpret_cast<Bytef*>(output_.get());
    deflater_.avail_out = output_bytes;
    ::deflate(&deflater_, flush);
    write_bytes(output_.get(), output_bytes - deflater_.avail_out);
  } while (deflater_.avail_out == 0);
}

void AtomicFile::close() {
  int const descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0 && errno != EINTR) system_error();
}

}  // namespace blockspan::detail
