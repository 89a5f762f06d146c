#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <blockspan/solvers/lobpcg/checkpoint.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::eigen {

namespace {

constexpr std::string_view heading = "Blockspan checkpoint 3\n";
constexpr std::size_t chunk = std::size_t(1) << 20;  // zlib counts in 32 bits

unsigned long extended_checksum(unsigned long sum, void const* bytes, std::size_t size) {
  if (size == 0) return sum;  // zlib begins anew where there are no bytes
  return ::crc32_z(sum, static_cast<Bytef const*>(bytes), size);
}

/// Bytes of the rows of another rank.
std::size_t bytes_of(RowSpace const& rows, int rank, std::size_t row_bytes) {
  auto const [first, last] = rows.range(rank, 0);
  return static_cast<std::size_t>(last - first) * row_bytes;
}

/// Memory on rank 0 for the rows of any other rank, allocated before messages are sent.
std::size_t most_bytes(RowSpace const& rows, std::size_t row_bytes) {
  std::size_t most = 0;
  auto const& ranks = rows.communicator();
  for (int r = 1; ranks.rank() == 0 && r < ranks.size(); ++r)
    most = std::max(most, bytes_of(rows, r, row_bytes));
  return most;
}

/// One message, from one rank to another; others do nothing.
void send(Communicator const& ranks, int to, std::span<std::byte const> bytes) {
  if (auto const pending = ranks.start({}, {{to, bytes}})) pending->finish();
}
void receive(Communicator const& ranks, int from, std::span<std::byte> bytes) {
  if (auto const pending = ranks.start({{from, bytes}}, {})) pending->finish();
}

}  // namespace

CheckpointWriter::CheckpointWriter(std::string const& path, RowSpace rows)
    : rows_(std::move(rows)), checksum_(::crc32_z(0, nullptr, 0)) {
  rows_.communicator().run_agreed([&] {
    if (rows_.communicator().rank() > 0) return;
    file_.emplace("checkpoint", path);
    file_->write(heading);
  });
}

void CheckpointWriter::put(void const* bytes, std::size_t size) {
  if (!file_ || trouble_) return;
  checksum_ = extended_checksum(checksum_, bytes, size);
  std::string_view const all(static_cast<char const*>(bytes), size);
  try {
    for (std::size_t at = 0; at < size; at += chunk) file_->write(all.substr(at, chunk));
  } catch (Error const& error) {
    if (!rows_.distributed()) throw;
    trouble_ = error.what();
  }
}

void CheckpointWriter::put_rows(std::span<std::byte const> mine, std::size_t row_bytes) {
  auto const& ranks = rows_.communicator();
  std::vector<std::byte> others;
  ranks.run_agreed([&] { others.reserve(most_bytes(rows_, row_bytes)); });
  if (ranks.rank() > 0) return send(ranks, 0, mine);
  put(mine.data(), mine.size());
  for (int r = 1; r < ranks.size(); ++r) {
    others.resize(bytes_of(rows_, r, row_bytes));
    receive(ranks, r, others);
    put(others.data(), others.size());
  }
}

void CheckpointWriter::commit() {
  auto const sum = static_cast<std::uint64_t>(checksum_);
  rows_.communicator().run_agreed([&] {
    if (trouble_) throw Error(*trouble_);
    if (!file_) return;
    file_->write({reinterpret_cast<char const*>(&sum), sizeof sum});
    file_->commit();
  });
}

CheckpointReader::CheckpointReader(std::string path, RowSpace rows)
    : rows_(std::move(rows)),
      path_(std::move(path)),
      file_(nullptr, ::gzclose),
      checksum_(::crc32_z(0, nullptr, 0)) {
  rows_.communicator().run_agreed([&] {
    if (rows_.communicator().rank() > 0) return;
    file_.reset(::gzopen(path_.c_str(), "rb"));
    require(file_ != nullptr, path_, "cannot read the checkpoint: ", std::strerror(errno));
    std::string found(heading.size(), '\0');
    int const read = ::gzread(file_.get(), found.data(), static_cast<unsigned>(found.size()));
    require(read == static_cast<int>(found.size()) && found == heading, path_,
            "this is not a checkpoint of this version of Blockspan");
  });
}

/// On rank 0.
void CheckpointReader::read(void* bytes, std::size_t size) {
  auto* const begin = static_cast<char*>(bytes);
  for (std::size_t at = 0; at < size;) {
    auto const wanted = static_cast<unsigned>(std::min(chunk, size - at));
    int const read = ::gzread(file_.get(), begin + at, wanted);
    require(read > 0, path_, "the checkpoint is cut off or damaged");
    at += static_cast<std::size_t>(read);
  }
  checksum_ = extended_checksum(checksum_, bytes, size);
}

void CheckpointReader::get(void* bytes, std::size_t size) {
  auto const& ranks = rows_.communicator();
  ranks.run_agreed([&] {
    if (ranks.rank() == 0) read(bytes, size);
  });
  ranks.broadcast({static_cast<std::byte*>(bytes), size}, 0);
}

void CheckpointReader::get_rows(std::span<std::byte> mine, std::size_t row_bytes) {
  auto const& ranks = rows_.communicator();
  std::vector<std::byte> others;
  ranks.run_agreed([&] { others.reserve(most_bytes(rows_, row_bytes)); });
  if (ranks.rank() > 0) receive(ranks, 0, mine);
  std::optional<std::string> trouble;
  if (ranks.rank() == 0) {
    auto const take = [&](std::span<std::byte> bytes) {
      try {
        if (!trouble) read(bytes.data(), bytes.size());
      } catch (Error const& error) {
        trouble = error.what();  // the others wait for their rows all the same
      }
    };
    take(mine);
    for (int r = 1; r < ranks.size(); ++r) {
      others.resize(bytes_of(rows_, r, row_bytes));
      take(others);
      send(ranks, r, others);
    }
  }
  ranks.agree(trouble);
}

void CheckpointReader::finish() {
  rows_.communicator().run_agreed([&] {
    if (rows_.communicator().rank() > 0) return;
    std::uint64_t const computed = checksum_;
    std::uint64_t stored = 0;
    read(&stored, sizeof stored);
    char more = 0;
    require(stored == computed && ::gzread(file_.get(), &more, 1) == 0, path_,
            "the checkpoint is damaged (its checksum does not fit)");
  });
}

}  // namespace blockspan::eigen
