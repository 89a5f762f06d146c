#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace blockspan::apps {

/// One live line on a terminal, overwritten in place on stderr. Where stderr is no terminal (a
/// pipe, a file) nothing is written at all.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  /// Takes the line away.
  ~ProgressLine();
  ProgressLine(ProgressLine const&) = delete;
  ProgressLine& operator=(ProgressLine const&) = delete;

  /// What is being done, before or after the iterations.
  void stage(std::string const& what);
  /// An iteration, at most about ten times a second. errors: one residual a wanted pair or column.
  void iteration(int iteration, int converged, std::vector<double> const& errors, double tolerance);
  /// Takes the line away; the next call writes it anew.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::string text);

  bool live_;
  bool visible_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

/// A compact view of residuals, one character each: '#' reached the tolerance, a digit is the
/// number of decimal places still missing (9: nine or more), '!' not finite. At most 40 characters.
std::string residual_strip(std::vector<double> const& errors, double tolerance);

}  // namespace blockspan::apps
