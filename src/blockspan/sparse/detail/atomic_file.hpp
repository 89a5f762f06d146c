#pragma once

#include <string>
#include <string_view>

#include <zlib.h>

namespace blockspan::detail {

/// A file that appears whole or not at all: text goes to a temporary file next to it (gzip when the
/// name ends in ".gz"), which commit() renames and the destructor otherwise removes. Throws Error.
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
  [[noreturn]] void system_error() const;

  std::string where_;
  std::string path_;    ///< as given
  std::string target_;  ///< links followed
  std::string temporary_;
  int descriptor_ = -1;  ///< for fsync, which zlib does not offer
  gzFile file_ = nullptr;
};

}  // namespace blockspan::detail
