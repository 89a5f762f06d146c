#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/reading/read_rows.hpp>
#include <blockspan/distributed/reading/same_file.hpp>
#include <blockspan/sparse/matrix_market/matrix_market_rows.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::distributed {
namespace {

/// Replaces lists of equal length by their sum over ranks; each rank adds up one part of them.
void sum_lists(Communicator const& ranks, std::span<std::int64_t> list) {
  auto const size = static_cast<std::int64_t>(list.size());
  std::int64_t const block = ceil_div<std::int64_t>(size, ranks.size());
  auto const part = [&](int r) {
    std::int64_t const first = std::min(block * r, size), last = std::min(block * (r + 1), size);
    return list.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  };
  int const me = ranks.rank();
  auto const mine = part(me);
  std::vector<std::int64_t> others(mine.size() * static_cast<std::size_t>(ranks.size()), 0);
  std::vector<Incoming> in;
  std::vector<Outgoing> out;
  std::vector<std::int64_t> bytes;
  for (int r = 0; r < ranks.size(); ++r) {
    auto const room =
        std::span(others).subspan(static_cast<std::size_t>(r) * mine.size(), mine.size());
    bytes.push_back(static_cast<std::int64_t>(part(r).size_bytes()));
    if (r == me) continue;
    in.push_back({r, std::as_writable_bytes(room)});
    out.push_back({r, std::as_bytes(part(r))});
  }
  if (auto const pending = ranks.start(std::move(in), std::move(out))) pending->finish();
  std::vector<std::int64_t> sums(mine.begin(), mine.end());
  for (std::size_t i = 0; i < others.size(); ++i) sums[i % mine.size()] += others[i];
  ranks.gather(std::as_bytes(std::span(sums)), std::as_writable_bytes(list), bytes);
}

template <class Scalar>
struct Entry {
  std::int64_t row, column;
  Scalar value;
};

/// 1. Every rank parses lines: its share of an uncompressed file, or chunks that rank 0 sends of a
/// gzip file.
/// 2. The entries of every unit of rows are counted, and the rows are partitioned by them.
/// 3. Entries are sent to the owners of their rows, which sort them and add up repeated ones.
template <class Scalar>
class RowsReader {
 public:
  RowsReader(Communicator const& ranks, std::string const& path)
      : ranks_(ranks), me_(ranks.rank()), path_(path) {
    open(0);
    ranks_.run_agreed([&] {
      if (me_ > 0) return;
      header_ = parse_header(*source_);
      check_field(path, header_, is_complex_v<Scalar>);
      compressed_ = source_->compressed();
    });
    ranks_.broadcast(std::span(&header_, 1), 0);
    ranks_.broadcast(std::span(&compressed_, 1), 0);
    if (!compressed_) open(1);
  }

  ReadRows<Scalar> run(std::int64_t (*chunk_rows)(std::int64_t), RowPartition const* like) {
    if (compressed_) {
      parse_what_is_dealt_out();
    } else {
      require_same_file(ranks_, path_, source_->file_size(), [this](int r) { return cut(r); });
      catching([&] { parse_range(); });
    }
    find_trouble();
    ReadRows<Scalar> result;
    result.partition = like ? *like : partition(chunk_rows(header_.rows));
    ranks_.run_agreed([&] { check_partition(result.partition); });
    exchange(result.partition);
    result.rows = ranks_.run_agreed([&] { return sorted_rows(result.partition); });
    merge_repeated(result.partition.first(me_), result.rows);
    return result;
  }

 private:
  using Real = real_t<Scalar>;
  enum Triangle : int { lower = 1, upper = 2 };

  void open(int first_rank) {
    ranks_.run_agreed([&] {
      if (first_rank == 0 ? me_ == 0 : me_ >= first_rank)
        source_ = std::make_unique<TextSource>(path_);
    });
  }

  /// Catches errors while other ranks expect messages; they are reported later.
  template <class Function>
  void catching(Function const& f) {
    if (trouble_) return;
    try {
      f();
    } catch (std::exception const& error) {
      trouble_ = error.what();
    }
  }

  void parse(TextChunk const& chunk) {
    bool const mirror = header_.symmetry != MatrixMarketSymmetry::general;
    lines_ += parse_coordinates<Real, true>(
        path_, chunk, header_, 0, no_limit,
        [&](std::int64_t row, std::int64_t column, FileValue<Real> const& given, auto const&) {
          auto const value = to_scalar<Scalar>(given);
          entries_.push_back({row, column, value});
          if (!mirror || row == column) return;
          entries_.push_back({column, row, mirrored(header_.symmetry, value)});
          triangles_ |= row > column ? lower : upper;
        });
  }

  /// The byte at which the share of a rank begins.
  std::int64_t cut(std::int64_t r) const {
    std::int64_t const body = header_.body_position, length = source_->file_size() - body;
    return body + length / ranks_.size() * r + length % ranks_.size() * r / ranks_.size();
  }

  /// Parses the lines that begin in this rank's share of the bytes.
  void parse_range() {
    std::int64_t const last = cut(me_ + 1);
    // from the byte before: a line that began earlier belongs to the rank before
    std::int64_t position = cut(me_) - (me_ > 0 ? 1 : 0);
    if (cut(me_) == last) return;
    source_->restart(position, 1);
    for (TextChunk chunk; position < last && source_->next(chunk);) {
      char const* const begin = chunk.begin;
      std::int64_t const size = chunk.end - begin;
      auto const behind_line = [&](char const* from) {
        return static_cast<char const*>(
                   std::memchr(from, '\n', static_cast<std::size_t>(chunk.end - from))) +
               1;
      };
      if (me_ > 0 && position == cut(me_) - 1) chunk.begin = behind_line(begin);
      if (position + size >= last) chunk.end = behind_line(begin + (last - 1 - position));
      parse(chunk);
      position += size;
    }
    source_->check_unchanged();
  }

  /// Rank 0 repeatedly decompresses one chunk for each of the other ranks.
  void parse_what_is_dealt_out() {
    std::vector<TextChunk> chunks(static_cast<std::size_t>(ranks_.size()));
    std::vector<std::int64_t> sizes(chunks.size());
    if (me_ == 0) source_->restart(header_.body_position, header_.size_line + 1);
    for (;;) {
      std::vector<Incoming> in;
      std::vector<Outgoing> out;
      std::fill(sizes.begin(), sizes.end(), 0);
      for (std::size_t r = 1; me_ == 0 && r < chunks.size(); ++r) {
        catching([&] {
          if (source_->next(chunks[r])) sizes[r] = chunks[r].end - chunks[r].begin;
        });
        auto const text = std::span(chunks[r].begin, static_cast<std::size_t>(sizes[r]));
        out.push_back({static_cast<int>(r), std::as_bytes(text)});
      }
      ranks_.broadcast(std::span(sizes), 0);
      if (std::all_of(sizes.begin(), sizes.end(), [](auto size) { return size == 0; })) return;
      std::vector<char> text(static_cast<std::size_t>(sizes[static_cast<std::size_t>(me_)]));
      if (me_ > 0) in.push_back({0, std::as_writable_bytes(std::span(text))});
      if (auto const pending = ranks_.start(std::move(in), std::move(out))) pending->finish();
      TextChunk chunk;
      chunk.begin = text.data(), chunk.end = text.data() + text.size(), chunk.line = 1;
      catching([&] { parse(chunk); });
    }
  }

  /// If there was an error, throws the first one of the file, which rank 0 reads again from the
  /// beginning.
  void find_trouble() {
    bool const complete = ranks_.sum(lines_) == header_.entries;
    if (complete && !ranks_.any(trouble_.has_value())) return;
    ranks_.run_agreed([&] {
      if (me_ == 0) find_first_error<Real>(*source_, header_);
    });
    ranks_.agree(trouble_);
    ranks_.agree(path_ + ": the file changed while it was read");
  }

  RowPartition partition(std::int64_t chunk) const {
    std::int64_t const rows = header_.rows, unit = unit_of_cuts(rows, chunk, ranks_.size());
    std::vector<std::int64_t> weights(static_cast<std::size_t>(ceil_div(rows, unit)), 0);
    for (auto const& entry : entries_) ++weights[static_cast<std::size_t>(entry.row / unit)];
    sum_lists(ranks_, weights);
    return cut_for_sums(std::move(weights), rows, unit, ranks_.size());
  }

  void check_partition(RowPartition const& partition) const {
    require(partition.ranks() == ranks_.size(), path_, "a partition for ", partition.ranks(),
            " ranks, there are ", ranks_.size());
    require(partition.global_rows() == header_.rows, path_, "a partition of ",
            partition.global_rows(), " rows for a matrix of ", header_.rows);
    require(partition.rows(me_) <= std::numeric_limits<int>::max(), path_, partition.rows(me_),
            " rows of ", header_.rows, " on rank ", me_, ", more than 32-bit indices allow");
  }

  /// Sends entries to the ranks that own their rows.
  void exchange(RowPartition const& partition) {
    std::vector<std::int64_t> to(static_cast<std::size_t>(ranks_.size()), 0);
    for (auto const& entry : entries_) ++to[static_cast<std::size_t>(partition.owner(entry.row))];
    std::vector<std::int64_t> begin{0};
    for (std::int64_t const count : to) begin.push_back(begin.back() + count);
    std::vector<Entry<Scalar>> sent(entries_.size());
    for (auto place = begin; auto const& entry : entries_)
      sent[static_cast<std::size_t>(
          place[static_cast<std::size_t>(partition.owner(entry.row))]++)] = entry;
    auto const from = ranks_.transpose(to);
    std::int64_t total = 0;
    for (std::int64_t const count : from) total += count;
    entries_ = {};
    ranks_.run_agreed([&] { entries_.resize(static_cast<std::size_t>(total)); });
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
    for (std::int64_t r = 0, place = 0; r < ranks_.size(); ++r) {
      auto const index = static_cast<std::size_t>(r);
      auto const room = std::span(entries_).subspan(static_cast<std::size_t>(place),
                                                    static_cast<std::size_t>(from[index]));
      auto const part = std::span(sent).subspan(static_cast<std::size_t>(begin[index]),
                                                static_cast<std::size_t>(to[index]));
      place += from[index];
      if (r == me_) {
        std::copy(part.begin(), part.end(), room.begin());
      } else {
        in.push_back({static_cast<int>(r), std::as_writable_bytes(room)});
        out.push_back({static_cast<int>(r), std::as_bytes(part)});
      }
    }
    if (auto const pending = ranks_.start(std::move(in), std::move(out))) pending->finish();
  }

  LocalRows<Scalar> sorted_rows(RowPartition const& partition) {
    std::int64_t const first = partition.first(me_);
    LocalRows<Scalar> rows;
    rows.offsets.assign(static_cast<std::size_t>(partition.rows(me_)) + 1, 0);
    for (auto const& entry : entries_)
      ++rows.offsets[static_cast<std::size_t>(entry.row - first) + 1];
    for (std::size_t i = 1; i < rows.offsets.size(); ++i) rows.offsets[i] += rows.offsets[i - 1];
    rows.columns.resize(entries_.size());
    rows.values.resize(entries_.size());
    for (auto place = rows.offsets; auto const& entry : entries_) {
      auto const k = static_cast<std::size_t>(place[static_cast<std::size_t>(entry.row - first)]++);
      rows.columns[k] = entry.column;
      rows.values[k] = entry.value;
    }
    entries_ = {};
    RowSorter<Scalar, std::int64_t> sorter(header_.symmetry);
    for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
      std::int64_t const begin = rows.offsets[i], size = rows.offsets[i + 1] - begin;
      repeated_ |= sorter.sort(first + static_cast<std::int64_t>(i), rows.columns.data() + begin,
                               rows.values.data() + begin, size);
    }
    return rows;
  }

  /// Adds up repeated entries of sorted rows. Throws Error, on all ranks, if both triangles specify
  /// a position, or a sum is not finite.
  void merge_repeated(std::int64_t first, LocalRows<Scalar>& rows) {
    int const triangles = ranks_.fold(triangles_, [](int a, int b) { return a | b; });
    if (!ranks_.any(repeated_)) return;
    struct Position {
      std::int64_t row = -1, column = -1;
    } refused;
    bool const twice = triangles == (lower | upper);
    std::size_t out = 0;
    for (std::size_t i = 0, k = 0; i + 1 < rows.offsets.size(); ++i) {
      std::size_t const begin = out;
      for (auto const end = static_cast<std::size_t>(rows.offsets[i + 1]); k < end; ++k) {
        bool const again = out > begin && rows.columns[out - 1] == rows.columns[k];
        rows.columns[out] = rows.columns[k];
        if (again)
          rows.values[out - 1] += rows.values[k];
        else
          rows.values[out++] = rows.values[k];
        bool const bad = again && (twice || !is_finite(rows.values[out - 1]));
        if (bad && refused.row < 0)
          refused = {first + static_cast<std::int64_t>(i), rows.columns[out - 1]};
      }
      rows.offsets[i + 1] = static_cast<std::int64_t>(out);
    }
    rows.columns.resize(out);
    rows.values.resize(out);
    auto const all = ranks_.gather(refused);
    auto const found = std::find_if(all.begin(), all.end(), [](auto p) { return p.row >= 0; });
    if (found == all.end()) return;
    ranks_.run_agreed([&] {
      if (me_ > 0) return;
      refuse_position<Real>(*source_, header_, found->row, found->column,
                            twice ? "each position once where both triangles are used"
                                  : "repeated entries that add up to a finite number");
    });
  }

  Communicator const& ranks_;
  int me_;
  std::string path_;
  std::unique_ptr<TextSource> source_;  ///< of gzip files only on rank 0
  ParsedHeader header_;
  bool compressed_ = false, repeated_ = false;
  int triangles_ = 0;
  std::int64_t lines_ = 0;
  std::vector<Entry<Scalar>> entries_;
  std::optional<std::string> trouble_;
};

}  // namespace

template <class Scalar>
ReadRows<Scalar> read_rows(Communicator const& ranks, std::string const& path,
                           std::int64_t (*chunk_rows)(std::int64_t), RowPartition const* like) {
  return RowsReader<Scalar>(ranks, path).run(chunk_rows, like);
}

#define BLOCKSPAN_INSTANTIATE(SCALAR)                                          \
  template ReadRows<SCALAR> read_rows(Communicator const&, std::string const&, \
                                      std::int64_t (*)(std::int64_t), RowPartition const*);
BLOCKSPAN_INSTANTIATE(float)
BLOCKSPAN_INSTANTIATE(double)
BLOCKSPAN_INSTANTIATE(Kokkos::complex<float>)
BLOCKSPAN_INSTANTIATE(Kokkos::complex<double>)
#undef BLOCKSPAN_INSTANTIATE

}  // namespace blockspan::distributed
