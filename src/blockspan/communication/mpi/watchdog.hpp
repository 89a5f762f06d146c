#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace blockspan::communication {

/// Reports on stderr which rank waits for which, once per wait, after BLOCKSPAN_WAIT_SECONDS (600;
/// 0: never). It aborts nothing: the other rank may be busy for a good reason.
class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  /// A wait, for the lifetime of the object. whom() returns the text, called only if it is
  /// reported.
  template <class Whom>
  class Wait {
   public:
    Wait(Watchdog& dog, Whom const& whom) : dog_(dog) {
      if (dog.limit_.count() > 0)
        dog.begin([](void const* w) { return (*static_cast<Whom const*>(w))(); }, &whom);
    }
    ~Wait() {
      if (dog_.limit_.count() > 0) dog_.end();
    }
    Wait(Wait const&) = delete;
    Wait& operator=(Wait const&) = delete;

   private:
    Watchdog& dog_;
  };

  Watchdog(int rank, int size) : rank_(rank) {
    if (size == 1) return;
    char const* const text = std::getenv("BLOCKSPAN_WAIT_SECONDS");
    double const seconds = text ? std::atof(text) : 600;
    if (!(seconds >= 0.01 && seconds < 1e9)) return;
    limit_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    thread_ = std::thread([this] { watch(); });
  }
  ~Watchdog() {
    {
      std::lock_guard const lock(mutex_);
      ends_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  Watchdog(Watchdog const&) = delete;
  Watchdog& operator=(Watchdog const&) = delete;

 private:
  using Words = std::string (*)(void const*);

  void begin(Words words, void const* whom) {
    std::lock_guard const lock(mutex_);
    words_ = words, whom_ = whom, since_ = Clock::now();
  }
  void end() {
    std::lock_guard const lock(mutex_);
    words_ = nullptr;
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, limit_ / 4, [this] { return ends_; })) {
      auto const waited = Clock::now() - since_;
      if (words_ == nullptr || waited < limit_) continue;
      std::fprintf(stderr, "blockspan: rank %d has waited %.1f s for %s\n", rank_,
                   std::chrono::duration<double>(waited).count(), words_(whom_).c_str());
      words_ = nullptr;  // reported once
    }
  }

  int rank_;
  Clock::duration limit_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  Words words_ = nullptr;
  void const* whom_ = nullptr;
  Clock::time_point since_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace blockspan::communication
