#pragma once

#include <string>
#include <string_view>

#include <blockspan/support/rooms.hpp>

#include <zlib.h>

namespace blockspan::support {

/// The file that writing to `path` would make or replace: symbolic links are followed, also to what
/// is not there yet.
std::string link_target(std::string const& path);

/// A file that appears whole or not at all: text goes to a temporary file in its folder (gzip when
/// the name ends in ".gz"), which commit() renames and the destructor otherwise removes. It has no
/// name until then, where the file system can do that, so that a process that is killed leaves
/// nothing. A file that is replaced keeps its permissions. Throws Error.
class AtomicFile {
 public:
  AtomicFile(std::string_view where, std::string const& path);
  ~AtomicFile();
  AtomicFile(AtomicFile const&) = delete;
  AtomicFile& operator=(AtomicFile const&) = delete;

  /// At most 1 GiB.
  void write(std::string_view text);
  void commit();

 private:
  void open_temporary();
  void name_temporary();
  std::string unused_name() const;
  [[noreturn]] void system_error() const;

  std::string where_;
  std::string path_;       ///< as given
  std::string target_;     ///< links followed
  std::string temporary_;  ///< empty: it has no name
  int descriptor_ = -1;    ///< for fsync, which zlib does not offer
  gzFile file_ = nullptr;
};

}  // namespace blockspan::support
