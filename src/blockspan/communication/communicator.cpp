#include <algorithm>
#include <cstdlib>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

void Communicator::gather(std::span<std::byte const> mine, std::span<std::byte> all,
                          std::span<std::int64_t const> sizes) const {
  if (transport_)
    transport_->gather(mine, all, sizes);
  else
    std::copy(mine.begin(), mine.end(), all.begin());
}

void Communicator::broadcast(std::span<std::byte> bytes, int root) const {
  if (transport_ && !bytes.empty()) transport_->broadcast(bytes, root);
}

std::vector<std::int64_t> Communicator::transpose(std::vector<std::int64_t> const& to) const {
  if (!transport_) return to;
  std::vector<std::int64_t> from(to.size());
  transport_->transpose(to, from);
  return from;
}

std::unique_ptr<PendingExchange> Communicator::start(std::vector<Incoming> in,
                                                     std::vector<Outgoing> out) const {
  std::erase_if(in, [](Incoming const& message) { return message.bytes.empty(); });
  std::erase_if(out, [](Outgoing const& message) { return message.bytes.empty(); });
  if (in.empty() && out.empty()) return nullptr;
  require(transport_ != nullptr, "Communicator", "a message, but this process is alone");
  return transport_->start(in, out);
}

void Communicator::agree(std::optional<std::string> const& trouble, ErrorKind kind) const {
  if (size() == 1) {
    if (trouble) throw Error(*trouble, kind);
    return;
  }
  int const ranks = sum(trouble ? 1 : 0);
  if (ranks == 0) return;
  // an error of all ranks is usually about the same input: it names no rank
  std::string const who = ranks == size() ? "" : "rank " + std::to_string(rank()) + ": ";
  auto const agreed = largest(trouble ? static_cast<int>(kind) : 0);
  throw AgreedError(words_of_first(trouble ? who + *trouble : ""), static_cast<ErrorKind>(agreed));
}

std::string Communicator::words_of_first(std::string const& mine) const {
  if (size() == 1) return mine;
  int const root = least(mine.empty() ? size() : rank());
  if (root == size()) return {};
  std::vector<char> words(mine.begin(), mine.end());
  broadcast(words, root);
  return {words.begin(), words.end()};
}

void Communicator::abort(int exit_status) const {
  if (transport_) transport_->abort(exit_status);
  std::_Exit(exit_status);
}

}  // namespace blockspan
