#pragma once

#include <chrono>
#include <string>

namespace blockspan::perf {

/// How far a run of many cases has come: on a terminal a bar with the time left, in place, below a
/// line for each case; elsewhere those lines alone. On stderr.
class ProgressBar {
 public:
  /// cases: to be run.
  explicit ProgressBar(int cases);
  ~ProgressBar();
  ProgressBar(ProgressBar const&) = delete;
  ProgressBar& operator=(ProgressBar const&) = delete;

  void begin(std::string const& what);
  /// The case that began has ended; `line` is what to say of it.
  void end(std::string const& line);
  /// A line about something else.
  void say(std::string const& line);

 private:
  using Clock = std::chrono::steady_clock;

  void clear();

  bool live_;
  bool visible_ = false;
  int cases_, ended_ = 0;
  Clock::time_point start_ = Clock::now();
};

/// "[####......] 12/30, about 3 min left, casper ...": at most `width` characters. seconds: that
/// the ended cases took; with none the time left is not known.
std::string bar_text(int ended, int cases, double seconds, std::string const& what,
                     std::size_t width);

}  // namespace blockspan::perf
