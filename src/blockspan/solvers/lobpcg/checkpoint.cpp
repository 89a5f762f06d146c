#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <blockspan/solvers/lobpcg/checkpoint.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

namespace {

constexpr std::string_view heading = "Blockspan checkpoint 1\n";
constexpr std::size_t chunk = std::size_t(1) << 20;  // zlib counts in 32 bits

unsigned long extended_checksum(unsigned long sum, void const* bytes, std::size_t size) {
  return ::crc32_z(sum, static_cast<Bytef const*>(bytes), size);
}

}  // namespace

CheckpointWriter::CheckpointWriter(std::string const& path)
    : file_("checkpoint", path), checksum_(::crc32_z(0, nullptr, 0)) {
  file_.write(heading);
}

void CheckpointWriter::put(void const* bytes, std::size_t size) {
  checksum_ = extended_checksum(checksum_, bytes, size);
  std::string_view const all(static_cast<char const*>(bytes), size);
  for (std::size_t at = 0; at < size; at += chunk) file_.write(all.substr(at, chunk));
}

void CheckpointWriter::commit() {
  auto const sum = static_cast<std::uint64_t>(checksum_);
  file_.write({reinterpret_cast<char const*>(&sum), sizeof sum});
  file_.commit();
}

CheckpointReader::CheckpointReader(std::string path)
    : path_(std::move(path)),
      file_(::gzopen(path_.c_str(), "rb"), ::gzclose),
      checksum_(::crc32_z(0, nullptr, 0)) {
  require(file_ != nullptr, path_, "cannot read the checkpoint: ", std::strerror(errno));
  std::string found(heading.size(), '\0');
  int const read = ::gzread(file_.get(), found.data(), static_cast<unsigned>(found.size()));
  require(read == static_cast<int>(found.size()) && found == heading, path_,
          "this is not a checkpoint of this version of Blockspan");
}

void CheckpointReader::get(void* bytes, std::size_t size) {
  auto* const begin = static_cast<char*>(bytes);
  for (std::size_t at = 0; at < size;) {
    auto const wanted = static_cast<unsigned>(std::min(chunk, size - at));
    int const read = ::gzread(file_.get(), begin + at, wanted);
    require(read > 0, path_, "the checkpoint is cut off or damaged");
    at += static_cast<std::size_t>(read);
  }
  checksum_ = extended_checksum(checksum_, bytes, size);
}

void CheckpointReader::finish() {
  std::uint64_t const computed = checksum_;
  std::uint64_t stored = 0;
  get(&stored, sizeof stored);
  char more = 0;
  require(stored == computed && ::gzread(file_.get(), &more, 1) == 0, path_,
          "the checkpoint is damaged (its checksum does not fit)");
}

}  // namespace blockspan::detail
