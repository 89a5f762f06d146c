#include <algorithm>
#include <cerrno>
#include <cstring>

#include <blockspan/sparse/matrix_market/matrix_market_bytes.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace blockspan::sparse {

namespace {

constexpr std::size_t input_bytes = std::size_t(1) << 18;

std::int64_t modification_time(struct stat const& status) {
  return std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

[[noreturn]] void system_fault(char const* expected) {
  throw StreamFault(expected, std::strerror(errno));
}

}  // namespace

ByteStream::ByteStream(std::string const& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) system_fault("a readable file");
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) system_fault("a readable file");
    if (S_ISDIR(status.st_mode)) throw StreamFault("a regular file", "directory");
    if (!S_ISREG(status.st_mode)) throw StreamFault("a regular file", "device or pipe");
    size_ = status.st_size;
    modified_ = modification_time(status);
    unsigned char magic[2] = {};
    gzip_ = ::pread(descriptor_, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    if (gzip_) {
      input_ = std::make_unique_for_overwrite<char[]>(input_bytes);
      constexpr int gzip_wrapper = 16;
      if (::inflateInit2(&inflater_, MAX_WBITS + gzip_wrapper) != Z_OK) throw std::bad_alloc();
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ByteStream::~ByteStream() {
  if (gzip_) ::inflateEnd(&inflater_);
  ::close(descriptor_);
}

void ByteStream::read(char* buffer, std::size_t size, std::size_t& filled) {
  while (filled < size) {
    std::size_t const got = gzip_ ? inflate_some(buffer + filled, size - filled)
                                  : read_file(buffer + filled, size - filled);
    if (got == 0) break;
    filled += got;
  }
}

void ByteStream::seek(std::int64_t position) {
  if (::lseek(descriptor_, gzip_ ? 0 : position, SEEK_SET) < 0) system_fault("a seekable file");
  if (!gzip_) return;
  ::inflateReset(&inflater_);
  inflater_.avail_in = 0;
  ended_ = false;
  broken_ = false;
  auto const discarded = std::make_unique_for_overwrite<char[]>(input_bytes);
  while (position > 0) {
    auto const wanted = std::min<std::int64_t>(position, input_bytes);
    std::size_t got = 0;
    read(discarded.get(), static_cast<std::size_t>(wanted), got);
    if (got == 0) break;
    position -= static_cast<std::int64_t>(got);
  }
}

void ByteStream::check_unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) system_fault("a readable file");
  if (status.st_size != size_ || modification_time(status) != modified_)
    throw StreamFault("a file at rest", "file changed while it was read");
}

std::size_t ByteStream::read_file(char* buffer, std::size_t size) {
  for (;;) {
    auto const got = ::read(descriptor_, buffer, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) system_fault("a readable file");
  }
}

/// At least one byte of uncompressed text, or 0 at the end of the last member.
std::size_t ByteStream::inflate_some(char* buffer, std::size_t size) {
  auto const wanted = static_cast<uInt>(std::min<std::size_t>(size, std::size_t(1) << 30));
  inflater_.next_out = reinterpret_cast<Bytef*>(buffer);
  inflater_.avail_out = wanted;
  while (inflater_.avail_out == wanted) {
    if (broken_)
      throw StreamFault("an intact gzip stream",
                        inflater_.msg ? inflater_.msg : "corrupt gzip stream");
    if (ended_ && !begin_member()) return 0;
    if (inflater_.avail_in == 0 && !fill_input())
      throw StreamFault("an intact gzip stream", "truncated gzip stream");
    int const status = ::inflate(&inflater_, Z_NO_FLUSH);
    ended_ = status == Z_STREAM_END;
    broken_ = !ended_ && status != Z_OK && status != Z_BUF_ERROR;
  }
  return wanted - inflater_.avail_out;
}

bool ByteStream::fill_input() {
  inflater_.next_in = reinterpret_cast<Bytef*>(input_.get());
  inflater_.avail_in = static_cast<uInt>(read_file(input_.get(), input_bytes));
  return inflater_.avail_in > 0;
}

/// After a member: starts the next one; false at the end of the file. Zero padding is not a member.
bool ByteStream::begin_member() {
  for (;;) {
    if (inflater_.avail_in == 0 && !fill_input()) return false;
    if (*inflater_.next_in != 0) break;
    ++inflater_.next_in;
    --inflater_.avail_in;
  }
  if (*inflater_.next_in != 0x1f)
    throw StreamFault("an intact gzip stream", "bytes after the gzip stream");
  ::inflateReset(&inflater_);
  ended_ = false;
  return true;
}

}  // namespace blockspan::sparse
