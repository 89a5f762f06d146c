#include <algorithm>
#include <cstring>

#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/matrix_market/matrix_market_text.hpp>

namespace blockspan::sparse {

namespace {

// Large against a thread's start, small against a matrix; also the longest line accepted.
constexpr std::size_t chunk_bytes = std::size_t(1) << 20;

/// Runs `call`, with `line` giving the line of a fault of the stream (0: none in particular).
template <class Call, class Line>
auto with_line(std::string const& path, Call const& call, Line const& line) {
  try {
    return call();
  } catch (StreamFault const& fault) {
    std::int64_t const number = line();
    throw MatrixMarketError(path, number, number > 0 ? 1 : 0, fault.expected, fault.what());
  }
}

std::int64_t no_line() { return 0; }

}  // namespace

TextSource::TextSource(std::string const& path)
    : path_(path),
      bytes_(with_line(
          path, [&] { return std::make_unique<ByteStream>(path); }, no_line)) {}

bool TextSource::next(TextChunk& chunk) {
  std::lock_guard const lock(mutex_);
  if (stopped_) return false;
  if (!chunk.storage) chunk.storage = std::make_unique_for_overwrite<char[]>(chunk_bytes + 1);
  char* const text = chunk.storage.get();
  std::size_t size = carry_.size();
  std::memcpy(text, carry_.data(), size);
  carry_.clear();
  with_line(
      path_, [&] { bytes_->read(text, chunk_bytes, size); },
      [&] { return line_ + std::count(text, text + size, '\n'); });
  if (size == 0) return false;
  if (size == chunk_bytes) {
    keep_unfinished_line(chunk, size);
    size -= carry_.size();
  } else if (text[size - 1] != '\n') {
    text[size++] = '\n';
  }
  chunk.begin = text;
  chunk.end = text + size;
  chunk.line = line_;
  chunk.index = index_++;
  line_ += std::count(chunk.begin, chunk.end, '\n');
  return true;
}

void TextSource::keep_unfinished_line(TextChunk& chunk, std::size_t size) {
  char const* const text = chunk.storage.get();
  auto const* newline = static_cast<char const*>(::memrchr(text, '\n', size));
  if (newline == nullptr)
    throw MatrixMarketError(path_, line_, 1, "a line shorter than 1 MiB", "longer line");
  carry_.assign(newline + 1, text + size);
}

void TextSource::restart(std::int64_t position, std::int64_t line) {
  with_line(
      path_, [&] { bytes_->seek(position); }, no_line);
  carry_.clear();
  line_ = line;
  index_ = 0;
  stopped_ = false;
}

void TextSource::check_unchanged() const {
  with_line(
      path_, [&] { bytes_->check_unchanged(); }, no_line);
}

}  // namespace blockspan::sparse
