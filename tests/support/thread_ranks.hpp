#pragma once

#include <algorithm>
#include <barrier>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <blockspan/communication/communicator.hpp>

namespace blockspan::test {

/// Ranks that are threads of this process, for tests of what runs on hosts without kernels.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : size_(size), barrier_(size), spans_(size), sizes_(size) {}

  /// f(communicator) as every rank; rethrows what the lowest rank throws.
  template <class Function>
  static void run(int size, Function const& f) {
    ThreadRanks group(size);
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (int r = 0; r < size; ++r)
      threads.emplace_back([&, r] {
        try {
          f(Communicator(std::make_shared<Rank>(group, r)));
        } catch (...) {
          thrown[static_cast<std::size_t>(r)] = std::current_exception();
        }
      });
    for (auto& thread : threads) thread.join();
    for (auto const& each : thrown)
      if (each) std::rethrow_exception(each);
  }

 private:
  class Rank final : public Transport {
   public:
    Rank(ThreadRanks& group, int rank) : group_(group), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return group_.size_; }
    std::string name() const override { return "threads"; }

    void gather(std::span<std::byte const> mine, std::span<std::byte> all,
                std::span<std::int64_t const> sizes) override {
      group_.spans_[index(rank_)] = mine;
      group_.barrier_.arrive_and_wait();
      std::size_t place = 0;
      for (int r = 0; r < size(); ++r) {
        auto const part = group_.spans_[index(r)];
        if (part.size() != static_cast<std::size_t>(sizes[index(r)])) std::terminate();
        std::copy(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(place));
        place += part.size();
      }
      group_.barrier_.arrive_and_wait();
    }
    void transpose(std::span<std::int64_t const> to, std::span<std::int64_t> from) override {
      group_.sizes_[index(rank_)] = to;
      group_.barrier_.arrive_and_wait();
      for (int r = 0; r < size(); ++r) from[index(r)] = group_.sizes_[index(r)][index(rank_)];
      group_.barrier_.arrive_and_wait();
    }
    void broadcast(std::span<std::byte> bytes, int root) override {
      if (rank_ == root) group_.spans_[index(root)] = bytes;
      group_.barrier_.arrive_and_wait();
      if (rank_ != root)
        std::copy(group_.spans_[index(root)].begin(), group_.spans_[index(root)].end(),
                  bytes.begin());
      group_.barrier_.arrive_and_wait();
    }
    /// Messages are matched as they come: who sends need not be in step with others.
    std::unique_ptr<PendingExchange> start(std::vector<Incoming> const& in,
                                           std::vector<Outgoing> const& out) override {
      for (auto const& message : out) {
        std::lock_guard const lock(group_.mutex_);
        group_.sent_.push_back({rank_, message.rank, {message.bytes.begin(), message.bytes.end()}});
      }
      return std::make_unique<Pending>(group_, rank_, in);
    }
    [[noreturn]] void abort(int) override { std::terminate(); }

   private:
    static std::size_t index(int r) { return static_cast<std::size_t>(r); }
    ThreadRanks& group_;
    int rank_;
  };

  struct Sent {
    int from, to;
    std::vector<std::byte> bytes;
  };

  class Pending final : public PendingExchange {
   public:
    Pending(ThreadRanks& group, int rank, std::vector<Incoming> const& in)
        : group_(group), rank_(rank), in_(in) {}
    void finish() override {
      for (auto const& wanted : in_)
        while (!take(wanted)) std::this_thread::yield();
    }

   private:
    bool take(Incoming const& wanted) {
      std::lock_guard const lock(group_.mutex_);
      auto const it = std::find_if(group_.sent_.begin(), group_.sent_.end(), [&](Sent const& sent) {
        return sent.from == wanted.rank && sent.to == rank_;
      });
      if (it == group_.sent_.end()) return false;
      if (it->bytes.size() != wanted.bytes.size()) std::terminate();
      std::copy(it->bytes.begin(), it->bytes.end(), wanted.bytes.begin());
      group_.sent_.erase(it);
      return true;
    }
    ThreadRanks& group_;
    int rank_;
    std::vector<Incoming> in_;
  };

  int size_;
  std::barrier<> barrier_;
  std::vector<std::span<std::byte const>> spans_;
  std::vector<std::span<std::int64_t const>> sizes_;
  std::mutex mutex_;
  std::vector<Sent> sent_;
};

}  // namespace blockspan::test
