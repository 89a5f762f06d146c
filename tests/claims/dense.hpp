#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace blockspan::test {

/// A Hermitian matrix of a generated problem: the doubles that are stored are the problem.
class Dense {
 public:
  Dense() = default;
  explicit Dense(int n) : n_(n), entries_(static_cast<std::size_t>(n) * n) {}

  int order() const { return n_; }
  std::complex<double> operator()(int i, int j) const { return entries_[index(i, j)]; }
  /// Sets the entry and its mirror.
  void set(int i, int j, std::complex<double> value) {
    entries_[index(i, j)] = value;
    entries_[index(j, i)] = std::conj(value);
  }
  void add(int i, int j, double value) { set(i, j, entries_[index(i, j)] + value); }
  bool is_complex() const {
    for (auto const& z : entries_)
      if (z.imag() != 0) return true;
    return false;
  }

 private:
  std::size_t index(int i, int j) const { return static_cast<std::size_t>(i) * n_ + j; }
  int n_ = 0;
  std::vector<std::complex<double>> entries_;
};

}  // namespace blockspan::test
