#include "common/files/output_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <blockspan/support/atomic_file.hpp>
#include <blockspan/support/error.hpp>

#include "common/files/words.hpp"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace blockspan::apps {

namespace fs = std::filesystem;

int descriptor_named(std::string const& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (std::string_view const folder : {"/dev/fd/", "/proc/self/fd/"})
    if (path.rfind(folder, 0) == 0 && path.size() > folder.size() &&
        path.find_first_not_of("0123456789", folder.size()) == path.npos)
      return std::atoi(path.c_str() + folder.size());
  return -1;
}

namespace {

/// To a device or a pipe.
void write_in_place(std::string const& path, int descriptor, std::string_view text) {
  int const file = descriptor >= 0 ? ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                                   : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  while (file >= 0 && !text.empty()) {
    auto const done = ::write(file, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) break;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  int const error = errno;
  if (file >= 0) ::close(file);
  require(file >= 0 && text.empty(), "cannot write " + path, std::strerror(error));
}

}  // namespace

OutputFile::OutputFile(std::string const& option, fs::path path, bool device_is_good)
    : option_(option), path_(std::move(path)), descriptor_(descriptor_named(path_.string())) {
  std::string const where = option + " " + path_.string();
  require(path_ != "-", where, "no output goes by this name",
          device_is_good ? " (the standard output is /dev/stdout)" : "");
  struct stat found {};
  bool const exists = ::stat(path_.c_str(), &found) == 0;
  require(!exists || !S_ISDIR(found.st_mode), where, "is a directory");
  bool const may_write = !exists || ::access(path_.c_str(), W_OK) == 0;
  require(may_write, option, "cannot write ", path_.string(), ": ", std::strerror(errno));
  is_device_ = descriptor_ >= 0 || (exists && !S_ISREG(found.st_mode));
  require(!is_device_ || device_is_good, where, "is not a regular file");
  if (is_device_) return;
  fs::path const target = blockspan::support::link_target(path_.string());
  fs::path const folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code error;
  bool const may_be = fs::is_directory(folder, error) || error == std::errc::permission_denied;
  require(may_be, where, "there is no directory ", folder.string());
  blockspan::support::AtomicFile const trial(option_, path_.string());
}

std::optional<std::string> OutputFile::write(std::string const& text) const {
  return write_by([&](std::string const& path) {
    if (is_device_) return write_in_place(path, descriptor_, text);
    constexpr std::size_t most = std::size_t{1} << 30;
    blockspan::support::AtomicFile file(option_, path);
    for (std::size_t at = 0; at < text.size(); at += most)
      file.write(std::string_view(text).substr(at, most));
    file.commit();
  });
}

std::optional<std::string> OutputFile::write_by(
    std::function<void(std::string const&)> const& save) const {
  std::string fault;
  try {
    save(path_.string());
    return std::nullopt;
  } catch (Error const& error) {
    fault = without_cpp_names(error.what());
  } catch (std::bad_alloc const&) {
    fault = "cannot write " + path_.string() + ": out of memory";
  }
  return fault.rfind(option_ + ": ", 0) == 0 ? fault : option_ + ": " + fault;
}

void OutputFile::write_or_fail(std::string const& text) const {
  if (auto const fault = write(text)) throw Error(*fault);
}

std::unique_ptr<OutputFile> claim_output(std::string const& option, std::string const& path,
                                         bool device_is_good) {
  if (path.empty()) return nullptr;
  return std::make_unique<OutputFile>(option, path, device_is_good);
}

}  // namespace blockspan::apps
