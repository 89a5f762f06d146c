#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <blockspan/sparse/matrix_market/matrix_market_bytes.hpp>

namespace blockspan::sparse {

/// Whole lines of a text: `[begin, end)` ends with a newline, added where the file's last line has
/// none.
struct TextChunk {
  std::unique_ptr<char[]> storage;
  char const* begin = nullptr;
  char const* end = nullptr;
  std::int64_t line = 0;   ///< number of the first line, from 1
  std::int64_t index = 0;  ///< number of this chunk since the last restart; cuts never vary
};

/// Hands a file out in chunks of whole lines, in order, to any number of threads.
/// Throws MatrixMarketError with the line where reading broke.
class TextSource {
 public:
  explicit TextSource(std::string const& path);

  /// The next chunk; false at the end, or when stopped. Reuses the chunk's storage.
  bool next(TextChunk& chunk);

  /// Begins again at a line whose number and position (in uncompressed bytes) are known.
  void restart(std::int64_t position, std::int64_t line);

  /// Lets every next() return false until the next restart.
  void stop() { stopped_ = true; }

  void check_unchanged() const;

  std::string const& path() const { return path_; }
  std::int64_t file_size() const { return bytes_->file_size(); }
  bool compressed() const { return bytes_->compressed(); }
  std::int64_t line() const { return line_; }  ///< the line after the last one handed out

 private:
  void keep_unfinished_line(TextChunk& chunk, std::size_t size);

  std::string path_;
  std::unique_ptr<ByteStream> bytes_;
  std::mutex mutex_;
  std::atomic<bool> stopped_ = false;
  std::string carry_;  ///< the start of a line whose end is not read yet
  std::int64_t line_ = 1;
  std::int64_t index_ = 0;
};

}  // namespace blockspan::sparse
