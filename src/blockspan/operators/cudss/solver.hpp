#pragma once

#include <cstdint>

#include <blockspan/operators/cudss/library.hpp>

namespace blockspan::operators::cudss {

/// The lower triangle of a Hermitian matrix in double precision, compressed rows with ascending
/// columns counted from 0, in memory of the device.
struct LowerTriangle {
  std::int64_t rows = 0, entries = 0;
  int const* offsets = nullptr;
  int const* columns = nullptr;
  void const* values = nullptr;
  bool is_complex = false;
};

/// The signs of the pivots.
struct Inertia {
  std::int64_t positive = 0, negative = 0;
  std::int64_t perturbed = 0;  ///< pivots that were replaced: the factors are of another matrix
};

/// A Hermitian matrix, P A P^T = L D L^H by cuDSS with pivots of one and two rows (Bunch and
/// Kaufman). All work is queued on the stream. Throws Error where cuDSS refuses.
class Solver {
 public:
  /// Keeps the triangle by reference; its values may change between factorizations.
  Solver(Library const& library, void* stream, LowerTriangle const& A);
  ~Solver();
  Solver(Solver const&) = delete;
  Solver& operator=(Solver const&) = delete;

  /// Orders the unknowns, on the host, for all values of the pattern. Waits.
  void analyse();
  std::int64_t entries() const { return entries_; }  ///< in L and D, by the analysis
  std::int64_t bytes() const { return bytes_; }      ///< of the device at most, predicted, or 0

  void factor();
  /// Of the last factorization, which has to be complete.
  Inertia inertia() const;

  /// X = A^-1 B: rows x columns, column-major, on the device; they do not overlap.
  void solve(void const* B, void* X, std::int64_t columns) const;

 private:
  void execute_alone(int phase, char const* what) const;
  void execute(int phase, void* X, void const* B, char const* what) const;
  [[noreturn]] void give_up(int status, char const* what) const;
  void require_success(int status, char const* what) const;
  std::int64_t count(int datum) const;

  Library const& library_;
  LowerTriangle matrix_;
  void* handle_ = nullptr;
  void* config_ = nullptr;
  void* data_ = nullptr;
  void* a_ = nullptr;
  std::int64_t entries_ = 0, bytes_ = 0;
};

}  // namespace blockspan::operators::cudss
