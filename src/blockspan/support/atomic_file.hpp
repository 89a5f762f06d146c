#pragma once

#include <string>
#include <string_view>

#include <blockspan/support/rooms.hpp>

#include <zlib.h>

namespace blockspan::support {

/// The file that writing to `path` would create or replace: symbolic links are followed, also to a
/// target that does not exist yet.
std::string link_target(std::string const& path);

/// A file that is written completely or not at all: text goes to a temporary file in the same
/// folder (gzip when the name ends in ".gz"), which commit() renames and the destructor otherwise
/// removes. Where the file system can, the temporary file has no name until then, so that a killed
/// process leaves nothing behind. A replaced file passes on its permissions. Throws Error.
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
  std::string temporary_;  ///< empty: unnamed so far
  int descriptor_ = -1;    ///< for fsync, which zlib does not offer
  gzFile file_ = nullptr;
};

}  // namespace blockspan::support
