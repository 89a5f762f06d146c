#include "common/files/input_file.hpp"

#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include <blockspan/support/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace blockspan::apps {

namespace {

/// The copies made so far, by the names of their inputs.
std::map<std::string, std::string>& copies() {
  static std::map<std::string, std::string> paths;
  return paths;
}

std::string shown_name(std::string const& name) { return name == "-" ? "standard input" : name; }

bool is_pipe(std::string const& name) {
  struct stat status {};
  return ::stat(name.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

void write_all(int file, char const* bytes, std::size_t size, std::string const& name) {
  while (size > 0) {
    auto const done = ::write(file, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    require(done > 0, shown_name(name), "cannot be kept in memory (", std::strerror(errno), ")");
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
}

/// Reads the input to its end into a file in memory, which lasts as long as the process.
std::string copy_of(std::string const& name) {
  int const from = name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  require(from >= 0, shown_name(name), "cannot be read (", std::strerror(errno), ")");
  int const to = ::memfd_create("blockspan-input", MFD_CLOEXEC);
  require(to >= 0, shown_name(name), "cannot be kept in memory (", std::strerror(errno), ")");
  std::vector<char> buffer(std::size_t(1) << 18);
  for (;;) {
    auto const got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    require(got >= 0, shown_name(name), "cannot be read (", std::strerror(errno), ")");
    if (got == 0) break;
    write_all(to, buffer.data(), static_cast<std::size_t>(got), name);
  }
  if (from != STDIN_FILENO) ::close(from);
  return "/proc/self/fd/" + std::to_string(to);
}

}  // namespace

std::string input_file(std::string const& name) {
  if (name != "-" && !is_pipe(name)) return name;
  auto const known = copies().find(name);
  if (known != copies().end()) return known->second;
  return copies()[name] = copy_of(name);
}

std::string input_of_first(Communicator const& ranks, std::string const& name) {
  return ranks.run_agreed(
      [&] { return ranks.rank() == 0 && !name.empty() ? input_file(name) : name; });
}

std::string without_input_names(std::string message) {
  for (auto const& [name, path] : copies())
    for (std::size_t at = 0; (at = message.find(path, at)) != message.npos;)
      message.replace(at, path.size(), shown_name(name));
  return message;
}

}  // namespace blockspan::apps
