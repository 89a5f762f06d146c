#include "common/run/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace blockspan::apps {

namespace {

constexpr std::size_t strip_length = 40;

std::size_t terminal_width() {
  winsize size{};
  bool const known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

char residual_symbol(double error, double tolerance) {
  if (!std::isfinite(error)) return '!';
  if (error <= tolerance) return '#';
  double const missing = std::ceil(std::log10(error / tolerance));
  return static_cast<char>('0' + static_cast<int>(std::clamp(missing, 1.0, 9.0)));
}

}  // namespace

std::string residual_strip(std::vector<double> const& errors, double tolerance) {
  std::string strip;
  for (double const error : errors) {
    if (strip.size() == strip_length) return strip + "..";
    strip += residual_symbol(error, tolerance);
  }
  return strip;
}

ProgressLine::ProgressLine(bool quiet) : live_(!quiet && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::stage(std::string const& what) {
  if (live_) show(what + " ...");
}

void ProgressLine::iteration(int iteration, int converged, std::vector<double> const& errors,
                             double tolerance) {
  auto const now = Clock::now();
  if (!live_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  // A NaN compares false with everything: it must not hide behind a smaller residual.
  double const worst = *std::max_element(errors.begin(), errors.end(), [](double a, double b) {
    return std::isnan(b) || (!std::isnan(a) && a < b);
  });
  char text[128];
  std::snprintf(text, sizeof text, "iteration %5d  converged %d/%zu  worst %8.1e  %6.1f s  ",
                iteration, converged, errors.size(), worst,
                std::chrono::duration<double>(now - start_).count());
  show(text + residual_strip(errors, tolerance));
}

void ProgressLine::clear() {
  if (visible_) std::fputs("\r\033[K", stderr);
  visible_ = false;
}

void ProgressLine::show(std::string text) {
  // A line that wraps could not be overwritten.
  text.resize(std::min(text.size(), terminal_width() - 1));
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  visible_ = true;
}

}  // namespace blockspan::apps
