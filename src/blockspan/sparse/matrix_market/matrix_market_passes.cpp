#include <algorithm>
#include <exception>
#include <mutex>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/matrix_market/matrix_market_passes.hpp>
#include <blockspan/support/interruption.hpp>

#include <unistd.h>

namespace blockspan::sparse {

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

/// One worker a thread; exceptions must not leave a parallel region.
struct Workers {
  std::function<void()> const* worker;
  std::mutex* mutex;
  std::exception_ptr* error;

  void operator()(int) const {
    try {
      (*worker)();
    } catch (...) {
      std::lock_guard const lock(*mutex);
      if (!*error) *error = std::current_exception();
    }
  }
};

}  // namespace

int reader_threads(MatrixMarketReadOptions const& options, std::int64_t file_size) {
  require(options.threads >= 0, "read_matrix_market", "threads must not be negative (",
          options.threads, ")");
  constexpr std::int64_t bytes_per_thread = std::int64_t(1) << 20;  // less is not worth a start
  std::int64_t const wanted = options.threads > 0 ? options.threads : Host().concurrency();
  return static_cast<int>(std::min(wanted, 1 + file_size / bytes_per_thread));
}

void run_workers(int threads, std::function<void()> const& worker) {
  std::mutex mutex;
  std::exception_ptr error;
  Workers const workers{&worker, &mutex, &error};
  if (threads == 1) {
    workers(0);
  } else {
    Host const host;
    Kokkos::parallel_for("Blockspan::read_matrix_market",
                         Kokkos::RangePolicy<Host>(host, 0, threads), workers);
    host.fence("Blockspan::read_matrix_market");
  }
  if (error) std::rethrow_exception(error);
}

void for_each_chunk(TextSource& source, ParsedHeader const& header, int threads,
                    std::function<void(TextChunk const&)> const& body) {
  source.restart(header.body_position, header.size_line + 1);
  run_workers(threads, [&] {
    try {
      for (TextChunk chunk; source.next(chunk);) {
        InterruptionCheck::step();  // of the calling thread, which is one of the workers
        body(chunk);
      }
    } catch (...) {
      source.stop();
      throw;
    }
  });
}

void check_memory(std::string const& path, ParsedHeader const& header, std::int64_t entries,
                  std::int64_t bytes_per_entry, std::int64_t bytes_per_row) {
  std::int64_t const memory = std::int64_t(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE);
  if (header.rows >= memory / bytes_per_row)
    throw MatrixMarketError(path, header.size_line, header.rows_column,
                            "a matrix that fits into memory", std::to_string(header.rows));
  if (entries > (memory - header.rows * bytes_per_row) / bytes_per_entry)
    throw MatrixMarketError(path, header.size_line, header.entries_column,
                            "a matrix that fits into memory", std::to_string(entries));
}

void check_field(std::string const& path, ParsedHeader const& header, bool complex_scalar) {
  if (header.field == MatrixMarketField::complex && !complex_scalar)
    throw MatrixMarketError(path, 1, header.field_column,
                            "real, double, integer or pattern, as the scalar is real", "complex");
}

std::vector<std::int64_t> count_values(TextSource& source, ParsedHeader const& header,
                                       int threads) {
  std::vector<std::int64_t> starts{0};
  std::mutex mutex;
  for_each_chunk(source, header, threads, [&](TextChunk const& chunk) {
    TextCursor cursor(source.path(), chunk);
    std::int64_t count = 0;
    for (; cursor.next_data_line(); cursor.skip_line()) ++count;
    std::lock_guard const lock(mutex);
    auto const slot = static_cast<std::size_t>(chunk.index) + 1;
    if (starts.size() <= slot) starts.resize(slot + 1, 0);
    starts[slot] = count;
  });
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  return starts;
}

}  // namespace blockspan::sparse
