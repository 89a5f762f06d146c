#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/support/error.hpp>

namespace blockspan {

/// An Error that all ranks throw together, so that no rank is left waiting.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// A message to a rank, and the buffer for a message from one.
struct Outgoing {
  int rank;
  std::span<std::byte const> bytes;
};
struct Incoming {
  int rank;
  std::span<std::byte> bytes;
};

/// Messages in flight. finish() waits for all of them and must be called once; the buffers passed
/// to start() are in use until then.
class PendingExchange {
 public:
  virtual ~PendingExchange() = default;
  virtual void finish() = 0;
};

/// Moves bytes between the ranks of a group. All ranks call the same functions in the same order.
/// Failures of the underlying library throw Error. Implement it to run Blockspan on a library other
/// than MPI. Buffers are in host memory, unless takes_device_memory().
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string name() const = 0;
  /// Whether buffers of start() may be in device memory; the caller has then fenced kernels that
  /// use them.
  virtual bool takes_device_memory() const { return false; }

  /// all = the parts of ranks 0, 1, ..., where rank r contributes sizes[r] bytes.
  virtual void gather(std::span<std::byte const> mine, std::span<std::byte> all,
                      std::span<std::int64_t const> sizes) = 0;
  /// from[r] = the entry to[this rank] of rank r.
  virtual void transpose(std::span<std::int64_t const> to, std::span<std::int64_t> from) = 0;
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Starts all messages: at most one per pair of ranks and direction, none of them empty.
  virtual std::unique_ptr<PendingExchange> start(std::vector<Incoming> const& in,
                                                 std::vector<Outgoing> const& out) = 0;
  /// Terminates all ranks.
  [[noreturn]] virtual void abort(int exit_status) = 0;
};

/// Moves bytes between the memories of devices, in stream order: calls enqueue, and the host does
/// not wait. All ranks call the same functions in the same order. `stream` is a stream of the
/// backend (cudaStream_t). Failures of the underlying library throw Error.
class DeviceTransport {
 public:
  virtual ~DeviceTransport() = default;
  virtual std::string name() const = 0;

  /// Begins an exchange, one at a time. Its messages are ordered behind all that is enqueued on the
  /// stream before begin(), and on own_stream() before start(); work enqueued on the stream between
  /// begin() and finish() runs concurrently.
  virtual void begin(void* stream) = 0;
  /// All messages, by the rules of Transport::start.
  virtual void start(std::vector<Incoming> const& in, std::vector<Outgoing> const& out) = 0;
  /// Makes the stream wait for the messages and for work enqueued after them on own_stream().
  virtual void finish(void* stream) = 0;
  /// The stream of the messages, for work ordered with them; null if there is none.
  virtual void* own_stream() = 0;
  /// all = the parts of ranks 0, 1, ..., `bytes` each; this rank's part is already at its offset.
  virtual void gather(void* stream, std::byte* all, std::int64_t bytes) = 0;
};

/// A group of ranks: this process alone, or those of an MPI communicator (mpi.hpp), whose devices
/// may have a transport of their own (nccl.hpp). Copies share the transports. Every function that
/// is not a query is called by all ranks, in the same order.
///
/// Values are summed by gathering them and folding them in a fixed order, not by the reductions
/// of MPI: every rank has the same bits, from run to run.
class Communicator {
 public:
  /// This process alone.
  Communicator() = default;
  explicit Communicator(std::shared_ptr<Transport> transport,
                        std::shared_ptr<DeviceTransport> device = nullptr)
      : transport_(std::move(transport)), device_(std::move(device)) {}
  /// The same ranks with `device` as transport of device memory.
  Communicator with_device(std::shared_ptr<DeviceTransport> device) const {
    return Communicator(transport_, std::move(device));
  }

  int rank() const { return transport_ ? transport_->rank() : 0; }
  int size() const { return transport_ ? transport_->size() : 1; }
  /// The transports, for reports.
  std::string name() const {
    return (transport_ ? transport_->name() : "self") + (device_ ? " and " + device_->name() : "");
  }
  /// Null: this process alone.
  Transport* transport() const { return transport_.get(); }
  /// Null: device data is staged through the host or, with takes_device_memory(), sent from device
  /// memory while the host waits.
  DeviceTransport* device() const { return device_.get(); }
  bool takes_device_memory() const { return transport_ && transport_->takes_device_memory(); }

  /// all = the parts of ranks 0, 1, ..., where rank r contributes sizes[r] bytes.
  void gather(std::span<std::byte const> mine, std::span<std::byte> all,
              std::span<std::int64_t const> sizes) const;
  /// One value of each rank.
  template <class T>
  std::vector<T> gather(T const& mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size()));
    std::vector<std::int64_t> const sizes(all.size(), sizeof(T));
    gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)), sizes);
    return all;
  }

  /// fold(fold(mine of 0, mine of 1), fold(mine of 2, mine of 3)) ...: a binary tree over ranks.
  template <class T, class Fold>
  T fold(T const& mine, Fold const& fold) const {
    if (size() == 1) return mine;
    auto all = gather(mine);
    for (std::size_t step = 1; step < all.size(); step *= 2)
      for (std::size_t r = 0; r + step < all.size(); r += 2 * step)
        all[r] = fold(all[r], all[r + step]);
    return all[0];
  }
  template <class T>
  T sum(T const& mine) const {
    return fold(mine, [](T const& a, T const& b) { return a + b; });
  }
  /// The largest value of all ranks; NaN where a rank has NaN.
  template <class T>
  T largest(T const& mine) const {
    return fold(mine, [](T const& a, T const& b) { return b > a || b != b ? b : a; });
  }
  template <class T>
  T least(T const& mine) const {
    return fold(mine, [](T const& a, T const& b) { return b < a || b != b ? b : a; });
  }
  bool any(bool mine) const { return size() > 1 ? largest(mine ? 1 : 0) != 0 : mine; }
  bool all(bool mine) const { return !any(!mine); }

  /// Overwrites `bytes` on all ranks by those of rank `root`.
  void broadcast(std::span<std::byte> bytes, int root) const;
  template <class T>
  void broadcast(std::span<T> values, int root) const {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast(std::as_writable_bytes(values), root);
  }
  /// The same for a list whose length only `root` has; `values` is resized.
  template <class T>
  void broadcast(std::vector<T>& values, int root) const {
    auto length = static_cast<std::int64_t>(values.size());
    broadcast(std::span(&length, 1), root);
    values.resize(static_cast<std::size_t>(length));
    broadcast(std::span(values), root);
  }

  /// result[r] = the entry to[this rank] of rank r.
  std::vector<std::int64_t> transpose(std::vector<std::int64_t> const& to) const;
  /// Starts messages; null where there are none. Empty messages are dropped, by sender and
  /// receiver.
  std::unique_ptr<PendingExchange> start(std::vector<Incoming> in, std::vector<Outgoing> out) const;

  /// The text of the lowest rank whose text is not empty, on all ranks.
  std::string words_of_first(std::string const& mine) const;
  /// If a rank passes an error message, throws AgreedError on all ranks, with the message of the
  /// lowest such rank and, unless all ranks pass one, its number; its kind is the largest.
  void agree(std::optional<std::string> const& trouble, ErrorKind kind = ErrorKind::input) const;
  /// Whether all ranks have thrown this error and can continue together.
  bool all_threw(Error const& error) const {
    return size() == 1 || dynamic_cast<AgreedError const*>(&error) != nullptr;
  }
  /// f() on every rank; an exception on one of them is an Error on all. f must not communicate.
  template <class Function>
  auto run_agreed(Function const& f) const {
    using Result = decltype(f());
    if (size() == 1) return f();
    if constexpr (std::is_void_v<Result>) {
      agree_on(f);
    } else {
      std::optional<Result> result;
      agree_on([&] { result.emplace(f()); });
      return std::move(*result);
    }
  }

  /// Terminates all ranks, after a failure of this rank that the others cannot learn of.
  [[noreturn]] void abort(int exit_status) const;

 private:
  template <class Function>
  void agree_on(Function const& f) const {
    std::optional<std::string> trouble;
    ErrorKind kind = ErrorKind::input;
    try {
      f();
    } catch (std::bad_alloc const&) {
      trouble = "out of memory", kind = ErrorKind::out_of_memory;
    } catch (Error const& error) {
      trouble = error.what(), kind = error.kind();
    } catch (std::exception const& error) {
      trouble = error.what();
    } catch (...) {
      trouble = "an exception of an unknown type";
    }
    agree(trouble, kind);
  }

  std::shared_ptr<Transport> transport_;
  std::shared_ptr<DeviceTransport> device_;
};

}  // namespace blockspan
