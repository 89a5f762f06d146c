#include "suite/progress_bar.hpp"

#include <cmath>
#include <cstdio>
#include <sstream>

#include <sys/ioctl.h>
#include <unistd.h>

namespace blockspan::perf {

namespace {

constexpr int bar_length = 20;

std::size_t terminal_width() {
  winsize size{};
  bool const known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::string duration(double seconds) {
  if (seconds < 90) return std::to_string(static_cast<int>(std::ceil(seconds))) + " s";
  if (seconds < 5400) return std::to_string(static_cast<int>(std::ceil(seconds / 60))) + " min";
  return std::to_string(static_cast<int>(std::ceil(seconds / 3600))) + " h";
}

}  // namespace

std::string bar_text(int ended, int cases, double seconds, std::string const& what,
                     std::size_t width) {
  int const full = cases > 0 ? bar_length * ended / cases : bar_length;
  std::ostringstream text;
  text << '[' << std::string(static_cast<std::size_t>(full), '#')
       << std::string(static_cast<std::size_t>(bar_length - full), '.') << "] " << ended << '/'
       << cases;
  if (ended > 0) text << ", about " << duration(seconds / ended * (cases - ended)) << " left";
  text << ", " << what;
  return text.str().substr(0, width);
}

ProgressBar::ProgressBar(int cases) : live_(isatty(STDERR_FILENO) == 1), cases_(cases) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::begin(std::string const& what) {
  if (!live_) return;
  double const seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  // a line that wraps could not be overwritten
  std::string const text = bar_text(ended_, cases_, seconds, what, terminal_width() - 1);
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  visible_ = true;
}

void ProgressBar::end(std::string const& line) {
  ++ended_;
  std::ostringstream text;
  text << '[' << ended_ << '/' << cases_ << "] " << line;
  say(text.str());
}

void ProgressBar::say(std::string const& line) {
  clear();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void ProgressBar::clear() {
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

}  // namespace blockspan::perf
