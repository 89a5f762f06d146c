#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <vector>

#include <blockspan/distributed/reading/same_file.hpp>

#include <sys/stat.h>

namespace blockspan::distributed {

namespace {

constexpr std::int64_t compared_whole = std::int64_t{1} << 26;  // compared completely; some 20 ms
constexpr std::int64_t pieces = 1024;                           // samples of longer files

/// A step of FNV-1a (Fowler, Noll, Vo), plus a shift: its products only propagate upwards, so the
/// last byte of a word would only affect the upper eight bits.
constexpr std::uint64_t checksum_start = 0xcbf29ce484222325;
constexpr std::uint64_t extended(std::uint64_t sum, std::uint64_t word) {
  sum = (sum ^ word) * 0x100000001b3;
  return sum ^ (sum >> 32);
}

class Bytes {
 public:
  Bytes(std::string const& path, std::int64_t size)
      : file_(path, std::ios::binary), size_(size), buffer_(std::size_t{1} << 20) {}

  /// Checksum of the bytes [from, to), in words of eight bytes; bytes beyond the file count as
  /// zeros.
  std::uint64_t checksum(std::int64_t from, std::int64_t to) {
    file_.clear();
    file_.seekg(from);
    std::uint64_t sum = checksum_start;
    while (from < to) {
      auto const wanted = std::min<std::int64_t>(to - from, std::ssize(buffer_));
      file_.read(buffer_.data(), wanted);
      auto const got = static_cast<std::ptrdiff_t>(file_.gcount());
      std::fill(buffer_.begin() + got, buffer_.end(), '\0');
      for (std::int64_t i = 0; i < wanted; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, buffer_.data() + i, sizeof word);
        sum = extended(sum, word);
      }
      from += wanted;
    }
    return sum;
  }

  /// Checksum of a complete short file, or of samples of a long one.
  std::uint64_t sample() {
    if (size_ <= compared_whole) return checksum(0, size_);
    constexpr std::int64_t length = compared_whole / pieces;
    std::uint64_t sum = checksum_start;
    for (std::int64_t i = 0; i < pieces; ++i) {
      std::int64_t const from = (size_ - length) / (pieces - 1) * i;
      sum = extended(sum, checksum(from, from + length));
    }
    return sum;
  }

 private:
  std::ifstream file_;
  std::int64_t size_;
  std::vector<char> buffer_;
};

/// A hash that is equal if two processes see the same file on the same machine under this name.
std::uint64_t place_of(std::string const& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string machine;  // identified by its current boot
  std::getline(boot, machine);
  std::ostringstream place;
  place << machine << ' ' << status.st_dev << ' ' << status.st_ino;
  std::uint64_t sum = checksum_start;
  for (char const c : place.str()) sum = extended(sum, static_cast<unsigned char>(c));
  return sum;
}

/// Checksums of the bytes that every rank is about to read, from the file of rank 0; the ranks that
/// see this file share the work.
std::vector<std::uint64_t> sums_of_first(Communicator const& ranks, std::vector<int> const& having,
                                         std::function<std::uint64_t(int)> const& sum_of) {
  auto const turns = std::ssize(having);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks.size()), 0);
  std::vector<std::uint64_t> mine, all(sizes.size()), in_order(sizes.size());
  for (int r = 0; r < ranks.size(); ++r) {
    int const reader = having[static_cast<std::size_t>(r % turns)];
    sizes[static_cast<std::size_t>(reader)] += sizeof(std::uint64_t);
    if (reader == ranks.rank()) mine.push_back(sum_of(r));
  }
  ranks.gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), sizes);
  std::size_t at = 0;
  for (std::ptrdiff_t turn = 0; turn < turns; ++turn)
    for (auto r = turn; r < ranks.size(); r += turns)
      in_order[static_cast<std::size_t>(r)] = all[at++];
  return in_order;
}

}  // namespace

void require_same_file(Communicator const& ranks, std::string const& path, std::int64_t size,
                       std::function<std::int64_t(int)> const& cut) {
  auto const places = ranks.gather(place_of(path));
  std::vector<int> having;  // ranks that see the same file as rank 0
  for (int r = 0; r < ranks.size(); ++r)
    if (places[static_cast<std::size_t>(r)] == places[0]) having.push_back(r);
  if (std::ssize(having) == ranks.size()) return;
  struct Seen {
    std::int64_t size;
    std::uint64_t sample;
    bool operator==(Seen const&) const = default;
  };
  auto const refuse = [&](std::ptrdiff_t other) {
    ranks.agree(path + ": ranks 0 and " + std::to_string(other) +
                " see different files by this name");
  };
  Bytes bytes(path, size);
  auto const seen = ranks.gather(Seen{size, bytes.sample()});
  auto const other = std::find_if(seen.begin(), seen.end(), [&](auto s) { return s != seen[0]; });
  if (other != seen.end()) refuse(other - seen.begin());
  if (size <= compared_whole) return;
  constexpr std::int64_t line = 4096;  // the last line continues beyond the cut
  auto const sum_of = [&](int r) {
    return bytes.checksum(cut(r), std::min(size, cut(r + 1) + line));
  };
  auto const right = sums_of_first(ranks, having, sum_of);
  auto const read = ranks.gather(sum_of(ranks.rank()));
  auto const [wrong, there] = std::mismatch(read.begin(), read.end(), right.begin());
  if (wrong != read.end()) refuse(wrong - read.begin());
}

}  // namespace blockspan::distributed
