#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <zlib.h>

namespace blockspan::sparse {

/// Why a stream of bytes broke; whoever knows the line turns it into a MatrixMarketError.
struct StreamFault : std::runtime_error {
  StreamFault(std::string expected_, std::string found)
      : std::runtime_error(found), expected(std::move(expected_)) {}
  std::string expected;
};

/// The uncompressed bytes of a regular file, plain or gzip (recognized by its first two bytes;
/// several members in a row count as one). Can be read again from any position. Throws StreamFault.
class ByteStream {
 public:
  explicit ByteStream(std::string const& path);
  ~ByteStream();
  ByteStream(ByteStream const&) = delete;
  ByteStream& operator=(ByteStream const&) = delete;

  /// Appends to the `filled` bytes of `buffer` up to `size`; fewer only at the end. When it throws,
  /// `filled` counts what came before the fault.
  void read(char* buffer, std::size_t size, std::size_t& filled);

  /// The next read begins at this uncompressed position.
  void seek(std::int64_t position);

  std::int64_t file_size() const { return size_; }
  bool compressed() const { return gzip_; }

  /// Throws if the file is no longer what it was when opened.
  void check_unchanged() const;

 private:
  std::size_t read_file(char* buffer, std::size_t size);
  std::size_t inflate_some(char* buffer, std::size_t size);
  bool fill_input();
  bool begin_member();

  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::int64_t modified_ = 0;  ///< nanoseconds
  bool gzip_ = false;
  bool ended_ = false;   ///< the last gzip member is complete
  bool broken_ = false;  ///< thrown once the bytes before the fault are handed out
  std::unique_ptr<char[]> input_;
  z_stream inflater_{};
};

}  // namespace blockspan::sparse
