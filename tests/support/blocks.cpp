#include "support/blocks.hpp"

#include "support/instantiations.hpp"

namespace blockspan::test {
namespace {

template <class Scalar>
using HostMemory =
    Kokkos::View<Scalar*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// What stands around a block.
template <class Scalar>
Scalar guard() {
  return Scalar(-77);
}

}  // namespace

template <class Scalar>
HostBlock<Scalar> random_block(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Random random(seed);
  HostBlock<Scalar> X(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) X(i, j) = random.value<Scalar>();
  return X;
}

template <class Scalar, class Exec>
TestBlock<Scalar, Exec>::TestBlock(Exec const& exec, Storage storage,
                                   HostBlock<Scalar> const& values)
    : exec_(exec), rows_(values.rows()), columns_(values.columns()) {
  place(storage);
  std::vector<Scalar> entries(memory_.size(), guard<Scalar>());
  for (std::int64_t i = 0; i < rows_; ++i)
    for (std::int64_t j = 0; j < columns_; ++j) entries[index(i, j)] = values(i, j);
  if (!entries.empty())
    Kokkos::deep_copy(exec_, memory_, HostMemory<Scalar>(entries.data(), entries.size()));
  exec_.fence("Blockspan::test");
}

template <class Scalar, class Exec>
HostBlock<Scalar> TestBlock<Scalar, Exec>::values() const {
  std::vector<Scalar> const now = fetch();
  HostBlock<Scalar> X(rows_, columns_);
  for (std::int64_t i = 0; i < rows_; ++i)
    for (std::int64_t j = 0; j < columns_; ++j) X(i, j) = now[index(i, j)];
  return X;
}

template <class Scalar, class Exec>
bool TestBlock<Scalar, Exec>::surroundings_intact() const {
  std::vector<Scalar> now = fetch();
  for (std::int64_t i = 0; i < rows_; ++i)
    for (std::int64_t j = 0; j < columns_; ++j) now[index(i, j)] = guard<Scalar>();
  for (Scalar const& x : now)
    if (!(x == guard<Scalar>())) return false;
  return true;
}

template <class Scalar, class Exec>
void TestBlock<Scalar, Exec>::place(Storage storage) {
  std::int64_t const n = rows_, k = columns_;
  std::int64_t row_stride = 1, column_stride = 1, size = n * k;
  switch (storage) {
    case Storage::right:
      row_stride = k;
      break;
    case Storage::left:
      column_stride = n;
      break;
    case Storage::padded_right:
      row_stride = k + 3, offset_ = 1, size = n * (k + 3) + 1;
      break;
    case Storage::padded_left:
      column_stride = n + 2, offset_ = 1, size = (n + 2) * k + 1;
      break;
    case Storage::strided:
      row_stride = 2, column_stride = 3 * (2 * n + 1), offset_ = 1, size = column_stride * k + 2;
      break;
  }
  memory_ = Kokkos::View<Scalar*, Device>(
      Kokkos::view_alloc(exec_, Kokkos::WithoutInitializing, "Blockspan::test"), size);
  view = View(memory_.data() + offset_, Kokkos::LayoutStride(n, row_stride, k, column_stride));
  row_stride_ = row_stride, column_stride_ = column_stride;
}

template <class Scalar, class Exec>
std::vector<Scalar> TestBlock<Scalar, Exec>::fetch() const {
  std::vector<Scalar> now(memory_.size());
  if (!now.empty()) Kokkos::deep_copy(exec_, HostMemory<Scalar>(now.data(), now.size()), memory_);
  exec_.fence("Blockspan::test");
  return now;
}

#define INSTANTIATE(Scalar) \
  template HostBlock<Scalar> random_block<Scalar>(std::int64_t, std::int64_t, std::uint64_t);
BLOCKSPAN_TEST_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

// conversions have blocks of a scalar that the library need not be compiled for
#define INSTANTIATE(Exec)                                 \
  template class TestBlock<float, Exec>;                  \
  template class TestBlock<double, Exec>;                 \
  template class TestBlock<Kokkos::complex<float>, Exec>; \
  template class TestBlock<Kokkos::complex<double>, Exec>;
BLOCKSPAN_TEST_EACH_BACKEND(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
