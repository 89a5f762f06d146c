#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <zlib.h>

namespace blockspan::detail {

/// A file that appears whole or not at all: text goes to a temporary beside it (gzip when the name
/// ends in ".gz"), which commit() renames and the destructor otherwise removes. Throws Error.
class AtomicFile {
 public:
  AtomicFile(std::string_view where, std::string const& path);
  ~AtomicFile();
  AtomicFile(AtomicFile const&) = delete;
  AtomicFile& operator=(AtomicFile const&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void system_error() const;
  void write_bytes(char const* bytes, std::size_t size);
  void deflate_bytes(std::string_view text, int flush);
  void close();

  std::string where_;
  std::string path_;    ///< as given
  std::string target_;  ///< links followed
  std::string temporary_;
  int descriptor_ = -1;
  bool gzip_ = false;
  std::unique_ptr<char[]> output_;
  z_stream deflater_{};
};

}  // namespace blockspan::detail
