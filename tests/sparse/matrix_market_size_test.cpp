#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>

#include <blockspan/sparse/matrix_market.hpp>

#include "sparse/dense.hpp"
#include "support/files.hpp"
#include <malloc.h>
#include <unistd.h>

namespace blockspan::test {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

void append(std::string& text, auto number, char separator) {
  char digits[40];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr) += separator;
}

/// A file of many chunks: column-major order, values of 16 to 17 digits, some entries repeated.
std::string large_text(std::int64_t columns, std::string const& kind, int repeat_every = 97) {
  std::string body;
  std::int64_t entries = 0;
  std::uint64_t state = 12345;
  auto const next = [&state] {
    return state = 6364136223846793005u * state + 1442695040888963407u;
  };
  for (std::int64_t j = 1; j <= columns; ++j) {
    for (int k = 0; k < 10; ++k) {
      std::int64_t const i = kind == "general"
                                 ? 1 + static_cast<std::int64_t>(next() >> 33) % columns
                                 : std::min(columns, j + 1 + 37 * k);
      int const copies = static_cast<int>(next() >> 33) % repeat_every == 0 ? 2 : 1;
      if (kind != "general" && i <= j) continue;
      for (int copy = 0; copy < copies; ++copy, ++entries) {
        append(body, i, ' ');
        append(body, j, ' ');
        append(body, (static_cast<double>(next() >> 11) + 1) * 1e-17 * (copy + 1), '\n');
      }
    }
  }
  std::string text = "%%MatrixMarket matrix coordinate real " + kind + "\n";
  append(text, columns, ' ');
  append(text, columns, ' ');
  append(text, entries, '\n');
  return text + body;
}

TEST(MatrixMarketSize, EveryNumberOfThreadsGivesTheSameBits) {
  TemporaryFolder const folder;
  for (std::string const kind : {"general", "symmetric", "skew-symmetric"}) {
    auto const path = write_text(folder / (kind + ".mtx"), large_text(20000, kind, 3));
    HostCopy const serial(read_matrix_market<double>(Host(), path, {.threads = 1}));
    EXPECT_TRUE(serial.sorted_and_unique());
    for (int const threads : {2, 3, 7}) {
      HostCopy const parallel(read_matrix_market<double>(Host(), path, {.threads = threads}));
      EXPECT_TRUE(parallel.same_bits(serial)) << kind << " on " << threads << " threads";
    }
  }
}

TEST(MatrixMarketSize, AnArrayOfManyChunksKeepsItsOrder) {
  TemporaryFolder const folder;
  std::int64_t const rows = 50001;
  std::string text = "%%MatrixMarket matrix array real general\n50001 7\n";
  for (std::int64_t k = 0; k < 7 * rows; ++k) {
    append(text, static_cast<double>(k) * 1.1, '\n');
    if (k % 1000 == 0) text += "% a comment\n\n";
  }
  auto const path = write_text(folder / "array.mtx", text);
  auto const X = read_block<double>(path, {.threads = 3});
  HostCopy const A(read_matrix_market<double>(Host(), path, {.threads = 3}));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < 7; ++j) {
      double const value = static_cast<double>(j * rows + i) * 1.1;
      wrong += X(i, j) != value || A.values(7 * i + j) != value;
    }
  EXPECT_EQ(wrong, 0);
}

TEST(MatrixMarketSize, TheFirstErrorOfALargeFileIsReported) {
  TemporaryFolder const folder;
  auto text = large_text(20000, "general");
  auto const place = text.find('\n', text.size() / 2) + 1;
  auto const line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n') + 1;
  text.insert(place, "1 oops 3\n");
  text += "0 0 0\n";
  auto const path = write_text(folder / "bad.mtx", text);
  for (int const threads : {1, 2, 5}) {
    try {
      read_matrix_market<double>(Host(), path, {.threads = threads});
      FAIL() << "accepted";
    } catch (MatrixMarketError const& error) {
      EXPECT_EQ(error.line, line);
      EXPECT_EQ(error.column, 3);
      EXPECT_EQ(error.token, "oops");
    }
  }
}

// The processor's time is what a crowded machine does not distort.
TEST(MatrixMarketSize, ReadsTensOfMegabytesASecondOfEachCore) {
  TemporaryFolder const folder;
  auto const text = large_text(100000, "general");
  auto const path = write_text(folder / "a.mtx", text);
  for (int const threads : {1, 2}) {
    auto const start = std::chrono::steady_clock::now();
    auto const start_of_work = std::clock();
    auto const A = read_matrix_market<double>(Host(), path, {.threads = threads});
    double const work = static_cast<double>(std::clock() - start_of_work) / CLOCKS_PER_SEC;
    std::chrono::duration<double> const time = std::chrono::steady_clock::now() - start;
    double const megabytes = static_cast<double>(text.size()) / 1e6;
    std::cout << threads << " thread(s): " << megabytes / time.count() << " MB/s, "
              << megabytes / work << " MB/s of one core's time\n";
    if (threads == 1) {
      EXPECT_GT(megabytes / work, 10);
    }
  }
}

/// Watches the resident memory of this process from another thread.
class PeakMemory {
 public:
  PeakMemory() : start_(resident()), peak_(start_), watcher_([this] { watch(); }) {}
  ~PeakMemory() { stop(); }

  /// Growth from the start to the peak, in bytes.
  std::int64_t stop() {
    done_ = true;
    if (watcher_.joinable()) watcher_.join();
    return std::max(peak_, resident()) - start_;
  }

 private:
  static std::int64_t resident() {
    std::ifstream file("/proc/self/statm");
    std::int64_t total = 0;
    std::int64_t pages = 0;
    file >> total >> pages;
    return pages * ::sysconf(_SC_PAGE_SIZE);
  }

  void watch() {
    for (; !done_; std::this_thread::sleep_for(std::chrono::microseconds(500)))
      peak_ = std::max(peak_, resident());
  }

  std::int64_t start_;
  std::int64_t peak_;
  std::atomic<bool> done_ = false;
  std::thread watcher_;
};

TEST(MatrixMarketSize, MemoryStaysNearTheMatrixItself) {
  TemporaryFolder const folder;
  for (std::string const kind : {"general", "symmetric"}) {
    for (int const threads : {1, 2}) {
      auto const path = write_text(folder / "a.mtx", large_text(150000, kind, 1 << 30));
      ::malloc_trim(0);
      PeakMemory memory;
      auto const A = read_matrix_market<double>(Host(), path, {.threads = threads});
      auto const grown = static_cast<double>(memory.stop());
      auto const matrix = 4.0 * (A.numRows() + 1) + 12.0 * static_cast<double>(A.nnz());
      std::cout << kind << ", " << threads << " thread(s): " << grown / matrix
                << " times the matrix of " << matrix / 1e6 << " MB\n";
#ifndef __SANITIZE_ADDRESS__
      EXPECT_LE(grown, 2.5 * matrix);
#endif
    }
  }
}

}  // namespace
}  // namespace blockspan::test
