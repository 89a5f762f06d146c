#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/support/atomic_file.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

#include <zlib.h>

namespace blockspan::eigen {

template <class T>
concept PlainBytes = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

/// A contiguous block of the shape of X where `exec` computes: what goes between X and a file.
template <class Exec, class View>
auto contiguous(Exec const& exec, View const& X) {
  using Whole = Kokkos::View<typename View::non_const_value_type**, Kokkos::LayoutRight,
                             typename View::device_type>;
  return allocate<Whole>(exec, "Blockspan::lobpcg::checkpoint", X.extent(0), X.extent(1));
}

/// Writes the state of a solve to a file atomically, with a checksum. A class takes part by a
/// member `visit(archive)` that calls the archive with its fields, in one order for writing and
/// reading. Throws Error where the file cannot be written.
///
/// Where rows are spread over ranks all of them call the same functions: rank 0 writes, blocks in
/// the order of all rows, so that a file does not show how many ranks there were. Memory on rank 0:
/// the rows of one rank. Errors are on all ranks, those of writing by commit().
class CheckpointWriter {
 public:
  static constexpr bool reads = false;

  CheckpointWriter(std::string const& path, RowSpace rows);

  template <PlainBytes T>
  void operator()(T const& value) {
    put(&value, sizeof value);
  }
  template <class T>
  void operator()(std::vector<T> const& values) {
    (*this)(static_cast<std::uint64_t>(values.size()));
    for (auto const& value : values) (*this)(static_cast<T const&>(value));
  }
  template <class T>
  requires requires(T& t, CheckpointWriter& writer) { t.visit(writer); }
  void operator()(T const& value) { const_cast<T&>(value).visit(*this); }

  /// A block of vectors where `exec` computes. Fences it.
  template <class Exec, class View>
  void block(Exec const& exec, View const& X) {
    if (X.extent(1) == 0) return;
    auto const host = rows_.communicator().run_agreed([&] {
      auto const whole = contiguous(exec, X);
      Kokkos::deep_copy(exec, whole, X);
      auto const mirror = allocate_mirror(whole);
      Kokkos::deep_copy(exec, mirror, whole);
      exec.fence("Blockspan::lobpcg: checkpoint");
      return mirror;
    });
    put_rows(std::as_bytes(std::span(host.data(), host.size())),
             X.extent(1) * sizeof(typename View::non_const_value_type));
  }

  void commit();

 private:
  void put(void const* bytes, std::size_t size);
  void put_rows(std::span<std::byte const> mine, std::size_t row_bytes);

  RowSpace rows_;
  std::optional<AtomicFile> file_;      ///< of rank 0
  std::optional<std::string> trouble_;  ///< why rank 0 has ceased to write, where others wait
  unsigned long checksum_;
};

/// Restores the state, on any number of ranks. Throws Error, on all of them, if the file cannot be
/// read, is no checkpoint, was cut off or damaged.
class CheckpointReader {
 public:
  static constexpr bool reads = true;

  CheckpointReader(std::string path, RowSpace rows);

  template <PlainBytes T>
  void operator()(T& value) {
    get(&value, sizeof value);
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    std::uint64_t count = 0;
    (*this)(count);
    values.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      T value{};
      (*this)(value);
      values.push_back(std::move(value));
    }
  }
  template <class T>
  requires requires(T& t, CheckpointReader& reader) { t.visit(reader); }
  void operator()(T& value) { value.visit(*this); }

  template <class Exec, class View>
  void block(Exec const& exec, View const& X) {
    if (X.extent(1) == 0) return;
    auto const& ranks = rows_.communicator();
    auto const whole = ranks.run_agreed([&] { return contiguous(exec, X); });
    auto const host = ranks.run_agreed([&] { return allocate_mirror(whole); });
    get_rows(std::as_writable_bytes(std::span(host.data(), host.size())),
             X.extent(1) * sizeof(typename View::non_const_value_type));
    Kokkos::deep_copy(exec, whole, host);
    Kokkos::deep_copy(exec, X, whole);
    exec.fence("Blockspan::lobpcg: checkpoint");
  }

  /// Sizes and indices from a file are checked before they are used. Throws Error where `value` is
  /// not one of low to high.
  template <class T>
  void require_between(char const* what, T low, T value, T high) const {
    require(low <= value && value <= high, path_, "the checkpoint is damaged: ", what, " is ",
            value, ", not one of ", low, " to ", high);
  }

  /// Nothing may be left, and the checksum must be right.
  void finish();

  std::string const& path() const { return path_; }

 private:
  void read(void* bytes, std::size_t size);
  void get(void* bytes, std::size_t size);
  void get_rows(std::span<std::byte> mine, std::size_t row_bytes);

  RowSpace rows_;
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;  ///< of rank 0
  unsigned long checksum_;
};

}  // namespace blockspan::eigen
